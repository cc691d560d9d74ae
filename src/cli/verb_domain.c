/* SPDX-License-Identifier: MIT */
/* tidepool domain */
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/domain.h"
#include "cli/quote.h"

/* Where a domain is needed and none is configured. The name is reserved for tests. */
#define FALLBACK "tidepool.test"

enum { TEXT_MAX = 1 << 16 };

static const struct cli_option options[] = {
    {.name = "dir",
     .arg = "DIR",
     .help = "Output directory (default: domain/NAME in the state directory)."},
    {.name = "new", .help = "Create a new authority even if one exists."},
    {.name = "json", .help = "Print JSON."},
    {0},
};

static const char *const settings[] = {"listen", "state", "config", "domain", NULL};

/* What the verb works with, out of arguments and settings. */
struct domain_plan {
    char name[256];  /* without a port */
    char place[272]; /* with the port that clients need */
    struct buf dir;
};

/* The port of the service, or "" for the usual one and for a socket file. */
static void port_text(char out[16], const struct cli_call *call)
{
    const char *listen = call->config.listen, *colon = strrchr(listen, ':');

    out[0] = '\0';
    if (strncmp(listen, "unix:", 5) != 0 && colon && strcmp(colon, ":443") != 0 &&
        strcmp(colon, ":0") != 0)
        (void)snprintf(out, 16, "%.8s", colon);
}

static int make_plan(struct cli_call *call, struct domain_plan *p)
{
    const char *given = call->n_args ? call->args[0] : call->config.domain;
    struct str port = str_of(given), name = str_cut(&port, ':');
    const char *dir = cli_value(call, "dir");
    char own_port[16];

    if (call->n_args == 0 && str_is(name, "localhost"))
        name = STR(FALLBACK);
    (void)snprintf(p->name, sizeof p->name, STR_FMT, STR_ARG(str_slice(name, 0, 255)));
    if (!domain_is_valid(p->name))
        return cli_usage(call,
                         "'%s' is not a domain name: expected at least two labels of lower-case "
                         "letters, digits and hyphens, separated by dots",
                         p->name);
    port_text(own_port, call);
    (void)snprintf(p->place, sizeof p->place, "%s%s" STR_FMT, p->name, port.p ? ":" : own_port,
                   STR_ARG(str_slice(port, 0, 8)));
    buf_init(&p->dir, TEXT_MAX);
    if (dir)
        (void)buf_add_str(&p->dir, str_of(dir));
    else
        (void)buf_printf(&p->dir, "%s/domain/%s", call->config.state, p->name);
    return buf_cstr(&p->dir) ? CLI_OK : CLI_FAILED;
}

static void show_domain_json(struct buf *out, const struct domain_plan *p,
                             const struct domain_files *f)
{
    const struct {
        const char *key, *value;
    } rows[] = {{"domain", p->place}, {"ca", f->ca}, {"cert", f->cert}, {"key", f->key}};
    struct jw w = jw_to(out);

    jw_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        jw_key(&w, rows[i].key);
        jw_cstr(&w, rows[i].value);
    }
    jw_key(&w, "new_ca");
    jw_bool(&w, !f->is_old_ca);
    jw_end(&w);
    (void)buf_add_char(out, '\n');
}

static void put_domain_path(struct buf *out, const char *before, const char *path,
                            const char *after)
{
    (void)buf_add_str(out, str_of(before));
    (void)quote_word(out, str_of(path));
    (void)buf_add_str(out, str_of(after));
}

/* What was said to this verb has to be said to the service. */
static void put_setting(struct buf *out, const struct cli_call *call, const char *name,
                        const char *value)
{
    const struct config *c = &call->config;
    char before[32];

    if (!str_starts(str_of(c->sources[config_find(str_of(name)) - config_options]), STR("flag")))
        return;
    (void)snprintf(before, sizeof before, " --%s ", name);
    put_domain_path(out, before, value, "");
}

static void show_domain_text(struct buf *out, const struct cli_call *call,
                             const struct domain_plan *p, const struct domain_files *f)
{
    (void)buf_printf(out,
                     "Files in %s:\n"
                     "\n"
                     "  ca.pem    the authority that clients must trust%s\n"
                     "  ca.key    its private key: whoever has it can impersonate %s\n"
                     "  cert.pem  the certificate for %s and *.%s\n"
                     "  key.pem   its private key\n"
                     "\n",
                     buf_str(&p->dir).p, f->is_old_ca ? " (kept)" : "", p->name, p->name, p->name);
    (void)buf_printf(out, "Start the service with them:\n\n  tidepool serve --domain %s", p->place);
    put_setting(out, call, "listen", call->config.listen);
    put_setting(out, call, "state", call->config.state);
    put_setting(out, call, "config", call->config.config);
    put_domain_path(out, " --tls-cert ", f->cert, "");
    put_domain_path(out, " --tls-key ", f->key, "\n\n");
    (void)buf_printf(out,
                     "Resolve the names to it. For the control plane alone, add to /etc/hosts:\n"
                     "\n"
                     "  127.0.0.1 %s api.%s sandbox.%s\n"
                     "\n"
                     "For sandboxes, whose names /etc/hosts cannot list, add to dnsmasq:\n"
                     "\n"
                     "  address=/%s/127.0.0.1\n"
                     "\n"
                     "Configure clients, with a key from 'tidepool keys create' in E2B_API_KEY:\n"
                     "\n"
                     "  export E2B_DOMAIN=%s\n",
                     p->name, p->name, p->name, p->name, p->place);
    put_domain_path(out, "  export NODE_EXTRA_CA_CERTS=", f->ca, "\n");
    put_domain_path(out, "  export SSL_CERT_FILE=", f->ca, "   # Python\n");
}

static int run_domain(struct cli_call *call)
{
    struct domain_plan p = {.dir = BUF_INIT(0)};
    struct domain_files files = {0};
    struct err e = ERR_INIT;
    int r = make_plan(call, &p);

    if (r == CLI_OK) {
        const struct domain_args args = {
            .name = p.name, .dir = buf_str(&p.dir).p, .is_new = cli_is_on(call, "new")};
        if (domain_make(&args, &files, &e) < 0)
            r = cli_fail(call, &e);
        else if (cli_is_on(call, "json"))
            show_domain_json(&call->out, &p, &files);
        else
            show_domain_text(&call->out, call, &p, &files);
    }
    domain_files_done(&files);
    buf_done(&p.dir);
    return r;
}

const struct cli_verb verb_domain = {
    .name = "domain",
    .summary = "Create certificates for a domain of your own",
    .help = "For development with E2B clients that are configured only with a domain "
            "(E2B_DOMAIN). Creates a certificate authority, and with it a certificate for NAME "
            "and *.NAME, which covers the service, its E2B control plane (api.NAME) and every "
            "port of every sandbox (PORT-ID.NAME). Prints how to use them.\n"
            "\n"
            "The authority is valid only for NAME and this host. An existing authority is "
            "reused, so clients need to trust it only once; the certificate is renewed each "
            "time, and a running service reloads it by itself.",
    .args = "[NAME]",
    .max_args = 1,
    .options = options,
    .settings = settings,
    .run = run_domain,
};
