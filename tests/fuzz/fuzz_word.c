/* SPDX-License-Identifier: MIT */
/* The tools of the server "word" on a document whose XML is the input: they answer, and what they
 * leave can be written and read again. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "local/word/grid.h"
#include "local/word/tools.h"

enum { MAX = 64 << 20 };

static const char arguments[] =
    "{\"paragraph_index\": 1, \"target_text\": \"a\", \"find_text\": \"a\", \"replace_text\": "
    "\"bcd\", \"start_pos\": 1, \"end_pos\": 3, \"bold\": true, \"table_index\": 0, \"row_index\": "
    "1, \"col_index\": 1, \"start_row\": 0, \"start_col\": 0, \"end_row\": 1, \"end_col\": 1, "
    "\"width\": 5, \"text_to_find\": \"a\", \"search_text\": \"b\", \"footnote_text\": \"c\", "
    "\"list_items\": [\"x\"], \"bullet_type\": \"number\", \"text_content\": \"y\", "
    "\"header_text\": \"a\", \"start_anchor_text\": \"b\", \"new_paragraphs\": [\"z\"], "
    "\"line_text\": \"l\", \"top\": 1, \"border_style\": \"double\", \"has_header_row\": true}";

static word_fn *const readers[] = {
    tool_get_document_info,           tool_get_document_text,
    tool_get_document_outline,        tool_get_document_xml,
    tool_find_text_in_document,       tool_get_all_comments,
    tool_validate_document_footnotes, tool_get_paragraph_text_from_document,
};
static word_fn *const writers[] = {
    tool_search_and_replace,
    tool_format_text,
    tool_insert_line_or_paragraph_near_text,
    tool_insert_numbered_list_near_text,
    tool_format_table,
    tool_format_table_cell_text,
    tool_merge_table_cells,
    tool_set_table_column_width,
    tool_set_table_cell_padding,
    tool_set_table_alignment_all,
    tool_auto_fit_table_columns,
    tool_add_footnote_after_text,
    tool_add_footnote_to_document,
    tool_customize_footnote_style,
    tool_replace_paragraph_block_below_header,
    tool_replace_block_between_manual_anchors,
    tool_delete_footnote_from_document,
    tool_delete_paragraph,
};

static void use(struct word *w)
{
    auto_buf struct buf out = BUF_INIT(MAX);

    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        (void)readers[i](w);
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        (void)writers[i](w);
    if (xml_write(w->doc, &out) == 0 && !xml_parse(w->arena, buf_str(&out), NULL) &&
        w->arena->used < w->arena->max / 2)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct word_tool tool = {.name = "fuzz", .failed = "Failed"};
    struct local_call c = {.local = &(struct local){.root = "/nowhere", .home = "/nowhere"}};

    if (size > 1 << 16)
        return 0;
    arena_init(&c.arena, (size_t)4 * MAX);
    struct word w = {.c = &c, .arena = &c.arena, .tool = &tool, .name = STR("fuzz.docx")};
    c.args = json_parse(&c.arena, str_n(arguments, sizeof arguments - 1), NULL, NULL);
    if (!c.args || word_blank(&w.package, w.arena, STR("t"), STR("a")) < 0)
        abort();
    w.part = package_main(&w.package);
    part_set_bytes(&w.package, w.part, str_n((const char *)data, size));
    w.doc = part_xml(&w.package, w.part, NULL);
    w.body = w.doc ? xml_child(w.doc->root, "w:body") : NULL;
    if (w.body)
        use(&w);
    buf_done(&c.content);
    arena_done(&c.arena);
    return 0;
}
