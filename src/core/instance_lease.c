/* SPDX-License-Identifier: MIT */
/* Lending slots and taking them back: see instance.h.
 *
 * Acquiring:  choose_template → (the template is made) on_lease_template → reserve_slot for each →
 *             [fork: the content is copied into them, on_copied] → submit_acquisition →
 *             on_durable for each transaction → settle_acquisition → finish_acquisition
 *
 * Until settle_acquisition() the slots are the acquisition's alone: out of the idle pools, counted
 * against limits and quota, their leases in no answer. All are given or none, although a large
 * acquisition is written in several transactions. So when one of these fails, undo_all() takes back
 * what was only reserved, and releases, like any other lease, what is written already.
 *
 * Releasing:  begin_release (nothing new is accepted, what waits is refused) → the operation that
 *             runs ends → INSTANCE_DROP → on_lease_dropped → write_release until it is durable →
 *             on_lease_released: the slot is idle, and those who wait are called
 *
 * The files go before the row says so. A crash in between leaves an occupied row without files,
 * which is a lease with the content of its template until its time is over. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance_calls.h"
#include "core/instance_internal.h"
#include "core/instance_slot.h"
#include "core/limits.h"
#include "core/metrics.h"

enum { PER_TX = 100, RETRY_MS = 1000 };

/* ---- checking ---- */

/* A request for slots, from instances_acquire() to finish_acquisition(), which frees it. It has a
 * reference on the key and on the template; what ARGS points to is copied, since the request that
 * it came from may end first. */
struct acquisition {
    struct instances *set;
    struct arena arena;
    struct instance_args args; /* in the arena */
    struct str tags;           /* as JSON */
    struct instance_template *template;
    struct template_wait wait;
    instances_fn *fn;
    void *ctx;
    size_t n, n_pending; /* slots; transactions that are not done */
    struct err err;
    bool is_preparation;     /* the slots stay idle */
    struct instance *from;   /* of a fork, or NULL */
    struct instance_op copy; /* of its content */
    bool *is_stored;         /* for each item: its transaction is done */
    struct instance *items[];
};

static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        bool is_plain = ascii_is_alnum(c);
        if (!is_plain && c != '_' && c != '-' && (c != '.' || i == 0))
            return false;
    }
    return s.len <= INSTANCE_WORD_MAX;
}

static int check_args(const struct instance_args *a, struct err *e)
{
    if (a->count > INSTANCE_BATCH_MAX)
        return err_set(e, -EINVAL, "count must be at most %d", INSTANCE_BATCH_MAX);
    if (a->record && a->count > INSTANCE_RECORD_MAX)
        return err_set(e, -EINVAL, "count must be at most %d with an Idempotency-Key",
                       INSTANCE_RECORD_MAX);
    if (a->count > 1 && a->email.len > 0)
        return err_set(e, -EINVAL, "count must be 1 with a test account");
    if (a->email.len > INSTANCE_EMAIL_MAX ||
        memchr(a->email.p ? a->email.p : "", '\n', a->email.len))
        return err_set(e, -EINVAL, "the test account's address is malformed");
    if (!is_word(a->benchmark))
        return err_set(e, -EINVAL, "the benchmark's name is malformed");
    if (!is_word(a->data))
        return err_set(e, -EINVAL, "the data set's name is malformed");
    if (a->ttl_s < -1 || (a->ttl_s > 0 && a->ttl_s < INSTANCE_TTL_MIN_S) ||
        a->ttl_s > INSTANCE_TTL_MAX_S)
        return err_set(e, -EINVAL, "ttl_seconds must be %d to %d", INSTANCE_TTL_MIN_S,
                       INSTANCE_TTL_MAX_S);
    return 0;
}

/* The data set that is meant: "" is the schema alone. */
static int choose_data(const struct app *app, const struct instance_args *a, struct str *ret,
                       struct err *e)
{
    *ret = STR("");
    if (a->data.len > 0 && !str_is(a->data, "empty")) {
        if (!app_has_seed(app, a->data))
            return err_set(e, -EINVAL, "%s has no data set '" STR_FMT "'", app->name,
                           STR_ARG(a->data));
        *ret = a->data;
    } else if (a->data.len == 0 && a->benchmark.len > 0 && app_has_seed(app, a->benchmark)) {
        *ret = a->benchmark;
    }
    return 0;
}

static int copy_acquisition_args(struct acquisition *q, const struct instance_args *from,
                                 struct str data)
{
    struct arena *a = &q->arena;
    auto_buf struct buf tags = BUF_INIT(INSTANCE_TAGS_MAX);

    q->args = *from;
    q->args.server = str_of(q->template->entry->app->name);
    q->args.spelling = arena_str(a, from->spelling.len > 0 ? from->spelling : q->args.server);
    q->args.email = arena_str(a, from->email);
    q->args.benchmark = arena_str(a, from->benchmark);
    q->args.data = arena_str(a, data);
    q->args.owner = arena_str(a, from->owner);
    q->args.snapshot = arena_str(a, from->snapshot);
    q->args.tags = NULL;
    if (json_write(&tags, from->tags, JSON_COMPACT) < 0)
        return err_set(&q->err, -EINVAL, "the tags are longer than %d bytes", INSTANCE_TAGS_MAX);
    q->tags = arena_str(a, buf_str(&tags));
    bool is_whole = q->args.spelling.p && q->args.email.p && q->args.benchmark.p &&
                    q->args.data.p && q->args.owner.p && q->args.snapshot.p && q->tags.p;
    return is_whole ? 0 : err_set(&q->err, -ENOMEM, "out of memory");
}

/* ---- slots ---- */

static struct instance *make_slot(struct acquisition *q, const char *account, struct err *e)
{
    struct instances *set = q->set;
    struct instance *in = instance_new(set);
    char email[64];

    if (!in)
        return NULL;
    id_uuid(in->id);
    in->created_us = in->updated_us = clock_real_us();
    (void)snprintf(in->account, sizeof in->account, "%s", account);
    (void)snprintf(in->server, sizeof in->server, STR_FMT, STR_ARG(q->args.server));
    in->has_own_email = q->args.email.len > 0;
    (void)snprintf(email, sizeof email, "agent-%.8s@larkspur.example", in->id);
    if (instance_copy_text(&in->email, in->has_own_email ? q->args.email : str_of(email)) == 0 &&
        instance_take_slot(in, q->args.key->account, e) == 0 && instance_enter(in) == 0) {
        in->is_new = true;
        return in;
    }
    instance_free(in);
    return NULL;
}

/* An idle slot, or a new one. */
static struct instance *take_slot(struct acquisition *q, struct err *e)
{
    struct instances *set = q->set;
    const char *account = q->args.key->account->id;
    struct instance_pool *pool = instance_pool(set, account, q->args.server.p);
    struct instance *in = NULL;

    if (!pool) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    if (q->args.email.len > 0) {
        in = instance_by_email(set, account, q->args.server.p, q->args.email);
        if (in && instance_state(in) != INSTANCE_IDLE) {
            (void)err_set(e, -EAGAIN, "the test account " STR_FMT " is in use",
                          STR_ARG(q->args.email));
            return NULL;
        }
    } else if (!list_is_empty(&pool->idle)) {
        in = list_entry(pool->idle.next, struct instance, idle_node);
    }
    if (!in)
        in = make_slot(q, account, e);
    if (!in) {
        if (!e->code)
            (void)err_set(e, -EAGAIN, "no sandbox of %s is idle", q->args.server.p);
        return NULL;
    }
    /* Whoever had it before knows its id, and may still use it. */
    if (!in->is_new && !q->is_preparation && instance_renew_id(in) < 0) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    list_del(&in->idle_node);
    return in;
}

static void give_back_slot(struct instance *in)
{
    if (in->is_new) {
        instance_leave(in);
        instance_free(in);
        return;
    }
    struct instance_pool *pool = instance_pool(in->set, in->account, in->server);
    if (pool && !in->has_own_email)
        list_append(&pool->idle, &in->idle_node);
}

static int fill_lease(struct acquisition *q, struct instance *in, struct err *e)
{
    const struct instance_args *a = &q->args;
    int r = instance_copy_text(&in->spelling, a->spelling);

    if (r == 0)
        r = instance_copy_text(&in->benchmark, a->benchmark);
    if (r == 0)
        r = instance_copy_text(&in->data, a->data);
    if (r == 0)
        r = instance_copy_text(&in->tags, q->tags);
    if (r == 0)
        r = instance_copy_text(&in->owner, a->owner);
    if (r == 0)
        r = instance_begin_own(in);
    if (r < 0)
        return err_set(e, r, "out of memory");
    in->own->template = template_ref(q->template);
    (void)snprintf(in->app, sizeof in->app, "%s", q->template->entry->digest);
    id_uuid(in->lease);
    in->updated_us = clock_real_us();
    in->ttl_s = a->ttl_s == 0 ? INSTANCE_TTL_DEFAULT_S : a->ttl_s;
    in->expires_us = in->ttl_s < 0 ? 0 : in->updated_us + in->ttl_s * 1000000;
    in->has_seed = a->has_seed;
    in->seed = a->has_seed || q->from ? a->seed : id_seed();
    in->start_us = a->start_us;
    return 0;
}

static void undo_lease(struct instance *in)
{
    bool was_acquiring = instance_state(in) == INSTANCE_ACQUIRING;

    instance_forget_lease(in);
    instance_end_own(in);
    if (was_acquiring)
        sm_move(&in->sm, INSTANCE_IDLE);
    give_back_slot(in);
}

/* Begins the lease of one slot. */
static int begin_lease(struct acquisition *q, struct instance *in, struct err *e)
{
    struct account_key *key = q->args.key;
    int r = fill_lease(q, in, e);

    if (r == 0)
        r = instance_take_lease(in, key->account, e);
    if (r == 0 && !instance_is_owned(in))
        r = quota_live_begin(&key->use, &key->limits, e);
    if (r < 0)
        return r;
    if (!instance_is_owned(in))
        in->key = account_key_ref(key);
    if (map_put(&q->set->by_lease, str_of(in->lease), in, NULL) < 0)
        return err_set(e, -ENOMEM, "out of memory");
    sm_move(&in->sm, INSTANCE_ACQUIRING);
    return 0;
}

/* ---- acquiring ---- */

static void finish_acquisition(struct acquisition *q)
{
    if (q->err.code)
        q->fn(q->ctx, NULL, 0, &q->err);
    else
        q->fn(q->ctx, q->items, q->n, NULL);
    template_unref(q->template);
    account_key_unref(q->args.key);
    arena_done(&q->arena);
    free(q);
}

/* What was not written leaves no trace; a lease that was is released. */
static void undo_all(struct acquisition *q)
{
    for (size_t i = 0; i < q->n; i++) {
        struct instance *in = q->items[i];
        if (q->is_stored[i] && q->is_preparation)
            continue;
        if (q->is_stored[i])
            instance_release(in, STR_NULL, false, NULL, NULL);
        else if (in->own)
            undo_lease(in);
        else
            give_back_slot(in);
    }
    q->n = 0;
}

/* Everything that could be written is: only now are slots anybody's, so that nobody has one that
 * might be taken back because another could not be written. */
static void settle_acquisition(struct acquisition *q)
{
    for (size_t i = 0; i < q->n; i++) {
        if (!q->is_stored[i])
            continue;
        q->items[i]->is_new = false;
        q->items[i]->stored_id[0] = 0;
        if (q->is_preparation)
            give_back_slot(q->items[i]);
        else
            instance_make_known(q->items[i]);
    }
    if (q->err.code)
        undo_all(q);
}

struct lease_batch {
    struct acquisition *q;
    size_t first, n;
};

static void on_durable(struct store_tx *tx, int result, void *ctx)
{
    struct lease_batch *b = ctx;
    struct acquisition *q = b->q;

    (void)tx;
    if (result < 0)
        (void)err_sys(&q->err, result, "store");
    for (size_t i = b->first; result == 0 && i < b->first + b->n; i++)
        q->is_stored[i] = true;
    free(b);
    if (--q->n_pending > 0)
        return;
    settle_acquisition(q);
    if (!q->is_preparation)
        metrics_app_acquired(q->set->core->metrics, q->args.server, q->n);
    finish_acquisition(q);
}

static int submit_batch(struct acquisition *q, size_t first, size_t n)
{
    struct core *core = q->set->core;
    struct lease_batch *b = mem_zalloc(1, sizeof *b);
    struct store_tx *tx = store_tx_new();

    if (!b) {
        store_tx_free(tx);
        return -ENOMEM;
    }
    *b = (struct lease_batch){q, first, n};
    for (size_t i = first; i < first + n; i++) {
        const struct instance *in = q->items[i];
        if (in->is_new)
            instance_tx_insert(tx, in);
        else
            instance_tx_update(tx, in);
        if (!q->is_preparation)
            instance_tx_acquired(tx, in);
    }
    int r = q->args.record ? q->args.record(q->ctx, q->items, q->n, tx) : 0;
    if (r < 0)
        store_tx_free(tx);
    else
        r = store_submit(core->store, tx, core->loop, on_durable, b);
    if (r < 0)
        free(b);
    return r;
}

/* The slots are reserved: writes them down. */
static void submit_acquisition(struct acquisition *q)
{
    size_t first = 0, per_tx = q->args.record ? q->n : PER_TX;

    q->n_pending = 1;
    while (first < q->n && !q->err.code) {
        size_t n = q->n - first < per_tx ? q->n - first : per_tx;
        int r = submit_batch(q, first, n);
        if (r < 0)
            (void)err_sys(&q->err, r, "store");
        else
            q->n_pending++;
        first += n;
    }
    if (--q->n_pending > 0)
        return;
    undo_all(q);
    finish_acquisition(q);
}

static int reserve_slot(struct acquisition *q)
{
    size_t n = q->args.count ? q->args.count : 1;
    int room =
        q->is_preparation ? 0 : instances_check_room(q->set, q->args.key->account, n, &q->err);

    if (room < 0)
        return room;
    while (q->n < n) {
        struct instance *in = take_slot(q, &q->err);
        if (!in)
            return q->err.code;
        q->items[q->n++] = in;
        int r = q->is_preparation ? 0 : begin_lease(q, in, &q->err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void give_up_acquisition(struct acquisition *q)
{
    undo_all(q);
    finish_acquisition(q);
}

static void on_copied(struct instance_op *op, const struct err *e)
{
    struct acquisition *q = container_of(op, struct acquisition, copy);

    if (!e) {
        submit_acquisition(q);
        return;
    }
    q->err = *e;
    give_up_acquisition(q);
}

static void copy_content(struct acquisition *q)
{
    q->copy = (struct instance_op){.what = (enum instance_do)INSTANCE_COPY_OUT,
                                   .name = q->args.snapshot,
                                   .targets = q->items,
                                   .n_targets = q->n,
                                   .done = on_copied};
    instance_do(q->from, &q->copy);
}

static void on_lease_template(struct template_wait *w, const struct err *e)
{
    struct acquisition *q = container_of(w, struct acquisition, wait);

    if (e)
        q->err = *e;
    else if (q->set->is_stopped)
        (void)err_set(&q->err, -ESHUTDOWN, "the service is stopping");
    if (q->err.code || reserve_slot(q) < 0)
        give_up_acquisition(q);
    else if (q->from)
        copy_content(q);
    else
        submit_acquisition(q);
}

/* The template that ARGS ask for: a reference of the caller's. */
static struct instance_template *choose_template(struct instances *set,
                                                 const struct instance_args *args, struct err *e)
{
    struct app_entry *entry auto_(app_entry_unref) = NULL;
    struct str data;

    entry = app_registry_get_for(set->registry, args->server, args->benchmark, e);
    if (!entry || choose_data(entry->app, args, &data, e) < 0)
        return NULL;
    return template_get(set, entry, data, e);
}

/* T becomes the acquisition's. */
static struct acquisition *acquisition_new(struct instance_template *t,
                                           const struct instance_args *args, struct err *e)
{
    size_t n = args->count ? args->count : 1;
    struct acquisition *q =
        mem_zalloc(1, sizeof *q + n * (sizeof q->items[0] + sizeof q->is_stored[0]));

    if (!q) {
        template_unref(t);
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    q->template = t;
    q->set = t->set;
    q->is_stored = (bool *)&q->items[n];
    arena_init(&q->arena, 64 << 10);
    if (copy_acquisition_args(q, args, str_of(t->data)) == 0) {
        (void)account_key_ref(q->args.key);
        return q;
    }
    *e = q->err;
    template_unref(q->template);
    arena_done(&q->arena);
    free(q);
    return NULL;
}

static void begin_acquisition(struct acquisition *q, instances_fn *fn, void *ctx)
{
    q->fn = fn;
    q->ctx = ctx;
    q->wait.fn = on_lease_template;
    template_want(q->template, &q->wait);
}

static struct acquisition *begin_plain(struct instances *set, const struct instance_args *args,
                                       struct err *e)
{
    struct instance_template *t = NULL;

    if (check_args(args, e) == 0)
        t = choose_template(set, args, e);
    return t ? acquisition_new(t, args, e) : NULL;
}

void instances_acquire(struct instances *set, const struct instance_args *args, instances_fn *fn,
                       void *ctx)
{
    struct err e = ERR_INIT;
    struct acquisition *q = begin_plain(set, args, &e);

    if (q)
        begin_acquisition(q, fn, ctx);
    else
        fn(ctx, NULL, 0, &e);
}

void instances_prepare(struct instances *set, const struct instance_args *args, instances_fn *fn,
                       void *ctx)
{
    struct err e = ERR_INIT;
    struct acquisition *q = begin_plain(set, args, &e);

    if (!q) {
        fn(ctx, NULL, 0, &e);
        return;
    }
    q->is_preparation = true;
    begin_acquisition(q, fn, ctx);
}

void instance_fork(struct instance *in, const struct instance_args *args, instances_fn *fn,
                   void *ctx)
{
    struct err e = ERR_INIT;
    struct instance_args own = *args;
    struct acquisition *q = NULL;

    own.server = str_of(in->server);
    own.data = STR_NULL;
    own.benchmark = str_of(in->benchmark);
    own.has_seed = in->has_seed;
    own.seed = in->seed;
    own.start_us = in->start_us;
    if (instance_state(in) != INSTANCE_OCCUPIED || !in->own->template)
        (void)err_set(&e, -ENOENT, "the instance is not occupied");
    else if (check_args(&own, &e) == 0)
        q = acquisition_new(template_ref(in->own->template), &own, &e);
    if (!q) {
        fn(ctx, NULL, 0, &e);
        return;
    }
    q->from = in;
    begin_acquisition(q, fn, ctx);
}

/* ---- releasing ---- */

struct releaser {
    struct list node;
    instance_fn *fn;
    void *ctx;
};

static void on_lease_released(struct store_tx *tx, int result, void *ctx);

/* Writes the end of the lease down; when that cannot be, tries again later. */
static void write_release(struct instance *in)
{
    struct core *core = in->set->core;
    struct store_tx *tx = store_tx_new();

    instance_tx_update(tx, in);
    instance_tx_released(tx, in, in->own->is_ttl);
    if (store_submit(core->store, tx, core->loop, on_lease_released, in) < 0 &&
        !in->set->is_stopped)
        (void)loop_timer_start(core->loop, &in->timer, RETRY_MS, instance_on_timer);
}

static void on_lease_released(struct store_tx *tx, int result, void *ctx)
{
    struct instance *in = ctx;
    struct list releasers, *node;
    struct err e = ERR_INIT;

    (void)tx;
    if (result < 0) {
        (void)loop_timer_start(in->set->core->loop, &in->timer, RETRY_MS, instance_on_timer);
        return;
    }
    list_init(&releasers);
    while ((node = list_pop(&in->own->releasers)))
        list_append(&releasers, node);
    instance_end_own(in);
    sm_move(&in->sm, INSTANCE_IDLE);
    give_back_slot(in);
    while ((node = list_pop(&releasers))) {
        struct releaser *r = list_entry(node, struct releaser, node);
        r->fn(r->ctx, in, e.code ? &e : NULL);
        free(r);
    }
}

/* What could not be removed is when the service starts next. */
static void on_lease_dropped(struct instance_op *op, const struct err *e)
{
    struct instance *in = op->in;

    (void)e;
    calls_drop(in);
    instance_forget_lease(in);
    in->updated_us = clock_real_us();
    write_release(in);
}

static int add_releaser(struct instance *in, instance_fn *fn, void *ctx)
{
    struct releaser *r = fn ? mem_zalloc(1, sizeof *r) : NULL;

    if (!fn)
        return 0;
    if (!r)
        return -ENOMEM;
    r->fn = fn;
    r->ctx = ctx;
    list_append(&in->own->releasers, &r->node);
    return 0;
}

static void begin_release(struct instance *in, bool is_ttl)
{
    struct instance_own *own = in->own;

    loop_timer_stop(&in->timer);
    list_del(&in->node);
    in->set->n_live--;
    own->is_ttl = is_ttl;
    sm_move(&in->sm, INSTANCE_RELEASING);
    instance_fail_queue(in);
    own->drop =
        (struct instance_op){.what = (enum instance_do)INSTANCE_DROP, .done = on_lease_dropped};
    if (own->template) {
        instance_enqueue(in, &own->drop);
    } else {
        own->drop.in = in;
        on_lease_dropped(&own->drop, NULL);
    }
}

void instance_release(struct instance *in, struct str lease, bool is_ttl, instance_fn *fn,
                      void *ctx)
{
    struct err e = ERR_INIT;
    bool is_other = lease.len > 0 && !str_is(lease, in->lease);

    if (instance_state(in) == INSTANCE_IDLE || instance_state(in) == INSTANCE_ACQUIRING ||
        is_other) {
        if (fn)
            fn(ctx, in, NULL);
        return;
    }
    if (add_releaser(in, fn, ctx) < 0) {
        (void)err_set(&e, -ENOMEM, "out of memory");
        fn(ctx, in, &e);
        return;
    }
    if (instance_state(in) == INSTANCE_OCCUPIED)
        begin_release(in, is_ttl);
}

void instance_on_timer(struct loop_timer *t)
{
    struct instance *in = container_of(t, struct instance, timer);

    if (instance_state(in) == INSTANCE_OCCUPIED)
        instance_release(in, STR_NULL, true, NULL, NULL);
    else if (instance_state(in) == INSTANCE_RELEASING)
        write_release(in);
}
