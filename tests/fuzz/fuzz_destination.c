/* SPDX-License-Identifier: MIT */
/* Which sandbox a request is for. Lines: host, domain, id, port; the last two may be missing. What
 * is taken for a sandbox has an id and a port of the right form, whatever the head says; and a host
 * that we would hand out for it leads to the same place. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "proxy/destination.h"

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static void check_sandbox(const struct destination *p)
{
    char host[128];
    struct destination again;

    check(p->port > 0 && !p->why);
    size_t len = strlen(p->id);
    check(len > 0 && len <= DESTINATION_ID_MAX);
    for (size_t i = 0; i < len; i++)
        check((p->id[i] >= 'a' && p->id[i] <= 'z') || (p->id[i] >= '0' && p->id[i] <= '9'));
    (void)snprintf(host, sizeof host, "%u-%s.d.e:1", p->port, p->id);
    destination_find(&again, &(struct http_head){.host = str_of(host)}, STR("d.e"));
    check(again.kind == DESTINATION_SANDBOX && again.port == p->port &&
          strcmp(again.id, p->id) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size), host = str_cut(&rest, '\n');
    struct str domain = rest.p ? str_cut(&rest, '\n') : STR("");
    struct http_header items[2];
    struct http_head head = {.host = host, .headers = {.items = items}};
    struct destination p;

    if (rest.p)
        items[head.headers.n++] = (struct http_header){STR("e2b-sandbox-id"), str_cut(&rest, '\n')};
    if (rest.p)
        items[head.headers.n++] = (struct http_header){STR("e2b-sandbox-port"), rest};
    destination_find(&p, &head, domain);
    if (p.kind == DESTINATION_SANDBOX)
        check_sandbox(&p);
    check((p.kind == DESTINATION_BAD) == (p.why != NULL));
    return 0;
}
