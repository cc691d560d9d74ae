/* SPDX-License-Identifier: MIT */
/* Paths, descriptions and operations of the E2B file service, on a directory of this test. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/path.h"
#include "envd/tree.h"

static char dir[64];
static struct arena arena;
static const struct user alice = {.uid = 0, .gid = 0, .name = "alice", .home = "/home/user"};

static const char *in(const char *name)
{
    return path_join(&arena, dir, name);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/var/tmp/tidepool-tree.XXXXXX");
    arena_init(&arena, 64 << 20);
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        (void)execlp("rm", "rm", "-rf", dir, (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
    arena_done(&arena);
    return 0;
}

static void put(const char *name, const char *text)
{
    auto_close int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* ---- paths ---- */

static void paths_are_taken_apart(void **state)
{
    static const struct {
        const char *path, *base, *dir, *clean;
    } cases[] = {
        {"/", "/", "/", "/"},        {"/a", "a", "/", "/a"},
        {"/a/b", "b", "/a", "/a/b"}, {"/a/b//", "b", "/a", "/a/b"},
        {"//a", "a", "/", "/a"},     {"/a/./../../b", "b", "/a/./../..", "/b"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_string_equal(path_base(&arena, cases[i].path), cases[i].base);
        assert_string_equal(path_dir(&arena, cases[i].path), cases[i].dir);
        assert_string_equal(path_clean(&arena, str_of(cases[i].path)), cases[i].clean);
    }
}

static void paths_are_resolved(void **state)
{
    static const struct {
        const char *given, *workdir, *want;
    } cases[] = {
        {"", NULL, "/home/user"},
        {"", "/work", "/work"},
        {"a.txt", "/work", "/home/user/a.txt"},
        {"a/../../../b", NULL, "/b"},
        {"~", NULL, "/home/user"},
        {"~/", NULL, "/home/user"},
        {"~/x y", NULL, "/home/user/x y"},
        {"/a/../b/", NULL, "/a/../b/"},
        {"a~", NULL, "/home/user/a~"},
    };
    struct err e = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(
            path_resolve(&arena, str_of(cases[i].given), &alice, cases[i].workdir, &e),
            cases[i].want);
    assert_null(path_resolve(&arena, STR("~bob/x"), &alice, NULL, &e));
    assert_int_equal(e.code, -EINVAL);
    assert_string_equal(e.text, "failed to expand path '~bob/x' for user 'alice': cannot expand "
                                "user-specific home dir");
    assert_null(path_resolve(&arena, str_n("a\0b", 3), &alice, NULL, &e));
    assert_int_equal(e.code, -EINVAL);
}

static void directories_are_made_on_the_way(void **state)
{
    struct err e = ERR_INIT;
    struct stat st;

    (void)state;
    assert_int_equal(path_make_dirs(in("a/b/c"), getuid(), getgid(), &e), 0);
    assert_int_equal(stat(in("a/b/c"), &st), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0755);
    put("a/file", "x");
    assert_int_equal(path_make_dirs(in("a/file/d"), getuid(), getgid(), &e), -ENOTDIR);
    assert_string_equal(e.text, arena_printf(&arena, "path is a file: %s", in("a/file")).p);
    /* Links are followed, those of /proc that lead out of its tree are not. */
    assert_int_equal(symlink("b", in("a/link")), 0);
    assert_int_equal(path_make_dirs(in("a/link/d"), getuid(), getgid(), &e), 0);
    assert_int_equal(access(in("a/b/d"), F_OK), 0);
    assert_int_equal(path_make_dirs("/proc/self/root/tmp", getuid(), getgid(), &e), -ELOOP);
}

/* ---- descriptions ---- */

static void modes_read_as_in_go(void **state)
{
    static const struct {
        mode_t mode;
        const char *want;
    } cases[] = {
        {S_IFREG | 0644, "-rw-r--r--"},   {S_IFDIR | 0755, "drwxr-xr-x"},
        {S_IFLNK | 0777, "Lrwxrwxrwx"},   {S_IFDIR | 01777, "dtrwxrwxrwx"},
        {S_IFCHR | 0666, "Dcrw-rw-rw-"},  {S_IFBLK | 0660, "Drw-rw----"},
        {S_IFREG | 04755, "urwxr-xr-x"},  {S_IFREG | 02755, "grwxr-xr-x"},
        {S_IFIFO | 0600, "prw-------"},   {S_IFSOCK | 0755, "Srwxr-xr-x"},
        {S_IFREG | 06000, "ug---------"},
    };
    char text[ENTRY_MODE_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        entry_mode_text(text, cases[i].mode);
        assert_string_equal(text, cases[i].want);
    }
}

static const char *json_of(const struct entry *e, bool is_legacy)
{
    auto_buf struct buf b = BUF_INIT(1 << 16);
    struct jw w = jw_to(&b);
    struct user_names names;

    user_names_init(&names);
    entry_put(&w, e, &names, is_legacy);
    user_names_done(&names);
    assert_true(buf_ok(&b));
    return arena_str(&arena, buf_str(&b)).p;
}

static void a_file_is_described(void **state)
{
    struct timespec times[2] = {{1700000000, 0}, {1700000000, 123000000}};
    struct entry it;
    struct err e = ERR_INIT;

    (void)state;
    if (getuid() != 0)
        skip();
    put("file", "thirteen byte");
    assert_int_equal(chmod(in("file"), 0640), 0);
    assert_int_equal(chown(in("file"), 0, 54321), 0);
    assert_int_equal(utimensat(AT_FDCWD, in("file"), times, 0), 0);
    assert_int_equal(tree_stat(&arena, in("file"), &it, &e), 0);
    assert_string_equal(
        json_of(&it, false),
        arena_printf(&arena,
                     "{\"name\":\"file\",\"type\":\"FILE_TYPE_FILE\",\"path\":\"%s/file\","
                     "\"size\":\"13\",\"mode\":416,\"permissions\":\"-rw-r-----\","
                     "\"owner\":\"root\",\"group\":\"54321\","
                     "\"modifiedTime\":\"2023-11-14T22:13:20.123Z\"}",
                     dir)
            .p);
    assert_string_equal(json_of(&it, true),
                        arena_printf(&arena,
                                     "{\"name\":\"file\",\"type\":\"FILE_TYPE_FILE\",\"path\":\"%s/"
                                     "file\"}",
                                     dir)
                            .p);
}

static void links_show_where_they_lead(void **state)
{
    struct entry it;
    struct err e = ERR_INIT;

    (void)state;
    put("file", "x");
    assert_int_equal(chmod(in("file"), 0600), 0);
    assert_int_equal(symlink("file", in("one")), 0);
    assert_int_equal(symlink("one", in("two")), 0);
    assert_int_equal(tree_stat(&arena, in("two"), &it, &e), 0);
    assert_string_equal(it.target, in("file"));
    assert_int_equal(it.type, ENTRY_FILE);
    assert_int_equal(it.perm, 0600);
    assert_int_equal(it.st.st_size, 3);
    /* Nowhere: the link's own path, and nothing is known of it. */
    assert_int_equal(symlink("gone", in("broken")), 0);
    assert_int_equal(tree_stat(&arena, in("broken"), &it, &e), 0);
    assert_string_equal(it.target, in("broken"));
    assert_int_equal(it.type, ENTRY_UNKNOWN);
    assert_int_equal(it.perm, 0);
    /* What a process has open is not told. */
    assert_int_equal(tree_stat(&arena, "/proc/self/exe", &it, &e), 0);
    assert_string_equal(it.target, "/proc/self/exe");
}

static void metadata_is_read_from_attributes(void **state)
{
    struct entry it;
    struct err e = ERR_INIT;

    (void)state;
    put("file", "x");
    if (setxattr(in("file"), "user.e2b.b", "2", 1, 0) < 0 && errno == ENOTSUP)
        skip();
    assert_int_equal(setxattr(in("file"), "user.e2b.a", "one", 3, 0), 0);
    assert_int_equal(setxattr(in("file"), "user.e2b.bad", "\xff", 1, 0), 0);
    assert_int_equal(setxattr(in("file"), "user.other", "x", 1, 0), 0);
    assert_int_equal(tree_stat(&arena, in("file"), &it, &e), 0);
    assert_string_equal(it.meta->key, "a");
    assert_str(it.meta->value, "one");
    assert_string_equal(it.meta->next->key, "b");
    assert_null(it.meta->next->next);
    assert_non_null(strstr(json_of(&it, false), "\"metadata\":{\"a\":\"one\",\"b\":\"2\"}"));
}

static void a_missing_file_is_told(void **state)
{
    struct entry it;
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(tree_stat(&arena, "/no/such", &it, &e), -ENOENT);
    assert_string_equal(e.text, "file not found: lstat /no/such: no such file or directory");
    put("file", "x");
    assert_int_equal(tree_stat(&arena, in("file/x"), &it, &e), -EIO);
    assert_string_equal(
        e.text,
        arena_printf(&arena, "error getting file info: lstat %s: not a directory", in("file/x")).p);
}

/* ---- operations ---- */

static void directories_are_made_once(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(tree_make_dir(in("a/b"), &alice, &e), 0);
    assert_int_equal(tree_make_dir(in("a/b"), &alice, &e), -EEXIST);
    assert_string_equal(e.text, arena_printf(&arena, "directory already exists: %s", in("a/b")).p);
    put("file", "");
    assert_int_equal(tree_make_dir(in("file"), &alice, &e), -EINVAL);
    assert_string_equal(
        e.text,
        arena_printf(&arena, "path already exists but it is not a directory: %s", in("file")).p);
    assert_int_equal(tree_make_dir(in("file/x/y"), &alice, &e), -EIO);
    assert_string_equal(e.text, arena_printf(&arena, "path is a file: %s", in("file")).p);
}

static void files_are_moved(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    put("a", "1");
    put("b", "2");
    assert_int_equal(tree_move(&arena, in("a"), in("b"), &alice, &e), 0);
    assert_int_equal(access(in("a"), F_OK), -1);
    assert_int_equal(tree_move(&arena, in("b"), in("new/dir/c"), &alice, &e), 0);
    assert_int_equal(access(in("new/dir/c"), F_OK), 0);
    assert_int_equal(tree_move(&arena, in("a"), in("z"), &alice, &e), -ENOENT);
    assert_string_equal(
        e.text,
        arena_printf(&arena, "source file not found: rename %s %s: no such file or directory",
                     in("a"), in("z"))
            .p);
    assert_int_equal(mkdir(in("d"), 0755), 0);
    assert_int_equal(tree_move(&arena, in("new"), in("d"), &alice, &e), -EIO);
    assert_string_equal(
        e.text,
        arena_printf(&arena, "error renaming: rename %s %s: file exists", in("new"), in("d")).p);
}

static const char *listed(const char *path, unsigned depth)
{
    struct tree_list l;
    struct err e = ERR_INIT;
    struct str all = STR("");

    assert_int_equal(tree_list(&arena, path, depth, &l, &e), 0);
    for (size_t i = 0; i < l.n; i++)
        all =
            arena_printf(&arena, "%s%s%s", all.p, i ? " " : "", l.items[i].path + strlen(dir) + 1);
    return all.p;
}

static void lists_have_an_order_and_a_depth(void **state)
{
    (void)state;
    assert_int_equal(tree_make_dir(in("t/b/deep/er"), &alice, NULL), 0);
    assert_int_equal(tree_make_dir(in("t/a"), &alice, NULL), 0);
    put("t/B", "");
    put("t/b.txt", "");
    put("t/b/x", "");
    put("t/a/1", "");
    assert_int_equal(symlink("t", in("link")), 0);
    assert_int_equal(symlink("a", in("t/to_a")), 0);
    assert_string_equal(listed(in("t"), 0), "t/B t/a t/b t/b.txt t/to_a");
    assert_string_equal(listed(in("t"), 1), "t/B t/a t/b t/b.txt t/to_a");
    assert_string_equal(listed(in("t"), 2), "t/B t/a t/a/1 t/b t/b/deep t/b/x t/b.txt t/to_a");
    assert_string_equal(listed(in("t"), 99),
                        "t/B t/a t/a/1 t/b t/b/deep t/b/deep/er t/b/x t/b.txt t/to_a");
    /* As asked for, not as resolved. */
    assert_string_equal(listed(in("link/"), 1), "link/B link/a link/b link/b.txt link/to_a");
}

static void lists_that_cannot_be(void **state)
{
    struct tree_list l;
    struct err e = ERR_INIT;

    (void)state;
    put("file", "");
    assert_int_equal(tree_list(&arena, in("no/such"), 1, &l, &e), -ENOENT);
    assert_string_equal(
        e.text,
        arena_printf(&arena, "path not found: lstat %s: no such file or directory", in("no")).p);
    assert_int_equal(tree_list(&arena, in("file"), 1, &l, &e), -EINVAL);
    assert_string_equal(e.text, arena_printf(&arena, "path is not a directory: %s", in("file")).p);
    assert_int_equal(symlink("y", in("x")), 0);
    assert_int_equal(symlink("x", in("y")), 0);
    assert_int_equal(tree_list(&arena, in("x"), 1, &l, &e), -ELOOP);
    assert_string_equal(
        e.text, arena_printf(&arena, "cyclic symlink or chain >255 links at \"%s\"", in("x")).p);
    assert_int_equal(tree_list(&arena, "/proc/self", 1, &l, &e), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_are_taken_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_are_resolved, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_are_made_on_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(modes_read_as_in_go, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_is_described, setup, teardown),
        cmocka_unit_test_setup_teardown(links_show_where_they_lead, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_is_read_from_attributes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missing_file_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_are_made_once, setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_moved, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_have_an_order_and_a_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_that_cannot_be, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
