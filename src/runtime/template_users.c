/* SPDX-License-Identifier: MIT */
/* The users and groups of the default template: see template_internal.h.
 *
 * Files below /usr belong to the host's ids, and programs are setgid to the host's groups, so those
 * that Debian or a package made keep their ids inside. People's accounts stay out. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/template_internal.h"

enum {
    STATIC_IDS = 100,  /* below: given out by Debian, the same on every machine */
    SYSTEM_IDS = 1000, /* below: made by packages, or by the operator for a service */
    TEXT_MAX = 1 << 20,
    NAMES_MAX = 4096,
    SHADOW_GID = 42,
};

/* For hosts that have no such names. */
static const char own_users[] = "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
                                "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
                                "man:x:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
                                "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
                                "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
                                "_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n";
static const char first_user[] = "root:x:0:0:root:/root:/bin/bash\n";
static const char last_users[] = "user:x:1000:1000:user:/home/user:/bin/bash\n"
                                 "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";

static const char own_groups[] = "daemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\nmail:x:8:\n"
                                 "man:x:12:\nkmem:x:15:\nsudo:x:27:\nwww-data:x:33:\nshadow:x:42:\n"
                                 "utmp:x:43:\nstaff:x:50:\nusers:x:100:\n";
static const char first_group[] = "root:x:0:\n";
static const char last_groups[] = "user:x:1000:\nnogroup:x:65534:\n";

struct users_table {
    struct buf text;
    struct map taken; /* names, and ids as text */
};

/* A line of passwd or group. The fields behind the id. */
struct users_line {
    struct str name, id, rest;
};

static struct users_line parse_user_line(struct str text)
{
    struct users_line l = {.name = str_cut(&text, ':')};

    (void)str_cut(&text, ':');
    l.id = str_cut(&text, ':');
    l.rest = text;
    return l;
}

static bool is_users_known(const struct template_build *b, const struct users_line *l)
{
    uint64_t id;

    if (l->name.len == 0 || str_to_u64(l->id, &id) < 0 || id >= SYSTEM_IDS)
        return false;
    return id < STATIC_IDS || map_get(&b->packages.words, l->name) != NULL;
}

static bool is_users_free(const struct users_table *t, const struct users_line *l)
{
    return !map_get(&t->taken, l->name) && !map_get(&t->taken, l->id);
}

/* Names cannot be numbers, so both fit into one map. */
static void occupy(struct users_table *t, const struct users_line *l)
{
    static char yes;

    (void)map_put(&t->taken, l->name, &yes, NULL);
    (void)map_put(&t->taken, l->id, &yes, NULL);
}

/* "gid:comment:home:shell": the comment may be about a person. */
static void add_users_user(struct users_table *t, const struct users_line *l)
{
    struct str rest = l->rest, gid = str_cut(&rest, ':');

    (void)str_cut(&rest, ':');
    (void)buf_printf(&t->text, STR_FMT ":x:" STR_FMT ":" STR_FMT "::" STR_FMT "\n",
                     STR_ARG(l->name), STR_ARG(l->id), STR_ARG(gid), STR_ARG(rest));
}

static void add_group(struct users_table *t, const struct users_line *l)
{
    (void)buf_printf(&t->text, STR_FMT ":x:" STR_FMT ":%s\n", STR_ARG(l->name), STR_ARG(l->id),
                     str_is(l->name, "sudo") ? "user" : "");
}

struct users_source {
    struct str text;
    bool is_host; /* only what Debian made */
    bool is_verbatim;
};

static void add_users_lines(const struct template_build *b, struct users_table *t,
                            const struct users_source *from,
                            void (*add)(struct users_table *t, const struct users_line *l))
{
    for (struct str text = from->text; text.p;) {
        struct str line = str_cut(&text, '\n');
        struct users_line l = parse_user_line(line);
        if (l.id.len == 0 || !is_users_free(t, &l) || (from->is_host && !is_users_known(b, &l)))
            continue;
        occupy(t, &l);
        if (from->is_verbatim)
            (void)buf_printf(&t->text, STR_FMT "\n", STR_ARG(line));
        else
            add(t, &l);
    }
}

/* What is the same everywhere keeps its names and ids, then comes the host. */
static int fill_user_table(const struct template_build *b, const char *path,
                           struct users_table *ret, const char *const texts[3])
{
    bool is_user = strcmp(path, "etc/passwd") == 0;
    void (*add)(struct users_table *, const struct users_line *) =
        is_user ? add_users_user : add_group;
    auto_buf struct buf host = BUF_INIT(TEXT_MAX);
    int r = template_read(b, path, &host);

    if (r < 0)
        buf_clear(&host);
    const struct users_source sources[] = {
        {str_of(texts[0]), false, true},
        {str_of(texts[2]), false, true},
        {buf_str(&host), true, false},
        {str_of(texts[1]), false, is_user},
    };
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (sources[i].text.p)
            add_users_lines(b, ret, &sources[i], add);
    return buf_ok(&ret->text) ? 0 : ret->text.error;
}

/* No passwords: `*` matches none, and sudo asks for none. */
static void add_shadow(struct buf *shadow, struct str users)
{
    while (users.p) {
        struct users_line l = parse_user_line(str_cut(&users, '\n'));
        if (l.name.len > 0)
            (void)buf_printf(shadow, STR_FMT ":*:19000:0:99999:7:::\n", STR_ARG(l.name));
    }
}

static int write_tables(struct template_build *b, struct users_table *users,
                        struct users_table *groups)
{
    auto_buf struct buf shadow = BUF_INIT(TEXT_MAX);
    int r = fill_user_table(b, "etc/passwd", users,
                            (const char *const[]){first_user, own_users, last_users});

    if (r == 0)
        r = fill_user_table(b, "etc/group", groups,
                            (const char *const[]){first_group, own_groups, last_groups});
    if (r < 0)
        return r;
    add_shadow(&shadow, buf_str(&users->text));
    const struct {
        struct template_entry entry;
        const struct buf *text;
    } files[] = {
        {{.path = "etc/passwd", .mode = 0644}, &users->text},
        {{.path = "etc/group", .mode = 0644}, &groups->text},
        {{.path = "etc/shadow", .mode = 0640, .group = SHADOW_GID}, &shadow},
    };
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++)
        r = buf_ok(files[i].text) ? template_write(b->root, &files[i].entry, buf_str(files[i].text))
                                  : files[i].text->error;
    return r;
}

int template_write_users(struct template_build *b, struct err *e)
{
    struct users_table users = {.text = BUF_INIT(TEXT_MAX)}, groups = {.text = BUF_INIT(TEXT_MAX)};

    map_init(&users.taken, NAMES_MAX);
    map_init(&groups.taken, NAMES_MAX);
    int r = write_tables(b, &users, &groups);
    map_done(&users.taken);
    map_done(&groups.taken);
    buf_done(&users.text);
    buf_done(&groups.text);
    return r < 0 ? err_sys(e, r, "users and groups") : 0;
}
