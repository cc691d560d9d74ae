/* SPDX-License-Identifier: MIT */
/* What a claim sends to the E2B face of a cell, and the paths that answer from it. See e2b.h. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/serve_internal.h"
#include "sys/io.h"

enum { ANSWER_MAX = 4 << 20, BACKLOG = 1024 };

/* ---- what is reported ---- */

/* Replaces *TO by member KEY when there is one; null and "" make it NULL. */
static int take_init_text(char **to, const struct json *body, const char *key, struct err *e)
{
    const struct json *v = json_get(body, key);
    struct str s = json_str(v, STR(""));
    char *copy = NULL;

    if (!v)
        return 0;
    if ((!json_is(v, JSON_STRING) && !json_is(v, JSON_NULL)) || str_chr(s, '\0') >= 0)
        return err_set(e, -EINVAL, "e2b.%s must be a string", key);
    if (s.len > 0) {
        copy = mem_strndup(s.p, s.len);
        if (!copy)
            return err_sys(e, -ENOMEM, "e2b.%s", key);
    }
    if (*to)
        mem_wipe(*to, strlen(*to));
    free(*to);
    *to = copy;
    return 0;
}

static int take_vars(struct e2b *b, const struct json *body, struct err *e)
{
    const struct json *v = json_get(body, "envVars");
    auto_arena struct arena a;

    arena_init(&a, 8 << 20);
    if (!v)
        return 0;
    char **list = claim_env(&a, v, e);
    if (!list)
        return e->code;
    char **copy = claim_copy_strings(list);
    if (!copy)
        return err_sys(e, -ENOMEM, "e2b.envVars");
    claim_free_strings(b->vars);
    b->vars = copy;
    return 0;
}

static int listen_at(const struct sockaddr *a, socklen_t len)
{
    int no = 0, yes = 1;
    auto_close int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (a->sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) < 0)
        return -errno;
    return bind(fd, a, len) < 0 || listen(fd, BACKLOG) < 0 ? -errno : take_fd(fd);
}

/* For all addresses of both families, where there are two. -errno. */
static int listen_on_e2b(uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = listen_at((const struct sockaddr *)&six, sizeof six);

    return fd >= 0 ? fd : listen_at((const struct sockaddr *)&four, sizeof four);
}

static int take_port(struct serve *s, const struct json *body, struct err *e)
{
    int64_t port = json_int(json_get(body, "port"), 0);

    if (port < 0 || port > UINT16_MAX)
        return err_set(e, -EINVAL, "e2b.port must be a port");
    if (port == 0 || s->e2b.tcp)
        return 0;
    int fd = listen_on_e2b((uint16_t)port);
    if (fd < 0)
        return err_sys(e, fd, "listen on port %d", (int)port);
    s->e2b.tcp = serve_listen_e2b(s, fd, e);
    return s->e2b.tcp ? 0 : e->code;
}

int e2b_set(struct serve *s, const struct json *body, struct err *e)
{
    struct e2b *b = &s->e2b;
    const struct {
        char **to;
        const char *key;
    } texts[] = {
        {&b->token, "accessToken"},      {&b->sandbox_id, "sandboxID"},
        {&b->template_id, "templateID"}, {&b->user, "defaultUser"},
        {&b->workdir, "defaultWorkdir"},
    };

    if (!body || json_is(body, JSON_NULL))
        return 0;
    if (!json_is(body, JSON_OBJECT))
        return err_set(e, -EINVAL, "e2b must be an object");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        int r = take_init_text(texts[i].to, body, texts[i].key, e);
        if (r < 0)
            return r;
    }
    int r = take_vars(b, body, e);
    if (r == 0)
        r = take_port(s, body, e);
    b->n_cpus = (uint32_t)json_int(json_get(body, "cpuCount"), b->n_cpus);
    b->memory_bytes = (uint64_t)json_int(json_get(body, "memoryBytes"), (int64_t)b->memory_bytes);
    return r;
}

/* ---- what follows from it ---- */

const char *e2b_default_user(const struct serve *s)
{
    return s->e2b.user ? s->e2b.user : claim_user(&s->claim);
}

const char *e2b_default_workdir(const struct serve *s)
{
    return s->e2b.workdir ? s->e2b.workdir : s->claim.workdir;
}

static size_t count_env(char **list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static bool has_env_variable(char **list, size_t n, const char *pair)
{
    size_t len = strcspn(pair, "=");

    for (size_t i = 0; i < n; i++)
        if (strncmp(list[i], pair, len + 1) == 0)
            return true;
    return false;
}

char **e2b_env(const struct serve *s, struct arena *a)
{
    const struct e2b *b = &s->e2b;
    const char *const facts[][2] = {{"E2B_SANDBOX", "true"},
                                    {"E2B_SANDBOX_ID", b->sandbox_id},
                                    {"E2B_TEMPLATE_ID", b->template_id}};
    char **lists[] = {b->vars, s->claim.env};
    char **env = arena_zalloc(a, ARRAY_LEN(facts) + count_env(lists[0]) + count_env(lists[1]) + 1,
                              sizeof *env);
    size_t n = 0;

    for (size_t i = 0; env && i < ARRAY_LEN(facts); i++) {
        if (!facts[i][1])
            continue;
        env[n] = (char *)(uintptr_t)arena_printf(a, "%s=%s", facts[i][0], facts[i][1]).p;
        if (!env[n++])
            return NULL;
    }
    for (size_t i = 0; env && i < ARRAY_LEN(lists); i++)
        for (char **pair = lists[i]; pair && *pair; pair++)
            if (!has_env_variable(env, n, *pair))
                env[n++] = *pair;
    return env;
}

/* ---- paths ---- */

void e2b_health(struct serve *s, struct http_req *r)
{
    (void)s;
    (void)http_add_header(r, "Cache-Control", STR("no-store"));
    http_reply(r, 204, NULL, STR(""));
}

void e2b_envs(struct serve *s, struct http_req *r)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    char **env = e2b_env(s, r->arena);

    if (!env) {
        e2b_fail(r, 500, "out of memory");
        return;
    }
    jw_object(&w);
    for (; *env; env++) {
        struct str value = str_of(*env), name = str_cut(&value, '=');
        jw_key_str(&w, name);
        jw_str(&w, value);
    }
    jw_end(&w);
    e2b_json(r, &b);
}
