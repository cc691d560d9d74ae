/* SPDX-License-Identifier: MIT */
/* Sessions: small, bounded in number, gone when nobody uses them. See session.h. */
#include "mcp/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "mcp/exchange.h"
#include "sys/digest.h"

#define KIND "tidepool mcp session\n"

enum { EVICT_LOOK = 64, SWEEP_MIN_MS = 1000, SWEEP_MAX_MS = 60000 };

static bool is_in_use(const struct mcp_session *n)
{
    return !list_is_empty(&n->exchanges) || (n->main && n->main->sse);
}

static void touch_session(struct mcp_session *n)
{
    n->used_ms = loop_now_ms(n->server->loop);
    list_del(&n->node);
    list_append(&n->server->by_use, &n->node);
}

/* ---- the end of idle ones ---- */

static void on_session_sweep(struct loop_timer *t)
{
    struct mcp_server *s = container_of(t, struct mcp_server, sweep);
    int64_t idle_ms = s->table.desc.limits.session_idle_ms;
    int64_t dead_ms = loop_now_ms(s->loop) - idle_ms;

    list_each(it, &s->by_use)
    {
        struct mcp_session *n = list_entry(it, struct mcp_session, node);
        if (n->used_ms > dead_ms)
            break;
        if (is_in_use(n))
            touch_session(n);
        else
            mcp_session_free(n);
    }
    int64_t next_ms = idle_ms / 4;
    next_ms = next_ms < SWEEP_MIN_MS ? SWEEP_MIN_MS : next_ms;
    next_ms = next_ms > SWEEP_MAX_MS ? SWEEP_MAX_MS : next_ms;
    if (!list_is_empty(&s->by_use))
        (void)loop_timer_start(s->loop, t, next_ms, on_session_sweep);
}

/* Makes room for one more; -EBUSY when all that were not used for long are in use. */
static int make_mcp_session_room(struct mcp_server *s)
{
    size_t looked = 0;

    if (s->sessions.n < s->table.desc.limits.max_sessions)
        return 0;
    list_each(it, &s->by_use)
    {
        struct mcp_session *n = list_entry(it, struct mcp_session, node);
        if (!is_in_use(n)) {
            mcp_session_free(n);
            return 0;
        }
        if (++looked == EVICT_LOOK)
            break;
    }
    return -EBUSY;
}

/* ---- sessions ---- */

void mcp_sign_id(const struct mcp_server *s, const char *kind, struct str owner, struct str name,
                 char out[MCP_SESSION_ID_LEN + 1])
{
    const struct str *secret = &s->table.desc.secret;
    enum { MAC_LEN = (MCP_SESSION_ID_LEN - MCP_SESSION_NAME_LEN) / 2 };
    unsigned char all[DIGEST_SHA256_LEN], mac[DIGEST_SHA256_LEN];
    const struct str parts[] = {
        str_of(kind), str_of(s->table.desc.name), STR("\n"), owner, STR("\n"), name};

    memcpy(out, name.p, MCP_SESSION_NAME_LEN);
    out[MCP_SESSION_NAME_LEN] = '\0';
    if (secret->len == 0)
        return;
    digest_sha256_parts(all, parts, ARRAY_LEN(parts));
    digest_hmac_sha256(mac, *secret, str_n((const char *)all, sizeof all));
    enc_hex(out + MCP_SESSION_NAME_LEN, mac, MAC_LEN);
}

/* A name ends with what the client said, in two digits. */
static void make_session_name(char out[MCP_SESSION_NAME_LEN + 1], const struct mcp_hello *hello)
{
    id_hex(out, MCP_SESSION_NAME_LEN - 2);
    (void)snprintf(out + MCP_SESSION_NAME_LEN - 2, 3, "%x%x", hello->version & 0xf,
                   hello->can & 0xf);
}

static struct mcp_session *begin_mcp_session(struct mcp_server *s, struct str owner,
                                             struct str session_name, const struct mcp_hello *hello)
{
    if (make_mcp_session_room(s) < 0)
        return NULL;
    struct mcp_session *n = mem_zalloc(1, sizeof *n);
    char *name auto_free = mem_strndup(owner.p ? owner.p : "", owner.len);
    if (!n || !name) {
        free(n);
        return NULL;
    }
    n->server = s;
    n->version = hello->version;
    n->can = hello->can;
    n->level = MCP_INFO;
    list_init(&n->node);
    list_init(&n->exchanges);
    list_init(&n->streams);
    list_init(&n->asks);
    map_init(&n->subscribed, MCP_MAX_SUBSCRIBED);
    mcp_sign_id(s, KIND, owner, session_name, n->id);
    if (map_put(&s->sessions, str_of(n->id), n, NULL) < 0) {
        free(n);
        return NULL;
    }
    n->owner = take(name);
    touch_session(n);
    if (!s->sweep.loop)
        (void)loop_timer_start(s->loop, &s->sweep, SWEEP_MIN_MS, on_session_sweep);
    return n;
}

struct mcp_session *mcp_session_new(struct mcp_server *s, struct str owner,
                                    const struct mcp_hello *hello)
{
    char name[MCP_SESSION_NAME_LEN + 1];

    make_session_name(name, hello);
    return begin_mcp_session(s, owner, str_of(name), hello);
}

struct mcp_session *mcp_session_resume(struct mcp_server *s, struct str id, struct str owner)
{
    struct mcp_session *n = mcp_session_find(s, id, owner);
    char want[MCP_SESSION_ID_LEN + 1];

    if (n || s->table.desc.secret.len == 0 || id.len != MCP_SESSION_ID_LEN ||
        map_get(&s->sessions, id) || map_get(&s->ended, id))
        return n;
    struct str name = str_slice(id, 0, MCP_SESSION_NAME_LEN);
    mcp_sign_id(s, KIND, owner, name, want);
    int version = enc_hex_digit(id.p[MCP_SESSION_NAME_LEN - 2]);
    int can = enc_hex_digit(id.p[MCP_SESSION_NAME_LEN - 1]);
    if (!mem_eq_const(want, id.p, MCP_SESSION_ID_LEN) || version < 0 || can < 0 ||
        version > MCP_V_NEWEST_STATEFUL)
        return NULL;
    const struct mcp_hello hello = {(enum mcp_version)version, (unsigned)can};
    return begin_mcp_session(s, owner, name, &hello);
}

void mcp_session_end(struct mcp_session *n)
{
    struct mcp_server *s = n->server;

    if (s->table.desc.secret.len > 0 && map_put(&s->ended, str_of(n->id), s, NULL) == -ENOBUFS) {
        map_done(&s->ended);
        map_init(&s->ended, MCP_MAX_ENDED);
        (void)map_put(&s->ended, str_of(n->id), s, NULL);
    }
    mcp_session_free(n);
}

struct mcp_session *mcp_session_find(struct mcp_server *s, struct str id, struct str owner)
{
    struct mcp_session *n = map_get(&s->sessions, id);

    if (!n || !str_is(owner, n->owner))
        return NULL;
    touch_session(n);
    return n;
}

void mcp_session_free(struct mcp_session *n)
{
    struct list *it;

    (void)map_del(&n->server->sessions, str_of(n->id));
    list_del(&n->node);
    while ((it = list_pop(&n->exchanges))) {
        struct mcp_exchange *x = list_entry(it, struct mcp_exchange, in_session);
        mcp_exchange_hold(x);
        mcp_exchange_cancel(x);
        x->session = NULL;
        x->stream = NULL;
        mcp_exchange_drop(x);
    }
    while ((it = list_pop(&n->streams)))
        mcp_stream_free(list_entry(it, struct mcp_stream, node));
    /* Those of tasks, which can be put again in another session. */
    while (list_pop(&n->asks))
        ;
    map_done(&n->subscribed);
    free(n->owner);
    free(n);
}
