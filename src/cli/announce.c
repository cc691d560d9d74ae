/* SPDX-License-Identifier: MIT */
/* Announcing a running service: see announce.h. */
#include "cli/announce.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/quote.h"
#include "core/core.h"
#include "sys/io.h"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

static bool is_loopback_v4(const struct in_addr *a)
{
    return ntohl(a->s_addr) >> 24 == 127;
}

static bool is_loopback_v6(const struct in6_addr *a)
{
    struct in_addr inner;

    if (IN6_IS_ADDR_LOOPBACK(a))
        return true;
    memcpy(&inner, a->s6_addr + 12, sizeof inner);
    return IN6_IS_ADDR_V4MAPPED(a) && is_loopback_v4(&inner);
}

/* A wildcard address is reached from here under the loopback one. */
static void host_v4(char out[INET6_ADDRSTRLEN], const struct in_addr *a)
{
    struct in_addr shown = {.s_addr = a->s_addr == INADDR_ANY ? htonl(INADDR_LOOPBACK) : a->s_addr};

    (void)inet_ntop(AF_INET, &shown, out, INET6_ADDRSTRLEN);
}

static void host_v6(char out[INET6_ADDRSTRLEN], const struct in6_addr *a)
{
    (void)inet_ntop(AF_INET6, IN6_IS_ADDR_UNSPECIFIED(a) ? &in6addr_loopback : a, out,
                    INET6_ADDRSTRLEN);
}

/* URL of what listens on FD, by the TEXT of the configuration when it has no address. */
static int url_of(char out[256], int fd, const char *text, bool is_tls, bool *ret_loopback)
{
    const char *scheme = is_tls ? "https" : "http";
    union address at = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t len = sizeof at;
    char host[INET6_ADDRSTRLEN] = "";

    if (getsockname(fd, &at.any, &len) < 0)
        return -errno;
    if (at.any.sa_family == AF_INET) {
        *ret_loopback = is_loopback_v4(&at.v4.sin_addr);
        host_v4(host, &at.v4.sin_addr);
        (void)snprintf(out, 256, "%s://%s:%u", scheme, host, ntohs(at.v4.sin_port));
    } else if (at.any.sa_family == AF_INET6) {
        *ret_loopback = is_loopback_v6(&at.v6.sin6_addr);
        host_v6(host, &at.v6.sin6_addr);
        (void)snprintf(out, 256, "%s://[%s]:%u", scheme, host, ntohs(at.v6.sin6_port));
    } else {
        *ret_loopback = true;
        (void)snprintf(out, 256, "%s", text);
    }
    return 0;
}

static bool has_tls(const struct config *c)
{
    return c->tls.cert || c->tls.dir;
}

int announce_e2b(struct announce *a, int fd, const struct config *config, struct err *e)
{
    bool is_loopback = false;
    int r = url_of(a->e2b_url, fd, config->e2b.listen, has_tls(config), &is_loopback);

    a->is_e2b_far = !is_loopback;
    return r < 0 ? err_sys(e, r, "second address of the service") : 0;
}

int announce_address(struct announce *a, int fd, const struct config *config, struct err *e)
{
    int r = url_of(a->url, fd, config->listen, has_tls(config), &a->is_loopback);

    /* Whoever reaches one of the two reaches everything. */
    a->is_loopback = a->is_loopback && !a->is_e2b_far;
    return r < 0 ? err_sys(e, r, "address of the service") : 0;
}

int announce_publish(struct announce *a, const struct core *core, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(16384);
    char now[CLOCK_RFC3339_MAX];
    struct jw w = jw_to(&text);

    if (core_path(core->config, CORE_SOCKET_FILE, &a->socket) < 0)
        return err_sys(e, -ENOMEM, CORE_SERVICE_FILE);
    clock_rfc3339(now, clock_real_us());
    jw_object(&w);
    jw_key(&w, "url");
    jw_cstr(&w, a->url);
    if (a->e2b_url[0]) {
        jw_key(&w, "e2b_url");
        jw_cstr(&w, a->e2b_url);
    }
    jw_key(&w, "pid");
    jw_int(&w, getpid());
    jw_key(&w, "version");
    jw_cstr(&w, TIDEPOOL_VERSION);
    jw_key(&w, "socket");
    jw_cstr(&w, a->socket);
    jw_key(&w, "started_at");
    jw_cstr(&w, now);
    jw_end(&w);
    (void)buf_add_char(&text, '\n');
    int r = buf_ok(&text) ? core_path(core->config, CORE_SERVICE_FILE, &a->file) : text.error;
    if (r < 0)
        return err_sys(e, r, CORE_SERVICE_FILE);
    struct err why = ERR_INIT;
    r = io_write_file(a->file, buf_str(&text), 0600, &why);
    if (r == -ENOSPC) {
        /* Who wants to delete something needs the service more than this file. */
        log_warn("the address could not be written down", LOG_S("error", err_text(&why)));
        return 0;
    }
    return r < 0 ? err_set(e, r, "%s", err_text(&why)) : 0;
}

/* TEXT as a shell takes it, quoted only where that is needed. */
static const char *typed(struct buf *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";

    if (strspn(text, plain) == strlen(text))
        return text;
    (void)quote_word(out, str_of(text));
    const char *quoted = buf_cstr(out);
    return quoted ? quoted : text;
}

static bool is_default_state(const struct config *c)
{
    return str_is(str_of(c->sources[config_find(STR("state")) - config_options]), "default");
}

void announce_banner(const struct announce *a, const struct core *core)
{
    const char *state = core->config->state;
    struct buf quoted auto_buf = BUF_INIT(16384), words auto_buf = BUF_INIT(16384);

    struct buf at auto_buf = BUF_INIT(32768);
    /* As it was called, so that a suggestion can be pasted where this one was typed. */
    const char *program = typed(&quoted, program_invocation_name);

    /* Where it is found without, the shorter command is the better one. */
    if (!is_default_state(core->config))
        (void)buf_printf(&at, " --state %s", typed(&words, state));
    const char *where = at.len > 0 && buf_cstr(&at) ? buf_cstr(&at) : "";
    (void)printf("\nTidepool " TIDEPOOL_VERSION " is running.\n\n"
                 "  URL  %s\n",
                 a->url);
    /* A log or a journal is no place for the key. */
    if (core->system_key[0] && !isatty(STDOUT_FILENO))
        (void)printf("  Key  in %s/" CORE_KEY_FILE "\n", state);
    else if (core->system_key[0])
        (void)printf("  Key  %s\n       (also in %s/" CORE_KEY_FILE ")\n", core->system_key, state);
    if (core->no_sandboxes.code)
        (void)printf("\n  No sandboxes: %s (run 'tidepool doctor' for details)\n",
                     err_text(&core->no_sandboxes));
    (void)printf("\nThings to try:\n\n");
    if (!core->no_sandboxes.code)
        (void)printf("  %s create%s --name first\n"
                     "  %s exec%s first -- python3 -V\n"
                     "  %s rm%s first\n",
                     program, where, program, where, program, where);
    (void)printf("  %s keys create%s --name laptop\n"
                 "  curl -H \"Authorization: Bearer $(cat %s/" CORE_KEY_FILE ")\" "
                 "%s/api/v1/events\n\n",
                 program, where, state, a->url);
    (void)fflush(stdout);
}

void announce_done(struct announce *a)
{
    if (a->file)
        (void)unlink(a->file);
    if (a->file && a->socket)
        (void)unlink(a->socket);
    free(take(a->file));
    free(take(a->socket));
}
