/* SPDX-License-Identifier: MIT */
/* Probes: attempts to reach out of a cell, made from inside. A probe returns true when it got
 * through, which is always a failure of the cell. Each runs in a process of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct probe {
    const char *name;
    bool (*gets_through)(void);
};

/* What the test planted outside; from the command line. */
struct target {
    const char *canary;         /* path of a host file */
    const char *canary_text;    /* what is in it */
    const char *state;          /* the engine's state directory */
    const char *host_socket;    /* abstract unix socket of a host process */
    const char *sibling_socket; /* the same in another cell */
    int host_pid;               /* a host process */
    int host_port;              /* TCP on the host's 127.0.0.1 */
    int sibling_port;           /* TCP on another cell's 127.0.0.1 */
};
extern struct target target;

/* One group of probes: a table and its length. */
struct probe_group {
    const char *name;
    const struct probe *probes;
    size_t n;
};
extern const struct probe_group probes_files, probes_devices, probes_mounts, probes_spaces,
    probes_processes, probes_network;

/* Attempts that need no code: a file that must not open, a call that must be refused. */
struct file_probe {
    const char *path;
    char mode; /* 'r', 'w' (writes TEXT), 'x' (must not even exist) */
    const char *text;
};
extern const struct file_probe file_probes[];
extern const size_t n_file_probes;
bool file_probe_gets_through(const struct file_probe *p);

struct call_probe {
    const char *name;
    long nr;
    long args[6];
};
extern const struct call_probe call_probes[];
extern const size_t n_call_probes;
bool call_probe_gets_through(const struct call_probe *p);

/* True when PATH opens and holds the canary's text. */
bool holds_canary(const char *path);
