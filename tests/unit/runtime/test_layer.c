/* SPDX-License-Identifier: MIT */
/* Layers: archives unpacked into them, upper layers of cells copied into them. Needs root, for
 * owners and the devices that stand for deleted names. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/layer.h"
#include "sys/io.h"

enum { ARCHIVE_MAX = 1 << 20, BASE = 0x70000000, NAME_AT = 0, CHECKSUM_AT = 148 };

static char state[64];
static struct layer_draft draft;

static int setup(void **unused)
{
    const struct layer_size max = {.bytes = 1 << 20, .n_files = 100};

    (void)unused;
    (void)snprintf(state, sizeof state, "/tmp/layer-test-XXXXXX");
    assert_non_null(mkdtemp(state));
    draft = (struct layer_draft)LAYER_DRAFT_INIT;
    assert_int_equal(layer_begin(&draft, state, &max, NULL), 0);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    layer_drop(&draft);
    return io_remove_tree(state);
}

/* ---- archives ---- */

struct entry {
    const char *name;
    char type;
    unsigned mode, uid;
    const char *text; /* of a file; the target of a link */
};

static void put_octal(char *at, size_t len, uint64_t v)
{
    (void)snprintf(at, len, "%0*llo", (int)len - 1, (unsigned long long)v);
}

static void put_entry(struct buf *out, const struct entry *t)
{
    char head[512] = "";
    bool is_link = t->type == '1' || t->type == '2';
    size_t len = t->text && !is_link ? strlen(t->text) : 0;
    unsigned sum = 0;

    (void)snprintf(head, 100, "%s", t->name);
    put_octal(head + 100, 8, t->mode);
    put_octal(head + 108, 8, t->uid);
    put_octal(head + 116, 8, t->uid);
    put_octal(head + 124, 12, len);
    put_octal(head + 136, 12, 1700000000);
    head[156] = t->type;
    if (is_link)
        (void)snprintf(head + 157, 100, "%s", t->text);
    memcpy(head + 257, "ustar\00000", 8);
    memset(head + CHECKSUM_AT, ' ', 8);
    for (size_t i = 0; i < sizeof head; i++)
        sum += (unsigned char)head[i];
    (void)snprintf(head + CHECKSUM_AT, 8, "%06o", sum);
    (void)buf_add(out, head, sizeof head);
    (void)buf_add(out, t->text, len);
    while (out->len % 512)
        (void)buf_add(out, "", 1);
}

static int unpack(const struct entry *entries, size_t n, struct err *e)
{
    struct buf archive auto_buf = BUF_INIT(ARCHIVE_MAX);
    struct layer_unpack *u = layer_unpack_new(&draft);
    char end[1024] = "";

    for (size_t i = 0; i < n; i++)
        put_entry(&archive, &entries[i]);
    (void)buf_add(&archive, end, sizeof end);
    assert_non_null(u);
    int r = layer_unpack_feed(u, archive.p, archive.len, e);
    if (r == 0)
        r = layer_unpack_finish(u, e);
    layer_unpack_free(u);
    return r;
}

#define UNPACK(e, ...)                                                                             \
    unpack((const struct entry[]){__VA_ARGS__},                                                    \
           sizeof((const struct entry[]){__VA_ARGS__}) / sizeof(struct entry), e)

static struct stat look(const char *path)
{
    struct stat st = {0};

    if (fstatat(draft.fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        fail_msg("%s: %s", path, strerror(errno));
    return st;
}

static void an_archive_is_unpacked_as_it_says(void **unused)
{
    (void)unused;
    assert_int_equal(UNPACK(NULL, {"./", '5', 0755, 0, NULL}, {"etc/", '5', 0750, 3, NULL},
                            {"etc/passwd", '0', 0644, 0, "root\n"},
                            {"bin/su", '0', 04755, 0, "program"}, {"bin/su2", '1', 0, 0, "bin/su"},
                            {"lib", '2', 0777, 0, "usr/lib"}, {"big", '0', 0600, 100000, ""},
                            {"dev/null", '3', 0666, 0, NULL}, {"fifo", '6', 0600, 0, NULL}),
                     0);
    assert_int_equal(look("etc").st_mode, S_IFDIR | 0750);
    assert_int_equal(look("etc").st_uid, 3);
    assert_int_equal(look("etc/passwd").st_size, 5);
    assert_int_equal(look("etc/passwd").st_mtim.tv_sec, 1700000000);
    assert_int_equal(look("bin/su").st_mode, S_IFREG | 04755);
    assert_int_equal(look("bin/su").st_ino, look("bin/su2").st_ino);
    assert_true(S_ISLNK(look("lib").st_mode));
    assert_int_equal(look("big").st_uid, 65534);
    assert_true(S_ISFIFO(look("fifo").st_mode));
    assert_int_equal(faccessat(draft.fd, "dev/null", F_OK, 0), -1);
    assert_int_equal(draft.size.bytes, 5 + 7);
}

static void deleted_names_become_those_of_overlayfs(void **unused)
{
    char value[8] = "", path[128];

    (void)unused;
    assert_int_equal(UNPACK(NULL, {"a/.wh.gone", '0', 0, 0, ""}, {"b/.wh..wh..opq", '0', 0, 0, ""},
                            {"b/new", '0', 0644, 0, "x"}, {".wh..wh.plnk", '5', 0, 0, NULL},
                            {".wh.c", '0', 0, 0, ""}, {"c/", '5', 0755, 0, NULL}),
                     0);
    struct stat st = look("a/gone");
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0));
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/b", draft.fd);
    assert_int_equal(getxattr(path, "user.overlay.opaque", value, sizeof value), 1);
    assert_int_equal(value[0], 'y');
    /* Deleted and made again: what lower layers have in it stays deleted. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/c", draft.fd);
    assert_int_equal(getxattr(path, "user.overlay.opaque", value, sizeof value), 1);
    assert_int_equal(look("b/new").st_size, 1);
    assert_int_equal(faccessat(draft.fd, ".wh..wh.plnk", F_OK, 0), -1);
}

static void nothing_is_written_outside(void **unused)
{
    char victim[128];

    (void)unused;
    (void)snprintf(victim, sizeof victim, "%s/victim", state);
    assert_int_equal(UNPACK(NULL, {"../../../victim", '0', 0644, 0, "x"}), -EINVAL);
    assert_int_equal(UNPACK(NULL, {"a/../../x", '0', 0644, 0, "x"}), -EINVAL);
    assert_int_equal(UNPACK(NULL, {"h", '1', 0, 0, "../../../victim"}), -EINVAL);
    /* A link to the outside leads to the same place inside. */
    assert_int_equal(UNPACK(NULL, {"out", '2', 0777, 0, state}, {"out/victim", '0', 0644, 0, "x"}),
                     -ENOENT);
    assert_int_equal(UNPACK(NULL, {"up", '2', 0777, 0, "../../.."}, {"up/in", '0', 0644, 0, "x"}),
                     0);
    assert_int_equal(look("in").st_size, 1);
    /* A link in the place of a file is replaced, not written through. */
    assert_int_equal(UNPACK(NULL, {"f", '2', 0777, 0, victim}, {"f", '0', 0644, 0, "x"}), 0);
    assert_true(S_ISREG(look("f").st_mode));
    assert_int_equal(access(victim, F_OK), -1);
}

static void there_are_limits(void **unused)
{
    struct err e = ERR_INIT;

    (void)unused;
    draft.max.bytes = 4;
    assert_int_equal(UNPACK(&e, {"a", '0', 0644, 0, "1234"}), 0);
    assert_int_equal(UNPACK(&e, {"b", '0', 0644, 0, "5"}), -EFBIG);
    draft.max.n_files = draft.size.n_files + 1;
    draft.size.bytes = 0;
    assert_int_equal(UNPACK(&e, {"c", '0', 0644, 0, "1"}), 0);
    assert_int_equal(UNPACK(&e, {"d", '0', 0644, 0, "1"}), -EMFILE);
    /* So do the directories that a name asks for without an entry of their own. */
    draft.max.n_files = draft.size.n_files + 4;
    assert_int_equal(UNPACK(&e, {"x/y/z/f", '0', 0644, 0, ""}), 0);
    draft.max.n_files = draft.size.n_files + 3;
    e = (struct err)ERR_INIT;
    assert_int_equal(UNPACK(&e, {"k/l/m/f", '0', 0644, 0, ""}), -EMFILE);
    assert_non_null(strstr(err_text(&e), "files"));
}

/* ---- upper layers ---- */

static void write_at(const char *path, const char *text, uint32_t uid, mode_t mode)
{
    assert_int_equal(io_write_file(path, str_of(text), mode, NULL), 0);
    assert_int_equal(chown(path, uid, uid), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A home as a cell leaves it; the working directory is in it. */
static int make_home(void)
{
    char home[128];

    (void)snprintf(home, sizeof home, "%s/home", state);
    assert_int_equal(io_mkdirs(home, 0755, NULL), 0);
    assert_int_equal(chdir(home), 0);
    assert_int_equal(io_mkdirs("root/u/etc", 0755, NULL), 0);
    assert_int_equal(io_mkdirs("usr/u/bin", 0755, NULL), 0);
    assert_int_equal(chown("root/u", BASE, BASE), 0);
    return io_open(".", O_RDONLY | O_DIRECTORY, 0);
}

static void what_a_cell_changed_is_copied(void **unused)
{
    auto_close int home = make_home();
    char path[128], value[8];

    (void)unused;
    write_at("root/u/etc/mine", "one", BASE + 1000, 0640);
    assert_int_equal(link("root/u/etc/mine", "root/u/etc/same"), 0);
    write_at("usr/u/bin/tool", "two", BASE, 04755);
    write_at("root/u/etc/foreign", "three", 5, 0644);
    assert_int_equal(mknod("root/u/deleted", S_IFCHR, 0), 0);
    assert_int_equal(symlink("/nowhere", "root/u/link"), 0);
    assert_int_equal(setxattr("root/u/etc", "user.overlay.opaque", "y", 1, 0), 0);
    assert_int_equal(setxattr("root/u/etc", "user.overlay.origin", "z", 1, 0), 0);
    assert_int_equal(setxattr("root/u/etc/mine", "user.note", "hi", 2, 0), 0);
    assert_int_equal(layer_capture(&draft, home, BASE, true, NULL), 0);

    assert_int_equal(look("etc/mine").st_uid, 1000);
    assert_int_equal(look("etc/mine").st_mode, S_IFREG | 0640);
    assert_int_equal(look("etc/mine").st_ino, look("etc/same").st_ino);
    assert_int_equal(look("usr/bin/tool").st_mode, S_IFREG | 04755);
    assert_int_equal(look("usr/bin/tool").st_uid, 0);
    assert_int_equal(look("etc/foreign").st_uid, 65534);
    assert_int_equal(look("deleted").st_rdev, makedev(0, 0));
    assert_true(S_ISCHR(look("deleted").st_mode));
    assert_true(S_ISLNK(look("link").st_mode));
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/etc", draft.fd);
    assert_int_equal(getxattr(path, "user.overlay.opaque", value, sizeof value), 1);
    assert_int_equal(getxattr(path, "user.overlay.origin", value, sizeof value), -1);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/etc/mine", draft.fd);
    assert_int_equal(getxattr(path, "user.note", value, sizeof value), 2);
    assert_int_equal(draft.size.bytes, 3 + 3 + 5);
}

static void holes_stay_holes(void **unused)
{
    auto_close int home = make_home();
    auto_close int fd = io_open("root/u/sparse", O_WRONLY | O_CREAT, 0644);

    (void)unused;
    assert_int_equal(pwrite(fd, "x", 1, 64 << 20), 1);
    assert_int_equal(ftruncate(fd, 128 << 20), 0);
    assert_int_equal(layer_capture(&draft, home, BASE, true, NULL), 0);
    assert_int_equal(look("sparse").st_size, 128 << 20);
    assert_in_range(look("sparse").st_blocks, 1, 1024);
}

static void a_copy_can_be_too_large(void **unused)
{
    auto_close int home = make_home();
    struct err e = ERR_INIT;
    bool is_stopped = true;

    (void)unused;
    write_at("root/u/a", "12345", BASE, 0644);
    draft.max.bytes = 4;
    assert_int_equal(layer_capture(&draft, home, BASE, true, &e), -EFBIG);
    draft.max.bytes = 1 << 20;
    draft.is_stopped = &is_stopped;
    assert_int_equal(layer_capture(&draft, home, BASE, true, &e), -ECANCELED);
}

/* ---- the store ---- */

static unsigned n_layers;

static void count_layer(void *ctx, const char *id)
{
    (void)ctx;
    (void)id;
    n_layers++;
}

static void a_draft_becomes_a_layer_once(void **unused)
{
    char path[PATH_MAX];
    struct stat st;

    (void)unused;
    assert_int_equal(UNPACK(NULL, {"a", '0', 0644, 0, "first"}), 0);
    assert_false(layer_exists(state, "sha-1"));
    assert_int_equal(layer_commit(&draft, "sha-1", true, NULL), 0);
    assert_true(layer_exists(state, "sha-1"));
    assert_int_equal(layer_begin(&draft, state, &(struct layer_size){100, 100}, NULL), 0);
    assert_int_equal(layer_commit(&draft, "sha-1", false, NULL), 0);
    assert_int_equal(layer_path(state, "sha-1", path), 0);
    (void)strncat(path, "/a", sizeof path - strlen(path) - 1);
    assert_int_equal(stat(path, &st), 0);
    n_layers = 0;
    layer_each(state, count_layer, NULL);
    assert_int_equal(n_layers, 1);
    assert_int_equal(layer_retire(state, "sha-1", path), 0);
    assert_false(layer_exists(state, "sha-1"));
    assert_int_equal(io_remove_tree(path), 0);
}

/* What this process makes stays, what another one left goes. */
static void half_made_ones_are_swept(void **unused)
{
    char other[128];
    struct stat st;

    (void)unused;
    (void)snprintf(other, sizeof other, "%s/layers/.new-0123-4567/fs", state);
    assert_int_equal(io_mkdirs(other, 0755, NULL), 0);
    layer_sweep(state);
    assert_int_equal(stat(other, &st), -1);
    assert_int_equal(stat(draft.path, &st), 0);
}

static void ids_are_plain(void **unused)
{
    (void)unused;
    assert_true(layer_is_id(STR("sha256-0a")));
    assert_false(layer_is_id(STR("../x")));
    assert_false(layer_is_id(STR(".new-1")));
    assert_false(layer_is_id(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_archive_is_unpacked_as_it_says, setup, teardown),
        cmocka_unit_test_setup_teardown(deleted_names_become_those_of_overlayfs, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_written_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_cell_changed_is_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(holes_stay_holes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_can_be_too_large, setup, teardown),
        cmocka_unit_test_setup_teardown(a_draft_becomes_a_layer_once, setup, teardown),
        cmocka_unit_test_setup_teardown(half_made_ones_are_swept, setup, teardown),
        cmocka_unit_test(ids_are_plain),
    };

    if (geteuid() != 0) {
        puts("1..0 # SKIP needs root");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
