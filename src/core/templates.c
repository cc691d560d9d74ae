/* SPDX-License-Identifier: MIT */
/* The templates that there are now: see templates.h. What is in use is only ever replaced by what
 * the store has: a save that is cut short leaves the old text in both places. */
#include "core/templates.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/event.h"
#include "core/template_blueprint.h"
#include "store/store.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

extern const char templates_shipped[], templates_shipped_blueprint[];

const char *const templates_kind_names[TEMPLATES_KIND_COUNT] = {
    [TEMPLATES_LIST] = "templates",
    [TEMPLATES_BLUEPRINT] = "sandbox-template",
};

/* A text of either kind, read; it belongs to whoever has it. */
struct edition {
    enum templates_kind kind;
    struct template_list *list; /* of TEMPLATES_LIST */
    struct arena arena;         /* of TEMPLATES_BLUEPRINT */
    struct blueprint blueprint;
    char *text;
};

struct templates {
    struct core *core;
    struct edition *current[TEMPLATES_KIND_COUNT];
    int64_t used[TEMPLATES_KIND_COUNT];  /* the number of what is in use */
    int64_t given[TEMPLATES_KIND_COUNT]; /* the last number that a save was given */
    struct err fault;
    void (*fn)(void *ctx);
    void *ctx;
};

/* ---- editions ---- */

static void edition_free(struct edition *ed)
{
    if (!ed)
        return;
    template_list_unref(ed->list);
    arena_done(&ed->arena);
    free(ed->text);
    free(ed);
}

DEFINE_CLEANUP(struct edition *, edition_free)

/* The text that ships with the program. */
static struct str templates_shipped_text(enum templates_kind kind)
{
    return str_of(kind == TEMPLATES_LIST ? templates_shipped : templates_shipped_blueprint);
}

static int edition_read(struct edition *ed, struct err *e)
{
    struct str text = str_of(ed->text);

    if (ed->kind == TEMPLATES_LIST) {
        ed->list = template_list_parse(text, e);
        return ed->list ? 0 : e->code;
    }
    arena_init(&ed->arena, 16L * TEMPLATES_BLUEPRINT_MAX);
    if (text.len > TEMPLATES_BLUEPRINT_MAX)
        return err_set(e, -E2BIG, "the sandbox template has more than %d bytes",
                       TEMPLATES_BLUEPRINT_MAX);
    int r = blueprint_parse(&ed->arena, text, &ed->blueprint, e);
    return r < 0 ? err_ctx(e, r, "invalid sandbox template syntax") : 0;
}

/* Reads TEXT; what is empty stands for what ships. NULL with E filled. */
static struct edition *edition_new(enum templates_kind kind, struct str text, struct err *e)
{
    struct edition *ed auto_(edition_free) = mem_zalloc(1, sizeof *ed);

    if (text.len == 0)
        text = templates_shipped_text(kind);
    if (ed) {
        ed->kind = kind;
        ed->text = mem_strndup(text.p, text.len);
    }
    if (!ed || !ed->text) {
        (void)err_sys(e, -ENOMEM, "%s", templates_kind_names[kind]);
        return NULL;
    }
    return edition_read(ed, e) < 0 ? NULL : take(ed);
}

static void use_edition(struct templates *t, struct edition *ed, int64_t number)
{
    edition_free(t->current[ed->kind]);
    t->current[ed->kind] = ed;
    t->used[ed->kind] = number;
}

/* ---- opening ---- */

static void add_get(struct store_tx *tx, enum templates_kind kind, int64_t number)
{
    store_tx_add(tx, STORE_REVISION_GET);
    store_tx_text(tx, str_of(templates_kind_names[kind]));
    store_tx_int(tx, number);
}

/* Uses the newest text up to number *AT, and makes *AT its number: 0 is the shipped one. 0, or
 * -errno when that one cannot be read. */
static int load_newest(struct templates *t, enum templates_kind kind, int64_t *at, struct err *e)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();
    struct str text = STR_NULL;

    add_get(tx, kind, *at);
    *at = 0;
    int r = t->core->store ? store_run(t->core->store, tx, e) : 0;
    if (r < 0)
        return r;
    if (t->core->store && store_tx_n_rows(tx, 0) > 0) {
        *at = store_tx_row(tx, 0, 0).cols[0].i;
        text = store_tx_row(tx, 0, 0).cols[1].s;
    }
    if (t->given[kind] < *at)
        t->given[kind] = *at;
    struct edition *ed = edition_new(kind, text, e);
    if (!ed)
        return e->code;
    use_edition(t, ed, *at);
    return 0;
}

/* Uses the newest text that can be read. */
static int load_kind(struct templates *t, enum templates_kind kind, struct err *e)
{
    int64_t number = INT64_MAX;

    for (;;) {
        struct err why = ERR_INIT;
        int r = load_newest(t, kind, &number, &why);
        if (r == 0)
            return 0;
        if (number == 0) {
            *e = why;
            return r;
        }
        t->fault = why;
        number--;
    }
}

struct templates *templates_open(struct core *c, struct err *e)
{
    struct templates *t = mem_zalloc(1, sizeof *t);
    int r = 0;

    if (!t) {
        (void)err_sys(e, -ENOMEM, "templates");
        return NULL;
    }
    t->core = c;
    for (int kind = 0; r == 0 && kind < TEMPLATES_KIND_COUNT; kind++)
        r = load_kind(t, (enum templates_kind)kind, e);
    if (r == 0)
        return t;
    templates_free(t);
    return NULL;
}

void templates_free(struct templates *t)
{
    for (int kind = 0; t && kind < TEMPLATES_KIND_COUNT; kind++)
        edition_free(t->current[kind]);
    free(t);
}

/* ---- what there is ---- */

const struct err *templates_fault(const struct templates *t)
{
    return &t->fault;
}

struct template_list *templates_list(const struct templates *t)
{
    return t->current[TEMPLATES_LIST]->list;
}

const struct template *templates_find(const struct templates *t, struct str name)
{
    const struct template *found = template_list_find(templates_list(t), name);

    return found || !str_is(name, template_default.name) ? found : &template_default;
}

struct str templates_id(const struct templates *t, struct str name)
{
    struct str id = template_list_id(templates_list(t), name);

    return id.p || !str_is(name, template_default.name) ? id : name;
}

struct str templates_text(const struct templates *t, enum templates_kind kind)
{
    return str_of(t->current[kind]->text);
}

const struct blueprint *templates_blueprint(const struct templates *t)
{
    return &t->current[TEMPLATES_BLUEPRINT]->blueprint;
}

void templates_watch(struct templates *t, void (*fn)(void *ctx), void *ctx)
{
    t->fn = fn;
    t->ctx = ctx;
}

/* ---- saving ---- */

struct templates_saving {
    struct templates *templates;
    struct edition *edition;
    int64_t number;
    templates_fn *fn;
    void *ctx;
};

static void saving_free(struct templates_saving *s)
{
    edition_free(s->edition);
    free(s);
}

/* It is durable: only now does anybody see it. */
static void on_templates_saved(struct store_tx *tx, int result, void *ctx)
{
    struct templates_saving *s = ctx;
    struct templates *t = s->templates;
    struct err e = ERR_INIT;

    (void)tx;
    if (result < 0)
        (void)err_sys(&e, result, "save the %s", templates_kind_names[s->edition->kind]);
    else {
        enum templates_kind kind = s->edition->kind;
        use_edition(t, take(s->edition), s->number);
        if (kind == TEMPLATES_LIST && t->fn)
            t->fn(t->ctx);
    }
    s->fn(s->ctx, e.code ? &e : NULL);
    saving_free(s);
}

static struct store_tx *make_tx(const struct templates_saving *s, const struct templates_save *from)
{
    struct store_tx *tx = store_tx_new();
    struct str kind = str_of(templates_kind_names[from->kind]);

    store_tx_add(tx, STORE_REVISION_INSERT);
    store_tx_text(tx, kind);
    store_tx_int(tx, s->number);
    store_tx_int(tx, clock_real_us());
    store_tx_text(tx, from->who);
    store_tx_text(tx, from->text.p ? from->text : STR(""));
    store_tx_add(tx, STORE_REVISION_PRUNE);
    store_tx_text(tx, kind);
    store_tx_int(tx, s->number - TEMPLATES_KEEP);
    event_add(tx, EVENT_TEMPLATES_UPDATED, STR_NULL, kind, "Revision %lld of %s saved by " STR_FMT,
              (long long)s->number, templates_kind_names[from->kind], STR_ARG(from->who));
    return tx;
}

int templates_save(struct templates *t, const struct templates_save *from, struct err *e)
{
    struct edition *ed auto_(edition_free) = edition_new(from->kind, from->text, e);

    if (!ed)
        return e->code;
    struct templates_saving *s = mem_zalloc(1, sizeof *s);
    if (!s)
        return err_sys(e, -ENOMEM, "save");
    *s = (struct templates_saving){.templates = t,
                                   .number = ++t->given[from->kind],
                                   .fn = from->fn,
                                   .ctx = from->ctx,
                                   .edition = take(ed)};
    int r = store_submit(t->core->store, make_tx(s, from), t->core->loop, on_templates_saved, s);
    if (r < 0) {
        saving_free(s);
        return err_sys(e, r, "save");
    }
    return 0;
}

/* ---- history ---- */

struct question {
    struct templates *templates;
    enum templates_kind kind;
    int64_t number;
    templates_history_fn *on_history;
    templates_text_fn *on_text;
    void *ctx;
};

static int ask_store(struct templates *t, struct store_tx *tx, const struct question *q,
                     store_done *done)
{
    struct question *copy = mem_zalloc(1, sizeof *copy);

    if (!copy) {
        store_tx_free(tx);
        return -ENOMEM;
    }
    *copy = *q;
    int r = store_submit(t->core->store, tx, t->core->loop, done, copy);
    if (r < 0)
        free(copy);
    return r;
}

static void on_templates_history(struct store_tx *tx, int result, void *ctx)
{
    struct question *q auto_free = ctx;
    int64_t used = q->templates->used[q->kind];
    size_t n = result < 0 ? 0 : store_tx_n_rows(tx, 0);
    struct templates_revision *all auto_free = mem_zalloc(n + 1, sizeof *all);
    struct err e = ERR_INIT;

    if (result < 0 || !all) {
        (void)err_sys(&e, result < 0 ? result : -ENOMEM, "history");
        q->on_history(q->ctx, NULL, 0, &e);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct store_value *cols = store_tx_row(tx, 0, i).cols;
        all[i] = (struct templates_revision){.number = cols[0].i,
                                             .at_us = cols[1].i,
                                             .who = cols[2].s,
                                             .n_bytes = cols[3].i,
                                             .is_current = cols[0].i == used};
    }
    all[n] = (struct templates_revision){.who = STR("tidepool"), .is_current = used == 0};
    q->on_history(q->ctx, all, n + 1, NULL);
}

int templates_history(struct templates *t, enum templates_kind kind, templates_history_fn *fn,
                      void *ctx)
{
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, STORE_REVISION_LIST);
    store_tx_text(tx, str_of(templates_kind_names[kind]));
    store_tx_int(tx, TEMPLATES_KEEP);
    return ask_store(t, tx,
                     &(struct question){.templates = t, .kind = kind, .on_history = fn, .ctx = ctx},
                     on_templates_history);
}

static void on_templates_read(struct store_tx *tx, int result, void *ctx)
{
    struct question *q auto_free = ctx;
    struct err e = ERR_INIT;
    struct str text = STR_NULL;

    if (result == 0 && store_tx_n_rows(tx, 0) == 1 && store_tx_row(tx, 0, 0).cols[0].i == q->number)
        text = store_tx_row(tx, 0, 0).cols[1].s;
    if (text.p && text.len == 0)
        text = templates_shipped_text(q->kind);
    if (!text.p && result < 0)
        (void)err_sys(&e, result, "read");
    else if (!text.p)
        (void)err_set(&e, -ENOENT, "revision %lld of %s not found", (long long)q->number,
                      templates_kind_names[q->kind]);
    q->on_text(q->ctx, text, text.p ? NULL : &e);
}

int templates_read(struct templates *t, enum templates_kind kind, int64_t number,
                   templates_text_fn *fn, void *ctx)
{
    if (number == 0) {
        fn(ctx, templates_shipped_text(kind), NULL);
        return 0;
    }
    struct store_tx *tx = store_tx_new();
    add_get(tx, kind, number);
    return ask_store(t, tx,
                     &(struct question){
                         .templates = t, .kind = kind, .number = number, .on_text = fn, .ctx = ctx},
                     on_templates_read);
}
