/* SPDX-License-Identifier: MIT */
/* The templates that there are now: those that were saved last, or the ones that ship with the
 * program. Beside them the sandbox template, the defaults of all sandboxes. A save replaces
 * everything at once, in one transaction; what was saved before is kept and can be restored. */
#pragma once

#include "core/template.h"

struct blueprint;
struct core;
struct templates;

enum {
    TEMPLATES_KEEP = 100,           /* revisions of each kind that are kept */
    TEMPLATES_BLUEPRINT_MAX = 65536 /* bytes of a sandbox template */
};

/* What is saved: the list of templates, or the sandbox template. */
enum templates_kind { TEMPLATES_LIST, TEMPLATES_BLUEPRINT, TEMPLATES_KIND_COUNT };
extern const char *const templates_kind_names[TEMPLATES_KIND_COUNT];

/* Reads what the store has; a core without one has what ships. A saved text that this version
 * cannot read is skipped, and the one before it, at last the shipped one, is used;
 * templates_fault() says so. NULL with E filled. */
struct templates *templates_open(struct core *c, struct err *e);
void templates_free(struct templates *t);
/* What was wrong with the saved text that is not used; code 0: nothing. */
const struct err *templates_fault(const struct templates *t);

struct template_list *templates_list(const struct templates *t);
/* template_list_find() in what there is now; "default" is always found. */
const struct template *templates_find(const struct templates *t, struct str name);
struct str templates_id(const struct templates *t, struct str name);
/* The current text of KIND, as it was saved. */
struct str templates_text(const struct templates *t, enum templates_kind kind);
/* What the sandbox template says. */
const struct blueprint *templates_blueprint(const struct templates *t);

/* ---- changing ---- */

typedef void templates_fn(void *ctx, const struct err *e);

/* Checks TEXT (STR_NULL: what ships with the program), writes it, and uses it once it is durable;
 * then FN is called, with NULL or what went wrong. WHO is the account that the history shows.
 * -errno without a call when TEXT is refused: E names the field. */
struct templates_save {
    enum templates_kind kind;
    struct str text, who;
    templates_fn *fn;
    void *ctx;
};
int templates_save(struct templates *t, const struct templates_save *from, struct err *e);

/* FN is called whenever another list is used from now on; there is one such. */
void templates_watch(struct templates *t, void (*fn)(void *ctx), void *ctx);

/* ---- history ---- */

struct templates_revision {
    int64_t number; /* from 1; 0 is what ships with the program */
    int64_t at_us;  /* 0 for number 0 */
    struct str who;
    int64_t n_bytes; /* of its text; 0: that of the program */
    bool is_current;
};

/* What is kept of KIND, newest first and number 0 last; ALL is valid during the call, E is NULL or
 * says why there is nothing. 0, or -errno without a call. */
typedef void templates_history_fn(void *ctx, const struct templates_revision *all, size_t n,
                                  const struct err *e);
int templates_history(struct templates *t, enum templates_kind kind, templates_history_fn *fn,
                      void *ctx);
/* The text of revision NUMBER, valid during the call; .p is NULL when there is none, and E says
 * why (-ENOENT: it is not kept). 0, or -errno without a call. */
typedef void templates_text_fn(void *ctx, struct str text, const struct err *e);
int templates_read(struct templates *t, enum templates_kind kind, int64_t number,
                   templates_text_fn *fn, void *ctx);
