/* SPDX-License-Identifier: MIT */
/* Users from files that the cell may have filled with anything: names, numbers, groups, limits. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "envd/user.h"

static char dir[64], passwd[80], group[80];

static int setup(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    (void)snprintf(dir, sizeof dir, "%.40s/user-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(passwd, sizeof passwd, "%s/passwd", dir);
    (void)snprintf(group, sizeof group, "%s/group", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(passwd);
    (void)unlink(group);
    return rmdir(dir);
}

static void put(const char *path, struct str text)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
}

static int find(const char *name, struct user *u)
{
    struct err e = ERR_INIT;

    *u = (struct user){0};
    return user_find_in(name, passwd, group, u, &e);
}

static void users_by_name_and_number(void **state)
{
    struct user u;

    (void)state;
    put(passwd, STR("root:x:0:0:root:/root:/bin/bash\n"
                    "broken\n"
                    "user:x:1000:1001:a:b:/never/read\n"
                    "user:x:1000:1001:A User,,,:/home/user:/bin/zsh\n"
                    "7:x:42:42::/seven:\n"
                    "last:x:65535:65535::/last:/bin/sh"));
    put(group, STR(""));
    assert_int_equal(find("user", &u), 0);
    assert_int_equal(u.uid, 1000);
    assert_int_equal(u.gid, 1001);
    assert_string_equal(u.home, "b"); /* the first line of a name counts, as in libc */
    assert_int_equal(find("1000", &u), 0);
    assert_string_equal(u.name, "user");
    assert_int_equal(find("7", &u), 0); /* a name before a number */
    assert_int_equal(u.uid, 42);
    assert_int_equal(find("last", &u), 0); /* without an end of line */
    assert_string_equal(u.shell, "/bin/sh");
    assert_int_equal(find("broken", &u), -ENOENT);
    assert_int_equal(find("nobody", &u), -ENOENT);
    assert_int_equal(find("User", &u), -ENOENT);
    assert_int_equal(find("", &u), -ENOENT);
}

static void numbers_without_a_line(void **state)
{
    struct user u;

    (void)state;
    put(passwd, STR(""));
    /* Most groups have no members: that is not a list with a nameless one. */
    put(group, STR("root:x:0:\nshadow:x:42:\nlist:x:43:,\nmine:x:44:1234\n"));
    assert_int_equal(find("1234", &u), 0);
    assert_int_equal(u.uid, 1234);
    assert_int_equal(u.gid, 1234);
    assert_string_equal(u.home, "/");
    assert_int_equal(u.n_groups, 0);
    assert_int_equal(find("65535", &u), 0);
    assert_int_equal(find("65536", &u), -ENOENT);
    assert_int_equal(find("-1", &u), -ENOENT);
    assert_int_equal(find("1x", &u), -ENOENT);
}

static void root_is_always_there(void **state)
{
    struct user u;

    (void)state;
    assert_int_equal(find("root", &u), 0); /* without any file */
    assert_string_equal(u.home, "/root");
    assert_int_equal(find("0", &u), 0);
    assert_int_equal(u.uid, 0);
    put(passwd, STR("toor:x:0:5::/t:/bin/sh\n"));
    assert_int_equal(find("0", &u), 0);
    assert_string_equal(u.name, "toor");
    /* What is not a file is not read: a FIFO would block. */
    assert_int_equal(unlink(passwd), 0);
    assert_int_equal(mkfifo(passwd, 0600), 0);
    assert_int_equal(find("root", &u), 0);
    assert_int_equal(find("toor", &u), -ENOENT);
}

static void groups_of_a_user(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct user u;

    (void)state;
    put(passwd, STR("u:x:5:5::/:/bin/sh\nroot:x:0:0::/:/bin/sh\n"));
    put(group,
        STR("a:x:10:u\nb:x:11:v,u,w\nc:x:12:uu,vu\nd:x:bad:u\ne:x:13:\nf:x:70000:u\ng:x:14:x,u"));
    assert_int_equal(find("u", &u), 0);
    assert_int_equal(u.n_groups, 3);
    assert_int_equal(u.groups[0], 10);
    assert_int_equal(u.groups[1], 11);
    assert_int_equal(u.groups[2], 14);
    for (int i = 0; i <= USER_GROUPS_MAX; i++)
        (void)buf_printf(&b, "g%d:x:%d:u,root\n", i, 100 + i);
    put(group, buf_str(&b));
    assert_int_equal(find("u", &u), 0);
    assert_int_equal(u.n_groups, USER_GROUPS_MAX);
    assert_int_equal(u.groups[USER_GROUPS_MAX - 1], 100 + USER_GROUPS_MAX - 1);
    assert_int_equal(find("root", &u), 0);
    assert_int_equal(u.n_groups, 0);
}

static void fields_end_at_their_limit(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct user u;

    (void)state;
    put(group, STR(""));
    for (int n = USER_TEXT_MAX - 1; n <= USER_TEXT_MAX; n++) {
        buf_clear(&b);
        (void)buf_printf(&b, "u:x:5:5::/%0*d:/bin/sh\n", n - 1, 0);
        put(passwd, buf_str(&b));
        assert_int_equal(find("u", &u), n < USER_TEXT_MAX ? 0 : -ENOENT);
    }
    /* A line that does not fit does not hide the next one. */
    (void)buf_add_lit(&b, "u:x:6:6::/h:/bin/sh\n");
    put(passwd, buf_str(&b));
    assert_int_equal(find("u", &u), 0);
    assert_int_equal(u.uid, 6);
}

#define USER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        USER_TEST(users_by_name_and_number),  USER_TEST(numbers_without_a_line),
        USER_TEST(root_is_always_there),      USER_TEST(groups_of_a_user),
        USER_TEST(fields_end_at_their_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
