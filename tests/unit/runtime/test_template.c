/* SPDX-License-Identifier: MIT */
/* What of a host goes into the default template: a small host of our own, and what came of it. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/template.h"
#include "sys/io.h"

static char top[PATH_MAX], host[PATH_MAX], made[PATH_MAX];

/* ---- the host ---- */

struct thing {
    const char *path; /* ends in a slash: a directory */
    mode_t mode;
    const char *text; /* begins with "-> ": a link */
};

static const struct thing things[] = {
    {"usr/", 0755, NULL},
    {"usr/bin/", 0755, NULL},
    {"usr/bin/python3", 0755, ""},
    {"usr/local/", 0755, NULL},
    {"usr/local/lib/", 0755, NULL},
    {"bin", 0, "-> usr/bin"},
    {"etc/", 0755, NULL},
    {"etc/shipped.conf", 0644, "shipped"},
    {"etc/own.conf", 0644, "the operator's"},
    {"etc/closed.conf", 0640, "shipped, but not for everybody"},
    {"etc/script", 0755, "#!/bin/sh\n"},
    {"etc/pkg/", 0755, NULL},
    {"etc/pkg/a", 0644, "a"},
    {"etc/pkg/own", 0644, "the operator's"},
    {"etc/shut/", 0750, NULL},
    {"etc/shut/open", 0644, "behind a closed door"},
    {"etc/elsewhere/", 0755, NULL},
    {"etc/elsewhere/x", 0644, "not shipped under this name"},
    {"etc/moved", 0, "-> elsewhere"},
    {"etc/out", 0, "-> /root/secret"},
    {"etc/up", 0, "-> ../../root/secret"},
    {"etc/into", 0, "-> /usr/bin/python3"},
    {"etc/beside", 0, "-> pkg/a"},
    {"etc/hostname", 0644, "the-host\n"},
    {"etc/crontab", 0644, "jobs"},
    {"etc/passwd", 0644,
     "root:x:0:0:Boss:/root:/bin/zsh\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
     "_daemon:x:105:110:for a package:/var/lib/daemon:/usr/sbin/nologin\n"
     "customer:x:106:111:Jane:/srv/jane:/bin/bash\nuser:x:500:500::/:/bin/false\n"
     "jane:x:1001:1001:Jane:/srv/j:/bin/bash\n"},
    {"etc/group", 0644, "root:x:0:jane\nsudo:x:27:jane\n_daemon:x:110:jane\ncustomer:x:111:\n"},
    {"etc/shadow", 0644, "root:$y$secret:1::::::\n"},
    {"etc/alternatives/", 0755, NULL},
    {"etc/alternatives/awk", 0, "-> /usr/bin/mawk"},
    {"etc/apt/", 0755, NULL},
    {"etc/apt/auth.conf", 0644, "machine x login y password z"},
    {"etc/apt/sources.list", 0644,
     "# ours\ndeb http://deb.example/debian stable main\n"
     "deb https://jane:secret@deb.example/private stable main\n"},
    {"etc/apt/sources.list.d/", 0755, NULL},
    {"etc/apt/sources.list.d/x.sources", 0644,
     "Types: deb\n# why\nURIs: https://a.example/x\nSuites: s\n\n"
     "Types: deb\nURIs: https://u:secret@b.example/y\nSuites: s\n"},
    {"etc/apt/sources.list.d/y.disabled", 0644, "deb http://c.example s main\n"},
    {"var/", 0755, NULL},
    {"var/lib/", 0755, NULL},
    {"var/lib/daemon/", 0750, NULL},
    {"var/lib/daemon/secret", 0644, "data"},
    {"var/lib/dpkg/", 0755, NULL},
    {"var/lib/dpkg/status", 0644, "Package: pkg\n"},
    {"var/lib/dpkg/lock", 0640, ""},
    {"var/lib/dpkg/info/", 0755, NULL},
    {"var/lib/dpkg/info/pkg.list", 0644,
     "/.\n/etc\n/etc/shipped.conf\n/etc/closed.conf\n/etc/script\n/etc/pkg\n/etc/pkg/a\n/etc/shut\n"
     "/etc/shut/open\n/etc/moved\n/etc/moved/x\n/etc/out\n/etc/up\n/etc/into\n/etc/beside\n"
     "/etc/hostname\n/etc/crontab\n/etc/apt\n/etc/apt/auth.conf\n/etc/gone\n/usr/etc/own.conf\n"
     "/var/lib/daemon\n/var/lib/daemon/secret"},
    {"var/lib/dpkg/info/pkg.postinst", 0755, "adduser --system --home /var/lib/daemon _daemon\n"},
    {"var/lib/dpkg/info/other.postinst", 0755, "echo customer\n"},
};

static void put(const struct thing *t)
{
    char path[2 * PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", host, t->path);
    if (t->text && strncmp(t->text, "-> ", 3) == 0) {
        assert_int_equal(symlink(t->text + 3, path), 0);
        return;
    }
    if (t->text)
        assert_int_equal(io_write_file(path, str_of(t->text), 0600, NULL), 0);
    else
        assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, t->mode), 0);
}

static void build(const struct template_source *from)
{
    struct err e = ERR_INIT;
    struct template_source f = *from;

    f.root = host;
    f.local = "/nonexistent";
    int r = template_build_default(top, &f, made, sizeof made, &e);
    if (r < 0)
        print_error("%s\n", e.text);
    assert_int_equal(r, 0);
}

static int set_up(void **state)
{
    (void)state;
    (void)umask(077);
    if (geteuid() != 0)
        return 0;
    (void)snprintf(top, sizeof top, "/tmp/tidepool-template-XXXXXX");
    if (!mkdtemp(top))
        return -1;
    (void)snprintf(host, sizeof host, "%s/host", top);
    if (mkdir(host, 0755) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(things); i++)
        put(&things[i]);
    build(&(struct template_source){0});
    return 0;
}

static int tear_down(void **state)
{
    pid_t pid;
    int status;

    (void)state;
    if (geteuid() != 0)
        return 0;
    pid = fork();
    if (pid == 0) {
        (void)execlp("rm", "rm", "-rf", top, (char *)NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

/* ---- what came of it ---- */

static const char *text_of(const char *path)
{
    static struct buf text = BUF_INIT(1 << 20);
    char full[2 * PATH_MAX];

    buf_clear(&text);
    (void)snprintf(full, sizeof full, "%s/%s", made, path);
    return io_read_file(full, &text, NULL) < 0 ? NULL : buf_cstr(&text);
}

static mode_t mode_of(const char *path)
{
    char full[2 * PATH_MAX];
    struct stat st;

    (void)snprintf(full, sizeof full, "%s/%s", made, path);
    return lstat(full, &st) < 0 ? 0 : st.st_mode;
}

static bool is_there(const char *path)
{
    return mode_of(path) != 0;
}

static void need_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void what_packages_ship_goes_in(void **state)
{
    (void)state;
    need_root();
    assert_string_equal(text_of("etc/shipped.conf"), "shipped");
    assert_string_equal(text_of("etc/pkg/a"), "a");
    assert_int_equal(mode_of("etc/shipped.conf"), S_IFREG | 0644);
    assert_int_equal(mode_of("etc/script"), S_IFREG | 0755);
    assert_int_equal(mode_of("etc/pkg"), S_IFDIR | 0755);
    assert_true(is_there("etc/alternatives/awk"));
}

static void what_is_the_operators_stays_out(void **state)
{
    static const char *const out[] = {
        "etc/own.conf",
        "etc/pkg/own",
        "etc/closed.conf",
        "etc/shut/open",
        "etc/shut",
        "etc/elsewhere",
        "etc/gone",
        "etc/hostname",
        "etc/crontab",
        "etc/apt/auth.conf",
        "var/lib/daemon/secret",
        "etc/apt/sources.list.d/y.disabled",
    };

    (void)state;
    need_root();
    for (size_t i = 0; i < ARRAY_LEN(out); i++) {
        if (is_there(out[i]))
            print_error("%s is in the template\n", out[i]);
        assert_false(is_there(out[i]));
    }
}

static void links_lead_nowhere_else(void **state)
{
    (void)state;
    need_root();
    assert_false(is_there("etc/out"));
    assert_false(is_there("etc/up"));
    assert_int_equal(mode_of("etc/into") & S_IFMT, S_IFLNK);
    assert_string_equal(text_of("etc/beside"), "a");
    /* It is a link on this host, and what it leads to is nobody's. */
    assert_int_equal(mode_of("etc/moved") & S_IFMT, S_IFLNK);
    assert_null(text_of("etc/moved/x"));
}

static void users_of_packages_exist(void **state)
{
    (void)state;
    need_root();
    const char *users = text_of("etc/passwd");
    assert_non_null(strstr(users, "root:x:0:0:root:/root:/bin/bash\n"));
    assert_non_null(strstr(users, "\nuser:x:1000:1000:user:/home/user:/bin/bash\n"));
    assert_non_null(strstr(users, "\n_daemon:x:105:110::/var/lib/daemon:/usr/sbin/nologin\n"));
    assert_non_null(strstr(users, "\nwww-data:x:33:"));
    assert_null(strstr(users, "customer"));
    assert_null(strstr(users, "jane"));
    assert_null(strstr(users, ":500:"));
    const char *groups = text_of("etc/group");
    assert_non_null(strstr(groups, "\nsudo:x:27:user\n"));
    assert_non_null(strstr(groups, "\n_daemon:x:110:\n"));
    assert_null(strstr(groups, "jane"));
    assert_null(strstr(groups, "customer"));
    assert_null(strstr(text_of("etc/shadow"), "secret"));
    assert_non_null(strstr(text_of("etc/shadow"), "\n_daemon:*:"));
    assert_int_equal(mode_of("etc/shadow"), S_IFREG | 0640);
}

static void packages_are_known(void **state)
{
    (void)state;
    need_root();
    assert_string_equal(text_of("var/lib/dpkg/status"), "Package: pkg\n");
    assert_non_null(text_of("var/lib/dpkg/info/pkg.list"));
    assert_false(is_there("var/lib/dpkg/lock"));
    assert_int_equal(mode_of("var/lib/daemon"), S_IFDIR | 0750);
    assert_string_equal(text_of("etc/apt/sources.list"),
                        "deb http://deb.example/debian stable main\n");
    assert_string_equal(text_of("etc/apt/sources.list.d/x.sources"),
                        "Types: deb\nURIs: https://a.example/x\nSuites: s\n\n");
}

static void usr_local_is_everybodys(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(mode_of("usr/local/lib"), S_IFDIR | 0777);
    assert_int_equal(mode_of("usr/bin/python") & S_IFMT, S_IFLNK);
}

static void the_operator_may_name_more(void **state)
{
    static const char *const etc[] = {"/etc/own.conf", "/etc/closed.conf", "/etc/elsewhere",
                                      "/etc/missing"};
    static const char *const bad[] = {"/root/x", "/etc/../root", "etc/x", "/etc/"};

    (void)state;
    need_root();
    build(&(struct template_source){.etc = etc, .n_etc = ARRAY_LEN(etc)});
    assert_string_equal(text_of("etc/own.conf"), "the operator's");
    assert_int_equal(mode_of("etc/closed.conf"), S_IFREG | 0640);
    assert_non_null(text_of("etc/elsewhere/x"));
    assert_false(is_there("etc/pkg/own"));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = ERR_INIT;
        const struct template_source from = {
            .root = host, .local = "/nonexistent", .etc = &bad[i], .n_etc = 1};
        assert_int_equal(template_build_default(top, &from, made, sizeof made, &e), -EINVAL);
        assert_non_null(strstr(e.text, bad[i]));
    }
}

static void a_change_makes_another(void **state)
{
    char before[PATH_MAX];
    static const struct thing changes[] = {
        {"etc/pkg/a", 0644, "b"},
        {"etc/shipped.conf", 0600, "no more"},
        {"var/lib/dpkg/status", 0644, "Package: pkg\n\nPackage: more\n"},
    };

    (void)state;
    need_root();
    build(&(struct template_source){0});
    (void)snprintf(before, sizeof before, "%s", made);
    build(&(struct template_source){0});
    assert_string_equal(made, before);
    /* What stays out does not count. */
    put(&(struct thing){"etc/crontab", 0644, "more jobs"});
    build(&(struct template_source){0});
    assert_string_equal(made, before);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        put(&changes[i]);
        build(&(struct template_source){0});
        assert_string_not_equal(made, before);
        (void)snprintf(before, sizeof before, "%s", made);
    }
    assert_string_equal(text_of("etc/pkg/a"), "b");
    assert_false(is_there("etc/shipped.conf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_packages_ship_goes_in),
        cmocka_unit_test(what_is_the_operators_stays_out),
        cmocka_unit_test(links_lead_nowhere_else),
        cmocka_unit_test(users_of_packages_exist),
        cmocka_unit_test(packages_are_known),
        cmocka_unit_test(usr_local_is_everybodys),
        cmocka_unit_test(the_operator_may_name_more),
        cmocka_unit_test(a_change_makes_another),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
