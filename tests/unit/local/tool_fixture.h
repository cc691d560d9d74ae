/* SPDX-License-Identifier: MIT */
/* Tools of a server called in this process, on a workspace of their own. */
#pragma once

#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "local/local.h"

enum { MAX = 64 << 20 };

static const char *server_name; /* set by the test's main() */
static char top[64], root[80], home[80], answer_text[1 << 16];
static struct local place = {.root = root, .home = home};

static inline int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline int setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char given[64];

    (void)state;
    (void)snprintf(given, sizeof given, "%.40s/files-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(given))
        return -1;
    char *real auto_free = realpath(given, NULL);
    (void)snprintf(top, sizeof top, "%.60s", real ? real : "");
    (void)snprintf(root, sizeof root, "%s/data", top);
    (void)snprintf(home, sizeof home, "%s/data/home", top);
    return mkdir(root, 0755) || mkdir(home, 0755);
}

static inline int teardown(void **state)
{
    (void)state;
    return nftw(top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The absolute path of NAME below the workspace; valid until four calls later. */
static inline const char *in(const char *name)
{
    static char paths[4][256];
    static unsigned n;
    char *p = paths[n++ % 4];

    (void)snprintf(p, 256, "%s/%s", root, name);
    return p;
}

static inline void put(const char *name, const char *text)
{
    auto_close int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static inline void check_file(const char *name, const char *want)
{
    char text[1000] = "";
    auto_close int fd = open(in(name), O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_string_equal(text, want);
}

/* Calls TOOL with ARGS as JSON; its first text is in answer_text. Whether it was a success. */
static inline bool call(const char *tool, const char *args)
{
    const struct local_server *server = local_server(str_of(server_name));
    struct local_call c = {.local = &place, .tool = local_tool(server, str_of(tool))};
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX);
    auto_arena struct arena a;

    assert_non_null(c.tool);
    arena_init(&a, MAX);
    arena_init(&c.arena, MAX);
    buf_init(&c.content, LOCAL_ANSWER_MAX);
    c.args = json_parse(&a, str_of(args), NULL, NULL);
    assert_non_null(c.args);
    local_run(&c, &out);
    for (size_t i = 0; i < LOCAL_BUFS; i++)
        buf_done(&c.bufs[i]);
    buf_done(&c.content);
    arena_done(&c.arena);
    struct json *v = json_parse(&a, buf_str(&out), NULL, NULL);
    assert_non_null(v);
    struct str text = json_str(json_get(json_at(json_get(v, "content"), 0), "text"), STR(""));
    (void)snprintf(answer_text, sizeof answer_text, STR_FMT, STR_ARG(text));
    return !json_bool(json_get(v, "isError"), false);
}

static inline void check_call(const char *tool, const char *args, bool is_fine, const char *part)
{
    if (call(tool, args) != is_fine || !strstr(answer_text, part))
        fail_msg("%s %s: got '%s', want '%s'", tool, args, answer_text, part);
}
