/* SPDX-License-Identifier: MIT */
/* auth_data of servers of local sandboxes: how programs beside the agent reach what is behind a
 * server. A server that has some is a row here. */
#include "api/local/local.h"
#include "base/cleanup.h"

typedef void put_fn(struct jw *w, struct api_req *r, const struct sandbox *sb,
                    const struct json *server);

/* put() writes one JSON value. */
static const struct {
    const char *server;
    put_fn *put;
} rows[] = {
    {"", NULL},
};

void local_put_auth_data(struct jw *w, struct api_req *r, const struct sandbox *sb,
                         const struct json *server)
{
    struct str name = json_str(json_get(server, "name"), STR(""));

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].put && str_is(name, rows[i].server)) {
            rows[i].put(w, r, sb, server);
            return;
        }
    }
    jw_null(w);
}
