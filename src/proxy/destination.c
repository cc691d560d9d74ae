/* SPDX-License-Identifier: MIT */
/* Which sandbox a request is for: see destination.h. */
#include "proxy/destination.h"
#include "base/ascii.h"

#include <arpa/inet.h>

/* The character in lower case when ids may have it, else 0. */
static char id_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    return ascii_is_digit(c) || (c >= 'a' && c <= 'z') ? c : '\0';
}

uint16_t destination_port(struct str text)
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

/* The id in "ID" or "ID-CLIENT", lower case: letters and digits. False when it is malformed. */
static bool destination_id(struct str text, char out[DESTINATION_ID_MAX + 1])
{
    struct str id = str_cut(&text, '-');
    size_t n = 0;

    while (n < id.len && n < DESTINATION_ID_MAX && (out[n] = id_char(id.p[n])))
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

static bool is_ip_address(struct str name)
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

    return name.len == 0 || str_iis(name, "localhost") || is_ip_address(name) ||
           (str_iis(str_cut(&rest, '.'), "sandbox") && rest.len > 0);
}

static bool is_api(struct str name, struct str domain)
{
    struct str rest = name;

    return str_iis(str_cut(&rest, '.'), "api") && rest.len > 0 && str_ieq(rest, host_name(domain));
}

static void set_bad_destination(struct destination *ret, const char *why)
{
    ret->kind = DESTINATION_BAD;
    ret->why = why;
}

/* "PORT-ID…" as the first label of a name. False when it is something else. */
static bool find_by_host(struct destination *ret, struct str name)
{
    struct str rest = name, label = str_cut(&rest, '.'), id = label, port = str_cut(&id, '-');

    if (rest.len == 0 || port.len == 0 || !id.p)
        return false;
    for (size_t i = 0; i < port.len; i++)
        if (!ascii_is_digit(port.p[i]))
            return false;
    /* Not a name that we hand out, but perhaps one that somebody gave to this machine. */
    if (!destination_id(id, ret->id))
        return false;
    ret->port = destination_port(port);
    ret->kind = DESTINATION_SANDBOX;
    ret->is_by_host = true;
    if (ret->port == 0)
        set_bad_destination(ret, "invalid port in the host name: 1 to 65535");
    return true;
}

/* Who reads the first and who reads the last would see different sandboxes. */
static bool is_repeated_header(const struct http_headers *h, const char *name)
{
    unsigned n = 0;

    for (size_t i = 0; i < h->n; i++)
        n += str_iis(h->items[i].name, name);
    return n > 1;
}

static void find_by_headers(struct destination *ret, const struct http_head *head, struct str name)
{
    struct str id = http_header_get(&head->headers, "e2b-sandbox-id");
    struct str port = http_header_get(&head->headers, "e2b-sandbox-port");

    if (!id.p && !port.p)
        return;
    if (!id.p || !port.p) {
        if (is_door(name))
            set_bad_destination(ret, id.p ? "missing header E2b-Sandbox-Port"
                                          : "missing header E2b-Sandbox-Id");
        return;
    }
    ret->kind = DESTINATION_SANDBOX;
    ret->port = destination_port(port);
    if (is_repeated_header(&head->headers, "e2b-sandbox-id"))
        set_bad_destination(ret, "more than one header E2b-Sandbox-Id");
    else if (is_repeated_header(&head->headers, "e2b-sandbox-port"))
        set_bad_destination(ret, "more than one header E2b-Sandbox-Port");
    else if (!destination_id(id, ret->id))
        set_bad_destination(ret, "invalid header E2b-Sandbox-Id");
    else if (ret->port == 0)
        set_bad_destination(ret, "invalid header E2b-Sandbox-Port: 1 to 65535");
}

/* Whether the path names the sandbox ID, too: a client that was given such an address sends the
 * headers all the same, and they say nothing else. */
static bool is_routed(const struct http_head *head, const char *id)
{
    const struct str prefix = STR("/sandboxes/router/");
    struct str rest = str_skip(head->path, prefix.len);
    char named[DESTINATION_ID_MAX + 1];

    return str_starts(head->path, prefix) && destination_id(str_cut(&rest, '/'), named) &&
           strcmp(named, id) == 0;
}

void destination_find(struct destination *ret, const struct http_head *head, struct str domain)
{
    struct str name = host_name(head->host);

    ret->kind = DESTINATION_HERE;
    ret->port = 0;
    ret->is_by_host = false;
    ret->id[0] = '\0';
    ret->why = NULL;
    if (find_by_host(ret, name))
        return;
    if (is_api(name, domain))
        ret->kind = DESTINATION_E2B;
    else
        find_by_headers(ret, head, name);
    if (ret->kind == DESTINATION_SANDBOX && is_routed(head, ret->id)) {
        ret->kind = DESTINATION_HERE;
        ret->port = 0;
        ret->id[0] = '\0';
    }
}

/* ---- hosts for browsers ---- */

static bool is_of_domain(struct str name, struct str domain)
{
    if (domain.len == 0 || name.len < domain.len ||
        !str_ieq(str_skip(name, name.len - domain.len), domain))
        return false;
    return name.len == domain.len || name.p[name.len - domain.len - 1] == '.';
}

struct str destination_host(struct arena *a, struct str host, struct str domain, uint16_t port,
                            const char *id)
{
    struct str name = host_name(host);
    ptrdiff_t colon = str_chr(host, ':');

    domain = host_name(domain);
    if (is_ip_address(name) || !is_of_domain(name, domain))
        return STR_NULL;
    return arena_printf(a, "%u-%s." STR_FMT STR_FMT, port, id, STR_ARG(domain),
                        STR_ARG(colon < 0 ? STR("") : str_skip(host, (size_t)colon)));
}
