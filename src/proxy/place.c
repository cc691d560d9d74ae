/* SPDX-License-Identifier: MIT */
/* Which sandbox a request is for: see place.h. */
#include "proxy/place.h"
#include "base/ascii.h"

#include <arpa/inet.h>

/* The character in lower case when ids may have it, else 0. */
static char id_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    return ascii_is_digit(c) || (c >= 'a' && c <= 'z') ? c : '\0';
}

uint16_t place_port(struct str text)
{
    unsigned port = 0;

    if (text.len > 5)
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!ascii_is_digit(text.p[i]))
            return 0;
        port = 10 * port + (unsigned)(text.p[i] - '0');
    }
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

bool place_id(struct str text, char out[PLACE_ID_MAX + 1])
{
    struct str id = str_cut(&text, '-');
    size_t n = 0;

    while (n < id.len && n < PLACE_ID_MAX && (out[n] = id_char(id.p[n])))
        n++;
    bool is_whole = n > 0 && n == id.len;
    out[is_whole ? n : 0] = '\0';
    return is_whole;
}

/* ---- hosts ---- */

/* "name:80" and "[::1]:80" without the port, and without the dot that may end a name. */
static struct str host_name(struct str host)
{
    ptrdiff_t end = host.len && host.p[0] == '[' ? str_chr(host, ']') + 1 : str_chr(host, ':');

    host = str_slice(host, 0, end > 0 ? (size_t)end : host.len);
    return str_ends(host, STR(".")) ? str_slice(host, 0, host.len - 1) : host;
}

static bool is_address(struct str name)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr a;

    if (name.len && name.p[0] == '[')
        return true;
    if (name.len == 0 || name.len >= sizeof text)
        return false;
    memcpy(text, name.p, name.len);
    text[name.len] = '\0';
    return inet_pton(AF_INET, text, &a) == 1;
}

/* A host that can mean no single sandbox and no service of its own. */
static bool is_door(struct str name)
{
    struct str rest = name;

    return name.len == 0 || str_iis(name, "localhost") || is_address(name) ||
           (str_iis(str_cut(&rest, '.'), "sandbox") && rest.len > 0);
}

static bool is_api(struct str name, struct str domain)
{
    struct str rest = name;

    return str_iis(str_cut(&rest, '.'), "api") && rest.len > 0 && str_ieq(rest, host_name(domain));
}

static void bad(struct place *ret, const char *why)
{
    ret->kind = PLACE_BAD;
    ret->why = why;
}

/* "PORT-ID…" as the first label of a name. False when it is something else. */
static bool find_by_host(struct place *ret, struct str name)
{
    struct str rest = name, label = str_cut(&rest, '.'), id = label, port = str_cut(&id, '-');

    if (rest.len == 0 || port.len == 0 || !id.p)
        return false;
    for (size_t i = 0; i < port.len; i++)
        if (!ascii_is_digit(port.p[i]))
            return false;
    /* Not a name that we hand out, but perhaps one that somebody gave to this machine. */
    if (!place_id(id, ret->id))
        return false;
    ret->port = place_port(port);
    ret->kind = PLACE_SANDBOX;
    ret->is_by_host = true;
    if (ret->port == 0)
        bad(ret, "invalid port in the host name: 1 to 65535");
    return true;
}

/* Who reads the first and who reads the last would see different sandboxes. */
static bool is_repeated(const struct http_headers *h, const char *name)
{
    unsigned n = 0;

    for (size_t i = 0; i < h->n; i++)
        n += str_iis(h->items[i].name, name);
    return n > 1;
}

static void find_by_headers(struct place *ret, const struct http_head *head, struct str name)
{
    struct str id = http_header_get(&head->headers, "e2b-sandbox-id");
    struct str port = http_header_get(&head->headers, "e2b-sandbox-port");

    if (!id.p && !port.p)
        return;
    if (!id.p || !port.p) {
        if (is_door(name))
            bad(ret, id.p ? "missing header E2b-Sandbox-Port" : "missing header E2b-Sandbox-Id");
        return;
    }
    ret->kind = PLACE_SANDBOX;
    ret->port = place_port(port);
    if (is_repeated(&head->headers, "e2b-sandbox-id"))
        bad(ret, "more than one header E2b-Sandbox-Id");
    else if (is_repeated(&head->headers, "e2b-sandbox-port"))
        bad(ret, "more than one header E2b-Sandbox-Port");
    else if (!place_id(id, ret->id))
        bad(ret, "invalid header E2b-Sandbox-Id");
    else if (ret->port == 0)
        bad(ret, "invalid header E2b-Sandbox-Port: 1 to 65535");
}

void place_find(struct place *ret, const struct http_head *head, struct str domain)
{
    struct str name = host_name(head->host);

    ret->kind = PLACE_HERE;
    ret->port = 0;
    ret->is_by_host = false;
    ret->id[0] = '\0';
    ret->why = NULL;
    if (find_by_host(ret, name))
        return;
    if (is_api(name, domain))
        ret->kind = PLACE_E2B;
    else
        find_by_headers(ret, head, name);
}

/* ---- hosts for browsers ---- */

static bool is_of_domain(struct str name, struct str domain)
{
    if (domain.len == 0 || name.len < domain.len ||
        !str_ieq(str_skip(name, name.len - domain.len), domain))
        return false;
    return name.len == domain.len || name.p[name.len - domain.len - 1] == '.';
}

struct str place_host(struct arena *a, struct str host, struct str domain, uint16_t port,
                      const char *id)
{
    struct str name = host_name(host);
    ptrdiff_t colon = str_chr(host, ':');

    domain = host_name(domain);
    if (is_address(name) || !is_of_domain(name, domain))
        return STR_NULL;
    return arena_printf(a, "%u-%s." STR_FMT STR_FMT, port, id, STR_ARG(domain),
                        STR_ARG(colon < 0 ? STR("") : str_skip(host, (size_t)colon)));
}
