/* SPDX-License-Identifier: MIT */
/* What the files of the engine share. */
#pragma once

#include <limits.h>

#include "base/buf.h"
#include "base/list.h"
#include "net/http_client.h"
#include "runtime/engine_assign.h"
#include "runtime/engine_fit.h"
#include "runtime/engine_image.h"
#include "runtime/engine_link.h"
#include "runtime/engine_links.h"
#include "runtime/packet.h"

struct engine_cell {
    struct list node; /* in engine.stock or engine.cells */
    struct engine *engine;
    struct spawner_link *spawner;
    struct cell_info info;
    char slot_name[PROTO_SLOT_NAME_MAX];
    int pidfd;
    struct loop_io end_io;                    /* pidfd, from the kill on */
    int netns_fd;                             /* until it is asked for its way out */
    struct egress_cell *egress;               /* or NULL */
    char address[PROTO_SOCKET_NAME_MAX + 12]; /* "SOCKET/SPAWNER" */
    struct list requests; /* struct request: waiting for answers, or to be sent */
    unsigned n_ahead;     /* requests of ours that others wait for: the hostname, the rehearsal */
    struct engine_share share;
    uint64_t shm_bytes; /* the size of its /dev/shm */
    bool is_rehearsed;
    bool is_claimed; /* in engine.cells */
    bool is_ending;
    bool is_seen; /* in the spawner's list, after it was asked again */
};

/* A cell that the spawner was asked for. */
struct building {
    struct list node;
    uint32_t tag;
    struct spawner_link *spawner; /* that was asked for it, or NULL */
    char label[PROTO_NAME_MAX];
    struct cell_spec spec;
    int64_t asked_ms;
    engine_cell_fn *fn; /* NULL: for the stock */
    bool is_outdated;   /* its template has been replaced since */
    void *ctx;
};

struct engine {
    struct loop *loop;
    struct http_client *http; /* to the first processes of cells */
    struct engine_options options;
    char *state, *envd, *instance;
    char template_root[PATH_MAX]; /* of the default template as it is now */
    struct loop_timer looks;      /* at what it was made from */
    uint64_t template_stamp;      /* what they saw last */
    unsigned n_looks;
    bool has_old_templates;         /* which nobody may need any more */
    struct work_pool *workers;      /* one thread, from the first renewal on */
    struct engine_renewal *renewal; /* under way, or NULL */
    char build[ENGINE_PLACE_MAX];   /* the place of this build's first spawner */
    char *home;                     /* the same with the state directory's path */
    int state_fd, home_netns_fd;
    struct spawner_link *spawner; /* that makes the next cell */
    struct work_pool *starters;   /* one thread, from the first loss of a spawner on */
    struct err no_spawner;        /* why there is none now */
    struct loop_timer silence;    /* while something is built */
    struct list old;              /* struct spawner_link: all others */
    unsigned n_old;
    uint32_t next_tag, next_link_id;
    struct list stock, cells, building;
    struct list waiting; /* struct building: for a spawner with room */
    struct list uppers;  /* struct upper_request, of engine_root.c */
    unsigned n_stock, n_cells, n_stock_building;
    struct loop_timer retry; /* of the stock, or of the spawner when it died */
    struct engine_stock_counts counts;
    int load_fd;      /* /proc/loadavg, or -1 */
    int64_t used_ms;  /* when somebody last asked for a cell or used one */
    int64_t waits_ms; /* since when the stock waits for a moment without that; 0: not */
    struct engine_cpus cpus;
    struct engine_images images;
    struct buf out;
    struct packet in;
};

/* ---- engine.c ---- */

/* Asks the spawner for a cell. 0: B is in engine.building now; else -errno. */
int engine_ask_for(struct engine *en, struct building *b);
/* What engine.retry is for: looks after the stock, or for the spawner. */
void engine_retry(struct engine *en);
/* Reports and frees a claimed cell that is gone / frees one of the stock. */
void engine_bury(struct engine_cell *c, int status);
void engine_bury_stock(struct engine_cell *c);
/* Ends a cell that nobody knows of, so its end is not reported either. */
void engine_drop(struct engine_cell *c);
/* Enters C among the claimed ones. */
void engine_claim(struct engine_cell *c);
/* Handles the packet in engine.in, which came from S, and finishes it. */
void engine_dispatch(struct spawner_link *s);

/* ---- engine_stock.c ---- */
/* A cell of the stock that fits and lives, or NULL; engine_stock_taken() follows when it was handed
 * out. */
struct engine_cell *engine_stock_take(struct engine *en, const struct cell_spec *spec);
void engine_stock_taken(struct engine *en);
/* A cell that was built for the stock; NULL: it could not be. */
void engine_stock_add(struct engine *en, struct engine_cell *c);
/* Makes cells and lets them rehearse, as far as that is to be done now. */
void engine_stock_tend(struct engine *en);
void engine_retry_later(struct engine *en);
/* Ends all cells of the stock. */
void engine_stock_drop(struct engine *en);

/* ---- engine_template.c ---- */
/* The program that works on files inside cells; it lies beside the one that runs them. */
void engine_find_local(const struct engine *en, char ret[PATH_MAX]);
/* From now on it follows the host. */
void engine_template_watch(struct engine *en);
void engine_template_unwatch(struct engine *en);

/* ---- engine_cell.c ---- */

/* A cell from what its spawner says; takes the descriptors out of P. */
struct engine_cell *engine_cell_new(struct spawner_link *s, const struct cell_info *info,
                                    struct packet *p, struct err *e);
void engine_cell_free(struct engine_cell *c);
/* Tells the spawner the cell's label, by which a later daemon finds it. */
void engine_cell_tell_label(struct engine_cell *c);
/* Gives the cell its name, its label first. */
int engine_cell_name(struct engine_cell *c, const char *label, const char *hostname, struct err *e);

/* ---- engine_dial.c: the way to the first process of a cell ---- */

/* A connection to the cell that ADDRESS names (engine_cell_address()), and to no other: a
 * non-blocking descriptor, or -errno; -ESHUTDOWN when it has ended. CTX is the engine. */
int engine_dial(void *ctx, const char *address, struct err *e);

/* ---- engine_request.c: the conversation with the first process of a cell ---- */

int engine_http_open(struct engine *en, struct err *e);
/* Sends the hostname; nobody waits for it but the cell's next commands. */
int engine_send_hostname(struct engine_cell *c, const char *hostname, struct err *e);
/* Has the cell run a command that does nothing: whatever a first command makes slow has happened
 * then. */
int engine_rehearse(struct engine_cell *c);
/* Fails all waiting requests. */
void engine_requests_fail(struct engine_cell *c);
