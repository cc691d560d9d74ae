/* SPDX-License-Identifier: MIT */
/* Trees of XML: what is read is written again, names do not depend on prefixes, and what is
 * malformed or too large is refused. */
#include "../check.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "office/xml.h"

enum { MAX = 64 << 20 };

#define W  "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define WS "http://purl.oclc.org/ooxml/wordprocessingml/main"
#define R  "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

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

static struct xml_doc *parse(const char *text)
{
    struct err e = ERR_INIT;
    struct xml_doc *d = xml_parse(&arena, str_of(text), &e);

    if (!d)
        print_error("%s: %s\n", text, e.text);
    assert_non_null(d);
    return d;
}

static void assert_xml(const struct xml_doc *d, const char *want)
{
    auto_buf struct buf b = BUF_INIT(MAX);

    assert_int_equal(xml_write(d, &b), 0);
    assert_string_equal(buf_cstr(&b), want);
}

static void what_is_read_is_written(void **state)
{
    static const char *const same[] = {
        "<a/>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<a b=\"1\" a=\"2\"/>\n",
        "<!-- x --><x:a xmlns:x=\"urn:y\" x:b=\"c\"> <d/>\n text<?pi z?><![CDATA[<&]]></x:a>",
        "<a b=\"&lt;&amp;&quot;&#10;&#9;\">&amp;&lt;&gt;&#13;\xc3\xa4</a>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_xml(parse(same[i]), same[i]);
    assert_xml(parse("<a  b = 'x\ny' ></a >"), "<a b=\"x y\"/>");
    assert_xml(parse("<a>&#65;&#x42;&apos;\r\n</a>"), "<a>AB'\n</a>");
    assert_xml(parse("\xef\xbb\xbf<a/>"), "<a/>");
    struct err e = ERR_INIT;
    struct xml_doc *d = xml_parse(&arena, STR("\xff\xfe<\0a\0>\0\x3d\xd8\x00\xde<\0/\0a\0>\0"), &e);
    assert_non_null(d);
    assert_xml(d, "<a>\xf0\x9f\x98\x80</a>");
}

static void malformed_text_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "<",
        "<a",
        "<a>",
        "</a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>x",
        "x<a/>",
        "<a b/>",
        "<a b=c/>",
        "<a b=\"1\" b=\"2\"/>",
        "<a b=\"<\"/>",
        "<a b=\"1\"c=\"2\"/>",
        "<a>&nbsp;</a>",
        "<a>&#0;</a>",
        "<a>&#xd800;</a>",
        "<a>&#x110000;</a>",
        "<a>&amp</a>",
        "<a>&;</a>",
        "<!DOCTYPE a><a/>",
        "<a><!-- </a>",
        "<a:/>",
        "<:a/>",
        "<a:b:c/>",
        "<1/>",
        "<a>\x01</a>",
        "<a>\xff</a>",
        "<![CDATA[x]]><a/>",
        "<a><![CDATA[x</a>",
        "<a b=\"x></a>",
        "<a / >",
    };
    struct err e = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (xml_parse(&arena, str_of(bad[i]), &e))
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(e.code, -EINVAL);
    }
    assert_null(xml_parse(&arena, STR("<a>\n\n<b></a>"), &e));
    assert_string_equal(e.text, "line 3: the wrong element ends");
}

static void limits_hold(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    struct err e = ERR_INIT;

    (void)state;
    for (int depth = XML_DEPTH_MAX; depth <= XML_DEPTH_MAX + 1; depth++) {
        buf_clear(&b);
        for (int i = 0; i < depth; i++)
            (void)buf_add_lit(&b, "<a>");
        for (int i = 0; i < depth; i++)
            (void)buf_add_lit(&b, "</a>");
        assert_int_equal(xml_parse(&arena, buf_str(&b), &e) != NULL, depth == XML_DEPTH_MAX);
    }
    assert_int_equal(e.code, -E2BIG);
    for (int n = XML_ATTRS_MAX; n <= XML_ATTRS_MAX + 1; n++) {
        buf_clear(&b);
        (void)buf_add_lit(&b, "<a");
        for (int i = 0; i < n; i++)
            (void)buf_printf(&b, " a%d=\"\"", i);
        (void)buf_add_lit(&b, "/>");
        assert_int_equal(xml_parse(&arena, buf_str(&b), &e) != NULL, n == XML_ATTRS_MAX);
    }
    assert_int_equal(e.code, -E2BIG);
    struct arena little auto_arena;
    arena_init(&little, 8000);
    assert_null(xml_parse(&little, buf_str(&b), &e));
}

static void names_do_not_depend_on_prefixes(void **state)
{
    static const char *const same[] = {
        "<w:p xmlns:w=\"" W "\" xmlns:r=\"" R "\"><w:r r:id=\"x\" w:val=\"y\" z=\"1\"/></w:p>",
        "<n:p xmlns:n=\"" W "\" xmlns:q=\"" R "\"><n:r q:id=\"x\" n:val=\"y\" z=\"1\"/></n:p>",
        "<p xmlns=\"" WS "\"><r xmlns:a=\"" R "\" xmlns:b=\"" W
        "\" a:id=\"x\" b:val=\"y\" z=\"1\"/></p>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        struct xml_doc *d = parse(same[i]);
        struct xml *r = xml_child(d->root, "w:r");
        assert_true(xml_is(d->root, "w:p"));
        assert_non_null(r);
        assert_str(xml_get(r, "r:id"), "x");
        assert_str(xml_get(r, "w:val"), "y");
        assert_int_equal(xml_get_int(r, "z", 0), 1);
        assert_null(xml_get(r, "val").p);
    }
    /* A prefix means something else further in. */
    struct xml_doc *d =
        parse("<w:a xmlns:w=\"" W "\"><w:b xmlns:w=\"urn:x\"><w:c/></w:b><w:c/></w:a>");
    assert_non_null(xml_child(d->root, "w:c"));
    struct xml_doc *other = parse("<a xmlns:q=\"" W "\"><q:b/><q:b xmlns:q=\"urn:x\"/><q:b/></a>");
    assert_int_equal(xml_count(other->root, "w:b"), 2);
    assert_int_equal(xml_count(other->root, "q:b"), 1);
}

static void new_nodes_get_the_right_prefix(void **state)
{
    struct xml_doc *d = parse("<n:p xmlns:n=\"" W "\"><n:b/></n:p>");
    struct xml *r = xml_add(d, d->root, "w:r");

    (void)state;
    xml_set(d, r, "w:val", STR("1"));
    xml_set(d, r, "xml:space", STR("preserve"));
    xml_set(d, r, "r:id", STR("x"));
    xml_set(d, r, "w:val", STR("<2>"));
    xml_set_text(d, r, STR("a & b\x01"));
    xml_add_text(d, d->root, r, "<w:pPr><w:jc w:val=\"left\"/></w:pPr><a:b/>");
    assert_xml(d, "<n:p xmlns:n=\"" W "\"><n:b/><n:pPr><n:jc n:val=\"left\"/></n:pPr>"
                  "<a:b xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"/>"
                  "<n:r n:val=\"&lt;2&gt;\" xml:space=\"preserve\" xmlns:r=\"" R
                  "\" r:id=\"x\">a &amp; b\xef\xbf\xbd</n:r></n:p>");
    xml_unset(r, "w:val");
    assert_null(xml_get(r, "w:val").p);
    assert_null(xml_add_text(d, d->root, NULL, "<w:x>"));
    auto_buf struct buf b = BUF_INIT(MAX);
    assert_int_equal(xml_write(d, &b), -EINVAL);
}

static void children_have_an_order(void **state)
{
    static const char *const order[] = {"one", "two", "three", "four", NULL};
    struct xml_doc *d = parse("<a><two/><odd/><four/></a>");

    (void)state;
    (void)xml_need(d, d->root, "three", order);
    (void)xml_need(d, d->root, "one", order);
    (void)xml_need(d, d->root, "two", order);
    (void)xml_place(d, d->root, "two", order);
    (void)xml_need(d, d->root, "five", order);
    assert_xml(d, "<a><one/><two/><odd/><two/><three/><four/><five/></a>");
    assert_int_equal(xml_count(d->root, "two"), 2);
    assert_int_equal(xml_count(d->root, NULL), 7);
    assert_true(xml_nth(d->root, "two", 1) == xml_last(d->root, "two"));
    xml_remove_all(d->root, "two");
    xml_remove(xml_child(d->root, "one"));
    xml_remove(xml_last(d->root, "five"));
    assert_xml(d, "<a><odd/><three/><four/></a>");
    xml_clear(d->root);
    assert_xml(d, "<a/>");
}

static void trees_are_walked(void **state)
{
    struct xml_doc *d = parse("<a><b i=\"1\">x<c/>y</b><b i=\"2\"><b i=\"3\">z</b></b></a>");
    struct xml *n = NULL;
    int64_t seen = 0;

    (void)state;
    while ((n = xml_walk(d->root, n, "b")))
        seen = seen * 10 + xml_get_int(n, "i", 0);
    assert_int_equal(seen, 123);
    assert_str(xml_text(d, d->root), "xyz");
    n = xml_find(d->root, "b", "i", STR("3"));
    assert_str(xml_text(d, n), "z");
    assert_true(xml_above(n, "a") == d->root);
    assert_true(xml_path(d->root, "b/c") != NULL);
    assert_null(xml_path(d->root, "b/b"));
    assert_null(xml_child(NULL, "x"));
    assert_str(xml_text(d, NULL), "");
    struct xml_doc *o = parse("<o xmlns:w=\"urn:other\"/>");
    struct xml_doc *w = parse("<w:a xmlns:w=\"" W "\"><w:b k=\"v\">t</w:b></w:a>");
    xml_insert(o->root, xml_copy(o, xml_child(w->root, "w:b")), NULL);
    xml_insert(w->root, xml_copy(w, xml_child(w->root, "w:b")), w->root->first);
    assert_xml(o, "<o xmlns:w=\"urn:other\"><w:b k=\"v\" xmlns:w=\"" W "\">t</w:b></o>");
    assert_xml(w, "<w:a xmlns:w=\"" W "\"><w:b k=\"v\">t</w:b><w:b k=\"v\">t</w:b></w:a>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_is_written, begin, end),
        cmocka_unit_test_setup_teardown(malformed_text_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(limits_hold, begin, end),
        cmocka_unit_test_setup_teardown(names_do_not_depend_on_prefixes, begin, end),
        cmocka_unit_test_setup_teardown(new_nodes_get_the_right_prefix, begin, end),
        cmocka_unit_test_setup_teardown(children_have_an_order, begin, end),
        cmocka_unit_test_setup_teardown(trees_are_walked, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
