/* SPDX-License-Identifier: MIT */
/* Reading XML: our trees beside expat, which by itself only calls back, and beside the least that a
 * tree on top of it would have to do (a node for each element and text, copies of names, attributes
 * and text). */
#include <expat.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "bench.h"
#include "office/xml.h"

enum { SAMPLE = 4 << 20, ARENA_MAX = 512 << 20 };

static void add_sheet(struct buf *b)
{
    unsigned seed = 2, row = 0;

    (void)buf_printf(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<worksheet xmlns=\"http://"
                        "schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>");
    while (b->len < SAMPLE) {
        (void)buf_printf(b, "<row r=\"%u\" spans=\"1:8\">", ++row);
        for (int i = 0; i < 8; i++)
            (void)buf_printf(b, "<c r=\"%c%u\" s=\"%u\"><v>%u</v></c>", 'A' + i, row,
                             bench_random(&seed) % 4, bench_random(&seed) % 100000);
        (void)buf_printf(b, "</row>");
    }
    (void)buf_printf(b, "</sheetData></worksheet>");
}

static size_t parse_ours(void *ctx)
{
    auto_arena struct arena a;
    struct err e = ERR_INIT;

    arena_init(&a, ARENA_MAX);
    struct xml_doc *d = xml_parse(&a, buf_str(ctx), &e);
    bench_must(d != NULL, "xml_parse");
    return d->n_nodes;
}

/* ---- expat ---- */

struct node {
    struct node *parent, *first, *last, *next;
    const char *text;
    const char **attrs;
};

struct tree {
    struct arena arena;
    struct node top, *at;
    size_t n;
    bool is_built;
};

static struct node *add_node(struct tree *t)
{
    struct node *n = arena_new(&t->arena, struct node);

    bench_must(n != NULL, "memory");
    *n = (struct node){.parent = t->at};
    if (t->at->last)
        t->at->last->next = n;
    else
        t->at->first = n;
    t->at->last = n;
    return n;
}

static const char *copy_text(struct tree *t, const char *s)
{
    return arena_str(&t->arena, str_of(s)).p;
}

static void on_start(void *ctx, const char *name, const char **attrs)
{
    struct tree *t = ctx;
    size_t n = 0;

    t->n++;
    if (!t->is_built)
        return;
    struct node *node = add_node(t);
    node->text = copy_text(t, name);
    while (attrs[n])
        n++;
    node->attrs = arena_alloc(&t->arena, (n + 1) * sizeof *attrs);
    for (size_t i = 0; i < n; i++)
        node->attrs[i] = copy_text(t, attrs[i]);
    node->attrs[n] = NULL;
    t->at = node;
}

static void on_end(void *ctx, const char *name)
{
    struct tree *t = ctx;

    (void)name;
    if (t->is_built)
        t->at = t->at->parent;
}

static void on_text(void *ctx, const char *p, int len)
{
    struct tree *t = ctx;

    t->n++;
    if (t->is_built)
        add_node(t)->text = arena_str(&t->arena, str_n(p, (size_t)len)).p;
}

static size_t parse_expat(struct buf *b, bool is_built)
{
    struct tree t = {.is_built = is_built};
    XML_Parser p = XML_ParserCreateNS("UTF-8", ' ');

    arena_init(&t.arena, ARENA_MAX);
    t.at = &t.top;
    XML_SetUserData(p, &t);
    XML_SetElementHandler(p, on_start, on_end);
    XML_SetCharacterDataHandler(p, on_text);
    bench_must(XML_Parse(p, b->p, (int)b->len, 1) == XML_STATUS_OK, "expat");
    XML_ParserFree(p);
    arena_done(&t.arena);
    return t.n;
}

static size_t parse_callbacks(void *ctx)
{
    return parse_expat(ctx, false);
}

static size_t parse_tree(void *ctx)
{
    return parse_expat(ctx, true);
}

int main(void)
{
    static const struct bench_side sides[] = {
        {"ours", parse_ours}, {"expat, callbacks", parse_callbacks}, {"expat, tree", parse_tree}};
    auto_buf struct buf b = BUF_INIT(2 * SAMPLE);

    add_sheet(&b);
    bench_compare("XML sheet", b.len, sides, ARRAY_LEN(sides), &b);
    return 0;
}
