/* SPDX-License-Identifier: MIT */
/* The name that a client states first. See sniff.h. */
#include "runtime/sniff.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "runtime/netaddr.h"

enum {
    RECORD_HEADER = 5,
    RECORD_HANDSHAKE = 22,
    RECORD_MAX = 16384 + 256,
    HELLO_HEADER = 4,
    HELLO_CLIENT = 1,
    EXTENSION_SERVER_NAME = 0,
    METHOD_MAX = 20,
    LABEL_MAX = 63,
};

/* ---- names ---- */

static bool is_sniff_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static enum sniff take_sniff_name(char ret[SNIFF_NAME_MAX], struct str s)
{
    struct netaddr ignored;
    size_t run = 0;

    if (s.len > 0 && s.p[s.len - 1] == '.')
        s.len--;
    if (s.len == 0 || s.len >= SNIFF_NAME_MAX || netaddr_parse(&ignored, s) == 0)
        return SNIFF_NONE;
    for (size_t i = 0; i < s.len; i++) {
        char c = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]);
        if (c == '.' ? run == 0 : !is_sniff_name_char(c))
            return SNIFF_NONE;
        run = c == '.' ? 0 : run + 1;
        if (run > LABEL_MAX)
            return SNIFF_NONE;
        ret[i] = c;
    }
    ret[s.len] = '\0';
    return run > 0 ? SNIFF_NAME : SNIFF_NONE;
}

/* ---- TLS ---- */

/* The next N bytes of S, or nothing (p == NULL) when there are fewer. */
static struct str cut_bytes(struct str *s, size_t n)
{
    struct str head = str_slice(*s, 0, n);

    if (!s->p || s->len < n) {
        *s = STR_NULL;
        return STR_NULL;
    }
    *s = str_skip(*s, n);
    return head;
}

static size_t cut_number(struct str *s, size_t bytes)
{
    struct str b = cut_bytes(s, bytes);
    size_t n = 0;

    for (size_t i = 0; i < b.len; i++)
        n = n << 8 | (uint8_t)b.p[i];
    return n;
}

/* A vector whose length stands before it in BYTES bytes. */
static struct str cut_vector(struct str *s, size_t bytes)
{
    size_t n = cut_number(s, bytes);

    return cut_bytes(s, n);
}

static enum sniff hello_name(char ret[SNIFF_NAME_MAX], struct str hello)
{
    (void)cut_bytes(&hello, 2 + 32); /* version, random */
    (void)cut_vector(&hello, 1);     /* session */
    (void)cut_vector(&hello, 2);     /* cipher suites */
    (void)cut_vector(&hello, 1);     /* compression */
    struct str all = cut_vector(&hello, 2);

    while (all.len > 0) {
        size_t type = cut_number(&all, 2);
        struct str body = cut_vector(&all, 2);
        if (!body.p)
            return SNIFF_NONE;
        if (type != EXTENSION_SERVER_NAME)
            continue;
        struct str list = cut_vector(&body, 2);
        bool is_host = cut_number(&list, 1) == 0;
        struct str name = cut_vector(&list, 2);
        return is_host && name.p ? take_sniff_name(ret, name) : SNIFF_NONE;
    }
    return SNIFF_NONE;
}

struct hello {
    char p[SNIFF_MAX];
    size_t len, want;
};

/* Takes the part of the ClientHello in the next record. SNIFF_NAME: go on. */
static enum sniff take_sniff_record(struct hello *h, struct str *s)
{
    if (s->len < RECORD_HEADER)
        return s->len > 0 && s->p[0] != RECORD_HANDSHAKE ? SNIFF_NONE : SNIFF_MORE;
    size_t type = cut_number(s, 1), version = cut_number(s, 2), len = cut_number(s, 2);
    if (type != RECORD_HANDSHAKE || version >> 8 != 3 || len == 0 || len > RECORD_MAX)
        return SNIFF_NONE;
    size_t n = s->len < len ? s->len : len;
    if (n > sizeof h->p - h->len)
        return SNIFF_NONE;
    memcpy(h->p + h->len, s->p, n);
    h->len += n;
    *s = str_skip(*s, n);
    if (h->len >= HELLO_HEADER) {
        struct str head = str_n(h->p + 1, 3);
        h->want = HELLO_HEADER + cut_number(&head, 3);
    }
    return n < len && h->len < h->want ? SNIFF_MORE : SNIFF_NAME;
}

/* The ClientHello may be spread over records. */
static enum sniff tls_name(char ret[SNIFF_NAME_MAX], struct str s)
{
    struct hello h;

    h.len = 0;
    h.want = HELLO_HEADER;
    while (h.len < h.want) {
        enum sniff r = take_sniff_record(&h, &s);
        if (r == SNIFF_NONE || (h.len > 0 && h.p[0] != HELLO_CLIENT) || h.want > sizeof h.p)
            return SNIFF_NONE;
        if (r == SNIFF_MORE)
            return r;
    }
    return hello_name(ret, str_n(h.p + HELLO_HEADER, h.want - HELLO_HEADER));
}

/* ---- HTTP ---- */

static enum sniff authority_name(char ret[SNIFF_NAME_MAX], struct str authority)
{
    ptrdiff_t at = str_chr(authority, '@');

    if (at >= 0)
        return SNIFF_NONE;
    return take_sniff_name(ret, str_cut(&authority, ':'));
}

/* A method: capital letters and a space. */
static enum sniff check_method(struct str s)
{
    for (size_t i = 0; i < s.len && i <= METHOD_MAX; i++) {
        if (s.p[i] == ' ')
            return i > 0 ? SNIFF_NAME : SNIFF_NONE;
        if (s.p[i] < 'A' || s.p[i] > 'Z')
            return SNIFF_NONE;
    }
    return s.len > METHOD_MAX ? SNIFF_NONE : SNIFF_MORE;
}

/* A line without its end; p == NULL when it has none yet. */
static struct str cut_sniff_line(struct str *s)
{
    if (str_chr(*s, '\n') < 0)
        return STR_NULL;
    struct str line = str_cut(s, '\n');
    if (line.len > 0 && line.p[line.len - 1] == '\r')
        line.len--;
    return line;
}

static enum sniff http_name(char ret[SNIFF_NAME_MAX], struct str s)
{
    enum sniff method = check_method(s);

    if (method != SNIFF_NAME)
        return method;
    struct str line = cut_sniff_line(&s);
    if (!line.p)
        return SNIFF_MORE;
    (void)str_cut(&line, ' ');
    struct str target = str_cut(&line, ' ');
    if (!str_starts(line, STR("HTTP/1.")))
        return SNIFF_NONE;
    /* RFC 9112: the target in absolute form is what counts, not Host. */
    if (str_starts(target, STR("http://"))) {
        target = str_skip(target, 7);
        return authority_name(ret, str_cut(&target, '/'));
    }
    while ((line = cut_sniff_line(&s)).p) {
        if (line.len == 0)
            return SNIFF_NONE;
        struct str name = str_cut(&line, ':');
        if (str_iis(name, "host"))
            return authority_name(ret, str_trim(line));
    }
    return SNIFF_MORE;
}

enum sniff sniff_name(char ret[SNIFF_NAME_MAX], const void *p, size_t len)
{
    struct str s = str_n(p, len < SNIFF_MAX ? len : SNIFF_MAX);
    enum sniff r = SNIFF_MORE;

    if (s.len > 0)
        r = s.p[0] == RECORD_HANDSHAKE ? tls_name(ret, s) : http_name(ret, s);
    return r == SNIFF_MORE && len >= SNIFF_MAX ? SNIFF_NONE : r;
}
