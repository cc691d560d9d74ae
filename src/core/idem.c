/* SPDX-License-Identifier: MIT */
/* Idempotency keys: see idem.h. */
#include "core/idem.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "sys/digest.h"

enum {
    SWEEP_MS = 60 * 1000,
    SWEEP_MORE_MS = 200, /* when a batch was full */
    SWEEP_BATCH = 500,
    NAME_MAX_LEN = 64 << 10, /* account, route and key together */
};

/* Lives until its owner and everything under way have let go. */
struct idem {
    struct store *store;
    struct loop *loop;
    struct map in_flight; /* name → idem_op */
    struct loop_timer sweep;
    size_t n_refs;
    bool is_ending;
};

struct idem_op {
    struct idem *im;
    idem_begun *fn;
    void *ctx;
    unsigned char hash[DIGEST_SHA256_LEN];
    struct str account, route, key; /* parts of name */
    struct str name;                /* behind the struct: "account\0route\0key" */
};

static void unref(struct idem *im)
{
    if (--im->n_refs > 0)
        return;
    map_done(&im->in_flight);
    free(im);
}

static int64_t oldest_us(void)
{
    return clock_real_us() - (int64_t)IDEM_KEEP_S * 1000000;
}

bool idem_key_is_valid(struct str key)
{
    if (key.len < 1 || key.len > IDEM_MAX_KEY)
        return false;
    for (size_t i = 0; i < key.len; i++)
        if (key.p[i] < 0x21 || key.p[i] > 0x7e)
            return false;
    return true;
}

/* ---- one request ---- */

/* Copies PART and a NUL, which neither a path nor a key can hold, to *AT. */
static struct str put_idem_part(char **at, struct str part)
{
    char *p = *at;

    if (part.len)
        memcpy(p, part.p, part.len);
    p[part.len] = '\0';
    *at += part.len + 1;
    return str_n(p, part.len);
}

static struct idem_op *op_new(const struct idem_request *rq)
{
    size_t len = rq->account.len + rq->route.len + rq->key.len + 3;
    struct idem_op *op = len <= NAME_MAX_LEN ? mem_zalloc(1, sizeof *op + len) : NULL;

    if (!op)
        return NULL;
    char *name = (char *)(op + 1), *at = name;
    op->account = put_idem_part(&at, rq->account);
    op->route = put_idem_part(&at, rq->route);
    op->key = put_idem_part(&at, rq->key);
    op->name = str_n(name, len);
    digest_sha256(op->hash, rq->body);
    return op;
}

void idem_end(struct idem_op *op)
{
    struct idem *im = op->im;

    (void)map_del(&im->in_flight, op->name);
    free(op);
    unref(im);
}

/* Columns of IDEM_GET. */
enum { C_HASH, C_STATUS, C_TYPE, C_BODY, C_AT };

static void on_found(struct idem_op *op, const struct store_value *cols)
{
    const struct idem_answer answer = {
        .status = (int)cols[C_STATUS].i, .content_type = cols[C_TYPE].s, .body = cols[C_BODY].s};
    bool is_same = str_eq(cols[C_HASH].s, str_n((const char *)op->hash, sizeof op->hash));
    idem_begun *fn = op->fn;
    void *ctx = op->ctx;

    idem_end(op);
    fn(NULL, is_same ? IDEM_REPLAY : IDEM_MISMATCH, is_same ? &answer : NULL, ctx);
}

static void on_looked_up(struct store_tx *tx, int result, void *ctx)
{
    struct idem_op *op = ctx;

    if (result < 0) {
        idem_begun *fn = op->fn;
        void *fn_ctx = op->ctx;
        idem_end(op);
        fn(NULL, result, NULL, fn_ctx);
        return;
    }
    if (store_tx_n_rows(tx, 0) > 0) {
        const struct store_value *cols = store_tx_row(tx, 0, 0).cols;
        if (cols[C_AT].i >= oldest_us()) {
            on_found(op, cols);
            return;
        }
    }
    op->fn(op, IDEM_NEW, NULL, op->ctx);
}

static void add_idem_name(struct store_tx *tx, const struct idem_op *op)
{
    store_tx_text(tx, op->account);
    store_tx_text(tx, op->route);
    store_tx_text(tx, op->key);
}

/* From here on OP is in flight: idem_end() takes it back. */
static int look_up_idem(struct idem_op *op)
{
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, STORE_IDEM_GET);
    add_idem_name(tx, op);
    return store_submit(op->im->store, tx, op->im->loop, on_looked_up, op);
}

int idem_begin(struct idem *im, const struct idem_request *rq, idem_begun *fn, void *ctx)
{
    if (!idem_key_is_valid(rq->key))
        return -EINVAL;
    struct idem_op *op = op_new(rq);
    if (!op)
        return -ENOMEM;
    const struct idem_op *other = map_get(&im->in_flight, op->name);
    if (other) {
        bool is_same = memcmp(other->hash, op->hash, sizeof op->hash) == 0;
        free(op);
        fn(NULL, is_same ? IDEM_IN_FLIGHT : IDEM_MISMATCH, NULL, ctx);
        return 0;
    }
    int r = map_put(&im->in_flight, op->name, op, NULL);
    if (r < 0) {
        free(op);
        return r == -ENOBUFS ? -EBUSY : r;
    }
    op->im = im;
    op->fn = fn;
    op->ctx = ctx;
    im->n_refs++;
    r = look_up_idem(op);
    if (r < 0)
        idem_end(op);
    return r;
}

int idem_add(struct idem_op *op, struct store_tx *tx, const struct idem_answer *answer)
{
    if (answer->body.len > IDEM_MAX_BODY)
        return -E2BIG;
    /* A record that does not count any more may still be there. */
    store_tx_add(tx, STORE_IDEM_EXPIRE);
    add_idem_name(tx, op);
    store_tx_int(tx, oldest_us());
    store_tx_add(tx, STORE_IDEM_INSERT);
    add_idem_name(tx, op);
    store_tx_blob(tx, str_n((const char *)op->hash, sizeof op->hash));
    store_tx_int(tx, answer->status);
    store_tx_text(tx, answer->content_type);
    store_tx_blob(tx, answer->body);
    store_tx_int(tx, clock_real_us());
    store_tx_text(tx, answer->thing);
    return 0;
}

void idem_tx_forget(struct store_tx *tx, struct str thing)
{
    store_tx_add(tx, STORE_IDEM_FORGET);
    store_tx_text(tx, thing);
}

/* ---- sweeping ---- */

static void sweep_answers(struct loop_timer *t);

static void sweep_in(struct idem *im, int64_t ms)
{
    /* Without memory for a timer records stay longer than they need to, and are ignored. */
    if (!im->is_ending)
        (void)loop_timer_start(im->loop, &im->sweep, ms, sweep_answers);
}

static void on_idem_swept(struct store_tx *tx, int result, void *ctx)
{
    struct idem *im = ctx;
    bool is_more = result == 0 && store_tx_changed(tx, 0) == SWEEP_BATCH;

    sweep_in(im, is_more ? SWEEP_MORE_MS : SWEEP_MS);
    unref(im);
}

static void sweep_answers(struct loop_timer *t)
{
    struct idem *im = container_of(t, struct idem, sweep);
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, STORE_IDEM_SWEEP);
    store_tx_int(tx, oldest_us());
    store_tx_int(tx, SWEEP_BATCH);
    im->n_refs++;
    if (store_submit(im->store, tx, im->loop, on_idem_swept, im) < 0) {
        im->n_refs--;
        sweep_in(im, SWEEP_MS);
    }
}

struct idem *idem_new(struct store *s, struct loop *loop, struct err *e)
{
    struct idem *im = mem_zalloc(1, sizeof *im);

    if (!im) {
        (void)err_sys(e, -ENOMEM, "idempotency keys");
        return NULL;
    }
    im->store = s;
    im->loop = loop;
    im->n_refs = 1;
    map_init(&im->in_flight, IDEM_MAX_IN_FLIGHT);
    sweep_in(im, SWEEP_MORE_MS);
    return im;
}

void idem_free(struct idem *im)
{
    if (!im)
        return;
    im->is_ending = true;
    loop_timer_stop(&im->sweep);
    unref(im);
}
