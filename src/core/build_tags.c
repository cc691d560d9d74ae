/* SPDX-License-Identifier: MIT */
/* Tags of templates: which build a name stands for. See build.h. Memory is changed when the store
 * has it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/build_internal.h"
#include "core/core.h"
#include "core/limits.h"
#include "store/store.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

enum { ROWS_MAX = 65536 };

#define DEFAULT_TAG "default"

bool build_name_is_valid(struct str name, bool is_tag)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_' &&
            !(is_tag && c == '.'))
            return false;
    }
    return name.len > 0 && name.len <= BUILD_NAME_MAX;
}

/* ---- finding ---- */

static bool is_tag_of(const struct build_tag *t, const char *account, struct str name)
{
    return strcmp(t->account, account) == 0 &&
           (name.len == 0 || str_is(name, t->alias) || str_is(name, t->template_id));
}

struct build_tag *build_tag_next(const struct builds *set, const struct build_tag *t,
                                 const char *account, struct str name)
{
    const struct list *node = t ? t->node.next : set->tags.next;

    for (; node != &set->tags; node = node->next) {
        struct build_tag *next = list_entry((struct list *)(uintptr_t)node, struct build_tag, node);
        if (is_tag_of(next, account, name))
            return next;
    }
    return NULL;
}

struct build_tag *build_tag_find(const struct builds *set, const char *account, struct str name,
                                 struct str tag)
{
    if (name.len == 0)
        return NULL;
    if (tag.len == 0)
        tag = STR(DEFAULT_TAG);
    for (struct build_tag *t = NULL; (t = build_tag_next(set, t, account, name));)
        if (str_is(tag, t->tag))
            return t;
    return NULL;
}

void build_tag_free(struct build_tag *t)
{
    if (t->tally)
        tally_give(t->tally, 1);
    list_del(&t->node);
    free(t);
}

/* ---- how many an account has ---- */

static struct tally *find_tag_tally(const struct builds *set, const char *account)
{
    struct core *core = set->core;

    return limits_tally(core->limits, accounts_account(core->accounts, str_of(account)),
                        LIMIT_ACCOUNT_TAGS);
}

/* T is about to be stored; one that takes the place of another needs no room of its own. */
static int take_tag_room(const struct builds *set, struct build_tag *t, struct err *e)
{
    struct core *core = set->core;

    t->tally = NULL;
    if (build_tag_find(set, t->account, str_of(t->alias), str_of(t->tag)))
        return 0;
    int r = limits_take(core->limits, accounts_account(core->accounts, str_of(t->account)),
                        LIMIT_ACCOUNT_TAGS, 1, e);
    if (r == 0)
        t->tally = find_tag_tally(set, t->account);
    return r;
}

/* Those of one alias stay beside each other, and aliases in their order. */
static void insert_tag(struct builds *set, struct build_tag *t)
{
    struct list *at = set->tags.next;

    for (; at != &set->tags; at = at->next) {
        const struct build_tag *other = list_entry(at, struct build_tag, node);
        int order = strcmp(t->account, other->account);
        if (order == 0)
            order = strcmp(t->alias, other->alias);
        if (order < 0)
            break;
    }
    list_add(at->prev, &t->node);
}

/* ---- roots that nobody names any more ---- */

static bool is_root_tagged(const struct builds *set, const char *root)
{
    list_each(node, &set->tags) if (strcmp(list_entry(node, struct build_tag, node)->root, root) ==
                                    0) return true;
    return false;
}

static void drop_root(const struct builds *set, const char *id)
{
    struct root *root = root_find(set->core->roots, str_of(id));

    if (root && !root->is_removed && !is_root_tagged(set, id))
        root_remove(root);
}

/* ---- changes ---- */

struct tag_change {
    struct builds *set;
    struct build_tag *added[BUILD_TAGS_MAX]; /* not in the list yet */
    size_t n_added;
    struct build_tag removed; /* its account and alias; tags by their rows */
    const struct json *tags;  /* to remove; NULL: all */
    struct arena arena;
    build_done_fn *fn;
    void *ctx;
};

static void free_change(struct tag_change *c)
{
    for (size_t i = 0; i < c->n_added; i++)
        if (c->added[i])
            build_tag_free(c->added[i]);
    arena_done(&c->arena);
    free(c);
}

static struct tag_change *new_change(struct builds *set, build_done_fn *fn, void *ctx)
{
    struct tag_change *c = mem_zalloc(1, sizeof *c);

    if (c) {
        arena_init(&c->arena, BUILD_SPEC_MAX);
        c->set = set;
        c->fn = fn;
        c->ctx = ctx;
    }
    return c;
}

static void on_added(struct store_tx *tx, int result, void *ctx)
{
    struct tag_change *c = ctx;
    struct err e = ERR_INIT;
    char old[ROOT_ID_MAX] = "";

    (void)tx;
    for (size_t i = 0; result == 0 && i < c->n_added; i++) {
        struct build_tag *t = take(c->added[i]);
        struct build_tag *before =
            build_tag_find(c->set, t->account, str_of(t->alias), str_of(t->tag));
        if (before) {
            (void)snprintf(old, sizeof old, "%s", before->root);
            build_tag_free(before);
        }
        if (!t->tally) {
            t->tally = find_tag_tally(c->set, t->account);
            tally_add(t->tally, 1);
        }
        insert_tag(c->set, t);
        if (old[0] != '\0')
            drop_root(c->set, old);
    }
    if (result < 0)
        (void)err_sys(&e, result, "store");
    c->fn(c->ctx, result < 0 ? &e : NULL);
    free_change(c);
}

static int add_row(struct tag_change *c, struct store_tx *tx, const struct build_tag *like,
                   struct str tag, struct err *e)
{
    struct build_tag *t = mem_zalloc(1, sizeof *t);

    if (!t)
        return -ENOMEM;
    *t = *like;
    list_init(&t->node);
    (void)snprintf(t->tag, sizeof t->tag, STR_FMT, STR_ARG(tag));
    c->added[c->n_added++] = t;
    int r = take_tag_room(c->set, t, e);
    if (r < 0)
        return r;
    store_tx_add(tx, STORE_BUILT_PUT);
    store_tx_text(tx, str_of(t->account));
    store_tx_text(tx, str_of(t->alias));
    store_tx_text(tx, str_of(t->tag));
    store_tx_text(tx, str_of(t->template_id));
    store_tx_text(tx, str_of(t->build_id));
    store_tx_text(tx, str_of(t->root));
    store_tx_int(tx, t->created_us);
    return 0;
}

/* TAGS are checked: strings, at most BUILD_TAGS_MAX.
 * NOLINTNEXTLINE(readability-function-size): whose, which, and whom to notify */
static int submit_tags(struct builds *set, const struct build_tag *like, const struct json *tags,
                       build_done_fn *fn, void *ctx, struct err *e)
{
    struct tag_change *c = new_change(set, fn, ctx);
    struct store_tx *tx = store_tx_new();
    int r = c ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < tags->n; i++)
        r = add_row(c, tx, like, tags->items[i].s, e);
    if (r == 0)
        r = store_submit(set->core->store, tx, set->core->loop, on_added, c);
    else
        store_tx_free(tx);
    if (r < 0 && c)
        free_change(c);
    return r;
}

/* NOLINTNEXTLINE(readability-function-size): whose, which, and whom to notify */
int build_tag_add(struct builds *set, const struct build_tag *t, const struct json *tags,
                  build_done_fn *fn, void *ctx, struct err *e)
{
    struct build_tag like = *t;

    like.created_us = clock_real_us();
    return submit_tags(set, &like, tags, fn, ctx, e);
}

int build_publish(struct build *b, const struct root *root, build_done_fn *fn, void *ctx,
                  struct err *e)
{
    struct build_tag like = {.created_us = clock_real_us()};

    (void)snprintf(like.account, sizeof like.account, "%s", b->account);
    (void)snprintf(like.alias, sizeof like.alias, "%s", b->alias);
    (void)snprintf(like.template_id, sizeof like.template_id, "%s", b->template_id);
    (void)snprintf(like.build_id, sizeof like.build_id, "%s", b->id);
    (void)snprintf(like.root, sizeof like.root, "%s", root->id);
    return submit_tags(b->set, &like, b->tags, fn, ctx, e);
}

/* ---- removing ---- */

static bool is_tag_listed(const struct json *tags, const char *tag)
{
    for (size_t i = 0; tags && i < tags->n; i++)
        if (str_is(json_str(&tags->items[i], STR("")), tag))
            return true;
    return !tags;
}

static void on_tag_removed(struct store_tx *tx, int result, void *ctx)
{
    struct tag_change *c = ctx;
    struct err e = ERR_INIT;
    struct str alias = str_of(c->removed.alias);

    (void)tx;
    for (struct build_tag *t = NULL,
                          *next = build_tag_next(c->set, NULL, c->removed.account, alias);
         result == 0 && (t = next);) {
        char root[ROOT_ID_MAX];
        next = build_tag_next(c->set, t, c->removed.account, alias);
        if (!is_tag_listed(c->tags, t->tag))
            continue;
        (void)snprintf(root, sizeof root, "%s", t->root);
        build_tag_free(t);
        drop_root(c->set, root);
    }
    if (result < 0)
        (void)err_sys(&e, result, "store");
    c->fn(c->ctx, result < 0 ? &e : NULL);
    free_change(c);
}

/* NOLINTNEXTLINE(readability-function-size): whose, which, and whom to notify */
int build_tag_remove(struct builds *set, const char *account, struct str alias,
                     const struct json *tags, build_done_fn *fn, void *ctx)
{
    struct tag_change *c = new_change(set, fn, ctx);
    struct store_tx *tx = store_tx_new();

    if (!c) {
        store_tx_free(tx);
        return -ENOMEM;
    }
    (void)snprintf(c->removed.account, sizeof c->removed.account, "%s", account);
    (void)snprintf(c->removed.alias, sizeof c->removed.alias, STR_FMT, STR_ARG(alias));
    c->tags = tags ? json_copy(&c->arena, tags) : NULL;
    for (struct build_tag *t = NULL; (t = build_tag_next(set, t, account, alias));) {
        if (!is_tag_listed(c->tags, t->tag))
            continue;
        store_tx_add(tx, STORE_BUILT_DELETE);
        store_tx_text(tx, str_of(t->account));
        store_tx_text(tx, str_of(t->alias));
        store_tx_text(tx, str_of(t->tag));
    }
    int r = store_submit(set->core->store, tx, set->core->loop, on_tag_removed, c);
    if (r < 0)
        free_change(c);
    return r;
}

/* ---- after a restart ---- */

static int enter_tag_row(struct builds *set, const struct store_value *cols)
{
    struct build_tag *t = mem_zalloc(1, sizeof *t);
    const struct {
        char *to;
        size_t size;
    } texts[] = {
        {t ? t->account : NULL, sizeof t->account},
        {t ? t->alias : NULL, sizeof t->alias},
        {t ? t->tag : NULL, sizeof t->tag},
        {t ? t->template_id : NULL, sizeof t->template_id},
        {t ? t->build_id : NULL, sizeof t->build_id},
        {t ? t->root : NULL, sizeof t->root},
    };

    if (!t)
        return -ENOMEM;
    list_init(&t->node);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        (void)snprintf(texts[i].to, texts[i].size, STR_FMT, STR_ARG(cols[i].s));
    t->created_us = cols[ARRAY_LEN(texts)].i;
    /* Its files may have gone with the machine. */
    if (!root_find(set->core->roots, str_of(t->root))) {
        free(t);
        return 0;
    }
    t->tally = find_tag_tally(set, t->account);
    tally_add(t->tally, 1);
    insert_tag(set, t);
    return 0;
}

int builds_load_tags(struct builds *set, struct err *e)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();

    store_tx_add(tx, STORE_BUILT_LIST);
    store_tx_int(tx, ROWS_MAX);
    int r = store_run(set->core->store, tx, e);
    size_t n = r < 0 ? 0 : store_tx_n_rows(tx, 0);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = enter_tag_row(set, store_tx_row(tx, 0, i).cols);
    return r < 0 ? err_ctx(e, r, "templates") : 0;
}
