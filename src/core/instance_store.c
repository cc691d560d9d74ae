/* SPDX-License-Identifier: MIT */
/* Instances in the store: rows, and the events that go with them. See instance.h. */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "core/core.h"
#include "core/event.h"
#include "core/instance_internal.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

enum { PAGE_ROWS = 256, SPEC_MAX = 4 * INSTANCE_TAGS_MAX };

/* ---- writing ---- */

/* What a lease was made with, as JSON; "" without one. */
static void put_instance_spec(struct buf *out, const struct instance *in)
{
    struct jw w = jw_to(out);

    if (!in->lease[0])
        return;
    jw_object(&w);
    jw_key(&w, "app");
    jw_cstr(&w, in->app);
    jw_key(&w, "spelling");
    jw_cstr(&w, in->spelling);
    jw_key(&w, "benchmark");
    jw_cstr(&w, in->benchmark);
    jw_key(&w, "data");
    jw_cstr(&w, in->data);
    jw_key(&w, "tags");
    jw_raw(&w, str_of(in->tags));
    jw_key(&w, "owner");
    jw_cstr(&w, in->owner ? in->owner : "");
    jw_key(&w, "ttl");
    jw_int(&w, in->ttl_s);
    jw_key(&w, "seed");
    jw_int(&w, (int64_t)in->seed);
    jw_key(&w, "has_seed");
    jw_bool(&w, in->has_seed);
    jw_key(&w, "start");
    jw_int(&w, in->start_us);
    jw_end(&w);
}

/* The columns that change with the lease. */
static void put_instance_lease(struct store_tx *tx, const struct instance *in)
{
    struct buf spec auto_buf = BUF_INIT(SPEC_MAX);

    put_instance_spec(&spec, in);
    store_tx_text(tx, str_of(in->lease));
    store_tx_text(tx, str_of(in->key ? in->key->id : ""));
    /* A description that did not fit leaves the row short of a parameter, which fails it. */
    if (buf_ok(&spec))
        store_tx_text(tx, buf_str(&spec));
    store_tx_int(tx, in->expires_us);
    store_tx_int(tx, in->updated_us);
}

void instance_tx_insert(struct store_tx *tx, const struct instance *in)
{
    store_tx_add(tx, STORE_INSTANCE_INSERT);
    store_tx_text(tx, str_of(in->id));
    store_tx_text(tx, str_of(in->server));
    store_tx_text(tx, str_of(in->account));
    store_tx_text(tx, str_of(in->email));
    store_tx_int(tx, in->has_own_email);
    store_tx_int(tx, in->created_us);
    put_instance_lease(tx, in);
}

void instance_tx_delete(struct store_tx *tx, const struct instance *in)
{
    store_tx_add(tx, STORE_INSTANCE_DELETE);
    store_tx_text(tx, str_of(in->stored_id[0] ? in->stored_id : in->id));
}

void instance_tx_update(struct store_tx *tx, const struct instance *in)
{
    store_tx_add(tx, STORE_INSTANCE_UPDATE);
    store_tx_text(tx, str_of(in->stored_id[0] ? in->stored_id : in->id));
    put_instance_lease(tx, in);
    store_tx_text(tx, str_of(in->id));
}

/* What somebody acquired is reported; a part of something else is not. */
void instance_tx_acquired(struct store_tx *tx, const struct instance *in)
{
    if (instance_is_owned(in))
        return;
    event_add(tx, EVENT_APP_ACQUIRED, str_of(in->account), str_of(in->id), "App %s acquired",
              in->server);
}

void instance_tx_released(struct store_tx *tx, const struct instance *in, bool is_ttl)
{
    if (instance_is_owned(in))
        return;
    event_add(tx, is_ttl ? EVENT_APP_EXPIRED : EVENT_APP_RELEASED, str_of(in->account),
              str_of(in->id), is_ttl ? "App %s expired and was released" : "App %s released",
              in->server);
}

/* ---- reading ---- */

enum {
    COL_ID,
    COL_SERVER,
    COL_ACCOUNT,
    COL_EMAIL,
    COL_OWN_EMAIL,
    COL_CREATED,
    COL_LEASE,
    COL_KEY,
    COL_SPEC,
    COL_EXPIRES,
    COL_UPDATED
};

static void copy_instance_text(char *out, size_t size, struct store_value v)
{
    (void)snprintf(out, size, STR_FMT, STR_ARG(v.s));
}

static int read_instance_text(char **to, const struct json *v, const char *key)
{
    return instance_copy_text(to, json_str(json_get(v, key), STR("")));
}

static int read_instance_spec(struct instance *in, struct str text, struct err *e)
{
    struct arena a auto_arena;
    struct buf tags auto_buf = BUF_INIT(SPEC_MAX);

    arena_init(&a, 16 * (size_t)SPEC_MAX);
    const struct json *v = json_parse(&a, text, NULL, e);
    if (!v)
        return e ? e->code : -EINVAL;
    struct str app = json_str(json_get(v, "app"), STR(""));
    (void)snprintf(in->app, sizeof in->app, STR_FMT, STR_ARG(app));
    in->ttl_s = json_int(json_get(v, "ttl"), -1);
    in->seed = (uint64_t)json_int(json_get(v, "seed"), 0);
    in->has_seed = json_bool(json_get(v, "has_seed"), false);
    in->start_us = json_int(json_get(v, "start"), 0);
    (void)json_write(&tags, json_get(v, "tags"), JSON_COMPACT);
    int r = buf_ok(&tags) ? instance_copy_text(&in->tags, buf_str(&tags)) : -ENOMEM;
    if (r == 0)
        r = read_instance_text(&in->spelling, v, "spelling");
    if (r == 0)
        r = read_instance_text(&in->benchmark, v, "benchmark");
    if (r == 0)
        r = read_instance_text(&in->data, v, "data");
    if (r == 0)
        r = read_instance_text(&in->owner, v, "owner");
    return r < 0 ? err_sys(e, r, "instance %s", in->id) : 0;
}

static int load_instance_row(struct instance *in, const struct store_value *c, struct err *e)
{
    copy_instance_text(in->id, sizeof in->id, c[COL_ID]);
    copy_instance_text(in->server, sizeof in->server, c[COL_SERVER]);
    copy_instance_text(in->account, sizeof in->account, c[COL_ACCOUNT]);
    copy_instance_text(in->lease, sizeof in->lease, c[COL_LEASE]);
    in->has_own_email = c[COL_OWN_EMAIL].i != 0;
    in->created_us = c[COL_CREATED].i;
    in->expires_us = c[COL_EXPIRES].i;
    in->updated_us = c[COL_UPDATED].i;
    if (instance_copy_text(&in->email, c[COL_EMAIL].s) < 0)
        return err_sys(e, -ENOMEM, "instances");
    return in->lease[0] ? read_instance_spec(in, c[COL_SPEC].s, e) : 0;
}

int instances_load(struct instances *set, void (*fn)(struct instance *in, struct str key_id),
                   struct err *e)
{
    char last[INSTANCE_ID_LEN + 1] = "";
    size_t n = PAGE_ROWS;

    while (n == PAGE_ROWS) {
        struct store_tx *tx auto_(store_tx_free) = store_tx_new();
        store_tx_add(tx, STORE_INSTANCE_PAGE);
        store_tx_text(tx, str_of(last));
        store_tx_int(tx, PAGE_ROWS);
        int r = tx ? store_run(set->core->store, tx, e) : err_sys(e, -ENOMEM, "instances");
        n = r < 0 ? 0 : store_tx_n_rows(tx, 0);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct store_value *cols = store_tx_row(tx, 0, i).cols;
            struct instance *in = instance_new(set);
            copy_instance_text(last, sizeof last, cols[COL_ID]);
            r = in ? load_instance_row(in, cols, e) : err_sys(e, -ENOMEM, "instances");
            if (r == 0)
                fn(in, cols[COL_KEY].s);
            else
                instance_free(in);
        }
        if (r < 0)
            return err_ctx(e, r, "load instances");
    }
    return 0;
}
