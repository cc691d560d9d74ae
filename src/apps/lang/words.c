/* SPDX-License-Identifier: MIT */
/* Plain search: every word and every "phrase in quotes" has to occur, without regard to case. */
#include <errno.h>

#include "apps/lang/lang_internal.h"

/* Takes the next word off TEXT; false at its end. */
static bool next_plain_word(struct str *text, struct str *ret)
{
    *text = str_trim(*text);
    if (text->len == 0)
        return false;
    bool is_quoted = text->p[0] == '"';
    struct str rest = is_quoted ? str_skip(*text, 1) : *text;
    size_t n = 0;
    while (n < rest.len && (is_quoted ? rest.p[n] != '"' : rest.p[n] != ' '))
        n++;
    *ret = str_slice(rest, 0, n);
    *text = str_skip(rest, n < rest.len ? n + 1 : n);
    return true;
}

/* instr() and not LIKE: '%' and '_' are ordinary characters of a search. */
static void add_found_word(struct lang_out *o, const struct json *columns, struct str word)
{
    lang_sql(o, " AND (0");
    for (size_t i = 0; i < columns->n; i++) {
        lang_sql(o, " OR instr(lower(ifnull(%s, '')), lower(",
                 json_str(json_at(columns, i), STR("")).p);
        lang_text(o, word);
        lang_sql(o, "))");
    }
    lang_sql(o, ")");
}

int lang_words(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e)
{
    const struct json *columns = json_get(config, "columns");
    struct lang_out o;
    struct str word;

    if (!json_is(columns, JSON_ARRAY) || columns->n == 0)
        return err_set(e, -EOPNOTSUPP, "app.json: /languages/words/columns is missing");
    lang_begin(&o, a);
    lang_sql(&o, "1");
    while (next_plain_word(&text, &word)) {
        if (word.len > 0)
            add_found_word(&o, columns, word);
    }
    return lang_end(&o, ret, e);
}
