/* SPDX-License-Identifier: MIT */
/* Office files: parts, their types and relationships; what is not changed is saved as it was. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "office/package.h"

enum { MAX = 64 << 20 };

#define SHEET "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"

static struct arena arena;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, MAX);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

/* A package of three parts as bytes. */
static struct str make(void)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    struct err e = ERR_INIT;
    struct package p;

    assert_int_equal(package_new(&p, &arena, &e), 0);
    struct part *book =
        package_add(&p, STR("/xl/workbook.xml"), "application/x-book+xml", STR("<workbook/>"));
    struct part *sheet =
        package_add(&p, STR("/xl/worksheets/sheet1.xml"), SHEET, STR("<worksheet>\n</worksheet>"));
    struct part *image = package_add(&p, STR("/xl/media/image1.png"), "image/png", STR("\x89PNG"));
    assert_str(rel_add(&p, NULL, "officeDocument", book), "rId1");
    assert_str(rel_add(&p, book, "worksheet", sheet), "rId1");
    assert_str(rel_add(&p, book, "worksheet", sheet), "rId1");
    assert_str(rel_add(&p, sheet, "image", image), "rId1");
    assert_str(rel_add_external(&p, sheet, "hyperlink", STR("http://x.example/")), "rId2");
    assert_int_equal(package_write(&p, &b, &e), 0);
    return arena_str(&arena, buf_str(&b));
}

static void parts_are_found_by_relationships(void **state)
{
    struct str bytes = make();
    struct err e = ERR_INIT;
    struct rel r = {0};
    struct package p;

    (void)state;
    assert_int_equal(package_read(&p, &arena, bytes, &e), 0);
    struct part *book = package_main(&p);
    assert_non_null(book);
    assert_str(book->name, "/xl/workbook.xml");
    assert_str(package_type(&p, book), "application/x-book+xml");
    struct part *sheet = rel_part_by_type(&p, book, "worksheet");
    assert_non_null(sheet);
    assert_str(sheet->name, "/xl/worksheets/sheet1.xml");
    assert_str(package_type(&p, sheet), SHEET);
    assert_true(rel_next(&p, sheet, NULL, &r));
    assert_str(r.target, "../media/image1.png");
    assert_str(package_type(&p, rel_part(&p, sheet, &r)), "image/png");
    assert_true(rel_next(&p, sheet, NULL, &r));
    assert_true(r.is_external);
    assert_str(r.target, "http://x.example/");
    assert_null(rel_part(&p, sheet, &r));
    assert_false(rel_next(&p, sheet, NULL, &r));
    assert_null(rel_part_by_id(&p, book, STR("rId9")));
    assert_null(package_part(&p, STR("/nope")));
    assert_str(package_free_name(&p, "/xl/worksheets/sheet", ".xml"), "/xl/worksheets/sheet2.xml");
}

/* The packed bytes of an entry. */
static struct str packed(const struct zip *z, const char *name)
{
    struct zip_entry *t = zip_find(z, str_of(name));

    assert_non_null(t);
    return t->packed;
}

static void only_what_changed_is_written_anew(void **state)
{
    static const char *const others[] = {
        "[Content_Types].xml",        "_rels/.rels",         "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels", "xl/media/image1.png", "xl/worksheets/_rels/sheet1.xml.rels"};
    auto_buf struct buf b = BUF_INIT(MAX);
    struct str bytes = make(), text;
    struct err e = ERR_INIT;
    struct zip before, after;
    struct package p;

    (void)state;
    assert_int_equal(package_read(&p, &arena, bytes, &e), 0);
    struct part *sheet = rel_part_by_type(&p, package_main(&p), "worksheet");
    struct xml_doc *d = part_edit(&p, sheet, &e);
    assert_non_null(d);
    (void)part_xml(&p, package_main(&p), &e);
    xml_set(d, d->root, "a", STR("b"));
    assert_int_equal(package_write(&p, &b, &e), 0);
    assert_int_equal(zip_read(&before, &arena, bytes, &e), 0);
    assert_int_equal(zip_read(&after, &arena, buf_str(&b), &e), 0);
    assert_int_equal(before.n, after.n);
    for (size_t i = 0; i < before.n; i++)
        assert_true(str_eq(before.entries[i]->name, after.entries[i]->name));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(str_eq(packed(&before, others[i]), packed(&after, others[i])));
    struct zip_entry *t = zip_find(&after, STR("xl/worksheets/sheet1.xml"));
    assert_int_equal(zip_data(&after, t, &text, &e), 0);
    assert_str(text, "<worksheet a=\"b\">\n</worksheet>");
}

static void parts_are_removed(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    struct str bytes = make();
    struct err e = ERR_INIT;
    struct package p, again;

    (void)state;
    assert_int_equal(package_read(&p, &arena, bytes, &e), 0);
    struct part *book = package_main(&p);
    package_remove(&p, rel_part_by_type(&p, book, "worksheet"));
    rel_remove(&p, book, STR("rId1"));
    assert_int_equal(package_write(&p, &b, &e), 0);
    assert_int_equal(package_read(&again, &arena, buf_str(&b), &e), 0);
    assert_null(package_part(&again, STR("/xl/worksheets/sheet1.xml")));
    assert_null(zip_find(&again.zip, STR("xl/worksheets/_rels/sheet1.xml.rels")));
    assert_null(rel_part_by_type(&again, package_main(&again), "worksheet"));
    assert_null(
        xml_find(again.types->root, "Override", "PartName", STR("/xl/worksheets/sheet1.xml")));
}

static void files_are_replaced_as_a_whole(void **state)
{
    char folder[] = "/tmp/tidepool-office-XXXXXX", path[64];
    struct err e = ERR_INIT;
    struct package p, again;
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/x.xlsx", folder);
    assert_int_equal(package_open(&p, &arena, path, &e), -ENOENT);
    assert_int_equal(package_read(&p, &arena, make(), &e), 0);
    assert_int_equal(package_save(&p, path, &e), 0);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(package_open(&again, &arena, path, &e), 0);
    assert_int_equal(package_save(&again, path, &e), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(package_save(&again, folder, &e), -EISDIR);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void other_archives_are_refused(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    struct err e = ERR_INIT;
    struct package p;
    struct zip z;

    (void)state;
    zip_init(&z, &arena);
    assert_non_null(zip_put(&z, STR("a"), STR("b")));
    assert_int_equal(zip_write(&z, &b, &e), 0);
    assert_int_equal(package_read(&p, &arena, buf_str(&b), &e), -EINVAL);
    assert_string_equal(e.text, "There is no item named '[Content_Types].xml' in the archive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_are_found_by_relationships, begin, end),
        cmocka_unit_test_setup_teardown(only_what_changed_is_written_anew, begin, end),
        cmocka_unit_test_setup_teardown(parts_are_removed, begin, end),
        cmocka_unit_test_setup_teardown(files_are_replaced_as_a_whole, begin, end),
        cmocka_unit_test_setup_teardown(other_archives_are_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
