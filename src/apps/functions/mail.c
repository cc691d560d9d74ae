/* SPDX-License-Identifier: MIT */
/* Mail for scripts: addresses, subjects, base64, and searching for people. */
#include <errno.h>

#include "apps/functions/functions.h"
#include "base/enc.h"

/* ---- subjects ---- */

/* Takes "Re:", "Fwd:", "AW [2]:" … off the front. */
static bool take_prefix(struct str *s)
{
    static const char *const prefixes[] = {"re", "fw", "fwd", "aw", "wg", "sv"};
    ptrdiff_t colon = str_chr(*s, ':');
    struct str word = colon < 0 ? STR_NULL : str_slice(*s, 0, (size_t)colon);
    ptrdiff_t bracket = word.p ? str_chr(word, '[') : -1;

    if (bracket >= 0)
        word = str_slice(word, 0, (size_t)bracket);
    word = str_trim(word);
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (!str_iis(word, prefixes[i]))
            continue;
        *s = str_trim(str_skip(*s, (size_t)colon + 1));
        return true;
    }
    return false;
}

/* mail_topic(subject): without the prefixes of replies and forwards. */
static void fn_mail_topic(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct str s = str_trim(fn_text(v[0]));

    (void)n;
    while (take_prefix(&s))
        continue;
    sqlite3_result_text(x, s.p, (int)s.len, SQLITE_TRANSIENT);
}

/* ---- addresses ---- */

/* What is between '<' and '>', or all of it. */
static struct str mail_address_of(struct str s)
{
    ptrdiff_t open = str_chr(s, '<');
    struct str rest = open < 0 ? s : str_skip(s, (size_t)open + 1);
    ptrdiff_t close = open < 0 ? -1 : str_chr(rest, '>');

    return str_trim(close < 0 ? rest : str_slice(rest, 0, (size_t)close));
}

/* mail_address(text): the address of "Maya Chen <maya@…>". */
static void fn_mail_address(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct str s = mail_address_of(fn_text(v[0]));

    (void)n;
    if (sqlite3_value_type(v[0]) != SQLITE_NULL)
        sqlite3_result_text(x, s.p, (int)s.len, SQLITE_TRANSIENT);
}

/* mail_is_address(text): something, '@', something with a dot in it, no blanks. */
static void fn_mail_is_address(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct str s = fn_text(v[0]), domain = s;
    struct str local = str_cut(&domain, '@');
    ptrdiff_t dot = domain.p ? str_chr(domain, '.') : -1;
    bool is_address =
        local.len > 0 && dot > 0 && (size_t)dot + 1 < domain.len && str_chr(domain, '@') < 0;

    (void)n;
    for (size_t i = 0; i < s.len && is_address; i++)
        is_address = (unsigned char)s.p[i] > ' ';
    sqlite3_result_int(x, is_address);
}

/* ---- base64 ---- */

/* base64(text) */
static void fn_base64(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    (void)enc_base64(&b, fn_text(v[0]));
    fn_give(x, &b);
}

/* unbase64(text): the bytes; NULL when it is malformed. */
static void fn_unbase64(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    if (sqlite3_value_type(v[0]) != SQLITE_NULL && enc_unbase64(&b, fn_text(v[0])) == 0)
        sqlite3_result_blob(x, b.p ? b.p : "", (int)b.len, SQLITE_TRANSIENT);
}

/* ---- searching ---- */

/* FTS5 takes time by the square of their number, and does not ask whether it should go on. */
enum { PREFIXES_MAX = 100 };

/* Whether WORD is one of the N in SEEN. */
static bool is_seen(const struct str *seen, size_t n, struct str word)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(seen[i], word))
            return true;
    return false;
}

static void add_prefix(struct buf *b, struct str word)
{
    (void)buf_add_str(b, b->len > 0 ? STR(" AND \"") : STR("\""));
    for (size_t i = 0; i < word.len; i++)
        (void)buf_add_char(b, word.p[i] == '"' || word.p[i] == '\0' ? ' ' : word.p[i]);
    (void)buf_add_lit(b, "\" *");
}

/* fts_prefixes(text): a query of FTS5 for rows in which every word of TEXT begins a word. Fails as
 * what takes too long when there are more than PREFIXES_MAX different ones. */
static void fn_fts_prefixes(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str seen[PREFIXES_MAX], text = fn_text(v[0]);
    size_t n_seen = 0;

    (void)n;
    while (text.p) {
        struct str word = str_cut(&text, ' ');
        if (!fn_spend(x, (int64_t)n_seen))
            return;
        if (word.len == 0 || is_seen(seen, n_seen, word))
            continue;
        if (n_seen == PREFIXES_MAX) {
            sqlite3_result_error_code(x, SQLITE_INTERRUPT);
            return;
        }
        seen[n_seen++] = word;
        add_prefix(&b, word);
    }
    if (b.len == 0)
        (void)buf_add_lit(&b, "\"\"");
    fn_give(x, &b);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_mail[] = {
    {"mail_topic", 1, PURE, fn_mail_topic},
    {"mail_address", 1, PURE, fn_mail_address},
    {"mail_is_address", 1, PURE, fn_mail_is_address},
    {"base64", 1, PURE, fn_base64},
    {"unbase64", 1, PURE, fn_unbase64},
    {"fts_prefixes", 1, PURE, fn_fts_prefixes},
    {NULL, 0, 0, NULL},
};
