/* SPDX-License-Identifier: MIT */
/* Streaming multipart/form-data: see multipart.h.
 *
 * A delimiter is CRLF "--" boundary. A boundary holds no CR, so CR is the delimiter's first byte
 * and no other: when a match that began in earlier input fails, the bytes held back are known
 * without having been stored (they are the delimiter's beginning), and no other match can have
 * begun inside them. */
#include "net/multipart.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/enc.h"
#include "base/mem.h"

enum {
    DELIM_MAX = MULTIPART_BOUNDARY_MAX + 4,
    PARAMS_MAX = 1 << 18, /* memory for the decoded parameters of one header */
    PADDING_MAX = 256,    /* blanks behind a boundary */
};

enum state { PREAMBLE, AFTER_BOUNDARY, HEAD, DATA, EPILOGUE };

struct multipart {
    const struct multipart_ops *ops;
    void *ctx;
    struct multipart_limits limits;
    char delim[DELIM_MAX];
    size_t delim_len;

    enum state state;
    size_t matched; /* bytes of the delimiter that ended the last input */
    size_t unsent;  /* how many of them were never in the input: see start_matching() */
    char after;     /* last byte behind the boundary: 0, '-', ' ' or '\r' */
    size_t padding, n_parts;
    uint64_t total;
    struct buf head;
    struct arena arena; /* of the current part's strings */
    int error;
    const char *reason;
};

static int fail_multipart(struct multipart *m, int error, const char *reason)
{
    m->error = error;
    m->reason = reason;
    return error;
}

/* ---- header parameters ---- */

/* True when S is not empty and made of letters, digits and MARKS. */
static bool is_made_of(struct str s, const char *marks)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        bool is_alnum = ascii_is_alnum(c);
        if (!is_alnum && (c == '\0' || !strchr(marks, c)))
            return false;
    }
    return s.len > 0;
}

static bool is_boundary_token(struct str s)
{
    return is_made_of(s, "!#$%&'*+-.^_`|~");
}

/* Backslash escapes a quote or a backslash only: before anything else it is part of a Windows path
 * that an old browser sent. */
static bool is_escape(const struct str *s, size_t i)
{
    return s->p[i] == '\\' && i + 1 < s->len && (s->p[i + 1] == '"' || s->p[i + 1] == '\\');
}

/* Takes a quoted string off *REST, without the quotes. */
static int cut_quoted(struct arena *a, struct str *rest, struct str *ret)
{
    size_t end = 1, n = 0;

    while (end < rest->len && rest->p[end] != '"')
        end += is_escape(rest, end) ? 2 : 1;
    if (end >= rest->len)
        return -EINVAL;
    char *out = arena_alloc(a, end);
    if (!out)
        return -ENOMEM;
    for (size_t i = 1; i < end; i++)
        out[n++] = rest->p[is_escape(rest, i) ? ++i : i];
    *rest = str_skip(*rest, end + 1);
    *ret = str_n(out, n);
    return 0;
}

/* Takes "; name=value" off *REST: 1, 0 at the end, or -errno. */
static int next_multipart_param(struct arena *a, struct str *rest, struct str *ret_name,
                                struct str *ret_value)
{
    *rest = str_trim(*rest);
    if (rest->len == 0)
        return 0;
    if (rest->p[0] != ';')
        return -EINVAL;
    *rest = str_trim(str_skip(*rest, 1));
    if (rest->len == 0)
        return 0;
    ptrdiff_t eq = str_chr(*rest, '=');
    if (eq < 0)
        return -EINVAL;
    *ret_name = str_slice(*rest, 0, (size_t)eq);
    *rest = str_skip(*rest, (size_t)eq + 1);
    if (!is_boundary_token(*ret_name))
        return -EINVAL;
    if (rest->len && rest->p[0] == '"') {
        int r = cut_quoted(a, rest, ret_value);
        return r < 0 ? r : 1;
    }
    size_t n = 0;
    while (n < rest->len && !ascii_is_blank(rest->p[n]) && rest->p[n] != ';' && rest->p[n] != '"')
        n++;
    *ret_value = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n);
    return 1;
}

/* The part of a header value before its parameters, which stay in *VALUE. */
static struct str cut_main(struct str *value)
{
    ptrdiff_t at = str_chr(*value, ';');
    struct str head = str_trim(at < 0 ? *value : str_slice(*value, 0, (size_t)at));

    *value = at < 0 ? STR_NULL : str_skip(*value, (size_t)at);
    return head;
}

/* ---- the boundary ---- */

static bool is_multipart_boundary(struct str s)
{
    return s.len > 0 && s.len <= MULTIPART_BOUNDARY_MAX && is_made_of(s, "'()+_,-./:=? ") &&
           s.p[s.len - 1] != ' ';
}

int multipart_boundary(struct str content_type, char out[MULTIPART_BOUNDARY_MAX + 1])
{
    struct arena a auto_arena;
    struct str found = STR_NULL, name, value;
    int r;

    arena_init(&a, PARAMS_MAX);
    if (!str_iis(cut_main(&content_type), "multipart/form-data"))
        return -EINVAL;
    while ((r = next_multipart_param(&a, &content_type, &name, &value)) > 0) {
        if (!str_iis(name, "boundary"))
            continue;
        if (found.p)
            return -EINVAL;
        found = value;
    }
    if (r < 0 || !is_multipart_boundary(found))
        return r < 0 ? r : -EINVAL;
    memcpy(out, found.p, found.len);
    out[found.len] = '\0';
    return (int)found.len;
}

/* Begins to look for the delimiter where a line begins: the CRLF before it, which the delimiter
 * includes, belonged to something else (or, at the start of the body, was not sent). */
static void start_matching(struct multipart *m, enum state state)
{
    m->state = state;
    m->matched = m->unsent = 2;
}

struct multipart *multipart_new(struct str content_type, const struct multipart_limits *limits,
                                const struct multipart_ops *ops, void *ctx, const char **ret_reason)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    int len = multipart_boundary(content_type, boundary);

    *ret_reason = len == -ENOMEM ? "no memory" : "not multipart/form-data with a valid boundary";
    if (len < 0)
        return NULL;
    struct multipart *m = mem_zalloc(1, sizeof *m);
    if (!m) {
        *ret_reason = "no memory";
        return NULL;
    }
    m->ops = ops;
    m->ctx = ctx;
    m->limits = *limits;
    m->reason = "";
    memcpy(m->delim, "\r\n--", 4);
    memcpy(m->delim + 4, boundary, (size_t)len);
    m->delim_len = (size_t)len + 4;
    buf_init(&m->head, limits->max_head);
    arena_init(&m->arena, PARAMS_MAX);
    start_matching(m, PREAMBLE);
    return m;
}

void multipart_free(struct multipart *m)
{
    if (!m)
        return;
    buf_done(&m->head);
    arena_done(&m->arena);
    free(m);
}

const char *multipart_reason(const struct multipart *m)
{
    return m->reason;
}

/* ---- a part's headers ---- */

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7f)
            return true;
    return false;
}

static struct str latin1_to_utf8(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, 2 * s.len);
    size_t n = 0;

    if (!out)
        return STR_NULL;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x80)
            out[n++] = (char)(0xc0 | c >> 6);
        out[n++] = (char)(c < 0x80 ? c : (0x80 | (c & 0x3f)));
    }
    return str_n(out, n);
}

/* Decodes charset'language'percent-encoded (RFC 5987). */
static int decode_extended(struct arena *a, struct str s, struct str *ret)
{
    struct buf raw auto_buf = BUF_INIT(PARAMS_MAX);
    struct str charset = str_cut(&s, '\'');

    if (!s.p)
        return -EINVAL;
    (void)str_cut(&s, '\'');
    if (!s.p)
        return -EINVAL;
    int r = enc_unpercent(&raw, s, false);
    if (r < 0)
        return r;
    if (str_iis(charset, "utf-8"))
        *ret = arena_str(a, buf_str(&raw));
    else if (str_iis(charset, "iso-8859-1"))
        *ret = latin1_to_utf8(a, buf_str(&raw));
    else
        return -EINVAL;
    return ret->p ? 0 : -ENOMEM;
}

static bool is_multipart_text(struct str s)
{
    return !has_control(s) && str_is_utf8(s);
}

/* Collects the parameters of a Content-Disposition; filename* stays encoded. */
static int read_params(struct arena *a, struct str value, struct multipart_part *part,
                       struct str *extended)
{
    struct str name, text;
    int r;

    while ((r = next_multipart_param(a, &value, &name, &text)) > 0) {
        struct str *slot = NULL;
        if (str_iis(name, "name"))
            slot = &part->name;
        else if (str_iis(name, "filename"))
            slot = &part->filename;
        else if (str_iis(name, "filename*"))
            slot = extended;
        if (slot && slot->p)
            return -EINVAL;
        if (slot)
            *slot = text;
    }
    return r;
}

static int read_disposition(struct arena *a, struct str value, struct multipart_part *part)
{
    struct str extended = STR_NULL;

    if (!str_iis(cut_main(&value), "form-data"))
        return -EINVAL;
    int r = read_params(a, value, part, &extended);
    if (r == 0 && extended.p)
        r = decode_extended(a, extended, &part->filename);
    if (r < 0)
        return r;
    return part->name.p && is_multipart_text(part->name) && is_multipart_text(part->filename)
               ? 0
               : -EINVAL;
}

static int read_multipart_header(struct multipart *m, struct str line, struct multipart_part *part)
{
    ptrdiff_t colon = str_chr(line, ':');
    struct str name = str_slice(line, 0, colon < 0 ? 0 : (size_t)colon);
    struct str value = str_trim(str_skip(line, (size_t)(colon + 1)));

    if (!is_boundary_token(name) || has_control(value))
        return fail_multipart(m, -EINVAL, "bad header in a part");
    if (str_iis(name, "content-disposition")) {
        int r = part->name.p ? -EINVAL : read_disposition(&m->arena, value, part);
        return r < 0 ? fail_multipart(m, r, r == -ENOMEM ? "no memory" : "bad Content-Disposition")
                     : 0;
    }
    if (str_iis(name, "content-type")) {
        if (part->content_type.p)
            return fail_multipart(m, -EINVAL, "two Content-Type headers in a part");
        part->content_type = value;
    }
    if (str_iis(name, "content-transfer-encoding") && !str_iis(value, "binary") &&
        !str_iis(value, "8bit") && !str_iis(value, "7bit"))
        return fail_multipart(m, -EINVAL, "Content-Transfer-Encoding is not supported");
    return 0;
}

/* The header block of a part is complete. */
static int begin_part(struct multipart *m)
{
    struct multipart_part part = {0};
    struct str rest = buf_str(&m->head);

    for (;;) {
        struct str line = str_cut(&rest, '\n');
        line.len--; /* CR */
        if (line.len == 0)
            break;
        int r = read_multipart_header(m, line, &part);
        if (r < 0)
            return r;
    }
    if (!part.name.p)
        return fail_multipart(m, -EINVAL, "part without Content-Disposition");
    start_matching(m, DATA);
    int r = m->ops->on_part(m->ctx, &part);
    buf_clear(&m->head);
    arena_reset(&m->arena);
    return r < 0 ? fail_multipart(m, r, "") : 0;
}

static size_t feed_part_head(struct multipart *m, const char *p, size_t len)
{
    const char *lf = memchr(p, '\n', len);
    size_t n = lf ? (size_t)(lf - p) + 1 : len;
    int r = buf_add(&m->head, p, n);
    struct str head = buf_str(&m->head);

    if (r < 0)
        (void)fail_multipart(m, r == -ENOMEM ? r : -EMSGSIZE,
                             r == -ENOMEM ? "no memory" : "headers of a part too large");
    else if (lf && !str_ends(head, STR("\r\n")))
        (void)fail_multipart(m, -EINVAL, "header line without CRLF");
    else if (lf && (head.len == 2 || str_ends(head, STR("\r\n\r\n"))))
        (void)begin_part(m);
    return n;
}

/* ---- content ---- */

static void emit_part_data(struct multipart *m, const char *p, size_t len)
{
    if (m->state != DATA || len == 0 || m->error)
        return;
    int r = m->ops->on_data(m->ctx, p, len);
    if (r < 0)
        (void)fail_multipart(m, r, "");
}

static void at_boundary(struct multipart *m)
{
    int r = m->state == DATA && !m->error ? m->ops->on_part_end(m->ctx) : 0;

    if (r < 0)
        (void)fail_multipart(m, r, "");
    m->state = AFTER_BOUNDARY;
    m->matched = m->unsent = 0;
    m->after = 0;
    m->padding = 0;
}

/* How many bytes at the end of P may begin a delimiter. */
static size_t held_back(const struct multipart *m, const char *p, size_t len)
{
    size_t window = len < m->delim_len ? len : m->delim_len - 1;
    const char *end = p + len;
    const char *cr = memrchr(end - window, '\r', window);

    return cr && memcmp(cr, m->delim, (size_t)(end - cr)) == 0 ? (size_t)(end - cr) : 0;
}

/* Goes on with a delimiter that began in earlier input. Returns the bytes used; 0 when it was none
 * after all and P is to be searched afresh. */
static size_t feed_match(struct multipart *m, const char *p, size_t len)
{
    size_t left = m->delim_len - m->matched;
    size_t n = len < left ? len : left;

    if (memcmp(p, m->delim + m->matched, n) == 0) {
        m->matched += n;
        if (m->matched == m->delim_len)
            at_boundary(m);
        return n;
    }
    emit_part_data(m, m->delim + m->unsent, m->matched - m->unsent);
    m->matched = m->unsent = 0;
    return 0;
}

static size_t feed_content(struct multipart *m, const char *p, size_t len)
{
    size_t used = m->matched ? feed_match(m, p, len) : 0;

    if (used > 0 || m->error)
        return used;
    const char *hit = memmem(p, len, m->delim, m->delim_len);
    if (hit) {
        emit_part_data(m, p, (size_t)(hit - p));
        at_boundary(m);
        return (size_t)(hit - p) + m->delim_len;
    }
    m->matched = held_back(m, p, len);
    emit_part_data(m, p, len - m->matched);
    return len;
}

/* ---- behind a boundary ---- */

static void next_part(struct multipart *m)
{
    m->state = HEAD;
    if (++m->n_parts > m->limits.max_parts)
        (void)fail_multipart(m, -EMSGSIZE, "too many parts");
}

static void close_body(struct multipart *m)
{
    m->state = EPILOGUE;
    int r = m->ops->on_end ? m->ops->on_end(m->ctx) : 0;
    if (r < 0)
        (void)fail_multipart(m, r, "");
}

/* One byte behind a boundary: "--" ends the body, blanks and CRLF begin a part. */
static void feed_after(struct multipart *m, char c)
{
    if (c == '-' && m->after == '-')
        close_body(m);
    else if (c == '\n' && m->after == '\r')
        next_part(m);
    else if (c == '-' && m->after == 0)
        m->after = '-';
    else if (c == '\r' && (m->after == 0 || m->after == ' '))
        m->after = '\r';
    else if (ascii_is_blank(c) && (m->after == 0 || m->after == ' ') && m->padding++ < PADDING_MAX)
        m->after = ' ';
    else
        (void)fail_multipart(m, -EINVAL, "bytes behind a boundary");
}

/* ---- feeding ---- */

int multipart_feed(struct multipart *m, const char *p, size_t len)
{
    if (m->error)
        return m->error;
    if (len > m->limits.max_total - m->total)
        return fail_multipart(m, -EMSGSIZE, "body too large");
    m->total += len;
    while (len > 0 && !m->error && m->state != EPILOGUE) {
        size_t n = 1;
        if (m->state == AFTER_BOUNDARY)
            feed_after(m, *p);
        else
            n = m->state == HEAD ? feed_part_head(m, p, len) : feed_content(m, p, len);
        p += n;
        len -= n;
    }
    return m->error;
}

int multipart_finish(struct multipart *m)
{
    if (!m->error && m->state != EPILOGUE)
        return fail_multipart(m, -EINVAL, "body ends before the closing boundary");
    return m->error;
}
