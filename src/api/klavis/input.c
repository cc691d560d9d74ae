/* SPDX-License-Identifier: MIT */
/* Reading requests: path, query and body, and telling all that is wrong with them. */
#include <errno.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/parse.h"
#include "api/warn.h"
#include "base/cleanup.h"
#include "core/server.h"

static const struct model_place in_path = {.name = STR_INIT("path")};
static const struct model_place in_query = {.name = STR_INIT("query")};
static const struct model_place in_body = {.name = STR_INIT("body")};

static const struct json *find_schema(void *ctx, struct str name)
{
    return klavis_schema(ctx, name);
}

static void on_input_dropped(struct model *m, const struct json *schema,
                             const struct model_place *at, struct str name)
{
    struct api_req *r = container_of(m, struct klavis_input, model)->r;

    api_warn(r, warn_text(r->arena, schema, at->in ? at->name : STR_NULL, name));
}

void klavis_input_begin(struct klavis_input *in, struct api_req *r)
{
    in->r = r;
    in->dump_of = STR_NULL;
    buf_init(&in->items, MODEL_MAX_DETAIL);
    in->model = (struct model){.arena = r->arena,
                               .items = &in->items,
                               .find = find_schema,
                               .ctx = r->api->klavis,
                               .on_dropped = on_input_dropped};
}

/* ---- the path ---- */

static void add_unknown_member(struct klavis_input *in, const struct model_place *place,
                               struct str name)
{
    struct json *words = json_new_array(in->r->arena);
    struct model_place at = {.in = place, .name = STR_INIT("server_name")};

    for (size_t i = 0; server_at(i); i++) {
        struct json *word =
            server_at(i)->is_listed ? json_new_str(in->r->arena, str_of(server_at(i)->name)) : NULL;
        if (word && words)
            (void)json_push(in->r->arena, words, word);
    }
    model_add_choice(&in->model, &at, "enum", json_new_str(in->r->arena, name), words);
}

static struct str find_server(struct klavis_input *in, const struct model_place *place,
                              struct str name)
{
    const struct server *s = server_find(name);

    if (s)
        return str_of(s->name);
    if (klavis_knows(in->r->api->klavis, name))
        return name;
    add_unknown_member(in, place, name);
    return STR_NULL;
}

struct str klavis_input_server(struct klavis_input *in)
{
    struct str name = api_param(in->r, "server_name");

    return find_server(in, &in_path, name.p ? name : api_param(in->r, "name"));
}

void klavis_unknown(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    add_unknown_member(&in, &in_path, api_param(r, "name"));
    (void)klavis_input_refuse(&in);
}

struct instance *klavis_path(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    struct str server = klavis_input_server(&in);
    return klavis_input_refuse(&in) ? NULL : klavis_find(r, server);
}

/* ---- the query ---- */

const struct json *klavis_input_query(struct klavis_input *in, const char *name, const char *schema)
{
    struct str text = api_query(in->r, name);
    struct model_place at = {.in = &in_query, .name = str_of(name)};
    struct json *v = text.p ? json_new_str(in->r->arena, text) : NULL;

    if (!v)
        return NULL;
    return model_read(&in->model, klavis_schema(in->r->api->klavis, str_of(schema)), v, &at);
}

struct str klavis_input_server_query(struct klavis_input *in)
{
    struct str name = api_query(in->r, "server_name");

    return name.p ? find_server(in, &in_query, name) : STR_NULL;
}

/* ---- the body ---- */

/* What Python's parser says of a text that ends too early. */
static const char *end_words(struct str text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.p[text.len - 1]))
        text.len--;
    switch (text.len > 0 ? text.p[text.len - 1] : ':') {
    case ':':
    case '[': return "Expecting value";
    case '{':
    case ',': return "Expecting property name enclosed in double quotes";
    default: return "Expecting ',' delimiter";
    }
}

/* What it says in place of ours. */
static const char *json_words(struct str text, const char *why)
{
    static const char *const rows[][2] = {
        {"expected a value", "Expecting value"},
        {"expected a member name", "Expecting property name enclosed in double quotes"},
        {"expected ':'", "Expecting ':' delimiter"},
        {"expected ','", "Expecting ',' delimiter"},
        {"text behind the value", "Extra data"},
        {"control character", "Invalid control character at"},
        {"unknown escape", "Invalid \\escape"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strstr(why, rows[i][0]))
            return rows[i][1];
    return strstr(why, "unexpected end") ? end_words(text) : why;
}

/* The number behind WORD; both are taken off *TEXT. */
static bool read_input_number(struct str *text, const char *word, uint64_t *ret)
{
    struct str first = str_cut(text, ' '), number = str_cut(text, ' ');

    if (str_ends(number, STR(":")))
        number.len--;
    return str_is(first, word) && str_to_u64(number, ret) == 0 && *ret > 0;
}

/* The offset of "line 3 column 14: …" in TEXT. */
static size_t input_offset_of(struct str text, const char *why)
{
    struct str rest = str_of(why);
    uint64_t line, column;
    size_t at = 0;

    if (!read_input_number(&rest, "line", &line) || !read_input_number(&rest, "column", &column))
        return 0;
    for (; line > 1 && at < text.len; at++)
        line -= text.p[at] == '\n';
    at += column - 1;
    return at < text.len ? at : text.len;
}

static void add_malformed(struct klavis_input *in, struct str text, const struct err *e)
{
    struct model_place at = {.in = &in_body, .index = input_offset_of(text, err_text(e))};
    struct buf ctx auto_buf = BUF_INIT(4096);
    struct jw w = jw_to(&ctx);

    jw_object(&w);
    jw_key(&w, "error");
    jw_cstr(&w, json_words(text, err_text(e)));
    jw_end(&w);
    model_add(&in->model, &at,
              &(struct model_fault){.type = "json_invalid",
                                    .msg = STR_INIT("JSON decode error"),
                                    .input = json_new_object(in->r->arena),
                                    .ctx = buf_str(&ctx)});
}

/* The body as JSON; NULL when there is none. */
static struct json *parse_input(struct klavis_input *in, struct err *e)
{
    return api_parsed(in->r, e);
}

static bool is_dump_member(struct str name)
{
    static const char *const names[] = {"sandbox_id", "server_name", "dumped_at", "data",
                                        "warnings"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* The answer of a dump is taken as it came: its data is what counts. DOC is the schema of these. */
static struct json *unwrap(struct klavis_input *in, const struct json *doc, struct json *v)
{
    struct model_place at = {.in = &in_body, .name = STR_INIT("server_name")};
    struct json *data = json_get(v, "data"), *server = json_get(v, "server_name");
    struct str name = json_str(server, in->dump_of);
    const struct server *s = server_find(name);

    if (!in->dump_of.p || !json_is(data, JSON_OBJECT) ||
        json_get(json_get(doc, "properties"), "data"))
        return v;
    for (size_t i = 0; i < v->n; i++)
        if (!is_dump_member(v->members[i].key))
            return v;
    if (!str_ieq(s ? str_of(s->name) : name, in->dump_of))
        model_add(&in->model, &at,
                  &(struct model_fault){.type = "value_error",
                                        .msg = arena_printf(in->r->arena,
                                                            "The dump belongs to another server; "
                                                            "this sandbox belongs to " STR_FMT,
                                                            STR_ARG(in->dump_of)),
                                        .input = server});
    return data;
}

struct json *klavis_input_body(struct klavis_input *in, const char *schema, const struct json *doc,
                               bool is_required)
{
    struct err e = ERR_INIT;
    struct json *v = parse_input(in, &e);

    if (e.code == -ENOMEM) {
        in->model.has_failed = true;
        return NULL;
    }
    if (e.code) {
        /* It is reported alone: the original does not look at the rest then. */
        buf_clear(&in->items);
        in->model.n_items = 0;
        add_malformed(in, in->r->http->body, &e);
        return NULL;
    }
    if ((!v || v->type == JSON_NULL) && !is_required)
        return NULL;
    if (!doc)
        doc = schema ? klavis_schema(in->r->api->klavis, str_of(schema)) : NULL;
    v = unwrap(in, doc, v);
    if (!v || v->type == JSON_NULL) {
        (void)model_read(&in->model, doc, NULL, &in_body);
        return NULL;
    }
    return doc ? model_read(&in->model, doc, v, &in_body) : v;
}

/* ---- the end ---- */

bool klavis_input_refuse(struct klavis_input *in)
{
    struct buf items auto_buf = in->items, out auto_buf = BUF_INIT(MODEL_MAX_DETAIL + 64);

    buf_init(&in->items, 0);
    if (in->model.has_failed || !buf_ok(&items)) {
        klavis_fail(in->r, -ENOMEM, NULL);
        return true;
    }
    if (in->model.n_items == 0)
        return false;
    (void)buf_add_lit(&out, "{\"detail\":[");
    (void)buf_add_str(&out, buf_str(&items));
    (void)buf_add_lit(&out, "]}");
    api_reply_json(in->r, 422, &out);
    return true;
}
