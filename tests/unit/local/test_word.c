/* SPDX-License-Identifier: MIT */
/* The parts of the word server: tools when memory runs out. */
#include "../check.h"

#include <string.h>

#include "base/cleanup.h"
#include "local/word/tools.h"

enum { MAX = 64 << 20 };

static const char arguments[] =
    "{\"text\": \"one two three\", \"level\": 2, \"rows\": 3, \"cols\": 3, \"data\": [[\"a\", "
    "1.5], [true]], \"bold\": true, \"color\": \"red\", \"font_size\": 9, \"font_name\": \"F\", "
    "\"style_name\": \"S\", \"paragraph_index\": 0, \"start_pos\": 2, \"end_pos\": 5, "
    "\"find_text\": \"two\", \"replace_text\": \"2\", \"table_index\": 0, \"row_index\": 1, "
    "\"col_index\": 1, \"start_row\": 0, \"start_col\": 0, \"end_row\": 1, \"end_col\": 1, "
    "\"target_paragraph_index\": 0, \"list_items\": [\"x\", \"y\"], \"search_text\": \"one\", "
    "\"footnote_text\": \"n\", \"endnote_text\": \"e\", \"widths\": [1, 2], \"top\": 3, "
    "\"border_style\": \"thick\", \"text_to_find\": \"o\", \"fill_color\": \"00FF00\", "
    "\"border_bottom\": true, \"header_style\": \"Heading 3\", \"header_title\": \"h\"}";

static word_fn *const steps[] = {
    tool_add_heading,
    tool_add_paragraph,
    tool_create_custom_style,
    tool_add_table,
    tool_add_page_break,
    tool_format_text,
    tool_search_and_replace,
    tool_insert_header_near_text,
    tool_insert_numbered_list_near_text,
    tool_format_table,
    tool_set_table_cell_shading,
    tool_set_table_cell_padding,
    tool_set_table_column_widths,
    tool_merge_table_cells,
    tool_add_footnote_after_text,
    tool_add_endnote_to_document,
    tool_customize_footnote_style,
    tool_validate_document_footnotes,
    tool_find_text_in_document,
    tool_get_document_outline,
    tool_get_document_xml,
    tool_delete_footnote_from_document,
};

/* Makes a document and changes it within LIMIT bytes: 0 when it could be written. */
static int use(size_t limit)
{
    static const struct word_tool tool = {.name = "test", .failed = "Failed"};
    struct local_call c = {.local = &(struct local){.root = "/nowhere", .home = "/nowhere"}};
    auto_buf struct buf out = BUF_INIT(MAX);
    struct arena input auto_arena;
    int r = -1;

    arena_init(&input, MAX);
    arena_init(&c.arena, limit);
    c.args = json_parse(&input, str_n(arguments, sizeof arguments - 1), NULL, NULL);
    struct word w = {.c = &c, .arena = &c.arena, .tool = &tool, .name = STR("a.docx")};
    if (word_blank(&w.package, w.arena, STR("t"), STR("a")) == 0) {
        w.part = package_main(&w.package);
        w.doc = w.part ? part_edit(&w.package, w.part, NULL) : NULL;
        w.body = w.doc ? xml_child(w.doc->root, "w:body") : NULL;
    }
    for (size_t i = 0; w.body && i < ARRAY_LEN(steps); i++)
        r = steps[i](&w).p ? 0 : -1;
    if (r == 0)
        r = package_write(&w.package, &out, NULL);
    buf_done(&c.content);
    arena_done(&c.arena);
    return r;
}

static void memory_may_run_out_anywhere(void **state)
{
    size_t limit = 1000;

    (void)state;
    while (use(limit) < 0) {
        limit += 2500;
        assert_true(limit < MAX);
    }
    assert_int_equal(use(MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
