/* SPDX-License-Identifier: MIT */
/* Users of a cell: see user.h. */
#include "envd/user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "envd/mark.h"
#include "sys/io.h"

enum { FILE_MAX = 1 << 20, ID_MAX = 65535, KNOWN_MAX = 2, SETTLED_S = 2 };

#define PASSWD "/etc/passwd"
#define GROUP  "/etc/group"

/* The content of a regular file; nothing when it is something else, such as a FIFO that would
 * block us. */
static struct str read_regular(const char *path, struct buf *b)
{
    struct stat st;
    auto_close int fd = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return STR_NULL;
    for (;;) {
        char chunk[4096];
        ssize_t n = io_read(fd, chunk, sizeof chunk);
        if (n <= 0 || buf_add(b, chunk, (size_t)n) < 0)
            return buf_str(b);
    }
}

static int copy_user_text(char ret[USER_TEXT_MAX], struct str s)
{
    return snprintf(ret, USER_TEXT_MAX, STR_FMT, STR_ARG(s)) >= USER_TEXT_MAX ? -ERANGE : 0;
}

static int get_id(struct str s, unsigned *ret)
{
    uint64_t v;
    int r = str_to_u64(s, &v);

    if (r < 0 || v > ID_MAX)
        return -EINVAL;
    *ret = (unsigned)v;
    return 0;
}

/* name:password:uid:gid:comment:home:shell */
static bool parse_user(struct str line, struct user *u)
{
    struct str name = str_cut(&line, ':');
    (void)str_cut(&line, ':');
    struct str uid = str_cut(&line, ':'), gid = str_cut(&line, ':');
    (void)str_cut(&line, ':');
    struct str home = str_cut(&line, ':'), shell = str_cut(&line, ':');

    return name.len > 0 && get_id(uid, &u->uid) == 0 && get_id(gid, &u->gid) == 0 &&
           copy_user_text(u->name, name) == 0 && copy_user_text(u->home, home) == 0 &&
           copy_user_text(u->shell, shell) == 0;
}

/* LINE is of the user that is called NAME, or has UID unless that is -1. */
static bool is_line_of(struct str line, const char *name, int64_t uid)
{
    unsigned id;

    if (str_is(str_cut(&line, ':'), name))
        return true;
    (void)str_cut(&line, ':');
    return uid >= 0 && get_id(str_cut(&line, ':'), &id) == 0 && id == uid;
}

static bool find_user_line(const char *name, struct str file, struct user *ret)
{
    unsigned id;
    int64_t uid = get_id(str_of(name), &id) == 0 ? (int64_t)id : -1;

    while (file.p) {
        struct str line = str_cut(&file, '\n');
        struct user u = {0};
        if (!is_line_of(line, name, uid) || !parse_user(line, &u))
            continue;
        *ret = u;
        return true;
    }
    return false;
}

static bool lists(struct str members, const char *name)
{
    while (members.p)
        if (str_is(str_cut(&members, ','), name))
            return true;
    return false;
}

/* name:password:gid:members */
static void add_groups(struct user *u, struct str file)
{
    while (file.p && u->n_groups < USER_GROUPS_MAX) {
        struct str line = str_cut(&file, '\n');
        unsigned gid;
        (void)str_cut(&line, ':');
        (void)str_cut(&line, ':');
        if (get_id(str_cut(&line, ':'), &gid) == 0 && lists(line, u->name))
            u->groups[u->n_groups++] = gid;
    }
}

int user_find_in(const char *name, const char *passwd, const char *group, struct user *ret,
                 struct err *e)
{
    auto_buf struct buf users = BUF_INIT(FILE_MAX), groups = BUF_INIT(FILE_MAX);
    unsigned uid;

    if (!find_user_line(name, read_regular(passwd, &users), ret)) {
        if (str_is(str_of(name), "root") || str_is(str_of(name), "0"))
            *ret = (struct user){.name = "root", .home = "/root", .shell = "/bin/sh"};
        else if (get_id(str_of(name), &uid) == 0)
            *ret = (struct user){.uid = uid, .gid = uid, .home = "/", .shell = "/bin/sh"};
        else
            return err_set(e, -ENOENT, "the sandbox has no user '%s'", name);
    }
    /* A number without a line has no name that a group could list. */
    if (ret->uid != 0 && ret->name[0])
        add_groups(ret, read_regular(group, &groups));
    return 0;
}

/* ---- the last ones ---- */

static struct user_known {
    char name[USER_TEXT_MAX]; /* as it was asked for; empty: free */
    struct mark passwd, group;
    struct user user;
} known[KNOWN_MAX];

/* A file that was changed just now may change again without a later time. */
static bool is_user_settled(const struct mark *m)
{
    return m->changed.tv_sec + SETTLED_S < clock_real_us() / 1000000;
}

static void remember(const struct user_known *k)
{
    static unsigned n;

    if (is_user_settled(&k->passwd) && is_user_settled(&k->group))
        known[n++ % KNOWN_MAX] = *k;
}

/* Every command asks for its user, and mostly for the same one. */
int user_find(const char *name, struct user *ret, struct err *e)
{
    struct user_known now = {.passwd = mark_of(PASSWD), .group = mark_of(GROUP)};

    if (strlen(name) >= sizeof now.name)
        return user_find_in(name, PASSWD, GROUP, ret, e);
    for (size_t i = 0; i < KNOWN_MAX; i++) {
        const struct user_known *k = &known[i];
        if (strcmp(k->name, name) != 0 || !mark_is_same(&k->passwd, &now.passwd) ||
            !mark_is_same(&k->group, &now.group))
            continue;
        *ret = k->user;
        return 0;
    }
    int r = user_find_in(name, PASSWD, GROUP, ret, e);
    if (r < 0 || !*name)
        return r;
    (void)snprintf(now.name, sizeof now.name, "%s", name);
    now.user = *ret;
    remember(&now);
    return 0;
}

/* ---- names of numbers ---- */

void user_names_init(struct user_names *n)
{
    *n = (struct user_names){.users = BUF_INIT(FILE_MAX), .groups = BUF_INIT(FILE_MAX)};
}

void user_names_done(struct user_names *n)
{
    buf_done(&n->users);
    buf_done(&n->groups);
}

/* The name of the first line of FILE with ID as its third field; both files have it there. */
static void find_name_of_uid(struct str file, unsigned id, char ret[USER_TEXT_MAX])
{
    while (file.p) {
        struct str line = str_cut(&file, '\n');
        struct str name = str_cut(&line, ':');
        unsigned found;
        (void)str_cut(&line, ':');
        if (name.len == 0 || get_id(str_cut(&line, ':'), &found) < 0 || found != id)
            continue;
        if (copy_user_text(ret, name) == 0)
            return;
    }
    if (id == 0)
        (void)snprintf(ret, USER_TEXT_MAX, "root");
    else
        (void)snprintf(ret, USER_TEXT_MAX, "%u", id);
}

static void read_user_names(struct user_names *n)
{
    if (n->is_read)
        return;
    n->is_read = true;
    (void)read_regular(PASSWD, &n->users);
    (void)read_regular(GROUP, &n->groups);
}

const char *user_names_user(struct user_names *n, uid_t uid)
{
    read_user_names(n);
    if (!n->has_user || n->uid != uid)
        find_name_of_uid(buf_str(&n->users), uid, n->user);
    n->has_user = true;
    n->uid = uid;
    return n->user;
}

const char *user_names_group(struct user_names *n, gid_t gid)
{
    read_user_names(n);
    if (!n->has_group || n->gid != gid)
        find_name_of_uid(buf_str(&n->groups), gid, n->group);
    n->has_group = true;
    n->gid = gid;
    return n->group;
}
