/* SPDX-License-Identifier: MIT */
/* The server "excel": which values cells allow. */
#include "local/excel/excel.h"

static struct xml *first_rule(const struct excel *x)
{
    return xml_path(x->sheet->doc->root, "dataValidations/dataValidation");
}

/* ---- allowed values ---- */

static void write_validation_item(struct buf *out, unsigned *n, unsigned indent, struct str text)
{
    (void)buf_printf(out, "%s\n%*s", (*n)++ > 0 ? "," : "", (int)indent + 2, "");
    python_json_str(out, text);
}

static struct str without_quotes(struct str s)
{
    while (s.len > 0 && s.p[0] == '"')
        s = str_skip(s, 1);
    while (s.len > 0 && s.p[s.len - 1] == '"')
        s.len--;
    return s;
}

/* "'My sheet'!$A$1:$A$5" as a range of a sheet, of the rule's own without a name. */
static struct sheet *find_range(struct excel *x, struct str text, struct range *ret)
{
    struct err e = ERR_INIT;
    struct str name = text;
    struct str rest = name;
    struct sheet *s = x->sheet;

    name = str_cut(&rest, '!');
    if (rest.p) {
        if (name.len > 1 && name.p[0] == '\'' && name.p[name.len - 1] == '\'')
            name = str_slice(name, 1, name.len - 1);
        s = book_sheet(&x->book, name);
        text = rest;
    }
    if (!s || !range_parse(text, ret) || sheet_load(&x->book, s, &e) < 0)
        return NULL;
    return s;
}

/* The values of the cells of a range. */
static void write_cells(struct excel *x, struct buf *out, unsigned *n, unsigned indent,
                        struct str formula)
{
    auto_buf struct buf text = BUF_INIT(1 << 20);
    struct range r;
    struct sheet *s = find_range(x, formula, &r);
    const char *fault = s ? "empty or unresolvable" : "resolution error";

    for (size_t i = s ? sheet_row_at(s, r.row) : 0; s && i < s->n_rows; i++) {
        struct xml *c = s->rows[i].number <= r.row2 ? xml_child(s->rows[i].node, "c") : NULL;
        for (; c && *n < EXCEL_CELLS_MAX; c = xml_next(c, "c")) {
            struct value v = cell_value(&x->book, s, c);
            if (!range_has(r, cell_at(c)) || v.kind == VALUE_NONE)
                continue;
            buf_clear(&text);
            value_str(&text, v);
            write_validation_item(out, n, indent, buf_str(&text));
        }
    }
    if (*n == 0)
        write_validation_item(
            out, n, indent,
            arena_printf(&x->call->arena, "Range: " STR_FMT " (%s)", STR_ARG(formula), fault));
}

/* The array of what a list allows, of which FORMULA is "a,b,c" or a range. */
static void write_allowed(struct excel *x, struct buf *out, struct str formula, unsigned indent)
{
    struct str list = without_quotes(formula);
    bool is_range = str_chr(list, ':') >= 0 || str_starts(list, STR("$"));
    unsigned n = 0;

    (void)buf_add_char(out, '[');
    if (str_chr(list, ',') >= 0) {
        while (list.p) {
            struct str item = without_quotes(str_trim(str_cut(&list, ',')));
            if (item.len > 0)
                write_validation_item(out, &n, indent, item);
        }
    } else if (is_range) {
        write_cells(x, out, &n, indent, list);
    } else {
        write_validation_item(out, &n, indent, list);
    }
    (void)buf_printf(out, "\n%*s]", (int)indent, "");
}

/* ---- rules ---- */

static bool is_rule_for(const struct xml *rule, struct ref at)
{
    struct str list = xml_get(rule, "sqref");
    struct range r;

    while (list.p) {
        struct str text = str_cut(&list, ' ');
        if (range_parse(text, &r) && range_has(r, at))
            return true;
    }
    return false;
}

static void write_member(struct buf *out, unsigned indent, const char *key, struct str value)
{
    if (!value.p || value.len == 0)
        return;
    (void)buf_printf(out, ",\n%*s\"%s\": ", (int)indent, "", key);
    python_json_str(out, value);
}

static void write_kind(struct buf *out, const struct xml *rule, unsigned indent)
{
    struct str type = xml_get(rule, "type");

    (void)buf_printf(out, "%*s\"validation_type\": ", (int)indent, "");
    if (type.len > 0 && !str_is(type, "none"))
        python_json_str(out, type);
    else
        (void)buf_add_lit(out, "null");
    (void)buf_printf(out, ",\n%*s\"allow_blank\": %s", (int)indent, "",
                     xml_get_bool(rule, "allowBlank", false) ? "true" : "false");
}

void excel_write_rule(struct excel *x, struct ref at, struct buf *out)
{
    enum { INDENT = 8 };
    struct xml *rule = first_rule(x);
    struct xml_doc *d = x->sheet->doc;

    while (rule && !is_rule_for(rule, at))
        rule = xml_next(rule, "dataValidation");
    if (!rule) {
        (void)buf_add_lit(out, "{\n        \"has_validation\": false\n      }");
        return;
    }
    struct str formula = xml_text(d, xml_child(rule, "formula1"));
    (void)buf_printf(out,
                     "{\n        \"cell\": \"" STR_FMT "\",\n        \"has_validation\": true,\n",
                     STR_ARG(ref_text(&x->call->arena, at)));
    write_kind(out, rule, INDENT);
    write_member(out, INDENT, "operator", xml_get(rule, "operator"));
    write_member(out, INDENT, "prompt", xml_get(rule, "prompt"));
    write_member(out, INDENT, "prompt_title", xml_get(rule, "promptTitle"));
    write_member(out, INDENT, "error_message", xml_get(rule, "error"));
    write_member(out, INDENT, "error_title", xml_get(rule, "errorTitle"));
    if (str_is(xml_get(rule, "type"), "list") && formula.len > 0) {
        (void)buf_add_lit(out, ",\n        \"allowed_values\": ");
        write_allowed(x, out, formula, INDENT);
    } else if (formula.len > 0) {
        write_member(out, INDENT, "formula1", formula);
        write_member(out, INDENT, "formula2", xml_text(d, xml_child(rule, "formula2")));
    }
    (void)buf_add_lit(out, "\n      }");
}

static void write_range_rule(struct excel *x, const struct xml *rule, struct buf *out)
{
    enum { INDENT = 6 };
    struct str formula = xml_text(x->sheet->doc, xml_child(rule, "formula1"));

    (void)buf_add_lit(out, "    {\n      \"ranges\": ");
    python_json_str(out, xml_get(rule, "sqref"));
    (void)buf_add_lit(out, ",\n");
    write_kind(out, rule, INDENT);
    if (str_is(xml_get(rule, "type"), "list") && formula.len > 0) {
        (void)buf_add_lit(out, ",\n      \"allowed_values\": ");
        write_allowed(x, out, formula, INDENT);
    }
    (void)buf_add_lit(out, "\n    }");
}

void excel_get_validation(struct local_call *c)
{
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX / 2);
    struct excel x;

    if (!excel_open_sheet(c, &x))
        return;
    if (!first_rule(&x)) {
        local_text(c, STR("No data validation rules found in this worksheet"));
        return;
    }
    (void)buf_add_lit(&out, "{\n  \"sheet_name\": ");
    python_json_str(&out, x.sheet->name);
    (void)buf_add_lit(&out, ",\n  \"validation_rules\": [\n");
    for (struct xml *n = first_rule(&x); n; n = xml_next(n, "dataValidation")) {
        write_range_rule(&x, n, &out);
        (void)buf_add_str(&out, xml_next(n, "dataValidation") ? STR(",\n") : STR("\n"));
    }
    (void)buf_add_lit(&out, "  ]\n}");
    local_text(c, buf_str(&out));
}
