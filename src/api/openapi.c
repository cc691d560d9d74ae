/* SPDX-License-Identifier: MIT */
/* The OpenAPI 3.1 document, written from the route tables. */
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/json_pair.h"

#define ABOUT                                                                                      \
    "Sandboxes for agents: cells under /api/v1 and /e2b/v1, products under /sandbox, workspaces "  \
    "under /local-sandbox, MCP servers under /mcp and /SERVER/mcp. A path below /sandbox/NAME "    \
    "that matches no product is forwarded to the service inside the sandbox NAME."

static const char *method_word(enum http_method m)
{
    static const char *const words[HTTP_METHOD_COUNT + 1] = {
        [HTTP_GET] = "get",         [HTTP_HEAD] = "head",   [HTTP_POST] = "post",
        [HTTP_PUT] = "put",         [HTTP_PATCH] = "patch", [HTTP_DELETE] = "delete",
        [HTTP_OPTIONS] = "options", [ROUTE_ANY] = "get"};

    return words[m];
}

/* Of a parameter in a pattern. */
static bool is_mark(char c)
{
    return c == '*' || c == '!';
}

/* "/x/{path*}" and "/x/{path!}" are "/x/{path}" in the document. */
static struct str doc_path(char *out, size_t size, const char *pattern)
{
    size_t n = 0;

    for (const char *p = pattern; *p && n + 1 < size; p++)
        if (!is_mark(*p))
            out[n++] = *p;
    out[n] = 0;
    return str_n(out, n);
}

/* Appends the letters and digits of PATTERN, each run with a capital. */
static size_t camel(char *out, size_t size, const char *pattern)
{
    bool is_start = true;
    size_t n = 0;

    for (const char *p = pattern; *p && n + 1 < size; p++) {
        if (ascii_is_alnum(*p))
            out[n++] = is_start ? ascii_upper(*p) : *p;
        is_start = !ascii_is_alnum(*p);
    }
    return n;
}

/* "getApiV1KeysId" of GET /api/v1/keys/{id}; a slash at the end counts. */
static void put_operation_id(struct jw *w, const struct route *row)
{
    char id[128];
    size_t n = (size_t)snprintf(id, sizeof id, "%s", method_word(row->method));

    n += camel(id + n, sizeof id - n, row->pattern);
    if (str_ends(str_of(row->pattern), STR("/")) && n + sizeof "Slash" <= sizeof id)
        n += (size_t)snprintf(id + n, sizeof id - n, "Slash");
    jw_key(w, "operationId");
    jw_str(w, str_n(id, n));
}

static void put_ref(struct jw *w, const char *schema)
{
    char ref[128];

    (void)snprintf(ref, sizeof ref, "#/components/schemas/%s", schema);
    jw_object(w);
    jw_pair_cstr(w, "$ref", ref);
    jw_end(w);
}

/* A member of src/api/schemas/openapi.json. */
static const char *part_of_document(const char *name)
{
    const struct route_schema *s = openapi_schemas;

    while (strcmp(s->name, name) != 0)
        s++;
    return s->json;
}

/* What is not JSON: files as parts, text, or any bytes. */
static const char *plain_schema(struct str type)
{
    if (str_is(type, "multipart/form-data"))
        return part_of_document("parts");
    if (str_starts(type, STR("text/")))
        return part_of_document("text");
    return part_of_document(str_is(type, "*/*") ? "anything" : "bytes");
}

/* "content":{"application/json":{"schema":{…}}}, for each of TYPES; nothing when neither is named.
 */
static void put_content(struct jw *w, const char *schema, const char *types)
{
    struct str rest = types ? str_of(types) : STR("application/json");

    if (!schema && !types)
        return;
    jw_key(w, "content");
    jw_object(w);
    while (rest.p) {
        struct str type = str_trim(str_cut(&rest, ','));
        jw_key_str(w, type);
        jw_object(w);
        jw_key(w, "schema");
        if (schema && str_is(type, "application/json"))
            put_ref(w, schema);
        else
            jw_raw(w, str_of(plain_schema(type)));
        jw_end(w);
    }
    jw_end(w);
}

static void put_param(struct jw *w, const char *in, struct str name, const struct route_arg *arg)
{
    jw_object(w);
    jw_key(w, "name");
    jw_str(w, name);
    jw_pair_cstr(w, "in", in);
    jw_key(w, "required");
    jw_bool(w, arg == NULL);
    if (arg)
        jw_pair_cstr(w, "description", arg->text);
    jw_key(w, "schema");
    jw_object(w);
    jw_pair_cstr(w, "type", arg ? arg->type : "string");
    jw_end(w);
    jw_end(w);
}

/* PATH: the pattern that the document has for the row's, with its names of parameters. */
static void put_params(struct jw *w, const struct route *row, const char *path)
{
    static const struct route_arg idem = {
        "Idempotency-Key", "string",
        "Repeating a key with the same body within 24 hours returns the same response."};

    jw_key(w, "parameters");
    jw_array(w);
    struct str rest = str_of(path);
    while (rest.p) {
        struct str s = str_cut(&rest, '/');
        if (s.len > 2 && s.p[0] == '{')
            put_param(w, "path", str_slice(s, 1, s.len - (is_mark(s.p[s.len - 2]) ? 2 : 1)), NULL);
    }
    for (size_t i = 0; i < ROUTE_MAX_ARGS && row->query[i].name; i++)
        put_param(w, "query", str_of(row->query[i].name), &row->query[i]);
    if (row->flags & (ROUTE_CREATES | ROUTE_REPEATS))
        put_param(w, "header", str_of(idem.name), &idem);
    jw_end(w);
}

static const char *status_text(int status)
{
    switch (status) {
    case 101: return "Switching protocols to WebSocket";
    case 202: return "Accepted; the response is sent over the stream";
    case 204: return "Success, without a body";
    case 301: return "A redirection";
    case 501: return "Not supported";
    default: return "Success";
    }
}

static void put_responses(struct jw *w, const struct surface *s, const struct route *row)
{
    int status = row->status ? row->status : 200;
    char text[8];

    (void)snprintf(text, sizeof text, "%d", status);
    jw_key(w, "responses");
    jw_object(w);
    jw_key(w, text);
    jw_object(w);
    jw_pair_cstr(w, "description", status_text(status));
    put_content(w, status < 400 ? row->response : s->error_schema, row->response_type);
    jw_end(w);
    jw_key(w, "default");
    jw_object(w);
    jw_pair_cstr(w, "description", "Any error");
    put_content(w, s->error_schema, NULL);
    jw_end(w);
    jw_end(w);
}

static void put_security(struct jw *w, const struct route *row)
{
    static const char *const schemes[] = {"bearer", "apiKey", "apiKeyQuery"};

    jw_key(w, "security");
    jw_array(w);
    for (size_t i = 0; row->auth != ROUTE_OPEN && i < ARRAY_LEN(schemes); i++) {
        jw_object(w);
        jw_key(w, schemes[i]);
        jw_array(w);
        jw_end(w);
        jw_end(w);
    }
    jw_end(w);
}

static void put_operation(struct jw *w, const struct surface *s, const struct route *row,
                          const char *path)
{
    jw_key(w, method_word(row->method));
    jw_object(w);
    put_operation_id(w, row);
    jw_pair_cstr(w, "summary", row->summary);
    jw_key(w, "tags");
    jw_array(w);
    jw_cstr(w, s->name);
    jw_end(w);
    if (row->auth == ROUTE_SYSTEM || row->auth == ROUTE_SCRAPE)
        jw_pair_cstr(w, "description", "Requires a key of a system account.");
    put_params(w, row, path);
    if (row->request || row->request_type) {
        jw_key(w, "requestBody");
        jw_object(w);
        put_content(w, row->request, row->request_type);
        jw_end(w);
    }
    put_responses(w, s, row);
    put_security(w, row);
    jw_end(w);
}

/* Whether two patterns are one path of the document, where names of parameters make no difference.
 */
static bool is_same_path(const char *a, const char *b)
{
    struct str x = str_of(a), y = str_of(b);

    while (x.p && y.p) {
        struct str s = str_cut(&x, '/'), t = str_cut(&y, '/');
        bool is_param = s.len > 0 && t.len > 0 && s.p[0] == '{' && t.p[0] == '{';
        if (!is_param && !str_eq(s, t))
            return false;
    }
    return !x.p && !y.p;
}

/* Row I's path or operation is in the document before it: of two rows that differ in the names of
 * their parameters alone, or in what the parameters may be, the first is documented. */
static bool is_before(const struct surface *s, size_t i, bool is_operation)
{
    const struct route *row = &s->routes[i];

    for (size_t k = 0; k < i; k++)
        if (is_same_path(s->routes[k].pattern, row->pattern) &&
            (!is_operation ||
             strcmp(method_word(s->routes[k].method), method_word(row->method)) == 0))
            return true;
    return false;
}

/* All rows of one path. */
static void put_paths(struct jw *w, const struct surface *s)
{
    char path[256];

    for (size_t i = 0; i < s->n_routes; i++) {
        const char *pattern = s->routes[i].pattern;
        if (is_before(s, i, false))
            continue;
        jw_key_str(w, doc_path(path, sizeof path, pattern));
        jw_object(w);
        for (size_t k = i; k < s->n_routes; k++)
            if (is_same_path(s->routes[k].pattern, pattern) && !is_before(s, k, true))
                put_operation(w, s, &s->routes[k], pattern);
        jw_end(w);
    }
}

static void put_components(struct jw *w, const struct surface *const *surfaces, size_t n)
{
    jw_object(w);
    jw_key(w, "securitySchemes");
    jw_raw(w, str_of(part_of_document("securitySchemes")));
    jw_key(w, "schemas");
    jw_object(w);
    for (size_t i = 0; i < n; i++)
        for (const struct route_schema *s = surfaces[i]->schemas; s && s->name; s++) {
            jw_key(w, s->name);
            jw_raw(w, str_of(s->json));
        }
    jw_end(w);
    jw_end(w);
}

int openapi_write(struct buf *out, const struct surface *const *surfaces, size_t n)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_pair_cstr(&w, "openapi", "3.1.0");
    jw_key(&w, "info");
    jw_object(&w);
    jw_pair_cstr(&w, "title", "Tidepool");
    jw_pair_cstr(&w, "version", TIDEPOOL_VERSION);
    jw_pair_cstr(&w, "description", ABOUT);
    jw_end(&w);
    jw_key(&w, "servers");
    jw_raw(&w, str_of(part_of_document("servers")));
    jw_key(&w, "x-warnings");
    jw_raw(&w, str_of(part_of_document("warnings")));
    jw_key(&w, "paths");
    jw_object(&w);
    for (size_t i = 0; i < n; i++)
        put_paths(&w, surfaces[i]);
    jw_end(&w);
    jw_key(&w, "components");
    put_components(&w, surfaces, n);
    jw_end(&w);
    return out->error;
}
