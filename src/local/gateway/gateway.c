/* SPDX-License-Identifier: MIT */
/* The program mcp-gateway: see gateway.h. The process that was called waits until the one that
 * serves says that it listens, or why not. */
#include "local/gateway/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "local/gateway/tools.h"
#include "local/kit/pool.h"
#include "loop/loop.h"
#include "mcp/http.h"
#include "net/http_server.h"
#include "net/listen.h"
#include "sys/io.h"

enum {
    CONFIG_MEMORY = 16 << 20,
    TABLE_MEMORY = 64 << 20,
    TOKEN_DIGITS = 32,
    TOKEN_MAX = 512,
    BODY_MAX = 16 << 20
};

struct gateway {
    struct loop *loop;
    struct pool *pool;
    struct local local;
    struct arena arena;
    const struct json *config;
    struct gateway_table table;
    struct mcp_server *mcp;
    struct http_server *http;
    int listen_fd, report_fd;
    size_t n_starting; /* programs of others */
    char token[TOKEN_MAX + 1];
};

/* ---- calls ---- */

struct call_job {
    struct pool_job job;
    struct loop_msg msg;
    struct gateway *gateway;
    struct mcp_call *call;
    struct local_call local;
    struct buf out;
};

static void reply_members(struct mcp_call *call, struct str text)
{
    const struct json *result = json_parse(call->arena, text, NULL, NULL);

    if (!json_is(result, JSON_OBJECT)) {
        mcp_reply_fail(call, MCP_INTERNAL_ERROR, "the tool has no result");
        return;
    }
    struct jw *w = mcp_result_begin(call);
    for (size_t i = 0; i < result->n; i++) {
        jw_key_str(w, result->members[i].key);
        jw_value(w, &result->members[i].value);
    }
    mcp_result_end(call);
}

static void on_call_done(struct loop_msg *m)
{
    struct call_job *j = container_of(m, struct call_job, msg);

    if (buf_ok(&j->out))
        reply_members(j->call, buf_str(&j->out));
    else
        mcp_reply_fail(j->call, MCP_INTERNAL_ERROR, "out of memory");
    buf_done(&j->out);
    buf_done(&j->local.content);
    for (size_t i = 0; i < LOCAL_BUFS; i++)
        buf_done(&j->local.bufs[i]);
    arena_done(&j->local.arena);
    free(j);
}

static void run_gateway_call(struct pool_job *pj)
{
    struct call_job *j = container_of(pj, struct call_job, job);

    local_run(&j->local, &j->out);
    loop_post(j->gateway->loop, &j->msg, on_call_done);
}

static void start_gateway_call(struct gateway *g, struct mcp_call *call,
                               const struct local_tool *tool)
{
    struct call_job *j = mem_zalloc(1, sizeof *j);

    if (!j) {
        mcp_reply_fail(call, MCP_INTERNAL_ERROR, "out of memory");
        return;
    }
    j->gateway = g;
    j->call = call;
    j->job.run = run_gateway_call;
    buf_init(&j->out, LOCAL_ANSWER_MAX);
    buf_init(&j->local.content, LOCAL_ANSWER_MAX);
    arena_init(&j->local.arena, 4 * (size_t)LOCAL_BODY_MAX);
    j->local.local = &g->local;
    j->local.tool = tool;
    j->local.args = call->args;
    if (pool_run(g->pool, &j->job) == 0)
        return;
    mcp_reply_fail(call, MCP_INTERNAL_ERROR, "no thread could be started");
    arena_done(&j->local.arena);
    free(j);
}

static void on_tool_call(struct mcp_call *call)
{
    const struct gateway_tool *t = call->row;

    if (t->foreign)
        gateway_foreign_call(t->foreign, call, t->foreign_name);
    else
        start_gateway_call(call->ctx, call, t->tool);
}

/* ---- requests ---- */

static bool is_gateway_allowed(const struct gateway *g, const struct http_req *r)
{
    struct str value = str_trim(http_header_get(&r->head.headers, "authorization"));
    struct str scheme = str_cut(&value, ' ');
    size_t len = strlen(g->token);

    value = str_trim(value);
    return str_iis(scheme, "bearer") && value.len == len && mem_eq_const(g->token, value.p, len);
}

static void on_gateway_body(struct http_req *r, void *ctx)
{
    struct gateway *g = ctx;
    const struct mcp_scope scope = {.owner = STR("gateway"), .ctx = g};

    mcp_http(g->mcp, r, &scope);
}

static void on_gateway_request(struct http_req *r, void *ctx)
{
    struct gateway *g = ctx;

    if (str_is(r->head.path, "/health"))
        http_reply(r, 200, "text/plain", STR("ok"));
    else if (!str_is(r->head.path, "/mcp") && !str_is(r->head.path, "/mcp/"))
        http_reply(r, 404, "text/plain", STR("not found: MCP is served at /mcp"));
    else if (!is_gateway_allowed(g, r)) {
        (void)http_add_header(r, "WWW-Authenticate", STR("Bearer"));
        http_reply(r, 401, "text/plain", STR("the token of the gateway is required"));
    } else
        http_read_body(r, BODY_MAX, on_gateway_body, g);
}

/* ---- starting ---- */

/* Says how the start went, which the process that was called waits for; the serving goes on after
 * success only. */
static void report(struct gateway *g, const struct err *e)
{
    const char *text = e ? err_text(e) : "";

    (void)io_write_all(g->report_fd, text, strlen(text) + 1);
    (void)close(g->report_fd);
    g->report_fd = -1;
    if (e && g->loop)
        loop_stop(g->loop);
}

static int serve_gateway(struct gateway *g, struct err *e)
{
    const struct mcp_desc desc = {.name = "mcp-gateway",
                                  .title = "MCP servers of this sandbox",
                                  .version = TIDEPOOL_VERSION,
                                  .tools = g->table.rows,
                                  .n_tools = g->table.n,
                                  .is_keyed = true,
                                  .limits = {.max_body = BODY_MAX, .max_answer = LOCAL_ANSWER_MAX}};
    struct http_server_opts o = {
        .loop = g->loop,
        .handler = on_gateway_request,
        .ctx = g,
        .limits = {.max_head = 64 << 10, .max_target = 16 << 10, .max_headers = 100},
        .max_conns = 256,
        .max_arena = 2 * (size_t)LOCAL_BODY_MAX,
    };

    g->mcp = mcp_server_new(g->loop, &desc, e);
    g->http = g->mcp ? http_server_new(&o, e) : NULL;
    return g->http ? http_server_listen(g->http, take_fd(g->listen_fd), e) : e->code;
}

static void serve_when_ready(struct gateway *g)
{
    struct err e = ERR_INIT;

    if (g->n_starting > 0)
        return;
    report(g, serve_gateway(g, &e) < 0 ? &e : NULL);
}

static const char *gateway_text_of(struct gateway *g, const struct json *v)
{
    struct buf text auto_buf = BUF_INIT(CONFIG_MEMORY);
    struct jw w = jw_to(&text);

    if (!v)
        return NULL;
    jw_value(&w, v);
    return buf_ok(&text) ? arena_str(&g->table.arena, buf_str(&text)).p : NULL;
}

static int add_foreign_tool(struct gateway *g, struct gateway_foreign *f, const char *server,
                            const struct json *tool, struct err *e)
{
    struct gateway_tool *own = arena_zalloc(&g->table.arena, 1, sizeof *own);
    struct str name = json_str(json_get(tool, "name"), STR(""));
    struct str text = json_str(json_get(tool, "description"), STR(""));

    if (!own || name.len == 0)
        return own ? 0 : err_set(e, -ENOMEM, "out of memory");
    own->foreign = f;
    own->foreign_name = arena_str(&g->table.arena, name).p;
    struct mcp_tool row = {.name = own->foreign_name,
                           .description = arena_str(&g->table.arena, text).p,
                           .input = gateway_text_of(g, json_get(tool, "inputSchema")),
                           .annotations = gateway_text_of(g, json_get(tool, "annotations")),
                           .call = on_tool_call,
                           .row = own};
    return gateway_add_tool(&g->table, server, &row, e);
}

static void on_foreign_ready(void *ctx, struct gateway_foreign *f, const struct err *e)
{
    struct gateway *g = ctx;
    struct err own = ERR_INIT;

    if (g->report_fd < 0) /* another one has failed */
        return;
    const struct json *tools = e ? NULL : gateway_foreign_tools(f);
    for (size_t i = 0; tools && own.code == 0 && i < tools->n; i++)
        (void)add_foreign_tool(g, f, "other", &tools->items[i], &own);
    if (e || own.code) {
        report(g, e ? e : &own);
        return;
    }
    g->n_starting--;
    serve_when_ready(g);
}

static int start_foreign(struct gateway *g, struct err *e)
{
    for (size_t i = 0; i < g->config->n; i++) {
        const struct json_member *m = &g->config->members[i];
        if (!json_get(&m->value, "runCmd"))
            continue;
        const char *name = arena_str(&g->arena, m->key).p;
        if (!name)
            return err_set(e, -ENOMEM, "out of memory");
        g->n_starting++;
        int r = gateway_foreign_start(g->loop, name, &m->value, on_foreign_ready, g, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The tools are the user's, who owns the files that they make. */
static int become_user(struct err *e)
{
    struct passwd own, *user = NULL;
    char text[4096];

    if (geteuid() != 0 || getpwnam_r("user", &own, text, sizeof text, &user) != 0 || !user)
        return 0;
    if (setgroups(0, NULL) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0)
        return err_sys(e, -errno, "become '%s'", user->pw_name);
    (void)setenv("HOME", user->pw_dir, 1);
    (void)setenv("USER", user->pw_name, 1);
    return 0;
}

static int write_token(const struct gateway *g, struct err *e)
{
    int r = io_mkdirs(GATEWAY_DIR, 0755, e);

    return r < 0 ? r : io_write_file(GATEWAY_TOKEN_FILE, str_of(g->token), 0600, e);
}

/* Where the tools work: {"filesystem": {"paths": ["/x"]}}, else the home. */
static void choose_gateway_root(struct gateway *g)
{
    const struct json *paths = json_get(json_get(g->config, "filesystem"), "paths");
    struct str path =
        json_is(paths, JSON_ARRAY) && paths->n > 0 ? json_str(&paths->items[0], STR("")) : STR("");

    g->local.home = getenv("HOME") ? getenv("HOME") : "/root";
    g->local.root = path.len > 0 && path.p[0] == '/' ? arena_str(&g->arena, path).p : g->local.home;
    if (!g->local.root || chdir(g->local.root) < 0)
        g->local.root = g->local.home;
    (void)chdir(g->local.root);
}

/* The serving process; returns only when something went wrong before it reported. */
static int run_gateway(struct gateway *g, struct err *e)
{
    char address[32];

    (void)snprintf(address, sizeof address, "*:%d", GATEWAY_PORT);
    (void)setsid();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)umask(022);
    g->loop = loop_new(e);
    g->pool = pool_new(LOCAL_THREADS_MAX);
    if (!g->loop || !g->pool)
        return -ENOMEM;
    int r = gateway_add_own(&g->table, g->config, on_tool_call, e);
    if (r == 0)
        r = g->listen_fd = http_listen(address, false, e);
    if (r >= 0)
        r = write_token(g, e);
    if (r >= 0)
        r = become_user(e);
    if (r < 0)
        return r;
    choose_gateway_root(g);
    r = start_foreign(g, e);
    if (r < 0)
        return r;
    serve_when_ready(g);
    return loop_run(g->loop);
}

/* ---- the process that was called ---- */

static void redirect_output(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int log = open(GATEWAY_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    if (null >= 0)
        (void)dup2(null, STDIN_FILENO);
    if (log < 0)
        log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int fd = STDOUT_FILENO; log >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2(log, fd);
}

static int start_gateway(struct gateway *g)
{
    char text[512] = "";
    struct err e = ERR_INIT;
    int pipe_fds[2];

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(pipe_fds[0]);
        g->report_fd = pipe_fds[1];
        redirect_output();
        if (run_gateway(g, &e) < 0 && g->report_fd >= 0)
            report(g, &e);
        return 1;
    }
    (void)close(pipe_fds[1]);
    /* An empty text is success; an end without one is a death. */
    ssize_t n = pid < 0 ? -1 : io_read(pipe_fds[0], text, sizeof text - 1);
    if (n > 0 && text[0] == '\0')
        return 0;
    (void)fprintf(stderr, "mcp-gateway: %s\n", n > 0 ? text : "it ended at its start");
    return 1;
}

static int read_gateway_config(struct gateway *g, const char *text)
{
    struct err e = ERR_INIT;
    const char *token = getenv("GATEWAY_ACCESS_TOKEN");

    g->config = json_parse(&g->arena, str_of(text), NULL, &e);
    if (!json_is(g->config, JSON_OBJECT)) {
        (void)fprintf(stderr, "mcp-gateway: the configuration must be a JSON object: %s\n",
                      g->config ? "it is something else" : err_text(&e));
        return -1;
    }
    if (g->config->n > GATEWAY_SERVERS_MAX) {
        (void)fprintf(stderr, "mcp-gateway: more than %d servers\n", GATEWAY_SERVERS_MAX);
        return -1;
    }
    if (token && *token && strlen(token) <= TOKEN_MAX)
        (void)snprintf(g->token, sizeof g->token, "%s", token);
    else
        id_hex(g->token, TOKEN_DIGITS);
    (void)unsetenv("GATEWAY_ACCESS_TOKEN");
    return 0;
}

static int check_gateway_names(char **names)
{
    int status = 0;

    for (; *names; names++)
        if (!gateway_find_server(str_of(*names)) && !strchr(*names, '/')) {
            (void)fprintf(stderr, "mcp-gateway: unknown MCP server '%s'\n", *names);
            status = 1;
        }
    return status;
}

int gateway_main(int argc, char **argv)
{
    static struct gateway g = {.listen_fd = -1, .report_fd = -1};

    if (argc >= 2 && strcmp(argv[1], "pull") == 0)
        return check_gateway_names(argv + 2);
    if (argc != 3 || strcmp(argv[1], "--config") != 0) {
        (void)fprintf(stderr, "usage: mcp-gateway --config JSON\n"
                              "       mcp-gateway pull SERVER…\n");
        return 2;
    }
    arena_init(&g.arena, CONFIG_MEMORY);
    arena_init(&g.table.arena, TABLE_MEMORY);
    return read_gateway_config(&g, argv[2]) < 0 ? 1 : start_gateway(&g);
}
