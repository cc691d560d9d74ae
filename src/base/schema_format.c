/* SPDX-License-Identifier: MIT */
/* The formats of strings that schemas can ask for. */
#include <arpa/inet.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "base/schema_internal.h"

/* ---- dates (RFC 3339) ---- */

/* Takes N digits off S; -1 when they are not there. */
static int take_digits(struct str *s, size_t n)
{
    int x = 0;

    if (s->len < n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!ascii_is_digit(s->p[i]))
            return -1;
        x = x * 10 + (s->p[i] - '0');
    }
    *s = str_skip(*s, n);
    return x;
}

static bool take_any_char(struct str *s, const char *any_of)
{
    if (s->len == 0 || !s->p[0] || !strchr(any_of, s->p[0]))
        return false;
    *s = str_skip(*s, 1);
    return true;
}

static bool take_date(struct str *s)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = take_digits(s, 4);
    int month = year >= 0 && take_any_char(s, "-") ? take_digits(s, 2) : -1;
    int day = month >= 0 && take_any_char(s, "-") ? take_digits(s, 2) : -1;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    if (month < 1 || month > 12 || day < 1)
        return false;
    return day <= days[month - 1] + (month == 2 && leap);
}

/* "Z" or "+hh:mm"; stores the minutes east of UTC. */
static bool take_offset(struct str *s, int *ret)
{
    *ret = 0;
    if (take_any_char(s, "Zz"))
        return true;
    bool west = s->len && s->p[0] == '-';
    if (!take_any_char(s, "+-"))
        return false;
    int hours = take_digits(s, 2);
    int minutes = hours >= 0 && take_any_char(s, ":") ? take_digits(s, 2) : -1;
    if (hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *ret = (hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

static bool take_time(struct str *s)
{
    enum { DAY = 24 * 60 };
    int offset;
    int hour = take_digits(s, 2);
    int minute = hour >= 0 && take_any_char(s, ":") ? take_digits(s, 2) : -1;
    int second = minute >= 0 && take_any_char(s, ":") ? take_digits(s, 2) : -1;

    if (hour > 23 || minute > 59 || second < 0 || second > 60)
        return false;
    if (take_any_char(s, ".")) {
        if (take_digits(s, 1) < 0)
            return false;
        while (take_digits(s, 1) >= 0)
            continue;
    }
    if (!take_offset(s, &offset))
        return false;
    /* A leap second is the last one of a day in UTC. */
    return second < 60 || (hour * 60 + minute - offset + DAY) % DAY == DAY - 1;
}

static bool is_full_date(struct str s)
{
    return take_date(&s) && s.len == 0;
}

static bool is_time(struct str s)
{
    return take_time(&s) && s.len == 0;
}

static bool is_date_time(struct str s)
{
    return take_date(&s) && take_any_char(&s, "Tt") && take_time(&s) && s.len == 0;
}

/* ---- names and addresses ---- */

static bool is_ip(struct str s, int family)
{
    char text[INET6_ADDRSTRLEN + 1];
    unsigned char address[16];

    if (s.len == 0 || s.len >= sizeof text || memchr(s.p, '\0', s.len))
        return false;
    memcpy(text, s.p, s.len);
    text[s.len] = '\0';
    return inet_pton(family, text, address) == 1;
}

static bool is_ipv4(struct str s)
{
    return is_ip(s, AF_INET);
}

static bool is_ipv6(struct str s)
{
    return is_ip(s, AF_INET6);
}

static bool is_format_label(struct str s)
{
    enum { LABEL_MAX = 63 };

    if (s.len == 0 || s.len > LABEL_MAX || s.p[0] == '-' || s.p[s.len - 1] == '-')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_letter(s.p[i]) && !ascii_is_digit(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

static bool is_hostname(struct str s)
{
    enum { HOSTNAME_MAX = 253 };

    if (s.len == 0 || s.len > HOSTNAME_MAX)
        return false;
    while (s.p)
        if (!is_format_label(str_cut(&s, '.')))
            return false;
    return true;
}

/* What may stand unquoted before the '@' (RFC 5321, and letters beyond ASCII as in RFC 6531). */
static bool is_format_atom_char(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || (unsigned char)c >= 0x80 ||
           (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

/* S with its quotes. */
static bool is_quoted(struct str s)
{
    for (size_t i = 1; i < s.len - 1; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == '"' || (s.p[i] == '\\' && ++i == s.len - 1))
            return false;
    return true;
}

static bool is_local_part(struct str s)
{
    enum { LOCAL_MAX = 64 };

    if (s.len == 0 || s.len > LOCAL_MAX)
        return false;
    if (s.len >= 2 && s.p[0] == '"' && s.p[s.len - 1] == '"')
        return is_quoted(s);
    for (size_t i = 0; i < s.len; i++) {
        bool inner_dot = s.p[i] == '.' && i > 0 && i + 1 < s.len && s.p[i - 1] != '.';
        if (!inner_dot && !is_format_atom_char(s.p[i]))
            return false;
    }
    return true;
}

static bool is_email(struct str s)
{
    const char *at = s.len ? memrchr(s.p, '@', s.len) : NULL;

    if (!at || !is_local_part(str_n(s.p, (size_t)(at - s.p))))
        return false;
    struct str domain = str_skip(s, (size_t)(at - s.p) + 1);
    if (domain.len > 2 && domain.p[0] == '[' && domain.p[domain.len - 1] == ']') {
        domain = str_slice(domain, 1, domain.len - 1);
        if (str_starts(domain, STR("IPv6:")))
            return is_ipv6(str_skip(domain, 5));
        return is_ipv4(domain);
    }
    return is_hostname(domain);
}

/* ---- URIs and UUIDs ---- */

static bool is_uri_char(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || (c && strchr("-._~:/?#[]@!$&'()*+,;=%", c));
}

static bool has_uri_chars(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_uri_char(s.p[i]))
            return false;
        if (s.p[i] == '%' &&
            (s.len - i < 3 || enc_hex_digit(s.p[i + 1]) < 0 || enc_hex_digit(s.p[i + 2]) < 0))
            return false;
    }
    return true;
}

/* [userinfo@]host[:port] */
static bool is_format_authority(struct str s)
{
    ptrdiff_t at = str_chr(s, '@');
    struct str host = at >= 0 ? str_skip(s, (size_t)at + 1) : s;

    if (host.len && host.p[0] == '[') {
        ptrdiff_t end = str_chr(host, ']');
        if (end < 0 || !is_ipv6(str_slice(host, 1, (size_t)end)))
            return false;
        host = str_skip(host, (size_t)end + 1);
        if (host.len && host.p[0] != ':')
            return false;
    }
    (void)str_cut(&host, ':');
    while (take_digits(&host, 1) >= 0)
        continue;
    return host.len == 0 && str_chr(at >= 0 ? str_n(s.p, (size_t)at) : STR_NULL, '[') < 0;
}

static bool is_scheme(struct str s)
{
    if (s.len == 0 || !ascii_is_letter(s.p[0]))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_letter(s.p[i]) && !ascii_is_digit(s.p[i]) &&
            (!s.p[i] || !strchr("+-.", s.p[i])))
            return false;
    return true;
}

static bool is_uri(struct str s)
{
    struct str scheme = str_cut(&s, ':');

    if (!s.p || !is_scheme(scheme) || !has_uri_chars(s))
        return false;
    struct str path = s;
    if (str_starts(s, STR("//"))) {
        path = str_skip(s, 2);
        size_t len = 0;
        while (len < path.len && !strchr("/?#", path.p[len]))
            len++;
        if (!is_format_authority(str_n(path.p, len)))
            return false;
        path = str_skip(path, len);
    }
    /* Brackets belong to addresses, and there is one fragment at most. */
    ptrdiff_t fragment = str_chr(path, '#');
    return str_chr(path, '[') < 0 && str_chr(path, ']') < 0 &&
           (fragment < 0 || str_chr(str_skip(path, (size_t)fragment + 1), '#') < 0);
}

static bool is_uuid(struct str s)
{
    if (s.len != 36)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.p[i] != '-' : enc_hex_digit(s.p[i]) < 0)
            return false;
    }
    return true;
}

const struct schema_format *schema_find_format(struct str name)
{
    static const struct schema_format formats[] = {
        {"date", is_full_date}, {"date-time", is_date_time},
        {"email", is_email},    {"hostname", is_hostname},
        {"ipv4", is_ipv4},      {"ipv6", is_ipv6},
        {"time", is_time},      {"uri", is_uri},
        {"uuid", is_uuid},
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}
