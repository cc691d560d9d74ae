/* SPDX-License-Identifier: MIT */
/* Slots and leases as objects: see instance.h. */
#include "core/instance.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/tally.h"
#include "core/core.h"
#include "core/instance_calls.h"
#include "core/instance_internal.h"
#include "sys/digest.h"

/* ---- the states ---- */

static const struct sm_state states[] = {
    [INSTANCE_IDLE] = {"idle", SM(INSTANCE_ACQUIRING)},
    [INSTANCE_ACQUIRING] = {"acquiring", SM(INSTANCE_OCCUPIED) | SM(INSTANCE_IDLE)},
    [INSTANCE_OCCUPIED] = {"occupied", SM(INSTANCE_RELEASING)},
    [INSTANCE_RELEASING] = {"releasing", SM(INSTANCE_IDLE)},
};

static bool is_in(const struct list *node)
{
    return node->next != node;
}

static bool is_lease_sound(const struct sm *m)
{
    const struct instance *in = container_of(m, const struct instance, sm);
    bool is_timed = in->timer.loop;

    switch ((enum instance_state)m->state) {
    case INSTANCE_IDLE: return !in->lease[0] && !in->own && !is_timed && !is_in(&in->node);
    case INSTANCE_ACQUIRING: return in->lease[0] && in->own && !is_timed && !is_in(&in->idle_node);
    case INSTANCE_OCCUPIED:
        return in->lease[0] && in->own && is_in(&in->node) && is_timed == (in->expires_us > 0);
    case INSTANCE_RELEASING: return in->own && !is_timed && !is_in(&in->node);
    case INSTANCE_STATE_COUNT: break;
    }
    return false;
}

static const struct sm_type type = {"instance", states, ARRAY_LEN(states), is_lease_sound};

/* ---- the object ---- */

struct instance *instance_new(struct instances *set)
{
    struct instance *in = mem_zalloc(1, sizeof *in);

    if (!in)
        return NULL;
    sm_init(&in->sm, &type, INSTANCE_IDLE);
    in->set = set;
    list_init(&in->node);
    list_init(&in->idle_node);
    return in;
}

static void free_texts(struct instance *in)
{
    free(take(in->spelling));
    free(take(in->benchmark));
    free(take(in->data));
    free(take(in->tags));
    free(take(in->owner));
}

void instance_free(struct instance *in)
{
    if (!in)
        return;
    instance_end_own(in);
    loop_timer_stop(&in->timer);
    list_del(&in->node);
    list_del(&in->idle_node);
    if (in->slot)
        tally_give(in->slot, 1);
    free_texts(in);
    free(in->email);
    free(in);
}

int instance_copy_text(char **to, struct str text)
{
    char *copy = mem_strndup(text.p ? text.p : "", text.len);

    if (!copy)
        return -ENOMEM;
    free(*to);
    *to = copy;
    return 0;
}

int instance_begin_own(struct instance *in)
{
    struct instance_own *own = mem_zalloc(1, sizeof *own);

    if (!own)
        return -ENOMEM;
    own->in = in;
    (void)snprintf(own->name, sizeof own->name, "instances/%s", in->id);
    (void)snprintf(own->base, sizeof own->base, "bases/%s", in->id);
    list_init(&own->queue);
    list_init(&own->open);
    list_init(&own->unwritten);
    list_init(&own->releasers);
    list_init(&own->wait.node);
    in->own = own;
    return 0;
}

void instance_end_own(struct instance *in)
{
    struct instance_own *own = in->own;

    if (!own)
        return;
    instance_close_handle(in, false);
    instance_forget_answers(in);
    calls_free(in);
    for (unsigned i = 0; i < own->n_snapshots; i++)
        free(own->snapshots[i]);
    template_unref(own->template);
    free(take(in->own));
    free(take(in->owner));
    if (in->lent)
        tally_give(take(in->lent), 1);
    if (in->key) {
        quota_live_end(&in->key->use);
        account_key_unref(take(in->key));
    }
}

/* ---- the maps ---- */

enum { KEY_MAX = ACCOUNT_ID_MAX + APP_NAME_MAX + INSTANCE_EMAIL_MAX + 4 };

static struct str email_key(char out[KEY_MAX], const char *account, const char *server,
                            struct str email)
{
    int n = snprintf(out, KEY_MAX, "%s\n%s\n" STR_FMT, account, server, STR_ARG(email));

    for (int i = 0; i < n && i < KEY_MAX; i++)
        out[i] = (char)tolower((unsigned char)out[i]);
    return str_of(out);
}

struct instance *instance_by_email(const struct instances *set, const char *account,
                                   const char *server, struct str email)
{
    char key[KEY_MAX];

    return map_get(&set->by_email, email_key(key, account, server, email));
}

struct instance_pool *instance_pool(struct instances *set, const char *account, const char *server)
{
    char key[KEY_MAX];
    struct str name = email_key(key, account, server, STR(""));
    struct instance_pool *p = map_get(&set->pools, name);

    if (p)
        return p;
    p = mem_zalloc(1, sizeof *p);
    if (!p)
        return NULL;
    list_init(&p->idle);
    if (map_put(&set->pools, name, p, NULL) < 0)
        free(take(p));
    return p;
}

int instance_enter(struct instance *in)
{
    struct instances *set = in->set;
    char key[KEY_MAX];
    struct str name = email_key(key, in->account, in->server, str_of(in->email));

    if (map_get(&set->by_id, str_of(in->id)) || map_get(&set->by_email, name))
        return -EEXIST;
    int r = map_put(&set->by_id, str_of(in->id), in, NULL);
    if (r < 0)
        return r;
    r = map_put(&set->by_email, name, in, NULL);
    if (r < 0)
        (void)map_del(&set->by_id, str_of(in->id));
    return r;
}

void instance_leave(struct instance *in)
{
    char key[KEY_MAX];

    (void)map_del(&in->set->by_id, str_of(in->id));
    (void)map_del(&in->set->by_email, email_key(key, in->account, in->server, str_of(in->email)));
}

int instance_renew_id(struct instance *in)
{
    char id[INSTANCE_ID_LEN + 1];

    assert(!in->own);
    if (in->stored_id[0])
        return 0; /* nobody knows this one */
    id_uuid(id);
    int r = map_put(&in->set->by_id, str_of(id), in, NULL);
    if (r < 0)
        return r;
    (void)map_del(&in->set->by_id, str_of(in->id));
    memcpy(in->stored_id, in->id, sizeof in->stored_id);
    memcpy(in->id, id, sizeof in->id);
    return 0;
}

void instance_make_known(struct instance *in)
{
    struct instances *set = in->set;

    list_add(&set->occupied, &in->node);
    if (in->expires_us > 0) {
        int64_t left_us = in->expires_us - clock_real_us();
        (void)loop_timer_start(set->core->loop, &in->timer,
                               left_us > 0 ? (left_us + 999) / 1000 : 0, instance_on_timer);
    }
    set->n_live++;
    sm_move(&in->sm, INSTANCE_OCCUPIED);
}

void instance_forget_lease(struct instance *in)
{
    if (in->lease[0])
        (void)map_del(&in->set->by_lease, str_of(in->lease));
    in->lease[0] = 0;
    in->expires_us = 0;
}

/* ---- finding ---- */

bool instance_is_owned(const struct instance *in)
{
    return in->owner && in->owner[0];
}

bool instance_is_visible(const struct instance *in, const struct account_key *key)
{
    if (instance_is_owned(in))
        return false;
    enum account_role role = key->account->role;

    return role == ACCOUNT_SYSTEM ||
           (role == ACCOUNT_GRADER && strcmp(key->grades, in->account) == 0) ||
           (role == ACCOUNT_USER && strcmp(key->account->id, in->account) == 0);
}

struct instance *instance_find(const struct instances *set, struct str id,
                               const struct account_key *key)
{
    struct instance *in = map_get(&set->by_id, id);

    return in && instance_is_visible(in, key) ? in : NULL;
}

struct instance *instance_by_lease(const struct instances *set, struct str lease)
{
    struct instance *in = map_get(&set->by_lease, lease);

    return in && instance_state(in) == INSTANCE_OCCUPIED ? in : NULL;
}

struct instance *instance_next(const struct instances *set, const struct instance *in)
{
    const struct list *node = in ? in->node.next : set->occupied.next;

    return node == &set->occupied ? NULL : list_entry(node, struct instance, node);
}

bool instance_has_tag(const struct instance *in, struct str tag)
{
    struct arena a auto_arena;

    arena_init(&a, 16 * (size_t)INSTANCE_TAGS_MAX);
    const struct json *tags = json_parse(&a, str_of(in->tags ? in->tags : "null"), NULL, NULL);
    for (size_t i = 0; json_is(tags, JSON_ARRAY) && i < tags->n; i++) {
        if (str_eq(json_str(&tags->items[i], STR_NULL), tag))
            return true;
    }
    for (size_t i = 0; json_is(tags, JSON_OBJECT) && i < tags->n; i++) {
        const struct json_member *m = &tags->members[i];
        if (str_eq(m->key, tag) || str_eq(json_str(&m->value, STR_NULL), tag))
            return true;
    }
    return false;
}

bool instance_has_tags(const struct instance *in, const struct json *tags)
{
    struct arena a auto_arena;

    arena_init(&a, 16 * (size_t)INSTANCE_TAGS_MAX);
    const struct json *own = json_parse(&a, str_of(in->tags ? in->tags : "null"), NULL, NULL);
    for (size_t i = 0; json_is(tags, JSON_OBJECT) && i < tags->n; i++) {
        const struct json_member *m = &tags->members[i];
        const struct json *value = json_get_str(own, m->key);
        if (!value || !json_equal(value, &m->value))
            return false;
    }
    return true;
}

/* ---- what is shown ---- */

const char *instance_status(const struct instance *in)
{
    return instance_state(in) == INSTANCE_OCCUPIED ? "occupied" : "idle";
}

const struct app *instance_app(const struct instance *in)
{
    return in->own && in->own->template ? in->own->template->entry->app : NULL;
}

const char *instance_app_digest(const struct instance *in)
{
    return in->own && in->own->template ? in->own->template->entry->digest : NULL;
}

struct str instance_token(const struct instance *in, const char *prefix, struct arena *a)
{
    const struct core *core = in->set->core;
    unsigned char mac[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];
    struct str text = arena_printf(a, "%s\n%s\n%s", prefix, in->id, in->lease);

    if (!text.p)
        return STR_NULL;
    digest_hmac_sha256(mac, str_n((const char *)core->secret, sizeof core->secret), text);
    enc_hex(hex, mac, sizeof mac);
    return arena_printf(a, "%s%.40s", prefix, hex);
}
