/* SPDX-License-Identifier: MIT */
/* See engine_root.h. The
 * spawner is told what a template is made of before it is asked for a cell of it, unless it was
 * lately: it keeps those that were used last, and more of them than are remembered here. */
#include "runtime/engine_root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"

/* ---- templates ---- */

/* Puts NAME first; false when the spawner may have forgotten it. */
static bool note_use(struct link_roots *roots, const char *name)
{
    unsigned at = 0;

    while (at < roots->n && strcmp(roots->names[at], name) != 0)
        at++;
    bool is_known = at < roots->n;
    if (!is_known && roots->n < LINK_ROOTS_MAX)
        roots->n++;
    else if (!is_known)
        at = LINK_ROOTS_MAX - 1;
    memmove(roots->names[1], roots->names[0], at * sizeof roots->names[0]);
    (void)snprintf(roots->names[0], sizeof roots->names[0], "%s", name);
    return is_known;
}

static void forget_last_use(struct link_roots *roots)
{
    roots->n--;
    memmove(roots->names[0], roots->names[1], roots->n * sizeof roots->names[0]);
}

/* What lies where, top first: the root's own layers, then the default template's. */
static int fill_layers(const struct engine *en, const struct engine_root *root,
                       struct proto_template *t, const char *layers[PROTO_LAYERS_MAX])
{
    size_t more = root->is_on_default ? 2 : 0;
    size_t max = root->is_on_default ? PROTO_LAYERS_USR_MAX : PROTO_LAYERS_MAX;

    if (root->n_layers + more > max || root->n_layers + more == 0)
        return -E2BIG;
    for (size_t i = 0; i < root->n_layers; i++)
        layers[i] = root->layers[i];
    if (root->is_on_default) {
        layers[root->n_layers] = en->template_root;
        layers[root->n_layers + 1] = "/usr";
    }
    t->has_usr = root->is_on_default;
    t->n_layers = (uint32_t)(root->n_layers + more);
    return 0;
}

static int send_root(struct spawner_link *s, const char *name)
{
    struct engine *en = s->engine;
    struct proto_template t = {.keeps_cells = true};
    const char *layers[PROTO_LAYERS_MAX];
    struct engine_root root = {0};
    int fds[PROTO_LAYERS_MAX];
    int r = en->options.find_root ? en->options.find_root(en->options.ctx, name, &root) : -ENOENT;

    (void)snprintf(t.name, sizeof t.name, "%s", name);
    if (r == 0)
        r = fill_layers(en, &root, &t, layers);
    int n = r < 0 ? r : engine_open_layers(&t, layers, fds, NULL);
    if (n < 0)
        return n;
    packet_begin(&en->out, PROTO_TEMPLATE, 0);
    proto_put_template(&en->out, &t);
    r = spawner_link_send_fds(s, fds, (size_t)n);
    while (n > 0)
        (void)close(fds[--n]);
    return r;
}

int engine_root_tell(struct spawner_link *s, const char *name)
{
    if (strcmp(name, "default") == 0 || note_use(&s->roots, name))
        return 0;
    int r = send_root(s, name);
    if (r < 0)
        forget_last_use(&s->roots);
    return r;
}

/* ---- upper layers ---- */

struct upper_request {
    struct list node;
    uint32_t tag;
    const struct spawner_link *spawner;
    engine_upper_fn *fn; /* NULL: nobody waits any more */
    void *ctx;
};

int engine_cell_upper(struct engine_cell *c, engine_upper_fn *fn, void *ctx, struct err *e)
{
    struct engine *en = c->engine;

    if (c->spawner->version < PROTO_VERSION_ROOTS)
        return err_set(e, -EOPNOTSUPP,
                       "this sandbox was created before the service was upgraded; its files "
                       "cannot be copied");
    struct upper_request *q = mem_zalloc(1, sizeof *q);
    if (!q)
        return err_sys(e, -ENOMEM, "upper layer");
    *q = (struct upper_request){.tag = en->next_tag++, .spawner = c->spawner, .fn = fn, .ctx = ctx};
    packet_begin(&en->out, PROTO_UPPER, q->tag);
    wire_put_u32(&en->out, c->info.slot);
    wire_put_u64(&en->out, c->info.generation);
    int r = spawner_link_send(c->spawner);
    if (r < 0) {
        free(q);
        return err_sys(e, r, "upper layer");
    }
    list_append(&en->uppers, &q->node);
    return 0;
}

void engine_cell_upper_forget(struct engine *en, const void *ctx)
{
    list_each(node, &en->uppers)
    {
        struct upper_request *q = list_entry(node, struct upper_request, node);
        if (q->ctx == ctx)
            q->fn = NULL;
    }
}

static struct upper_request *take_request(struct engine *en, uint32_t tag)
{
    list_each(node, &en->uppers)
    {
        struct upper_request *q = list_entry(node, struct upper_request, node);
        if (q->tag != tag)
            continue;
        list_del(node);
        return q;
    }
    return NULL;
}

bool engine_root_answer(struct engine *en, struct packet *p)
{
    bool may_be = p->kind == PROTO_UPPER_IS || p->kind == PROTO_ERROR;
    auto_free struct upper_request *q = may_be ? take_request(en, p->tag) : NULL;
    struct err e = ERR_INIT;

    if (!q)
        return false;
    int fd = p->kind == PROTO_UPPER_IS ? packet_take_fd(p, 0) : -1;
    if (fd < 0) {
        int code = p->kind == PROTO_ERROR ? -(int)wire_get_u32(&p->body) : -EIO;
        struct str text = p->kind == PROTO_ERROR ? wire_get_str(&p->body) : STR("upper layer");
        (void)err_set(&e, code < 0 ? code : -EIO, STR_FMT, STR_ARG(text));
    }
    if (q->fn)
        q->fn(q->ctx, fd < 0 ? e.code : fd, fd < 0 ? &e : NULL);
    else if (fd >= 0)
        (void)close(fd);
    return true;
}

void engine_root_fail(struct engine *en, const struct spawner_link *s)
{
    struct err e = ERR_INIT;
    struct list lost;

    (void)err_set(&e, -ECONNRESET, "the spawner died");
    list_init(&lost);
    list_each(node, &en->uppers)
    {
        if (s && list_entry(node, struct upper_request, node)->spawner != s)
            continue;
        list_del(node);
        list_append(&lost, node);
    }
    for (struct list *node; (node = list_pop(&lost));) {
        struct upper_request *q = list_entry(node, struct upper_request, node);
        if (s && q->fn)
            q->fn(q->ctx, e.code, &e);
        free(q);
    }
}
