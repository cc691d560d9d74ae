/* SPDX-License-Identifier: MIT */
/* Runs edge_cases.txt (its head says how it is written) against a server. */
#include "../unit/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "net/http_server.h"
#include "sys/io.h"

#define CASES_FILE VECTORS_DIR "/../http/edge_cases.txt"

enum {
    MAX_CASES = 400,
    MAX_ANSWERS = 8,
    MAX_BODY = 64,
    EVERY_BYTE = 1500, /* longer cases are cut at fewer places */
    BIG_STEP = 211,
};

struct edge_case {
    struct str name, expect, body;
    struct buf raw;
};

static struct buf text = BUF_INIT(1 << 20);
static struct edge_case cases[MAX_CASES];
static size_t n_cases;

/* ---- the file ---- */

static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        if (c == '\\') {
            assert_true(++i < s.len);
            switch (s.p[i]) {
            case 'r': c = '\r'; break;
            case 'n': c = '\n'; break;
            case 't': c = '\t'; break;
            case 's': c = ' '; break;
            case '0': c = '\0'; break;
            case '\\': break;
            case 'x':
                assert_int_equal(enc_unhex(&c, 1, str_slice(s, i + 1, i + 3)), 0);
                i += 2;
                break;
            default: fail_msg("bad escape in '" STR_FMT "'", STR_ARG(s));
            }
        }
        assert_int_equal(buf_add_char(out, c), 0);
    }
}

static void add_bytes(struct edge_case *c, struct str line)
{
    uint64_t times = 1;

    if (line.len && line.p[0] == '@') {
        line = str_skip(line, 1);
        assert_int_equal(str_to_u64(str_cut(&line, ' '), &times), 0);
    }
    while (times-- > 0)
        add_escaped(&c->raw, line);
}

static bool starts(struct str *line, struct str word)
{
    if (!str_starts(*line, word))
        return false;
    *line = str_skip(*line, word.len);
    return true;
}

static int load(void **state)
{
    struct edge_case *c = NULL;

    (void)state;
    assert_int_equal(io_read_file(CASES_FILE, &text, NULL), 0);
    for (struct str rest = buf_str(&text); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        if (line.len == 0 || line.p[0] == '#')
            continue;
        if (starts(&line, STR("case "))) {
            assert_true(n_cases < MAX_CASES);
            c = &cases[n_cases++];
            c->name = line;
            buf_init(&c->raw, 1 << 16);
        } else if (starts(&line, STR("expect "))) {
            c->expect = line;
        } else if (starts(&line, STR("body "))) {
            c->body = line;
        } else {
            add_bytes(c, line);
        }
    }
    return 0;
}

static int unload(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_cases; i++)
        buf_done(&cases[i].raw);
    buf_done(&text);
    return 0;
}

/* ---- the server ---- */

static struct str or_dash(struct str s)
{
    return s.len ? s : STR("-");
}

static void answer(struct http_req *r, void *ctx)
{
    const struct http_head *h = &r->head;
    struct str out =
        arena_printf(r->arena, STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT,
                     STR_ARG(h->method_text), STR_ARG(h->path), STR_ARG(or_dash(h->query)),
                     STR_ARG(or_dash(h->host)), STR_ARG(or_dash(r->body)));

    (void)ctx;
    http_reply(r, 200, "text/plain", out);
}

static void handle(struct http_req *r, void *ctx)
{
    http_read_body(r, MAX_BODY, answer, ctx);
}

struct world {
    struct loop *loop;
    struct http_server *server;
    int client;
    struct buf in;
};

static void world_open(struct world *w)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    http_server_adopt(w->server, fds[0]);
    w->client = fds[1];
    buf_clear(&w->in);
}

static void turn(struct world *w)
{
    for (int i = 0; i < 4; i++)
        assert_int_equal(loop_run_once(w->loop, 0), 0);
}

static void world_close(struct world *w)
{
    (void)close(w->client);
    turn(w);
    assert_int_equal(http_server_stats(w->server).active, 0);
}

/* Sends what the server takes; it may close before it has read all. */
static void say(struct world *w, struct str bytes)
{
    if (bytes.len)
        (void)!send(w->client, bytes.p, bytes.len, MSG_NOSIGNAL);
    turn(w);
}

/* Reads all there is. True when the server closed its side. */
static bool listen_for_end(struct world *w)
{
    for (;;) {
        char chunk[8192];
        ssize_t n = io_read(w->client, chunk, sizeof chunk);
        if (n == -EAGAIN)
            return false;
        if (n <= 0)
            return true;
        assert_int_equal(buf_add(&w->in, chunk, (size_t)n), 0);
    }
}

struct answers {
    int status[MAX_ANSWERS];
    size_t n;
    struct str body; /* of the last one */
};

static void read_answers(struct world *w, struct arena *a, struct answers *ret)
{
    const struct http_limits limits = HTTP_LIMITS_DEFAULT;
    struct str rest = buf_str(&w->in);

    *ret = (struct answers){0};
    while (rest.len > 0) {
        struct http_head head;
        size_t scanned = 0;
        const char *reason = "incomplete";
        ssize_t n =
            http_parse_response(a, rest.p, rest.len, &scanned, &limits, HTTP_GET, &head, &reason);
        if (n <= 0)
            fail_msg("unreadable answer: %s: " STR_FMT, reason, STR_ARG(rest));
        assert_true(head.content_length >= 0);
        assert_int_equal(http_header_get(&head.headers, "X-Request-Id").len,
                         head.status == 100 ? 0 : 16);
        ret->body = str_slice(rest, (size_t)n, (size_t)n + (size_t)head.content_length);
        rest = str_skip(rest, (size_t)n + (size_t)head.content_length);
        if (head.status == 100)
            continue;
        assert_true(ret->n < MAX_ANSWERS);
        ret->status[ret->n++] = head.status;
    }
}

/* ---- one case ---- */

enum manner { ALONE, BEHIND_ANOTHER, BEFORE_ANOTHER, MANNER_COUNT };

static const struct str other = STR_INIT("GET /other HTTP/1.1\r\nHost: other\r\n\r\n");

/* What a case must lead to, sent in a manner. */
struct wanted {
    int status[MAX_ANSWERS];
    size_t n;
    struct str kept, body;
};

static struct wanted wanted_of(const struct edge_case *c, enum manner manner)
{
    struct wanted w = {.body = c->body};

    if (manner == BEHIND_ANOTHER)
        w.status[w.n++] = 200;
    for (struct str rest = c->expect; rest.p;) {
        uint64_t status;
        w.kept = str_cut(&rest, ' ');
        if (str_to_u64(w.kept, &status) == 0)
            w.status[w.n++] = (int)status;
    }
    if (manner == BEFORE_ANOTHER && str_is(w.kept, "open")) {
        w.status[w.n++] = 200;
        w.body = STR("GET /other - other -");
    }
    return w;
}

static void compare(const struct edge_case *c, const struct wanted *w, const struct answers *got,
                    bool is_closed, const char *how)
{
    if (is_closed != str_is(w->kept, "close"))
        fail_msg(STR_FMT " %s: the connection was %s", STR_ARG(c->name), how,
                 is_closed ? "closed" : "left open");
    if (got->n != w->n)
        fail_msg(STR_FMT " %s: %zu answers, expected %zu", STR_ARG(c->name), how, got->n, w->n);
    for (size_t i = 0; i < w->n; i++)
        if (got->status[i] != w->status[i])
            fail_msg(STR_FMT " %s: answer %zu is %d, expected %d", STR_ARG(c->name), how, i + 1,
                     got->status[i], w->status[i]);
    if (w->body.p && !str_eq(got->body, w->body))
        fail_msg(STR_FMT " %s: body '" STR_FMT "'", STR_ARG(c->name), how, STR_ARG(got->body));
}

/* Sends the case in two parts, CUT bytes in the first. */
static void run(struct world *w, const struct edge_case *c, enum manner manner, size_t cut)
{
    struct buf bytes auto_buf = BUF_INIT(1 << 17);
    struct arena a auto_arena;
    struct wanted wanted = wanted_of(c, manner);
    struct answers got;
    char how[64];

    if (manner == BEFORE_ANOTHER && str_is(wanted.kept, "wait"))
        return;
    arena_init(&a, 1 << 20);
    (void)snprintf(how, sizeof how, "(manner %d, cut at %zu)", (int)manner, cut);
    if (manner == BEHIND_ANOTHER)
        (void)buf_add_str(&bytes, other);
    (void)buf_add_str(&bytes, buf_str(&c->raw));
    if (manner == BEFORE_ANOTHER)
        (void)buf_add_str(&bytes, other);
    world_open(w);
    say(w, str_slice(buf_str(&bytes), 0, cut));
    say(w, str_skip(buf_str(&bytes), cut));
    bool is_closed = listen_for_end(w);
    read_answers(w, &a, &got);
    compare(c, &wanted, &got, is_closed, how);
    world_close(w);
}

static void open_server(struct world *w)
{
    w->loop = loop_new(NULL);
    const struct http_server_opts opts = {
        .loop = w->loop,
        .handler = handle,
        .limits = {.max_head = 4096, .max_target = 1024, .max_headers = 20},
    };
    w->server = http_server_new(&opts, NULL);
    assert_non_null(w->server);
    buf_init(&w->in, 1 << 16);
}

static void close_server(struct world *w)
{
    buf_done(&w->in);
    http_server_free(w->server);
    loop_free(w->loop);
}

static void run_all(enum manner manner, bool is_cut)
{
    struct world w;

    open_server(&w);
    for (size_t i = 0; i < n_cases; i++) {
        size_t len = cases[i].raw.len + (manner == ALONE ? 0 : other.len);
        size_t step = len > EVERY_BYTE ? BIG_STEP : 1;
        for (size_t cut = is_cut ? 1 : len; cut <= len; cut += step)
            run(&w, &cases[i], manner, cut);
    }
    close_server(&w);
}

static void there_are_many_cases(void **state)
{
    (void)state;
    assert_true(n_cases >= 80);
    for (size_t i = 0; i < n_cases; i++)
        assert_true(cases[i].expect.len > 0 && cases[i].raw.len > 0);
}

static void whole(void **state)
{
    (void)state;
    run_all(ALONE, false);
}

static void behind_another(void **state)
{
    (void)state;
    run_all(BEHIND_ANOTHER, false);
}

static void before_another(void **state)
{
    (void)state;
    run_all(BEFORE_ANOTHER, false);
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    run_all(ALONE, true);
}

static void behind_another_cut_at_every_byte(void **state)
{
    (void)state;
    run_all(BEHIND_ANOTHER, true);
}

static void before_another_cut_at_every_byte(void **state)
{
    (void)state;
    run_all(BEFORE_ANOTHER, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_many_cases),
        cmocka_unit_test(whole),
        cmocka_unit_test(behind_another),
        cmocka_unit_test(before_another),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(behind_another_cut_at_every_byte),
        cmocka_unit_test(before_another_cut_at_every_byte),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
