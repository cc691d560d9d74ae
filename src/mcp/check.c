/* SPDX-License-Identifier: MIT */
/* What is checked of a request before its method is looked at: where the page that sent it comes
 * from, and what 2026-07-28 wants to be said in headers and in _meta. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/enc.h"
#include "mcp/exchange.h"
#include "net/http_req.h"

#define META "io.modelcontextprotocol/"

/* ---- origins ---- */

static bool consists_of(struct str s, const char *more, bool is_hex)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        bool is_digit = (c >= '0' && c <= '9') || (is_hex && enc_hex_digit(c) >= 0);
        if (!is_digit && !strchr(more, c))
            return false;
    }
    return s.len > 0;
}

/* The host of "host" or "host:port", without its port. STR_NULL when it is neither: whoever else
 * reads "127.0.0.1:80@evil.example" may find another host in it. */
static struct str host_without_port(struct str s)
{
    bool is_v6 = s.len > 0 && s.p[0] == '[';
    ptrdiff_t end = str_chr(s, is_v6 ? ']' : ':');
    struct str host = end < 0 ? s : str_slice(s, 0, (size_t)end + is_v6);
    struct str port = str_skip(s, host.len);

    if (is_v6 && (end < 0 || !consists_of(str_slice(host, 1, host.len - 1), ":.", true)))
        return STR_NULL;
    for (size_t i = 0; !is_v6 && i < host.len; i++)
        if (strchr("@/\\?#[]%", host.p[i]) || (unsigned char)host.p[i] <= ' ')
            return STR_NULL;
    if (port.len > 0 && (port.p[0] != ':' || !consists_of(str_skip(port, 1), "", false)))
        return STR_NULL;
    return host;
}

/* The same of "http://host:port". */
static struct str origin_host(struct str origin)
{
    if (str_starts(origin, STR("http://")))
        return host_without_port(str_skip(origin, sizeof "http://" - 1));
    if (str_starts(origin, STR("https://")))
        return host_without_port(str_skip(origin, sizeof "https://" - 1));
    return STR_NULL;
}

static bool is_loopback(struct str host)
{
    return str_iis(host, "localhost") || str_is(host, "127.0.0.1") || str_is(host, "[::1]") ||
           str_ends(host, STR(".localhost"));
}

/* An address is nobody's name, and DOMAIN with all below is the operator's: neither can be made to
 * point here by somebody else. */
static bool is_own_host(struct str host, const char *domain)
{
    size_t n = domain ? strlen(domain) : 0;

    if (host.p[0] == '[' || consists_of(host, ".", false))
        return true;
    if (n == 0 || host.len < n || !str_ieq(str_skip(host, host.len - n), str_of(domain)))
        return false;
    return host.len == n || host.p[host.len - n - 1] == '.';
}

bool mcp_origin_is_allowed(const struct http_req *r, const struct mcp_desc *desc)
{
    struct str origin = http_header_get(&r->head.headers, "origin");

    if (!origin.p)
        return true;
    struct str host = origin_host(origin);
    if (host.len == 0)
        return false;
    if (is_loopback(host))
        return true;
    return desc->is_keyed && str_ieq(host, host_without_port(r->head.host)) &&
           is_own_host(host, desc->domain);
}

/* ---- 2026-07-28 ---- */

static const struct json *meta_of(const struct json *message)
{
    return json_get(json_get(message, "params"), "_meta");
}

bool mcp_looks_modern(const struct http_req *r, const struct json *message)
{
    struct str header = http_header_get(&r->head.headers, "mcp-protocol-version");
    enum mcp_version v = mcp_version_of(header);

    if (json_get(meta_of(message), META "protocolVersion"))
        return true;
    return header.p && (v == MCP_V_2026_07_28 || v == MCP_V_COUNT);
}

static int set_fault(struct mcp_fault *f, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int set_fault(struct mcp_fault *f, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(f->message, sizeof f->message, fmt, ap);
    va_end(ap);
    f->code = code;
    return -EINVAL;
}

static int bad_version(struct arena *a, struct str asked, struct mcp_fault *f)
{
    struct json *data = json_new_object(a), *list = json_new_array(a);

    for (unsigned v = 0; v < MCP_V_COUNT; v++)
        (void)json_push(a, list, json_new_str(a, str_of(mcp_versions[v])));
    (void)json_set(a, data, "supported", list);
    (void)json_set(a, data, "requested", json_new_str(a, asked));
    f->data = mcp_json_text(a, data, MCP_MAX_NAME);
    return set_fault(f, MCP_BAD_VERSION, "Unsupported protocol version");
}

static int check_meta_keys(const struct http_req *r, struct arena *a, const struct json *request,
                           struct mcp_fault *f)
{
    const struct json *meta = meta_of(request);
    const struct json *version = json_get(meta, META "protocolVersion");
    const struct json *can = json_get(meta, META "clientCapabilities");
    struct str header = http_header_get(&r->head.headers, "mcp-protocol-version");

    if (!json_is(meta, JSON_OBJECT))
        return set_fault(f, MCP_INVALID_PARAMS, "params._meta is required");
    if (!json_is(version, JSON_STRING))
        return set_fault(f, MCP_INVALID_PARAMS, "_meta needs " META "protocolVersion");
    if (!json_is(can, JSON_OBJECT))
        return set_fault(f, MCP_INVALID_PARAMS, "_meta needs " META "clientCapabilities");
    if (!header.p)
        return set_fault(f, MCP_HEADER_MISMATCH, "the MCP-Protocol-Version header is required");
    if (!str_eq(header, version->s))
        return set_fault(f, MCP_HEADER_MISMATCH,
                         "MCP-Protocol-Version says '" STR_FMT "', the body '" STR_FMT "'",
                         STR_ARG(str_slice(header, 0, 64)), STR_ARG(str_slice(version->s, 0, 64)));
    if (!str_is(version->s, mcp_versions[MCP_V_2026_07_28]))
        return bad_version(a, version->s, f);
    return 0;
}

/* The value that a header stands for: plain, or "=?base64?…?=". .p is NULL when it is malformed. */
static struct str decode_header(struct arena *a, struct str v)
{
    struct str head = STR("=?base64?"), tail = STR("?=");

    for (size_t i = 0; i < v.len; i++)
        if (((unsigned char)v.p[i] < ' ' && v.p[i] != '\t') || (unsigned char)v.p[i] > '~')
            return STR_NULL;
    if (!str_starts(v, head) || !str_ends(v, tail) || v.len < head.len + tail.len)
        return v;
    struct str text = str_slice(v, head.len, v.len - tail.len);
    struct buf raw auto_buf = BUF_INIT(MCP_MAX_NAME);
    if (text.len % 4 != 0 || str_chr(text, '-') >= 0 || str_chr(text, '_') >= 0 ||
        enc_unbase64(&raw, text) < 0)
        return STR_NULL;
    return arena_str(a, str_n(raw.p ? raw.p : "", raw.len));
}

static bool equals_header(const struct json *v, struct str header)
{
    int64_t i;

    switch (v->type) {
    case JSON_STRING: return str_eq(v->s, header);
    case JSON_BOOL: return str_is(header, v->b ? "true" : "false");
    case JSON_INT:
        if (str_ends(header, STR(".0")))
            header.len -= 2;
        return str_to_i64(header, &i) == 0 && i == v->i;
    case JSON_NULL:
    case JSON_REAL:
    case JSON_ARRAY:
    case JSON_OBJECT:
    case JSON_TYPE_COUNT: break;
    }
    return false;
}

/* The header NAME has to repeat V, when that is there. */
static int check_repeated(const struct http_req *r, struct arena *a, const char *name,
                          const struct json *v, struct mcp_fault *f)
{
    struct str header = http_header_get(&r->head.headers, name);

    if (!v || v->type == JSON_NULL)
        return header.p ? set_fault(f, MCP_HEADER_MISMATCH,
                                    "%s refers to a value that is not in the body", name)
                        : 0;
    if (!header.p)
        return set_fault(f, MCP_HEADER_MISMATCH, "the %s header is required", name);
    struct str value = decode_header(a, str_trim(header));
    if (!value.p || !equals_header(v, value))
        return set_fault(f, MCP_HEADER_MISMATCH,
                         "the %s header '" STR_FMT "' does not match the body", name,
                         STR_ARG(str_slice(header, 0, 100)));
    return 0;
}

static int check_arguments(struct mcp_server *s, const struct http_req *r, struct arena *a,
                           const struct json *params, struct mcp_fault *f)
{
    const struct mcp_tool_row *t =
        map_get(&s->table.tools, json_str(json_get(params, "name"), STR_NULL));
    const struct json *args = json_get(params, "arguments");

    for (size_t i = 0; t && i < t->n_headers; i++) {
        const struct json *v = json_pointer_str(args, t->headers[i].pointer);
        if (check_repeated(r, a, t->headers[i].header.p, v, f) < 0)
            return -EINVAL;
    }
    return 0;
}

int mcp_check_modern(struct mcp_server *s, const struct http_req *r, struct arena *a,
                     const struct json *request, struct mcp_fault *f)
{
    const struct json *params = json_get(request, "params"), *name = json_get(request, "method");

    if (check_meta_keys(r, a, request, f) < 0 || check_repeated(r, a, "Mcp-Method", name, f) < 0)
        return -EINVAL;
    const struct mcp_method *m = mcp_method_find(name->s, true);
    if (!m || !m->named_by)
        return 0;
    if (check_repeated(r, a, "Mcp-Name", json_get(params, m->named_by), f) < 0)
        return -EINVAL;
    return check_arguments(s, r, a, params, f);
}
