/* SPDX-License-Identifier: MIT */
/* For the files of the IMAP session. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "local/mail/imap.h"
#include "local/mail/mime.h"
#include "local/mail/store.h"

enum { IMAP_FETCH_MAX = 64, IMAP_PATH_MAX = MIME_DEPTH_MAX, IMAP_TAG_MAX = 100 };

/* What is left of a command, and whether it was malformed so far. */
struct imap_cur {
    struct str s;
    struct arena *arena;
    bool is_bad;
};

/* A message as the session numbers it. */
struct imap_seen {
    uint32_t uid;
    uint64_t change;
};

struct imap {
    struct mail_store *store;
    imap_write *write;
    void *ctx;
    struct buf in, out;
    size_t scan;         /* of IN: what belongs to the command at hand for sure */
    unsigned n_literals; /* of it */
    struct arena arena;  /* of the command */
    struct arena one;    /* of the message at hand */
    struct str tag;
    char kept_tag[IMAP_TAG_MAX];
    unsigned n_errors;
    bool is_over, is_lost;
    bool is_idle;
    bool is_authenticating; /* the next line is the answer to "+" */

    struct mail_account *account; /* NULL: nobody logged in */
    uint32_t folder;              /* 0: none is selected */
    bool is_read_only;
    bool is_uid; /* the command had UID before it */
    struct imap_seen *view;
    size_t n_view, cap_view;
    uint64_t view_change; /* of the folder when the view was made; 0: look again */
    uint32_t recent_from;
};

struct imap_range {
    uint32_t low, high; /* UINT32_MAX: "*" */
};

struct imap_set {
    struct imap_range *ranges;
    size_t n;
};

/* ---- reading (imap_read.c); each marks what is malformed ---- */

void imap_space(struct imap_cur *c);
bool imap_char(struct imap_cur *c, char wanted); /* takes it when it is there */
bool imap_at(const struct imap_cur *c, char wanted);
struct str imap_atom(struct imap_cur *c);
struct str imap_string(struct imap_cur *c);  /* quoted or literal */
struct str imap_astring(struct imap_cur *c); /* or an atom */
struct str imap_pattern(struct imap_cur *c); /* or an atom with wildcards */
struct str imap_mailbox(struct imap_cur *c); /* as UTF-8 */
uint32_t imap_number(struct imap_cur *c);
struct imap_set imap_set(struct imap_cur *c);
void imap_end(struct imap_cur *c); /* nothing may follow */
/* The length that "{n}" or "{n+}" at the end of LINE announces; -1: none. */
int64_t imap_literal(struct str line, bool *is_sync);
bool imap_set_has(const struct imap_set *set, uint32_t n, uint32_t max);
/* "(\Seen foo)": the bits; keywords are made when CREATE. */
uint32_t imap_flags(struct imap *i, struct imap_cur *c, bool create);

/* ---- writing (imap.c) ---- */

void imap_say(struct imap *i, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void imap_add(struct imap *i, struct str s);
/* The tagged line; WHAT is "OK", "NO" or "BAD". */
void imap_reply(struct imap *i, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void imap_fail(struct imap *i, int code); /* NO with the reason */
void imap_say_quoted(struct imap *i, struct str s);
/* A string as a literal or quoted; .p NULL: NIL. */
void imap_say_string(struct imap *i, struct str s);
void imap_say_flags(struct imap *i, const struct mail_message *m);

/* ---- the view (imap_view.c) ---- */

/* Tells what changed; with MAY_EXPUNGE also what is gone. */
void imap_sync(struct imap *i, bool may_expunge);
int imap_open(struct imap *i, const struct mail_folder *f, bool is_read_only);
void imap_close(struct imap *i);
/* True when the K-th message of the view is in SET. */
bool imap_has(const struct imap *i, const struct imap_set *set, size_t k);
const struct mail_message *imap_find(const struct mail_message *all, size_t n, uint32_t uid);

/* ---- commands ---- */

typedef void imap_command(struct imap *i, struct imap_cur *c);

imap_command imap_select, imap_examine, imap_create, imap_delete, imap_rename, imap_subscribe,
    imap_unsubscribe, imap_list, imap_lsub, imap_status, imap_append, imap_namespace;
imap_command imap_store, imap_copy, imap_move, imap_expunge, imap_do_close, imap_unselect;
imap_command imap_fetch, imap_search;

/* ---- parts of a FETCH ---- */

void imap_envelope(struct imap *i, const struct mime_part *p);
void imap_structure(struct imap *i, const struct mime_part *p, bool is_extended);
