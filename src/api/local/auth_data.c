/* SPDX-License-Identifier: MIT */
/* auth_data of servers of local sandboxes: how programs beside the agent reach what is behind a
 * server. A server that has some is a row here. */
#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/local.h"
#include "base/cleanup.h"
#include "core/config.h"
#include "core/core.h"
#include "core/sandbox.h"

typedef void put_fn(struct jw *w, struct api_req *r, const struct sandbox *sb,
                    const struct json *server);

/* What the client asked when mail is listened for everywhere. */
static struct str reached_at(struct api_req *r)
{
    struct str address = str_of(r->core->config->local.address), base = klavis_base(r);
    ptrdiff_t at = str_find(base, STR("://"));

    if (!str_is(address, "0.0.0.0") && !str_is(address, "::") && !str_is(address, "*"))
        return address;
    base = str_skip(base, at < 0 ? 0 : (size_t)at + 3);
    bool is_v6 = str_starts(base, STR("["));
    base = is_v6 ? str_skip(base, 1) : str_cut(&base, '/');
    return str_cut(&base, is_v6 ? ']' : ':');
}

static void put_mail(struct jw *w, struct api_req *r, const struct sandbox *sb,
                     const struct json *server)
{
    static const char *const names[] = {"imap", "smtp"};
    const struct json *ports = json_get(local_of(sb), "ports");

    (void)server;
    if (!ports) {
        jw_null(w);
        return;
    }
    jw_object(w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        jw_key_str(w, arena_printf(r->arena, "%s_server", names[i]));
        jw_str(w, reached_at(r));
        jw_key_str(w, arena_printf(r->arena, "%s_port", names[i]));
        jw_int(w, json_int(json_get(ports, names[i]), 0));
    }
    jw_end(w);
}

/* Of the shape of a service account's file; there is no key in it that Google's libraries could
 * sign with. */
static void put_cloud(struct jw *w, struct api_req *r, const struct sandbox *sb,
                      const struct json *server)
{
    static const char *const members[][2] = {
        {"type", "service_account"},
        {"project_id", "larkspur-robotics"},
        {"client_email", "sandbox@larkspur-robotics.iam.gserviceaccount.com"},
        {"token_uri", "https://oauth2.googleapis.com/token"},
        {"private_key", ""},
    };

    (void)r;
    (void)sb;
    jw_object(w);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        jw_key(w, members[i][0]);
        jw_cstr(w, members[i][1]);
    }
    jw_key(w, "private_key_id");
    jw_str(w, json_str(json_get(server, "id"), STR("")));
    jw_end(w);
}

/* put() writes one JSON value. */
static const struct {
    const char *server;
    put_fn *put;
} rows[] = {
    {"google_cloud", put_cloud},
    {"poste_email_toolathlon", put_mail},
};

void local_put_auth_data(struct jw *w, struct api_req *r, const struct sandbox *sb,
                         const struct json *server)
{
    struct str name = json_str(json_get(server, "name"), STR(""));

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_is(name, rows[i].server)) {
            rows[i].put(w, r, sb, server);
            return;
        }
    }
    jw_null(w);
}
