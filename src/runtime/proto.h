/* SPDX-License-Identifier: MIT */
/* What the engine and the spawner say to each other, as packets (runtime/packet.h). A reply carries
 * its request's tag. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/cgroup.h"
#include "runtime/disk.h"
#include "runtime/wire.h"

enum {
    PROTO_VERSION = 5,
    PROTO_VERSION_OLDEST = 3, /* that a spawner of another build may speak: without greetings */
    PROTO_NAME_MAX = 64,
    PROTO_LAYERS_MAX = 60,     /* of a template; so that their names fit into one mount option */
    PROTO_LAYERS_USR_MAX = 36, /* the same when the last one is laid below /usr */
    PROTO_VERSION_ROOTS = 5,   /* from this one on: more templates than the default, PROTO_UPPER */
    PROTO_EXIT_BUSY = 3, /* how `tidepool-envd spawn` ends when another spawner has the place */
};

/* ---- engine → spawner, and what comes back ---- */

enum proto_kind {
    PROTO_HELLO = 1, /* → HELLO: version, pid, cgroup version; attached: the directory of the cells'
                        sockets, each called after its slot, and one directory per tree */
    PROTO_TEMPLATE, /* struct proto_template, lower layers attached as detached mounts → OK */
    PROTO_CREATE,   /* struct cell_spec → CELL or ERROR */
    PROTO_KILL,     /* slot, generation → OK at once; GONE follows when nothing is left */
    PROTO_LABEL,    /* slot, generation, label: no reply */
    PROTO_LIST,     /* → one CELL for each living cell, then OK */
    PROTO_QUIT,     /* ends all cells and the spawner; the connection closes when it is done */
    PROTO_CLEAN,    /* something was moved into the trash: no reply */
    PROTO_UPPER,    /* slot, generation → UPPER or ERROR */

    PROTO_OK = 64,
    PROTO_ERROR,    /* i32 errno as u32, text */
    PROTO_CELL,     /* struct cell_info; pidfd and network namespace attached */
    PROTO_GONE,     /* tag 0: slot, generation, wait status */
    PROTO_UPPER_IS, /* attached: the home of the cell's upper layer (envd/layout.h) */
};

struct cell_spec {
    char template_name[PROTO_NAME_MAX];
    char hostname[PROTO_NAME_MAX];
    struct cgroup_limits limits;
    struct disk_spec disk;
};

struct cell_info {
    uint32_t slot;
    uint64_t generation; /* never used twice: (slot, generation) names a cell for ever */
    uint32_t pid, uid_base;
    int64_t created_us;
    bool is_ready;
    char label[PROTO_NAME_MAX]; /* what the engine calls it; empty: not claimed yet */
    struct cell_spec spec;
};

struct proto_template {
    char name[PROTO_NAME_MAX];
    bool no_new_privs;
    bool has_usr;      /* the last layer is laid below /usr instead of below the root */
    bool keeps_cells;  /* when it replaces one, cells that nobody has claimed live on */
    uint32_t n_layers; /* top layer first */
};

void proto_put_spec(struct buf *b, const struct cell_spec *s);
void proto_get_spec(struct wire_reader *r, struct cell_spec *ret);
void proto_put_info(struct buf *b, const struct cell_info *i);
void proto_get_info(struct wire_reader *r, struct cell_info *ret);
void proto_put_template(struct buf *b, const struct proto_template *t);
void proto_get_template(struct wire_reader *r, struct proto_template *ret);

/* Copies a string field into a fixed array; too long or with a NUL inside: the reader fails. */
void proto_get_name(struct wire_reader *r, char *ret, size_t size);

/* The directory and group of a slot: "s0007". */
enum { PROTO_SLOT_NAME_MAX = 16 };
void proto_slot_name(char ret[PROTO_SLOT_NAME_MAX], uint32_t slot);

/* The control socket of a cell: "s0007.1700000000000000". Slots are used again, sockets never: a
 * connection meant for a cell that has ended finds nobody instead of the slot's next tenant. */
enum { PROTO_SOCKET_NAME_MAX = PROTO_SLOT_NAME_MAX + 24 };
void proto_socket_name(char ret[PROTO_SOCKET_NAME_MAX], uint32_t slot, uint64_t generation);
/* And back: 0, or -EINVAL when NAME is no such name. */
int proto_read_socket_name(struct str name, uint32_t *ret_slot, uint64_t *ret_generation);

/* The first bytes of every connection to a cell's control socket, the name of the cell that is
 * meant. The first process of any other cell closes such a connection. */
enum { PROTO_GREETING_MAX = PROTO_SOCKET_NAME_MAX + 16 };
size_t proto_greeting(char ret[PROTO_GREETING_MAX], uint32_t slot, uint64_t generation);

/* ---- engine → first process of a cell: HTTP, see envd/serve.h ---- */

enum { PROTO_OUTPUT_MAX = 8 << 20 }; /* each of stdout and stderr of a command */
