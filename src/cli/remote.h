/* SPDX-License-Identifier: MIT */
/* What the verbs for sandboxes share: the options that name a service, requests to it, and how
 * answers and refusals are shown. Functions that return an exit status have shown the user what
 * went wrong when it is not CLI_OK. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"

/* For the option tables of these verbs. */
#define REMOTE_OPTIONS                                                                             \
    {.name = "url",                                                                                \
     .arg = "URL",                                                                                 \
     .help = "URL of the service (default: TIDEPOOL_URL, or the local service)."},                 \
    {                                                                                              \
        .name = "key", .arg = "KEY", .help = "API key (default: TIDEPOOL_API_KEY)."                \
    }
#define REMOTE_JSON                                                                                \
    {                                                                                              \
        .name = "json", .help = "Print JSON."                                                      \
    }

struct remote {
    struct cli_call *call;
    struct client *client;
    struct arena arena; /* of all answers and targets */
};

/* Which service the call means: --url, else --state, else TIDEPOOL_URL, else the configured state
 * directory. */
int remote_where(struct cli_call *call, struct client_where *ret);
/* Gets ready to talk to it. */
int remote_open(struct remote *r, struct cli_call *call);
void remote_done(struct remote *r);
DEFINE_CLEANUP_IN_PLACE(struct remote, remote_done)

/* Joins words into a target: every second one is percent-encoded, beginning with the second. NULL
 * when it is too long. */
#define remote_target(r, ...) remote_join((r), (const char *const[]){__VA_ARGS__, NULL})
const char *remote_join(struct remote *r, const char *const *words);

/* Asks; *ret_doc is the whole answer. BODY may be NULL. */
int remote_ask(struct remote *r, const char *method, const char *target, const struct buf *body,
               struct json **ret_doc);
/* The same without telling: 0 or -errno with E filled, as client_send(). */
int remote_try(struct remote *r, const struct client_request *rq, struct json **ret_doc,
               struct err *e);
/* Tells why a function of the client failed. */
int remote_fail(struct remote *r, int code, struct err *e);

/* One request METHOD PREFIX/NAME for each of the call's arguments, or of NAMES (an array of
 * strings) when that is not NULL. Goes on after a refusal, and prints the names that it was done
 * for. */
int remote_each(struct remote *r, const char *method, const char *prefix, const struct json *names);

/* The text of a member; "" when it is absent. Numbers become text. */
struct str remote_text(struct remote *r, const struct json *object, const char *name);

/* Writes a member KEY: the object of all K=V that the option NAME was given; nothing without any.
 */
int remote_put_pairs(const struct cli_call *call, const char *name, const char *key, struct jw *w);
