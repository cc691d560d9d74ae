/* SPDX-License-Identifier: MIT */
#include "local/kit/shell_words.h"

#include "base/buf.h"

static bool is_shell_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes what is behind the opening QUOTE off TEXT. */
static const char *take_shell_quoted(struct str *text, char quote, struct buf *out)
{
    while (text->len > 0 && text->p[0] != quote) {
        bool is_escape = quote == '"' && text->p[0] == '\\' && text->len > 1 &&
                         (text->p[1] == '"' || text->p[1] == '\\');
        (void)buf_add_char(out, text->p[is_escape]);
        *text = str_skip(*text, is_escape ? 2 : 1);
    }
    if (text->len == 0)
        return "No closing quotation";
    *text = str_skip(*text, 1);
    return NULL;
}

/* Takes one word, at which TEXT begins. */
static const char *take_shell_word(struct str *text, struct buf *out)
{
    const char *why = NULL;

    while (!why && text->len > 0 && !is_shell_space(text->p[0])) {
        char c = text->p[0];
        *text = str_skip(*text, 1);
        if (c == '\'' || c == '"') {
            why = take_shell_quoted(text, c, out);
            continue;
        }
        if (c == '\\') {
            if (text->len == 0)
                return "No escaped character";
            c = text->p[0];
            *text = str_skip(*text, 1);
        }
        (void)buf_add_char(out, c);
    }
    return why;
}

const char **words_split(struct arena *a, struct str text, size_t *n, const char **why)
{
    const char **words = arena_zalloc(a, WORDS_MAX + 1, sizeof *words);

    *n = 0;
    *why = words ? NULL : "out of memory";
    while (!*why) {
        auto_buf struct buf word = BUF_INIT(1 << 20);
        while (text.len > 0 && is_shell_space(text.p[0]))
            text = str_skip(text, 1);
        if (text.len == 0)
            return words;
        *why = *n == WORDS_MAX ? "too many words" : take_shell_word(&text, &word);
        words[*n] = *why ? NULL : arena_str(a, buf_str(&word)).p;
        if (!*why && (!buf_ok(&word) || !words[(*n)++]))
            *why = "out of memory";
    }
    return NULL;
}
