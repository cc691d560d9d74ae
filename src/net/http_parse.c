/* SPDX-License-Identifier: MIT */
/* Heads of HTTP/1 messages: see http.h.
 *
 * Two passes. The first looks for the empty line and for bytes that no head may hold; it works on
 * what has arrived so far and remembers how far it came. The second runs once, over a copy of the
 * complete head in the arena: all strings of the result point into that copy. */
#include <errno.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/ascii.h"
#include "base/cleanup.h"
#include "net/http.h"
#include "net/http_chars.h"

enum { FIRST_HEADERS = 16 };

const uint8_t http_chars[256] = {
    [0x20] = 0, 7, 2, 1, 7, 7, 7, 7, 6, 6, 7, 7, 6, 7, 7, 2, /* punctuation */
    [0x30] = 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 2, 6, 2, 6, 2, 2, /* digits */
    [0x40] = 2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, /* A */
    [0x50] = 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 2, 2, 2, 3, 7, /* P */
    [0x60] = 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, /* a */
    [0x70] = 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 2, 3, 2, 7, 0, /* p */
};

struct head_parse {
    struct arena *arena;
    const struct http_limits *limits;
    struct http_head *head;
    size_t cap_headers;
    const char *reason;
    struct str transfer_encoding;
    bool is_response;
    bool has_host, has_length, has_upgrade, has_close, has_keep_alive, has_connection_upgrade;
};

static int fail_head(struct head_parse *ps, int status, const char *reason)
{
    ps->reason = reason;
    return ps->is_response ? -502 : -status;
}

/* ---- first pass ---- */

/* Index of the first control byte other than a tab in [AT, END), or END. */
static size_t next_ctl(const char *p, size_t at, size_t end)
{
#ifdef __SSE2__
    const __m128i top = _mm_set1_epi8(0x1f), tab = _mm_set1_epi8('\t'), del = _mm_set1_epi8(0x7f);

    for (; end - at >= 16; at += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, top), x);
        __m128i hit =
            _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(x, tab), low), _mm_cmpeq_epi8(x, del));
        int mask = _mm_movemask_epi8(hit);
        if (mask)
            return at + (size_t)__builtin_ctz((unsigned)mask);
    }
#endif
    while (at < end && !http_is_ctl(p[at]))
        at++;
    return at;
}

/* What an unfinished head says: 0 for "wait", or too long. */
static ssize_t unfinished(struct head_parse *ps, const char *p, size_t len)
{
    if (len < ps->limits->max_head)
        return 0;
    if (!memchr(p, '\n', ps->limits->max_head))
        return fail_head(ps, 414, "request line too long");
    return fail_head(ps, 431, "header fields too large");
}

/* The length of the head in P (with one empty line before it: *ret_skip), 0 or -status. */
static ssize_t find_head_end(struct head_parse *ps, const char *p, size_t len, size_t *scanned,
                             size_t *ret_skip)
{
    size_t end = len < ps->limits->max_head ? len : ps->limits->max_head;
    size_t start = !ps->is_response && len >= 2 && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
    size_t at = *scanned < start ? start : *scanned;

    for (;;) {
        at = next_ctl(p, at, end);
        *scanned = at;
        if (at == end)
            return unfinished(ps, p, len);
        if (p[at] != '\r')
            return fail_head(ps, 400,
                             p[at] == '\n' ? "bare line feed" : "control byte in the head");
        if (at + 1 == end)
            return unfinished(ps, p, len);
        if (p[at + 1] != '\n')
            return fail_head(ps, 400, "bare carriage return");
        if (at == start)
            return fail_head(ps, 400, "empty request line");
        if (p[at - 1] == '\n')
            break;
        at += 2;
    }
    *ret_skip = start;
    return (ssize_t)(at + 2);
}

/* ---- header fields ---- */

static int on_content_length(struct head_parse *ps, struct str value)
{
    /* A repeated length is refused even when it is the same: some peers take the first, some the
     * last. */
    if (ps->has_length || value.len > 18)
        return fail_head(ps, 400, "bad Content-Length");
    ps->has_length = true;
    if (str_to_i64(value, &ps->head->content_length) < 0 || value.p[0] == '-')
        return fail_head(ps, 400, "bad Content-Length");
    return 0;
}

static int on_transfer_encoding(struct head_parse *ps, struct str value)
{
    if (ps->transfer_encoding.p)
        return fail_head(ps, 400, "repeated Transfer-Encoding");
    ps->transfer_encoding = value;
    return 0;
}

/* A port: up to five digits, may be empty. */
static bool is_port(struct str port)
{
    uint64_t number = 0;

    return port.len == 0 || (port.len <= 5 && str_to_u64(port, &number) == 0 && number <= 65535);
}

static bool is_address_char(char c)
{
    return http_is_host(c) || c == ':';
}

/* host [":" port], the host a name, an IPv4 address or an IP literal in brackets. */
static bool is_request_authority(struct str s)
{
    size_t at = 0;

    if (s.len > 0 && s.p[0] == '[') {
        for (at = 1; at < s.len && is_address_char(s.p[at]); at++)
            ;
        if (at < 3 || at == s.len || s.p[at] != ']')
            return false;
        at++;
    } else {
        while (at < s.len && http_is_host(s.p[at]))
            at++;
    }
    if (at == 0)
        return false;
    return at == s.len || (s.p[at] == ':' && is_port(str_skip(s, at + 1)));
}

static int on_host(struct head_parse *ps, struct str value)
{
    if (ps->is_response)
        return 0;
    if (ps->has_host || !is_request_authority(value))
        return fail_head(ps, 400, "bad Host");
    ps->has_host = true;
    ps->head->host = value;
    return 0;
}

static int read_connection_header(struct head_parse *ps, struct str value)
{
    for (struct str rest = value; rest.p;) {
        struct str token = str_trim(str_cut(&rest, ','));
        if (str_ieq(token, STR("close")))
            ps->has_close = true;
        else if (str_ieq(token, STR("keep-alive")))
            ps->has_keep_alive = true;
        else if (str_ieq(token, STR("upgrade")))
            ps->has_connection_upgrade = true;
    }
    return 0;
}

static int on_upgrade(struct head_parse *ps, struct str value)
{
    ps->has_upgrade |= value.len > 0;
    return 0;
}

static int on_expect(struct head_parse *ps, struct str value)
{
    if (ps->is_response)
        return 0;
    if (!str_ieq(value, STR("100-continue")))
        return fail_head(ps, 417, "unknown expectation");
    ps->head->expects_continue = true;
    return 0;
}

/* The fields that decide about framing and the connection. */
static const struct {
    struct str name;
    int (*fn)(struct head_parse *ps, struct str value);
} special[] = {
    {STR_INIT("host"), on_host},
    {STR_INIT("content-length"), on_content_length},
    {STR_INIT("transfer-encoding"), on_transfer_encoding},
    {STR_INIT("connection"), read_connection_header},
    {STR_INIT("upgrade"), on_upgrade},
    {STR_INIT("expect"), on_expect},
};

static int add_parsed_header(struct head_parse *ps, struct str name, struct str value)
{
    struct http_headers *h = &ps->head->headers;

    if (h->n == ps->limits->max_headers)
        return fail_head(ps, 431, "too many header fields");
    if (h->n == ps->cap_headers) {
        size_t cap = h->n ? h->n * 2 : FIRST_HEADERS;
        struct http_header *items = arena_alloc(ps->arena, cap * sizeof *items);
        if (!items)
            return fail_head(ps, 503, "out of memory");
        if (h->n)
            memcpy(items, h->items, h->n * sizeof *items);
        h->items = items;
        ps->cap_headers = cap;
    }
    h->items[h->n++] = (struct http_header){name, value};
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (name.len == special[i].name.len && str_ieq(name, special[i].name))
            return special[i].fn(ps, value);
    return 0;
}

static int parse_headers(struct head_parse *ps, const char *p, const char *end)
{
    while (p < end) {
        const char *name = p;
        while (http_is_token(*p))
            p++;
        if (*p != ':' || p == name)
            return fail_head(ps, 400,
                             *name == ' ' || *name == '\t' ? "folded header" : "bad header");
        /* The first pass made sure that every line ends with CRLF. */
        const char *line_end = memchr(p, '\r', (size_t)(end - p));
        struct str value = str_trim(str_n(p + 1, (size_t)(line_end - p - 1)));
        int r = add_parsed_header(ps, str_n(name, (size_t)(p - name)), value);
        if (r < 0)
            return r;
        p = line_end + 2;
    }
    return 0;
}

/* "chunked" alone is understood. Anything else is refused: with 501 when chunked ends the list, so
 * that the length would at least be known, else with 400. */
static int check_transfer_encoding(struct head_parse *ps)
{
    struct str rest = ps->transfer_encoding, last = STR_NULL;
    int n = 0, n_chunked = 0;

    if (!rest.p)
        return 0;
    if (ps->has_length)
        return fail_head(ps, 400, "Content-Length with Transfer-Encoding");
    if (ps->head->minor == 0)
        return fail_head(ps, 400, "Transfer-Encoding in HTTP/1.0");
    while (rest.p) {
        last = str_trim(str_cut(&rest, ','));
        n++;
        n_chunked += str_ieq(last, STR("chunked"));
    }
    if (n_chunked != 1 || !str_ieq(last, STR("chunked")))
        return fail_head(ps, 400, "bad Transfer-Encoding");
    if (n > 1)
        return fail_head(ps, 501, "unknown transfer coding");
    ps->head->is_chunked = true;
    return 0;
}

/* ---- request line ---- */

static enum http_method parsed_method_of(struct str s)
{
    for (enum http_method m = HTTP_GET; m < HTTP_OTHER; m++)
        if (str_is(s, http_method_name(m)))
            return m;
    return HTTP_OTHER;
}

static struct str take_while(const char **p, bool (*fn)(char c))
{
    const char *start = *p;

    while (fn(**p))
        (*p)++;
    return str_n(start, (size_t)(*p - start));
}

/* "HTTP/1.x" at P, followed by END. */
static int parse_version(struct head_parse *ps, const char *p, char end)
{
    if (memcmp(p, "HTTP/", 5) != 0 || !ascii_is_digit(p[5]) || p[6] != '.' ||
        !ascii_is_digit(p[7]) || p[8] != end)
        return fail_head(ps, 400, "bad protocol version");
    if (p[5] != '1')
        return fail_head(ps, 505, "unsupported protocol version");
    ps->head->minor = p[7] - '0';
    return 0;
}

/* "http://authority/path?query" */
static int parse_absolute(struct head_parse *ps, struct str target)
{
    struct http_head *h = ps->head;
    bool is_https = target.len > 8 && str_ieq(str_n(target.p, 8), STR("https://"));
    size_t scheme = is_https ? 8 : 7;

    if (!is_https && !(target.len > 7 && str_ieq(str_n(target.p, 7), STR("http://"))))
        return fail_head(ps, 400, "bad request target");
    size_t at = scheme;
    while (at < target.len && target.p[at] != '/' && target.p[at] != '?')
        at++;
    h->host = str_n(target.p + scheme, at - scheme);
    if (!is_request_authority(h->host))
        return fail_head(ps, 400, "bad request target");
    h->path = str_skip(target, at);
    return 0;
}

static int parse_target(struct head_parse *ps, struct str target)
{
    struct http_head *h = ps->head;

    h->target = target;
    h->path = target;
    if (target.len > ps->limits->max_target)
        return fail_head(ps, 414, "request target too long");
    if (target.len == 0)
        return fail_head(ps, 400, "bad request target");
    if (str_eq(target, STR("*")))
        return h->method == HTTP_OPTIONS ? 0 : fail_head(ps, 400, "bad request target");
    int r = target.p[0] == '/' ? 0 : parse_absolute(ps, target);
    if (r < 0)
        return r;
    ptrdiff_t mark = str_chr(h->path, '?');
    if (mark >= 0) {
        h->query = str_skip(h->path, (size_t)mark + 1);
        h->path.len = (size_t)mark;
    }
    if (h->path.len == 0)
        h->path = h->method == HTTP_OPTIONS && mark < 0 ? STR("*") : STR("/");
    return 0;
}

static int parse_request_line(struct head_parse *ps, const char *p)
{
    struct http_head *h = ps->head;

    h->method_text = take_while(&p, http_is_token);
    if (h->method_text.len == 0 || *p != ' ')
        return fail_head(ps, 400, "bad method");
    h->method = parsed_method_of(h->method_text);
    p++;
    struct str target = take_while(&p, http_is_target);
    if (*p != ' ')
        return fail_head(ps, 400, "bad request target");
    int r = parse_version(ps, p + 1, '\r');
    return r < 0 ? r : parse_target(ps, target);
}

static int parse_status_line(struct head_parse *ps, const char *p)
{
    int r = parse_version(ps, p, ' ');

    if (r < 0)
        return r;
    p += 9;
    if (p[0] < '1' || p[0] > '5' || !ascii_is_digit(p[1]) || !ascii_is_digit(p[2]))
        return fail_head(ps, 502, "bad status");
    ps->head->status = (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
    if (p[3] != ' ' && p[3] != '\r')
        return fail_head(ps, 502, "bad status");
    const char *reason = p + (p[3] == ' ' ? 4 : 3);
    const char *end = strchr(reason, '\r');
    ps->head->reason = str_n(reason, (size_t)(end - reason));
    return 0;
}

/* ---- whole heads ---- */

static void set_connection(struct head_parse *ps)
{
    struct http_head *h = ps->head;

    h->is_keep_alive = !ps->has_close && (h->minor > 0 || ps->has_keep_alive);
    h->expects_continue = h->expects_continue && h->minor > 0;
    /* A body before the switch of protocols is allowed by the RFC and used by nobody. */
    h->is_upgrade = ps->has_upgrade && ps->has_connection_upgrade && h->minor > 0 &&
                    h->content_length <= 0 && !h->is_chunked;
}

static int check_request_line(struct head_parse *ps)
{
    if (!ps->has_host && ps->head->minor > 0)
        return fail_head(ps, 400, "missing Host");
    int r = check_transfer_encoding(ps);
    if (r < 0)
        return r;
    set_connection(ps);
    return 0;
}

/* The length of a response's body also depends on the request and the status. */
static int check_response(struct head_parse *ps, enum http_method request_method)
{
    struct http_head *h = ps->head;
    int r = check_transfer_encoding(ps);

    if (r < 0)
        return r;
    if (request_method == HTTP_HEAD || h->status < 200 || h->status == 204 || h->status == 304) {
        h->content_length = 0;
        h->is_chunked = false;
    }
    set_connection(ps);
    if (h->content_length < 0 && !h->is_chunked)
        h->is_keep_alive = false;
    return 0;
}

static int parse_copy(struct head_parse *ps, const char *p, size_t len)
{
    struct str absolute_host;

    int r = ps->is_response ? parse_status_line(ps, p) : parse_request_line(ps, p);
    if (r < 0)
        return r;
    absolute_host = ps->head->host;
    const char *headers = (const char *)memchr(p, '\n', len) + 1;
    r = parse_headers(ps, headers, p + len - 2);
    /* RFC 9112 3.2.2: an absolute target decides, whatever Host says. */
    if (absolute_host.p)
        ps->head->host = absolute_host;
    return r;
}

static ssize_t parse_head(struct head_parse *ps, const char *p, size_t len, size_t *scanned)
{
    size_t skip = 0;

    *ps->head = (struct http_head){.content_length = -1};
    ssize_t n = find_head_end(ps, p, len, scanned, &skip);
    if (n <= 0)
        return n;
    struct str copy = arena_str(ps->arena, str_n(p + skip, (size_t)n - skip));
    if (!copy.p)
        return fail_head(ps, 503, "out of memory");
    int r = parse_copy(ps, copy.p, copy.len);
    return r < 0 ? r : n;
}

/* NOLINTNEXTLINE(readability-function-size): what goes in and what comes out, nothing to bundle */
ssize_t http_parse_request(struct arena *a, const char *p, size_t len, size_t *scanned,
                           const struct http_limits *limits, struct http_head *ret,
                           const char **ret_reason)
{
    struct head_parse ps = {.arena = a, .limits = limits, .head = ret};
    ssize_t n = parse_head(&ps, p, len, scanned);

    if (n > 0) {
        int r = check_request_line(&ps);
        n = r < 0 ? r : n;
    }
    if (n < 0)
        *ret_reason = ps.reason;
    return n;
}

/* NOLINTNEXTLINE(readability-function-size): what goes in and what comes out, nothing to bundle */
ssize_t http_parse_response(struct arena *a, const char *p, size_t len, size_t *scanned,
                            const struct http_limits *limits, enum http_method request_method,
                            struct http_head *ret, const char **ret_reason)
{
    struct head_parse ps = {.arena = a, .limits = limits, .head = ret, .is_response = true};
    ssize_t n = parse_head(&ps, p, len, scanned);

    if (n > 0) {
        int r = check_response(&ps, request_method);
        n = r < 0 ? r : n;
    }
    if (n < 0)
        *ret_reason = ps.reason;
    return n;
}
