/* SPDX-License-Identifier: MIT */
/* What the files of process.Process share: its messages as C sees them, and what is known about a
 * process that was started by it. Internal to envd/e2b_process.c and envd/e2b_start.c. */
#pragma once

#include "base/list.h"
#include "envd/connect.h"
#include "envd/proc.h"

/* ---- messages; the tables are in e2b_process.c ---- */

struct msg_empty {
    uint32_t has;
};

struct msg_size {
    uint32_t has, cols, rows;
};

struct msg_pty {
    uint32_t has;
    const struct msg_size *size;
};

enum { CONFIG_CMD, CONFIG_ARGS, CONFIG_ENVS, CONFIG_CWD };
struct msg_config {
    uint32_t has;
    struct str cmd, cwd;
    char **args;
    const struct json *envs;
};

enum { START_PROCESS, START_PTY, START_TAG, START_STDIN };
struct msg_start {
    uint32_t has;
    const struct msg_config *process;
    const struct msg_pty *pty;
    struct str tag;
    bool has_stdin;
};

enum { SELECTOR_PID, SELECTOR_TAG };
struct msg_selector {
    uint32_t has, pid;
    struct str tag;
};

struct msg_select { /* of Connect and CloseStdin */
    uint32_t has;
    const struct msg_selector *process;
};

struct msg_update {
    uint32_t has;
    const struct msg_selector *process;
    const struct msg_pty *pty;
};

enum { INPUT_STDIN, INPUT_PTY };
struct msg_input {
    uint32_t has;
    struct str bytes[2]; /* stdin, pty */
};

struct msg_send_input {
    uint32_t has;
    const struct msg_selector *process;
    const struct msg_input *input;
};

struct msg_signal {
    uint32_t has;
    const struct msg_selector *process;
    int32_t signal;
};

struct msg_stream_data {
    uint32_t has;
    const struct msg_input *input;
};

struct msg_stream {
    uint32_t has;
    const struct msg_select *start;
    const struct msg_stream_data *data;
    const struct msg_empty *keepalive;
};

/* ---- processes ---- */

enum { BOOT_MAX = 64 };

/* The owner (envd/proc.h) of a process of this service. */
struct e2b_proc {
    char *info; /* ProcessInfo as JSON, for List */
    char *tag;  /* may be NULL */
    bool has_pty;
    struct list subs;         /* struct e2b_sub, e2b_start.c */
    struct buf event;         /* room for large ones, kept from one to the next */
    bool has_left;            /* somebody was there, and nobody is: */
    uint64_t left_seq;        /* what the last one that left would have read next */
    char left_boot[BOOT_MAX]; /* and which daemon it came from */
};

/* The process that S selects, an ended one only when ENDED_TOO. NULL: C has failed. */
struct proc *e2b_find_proc(struct connect_call *c, const struct msg_selector *s, bool ended_too);

void e2b_start(struct connect_call *c);
void e2b_connect(struct connect_call *c);
