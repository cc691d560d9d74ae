/* SPDX-License-Identifier: MIT */
/* Finding a document's head: see html.h. Comments are skipped; attribute values may hold ">". */
#include "proxy/html.h"
#include "base/ascii.h"

enum state { TEXT, NAME, BANG, AFTER_NAME, COMMENT };

static bool is_html_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Behind "<". */
static void on_name(struct html_scan *s, char c)
{
    static const char head[] = "head";

    if (s->at == 4 && (is_html_space(c) || c == '>' || c == '/')) {
        s->state = AFTER_NAME;
        s->quote = 0;
    } else if (s->at < 4 && ascii_lower(c) == head[s->at]) {
        s->at++;
    } else {
        s->state = s->at == 0 && c == '!' ? BANG : TEXT;
        s->at = 0;
    }
}

/* Behind "<!": a comment begins with two dashes. */
static void on_bang(struct html_scan *s, char c)
{
    if (c != '-')
        s->state = TEXT;
    else if (++s->at == 2)
        s->state = COMMENT;
}

static void on_comment(struct html_scan *s, char c)
{
    if (c == '>' && s->at >= 2)
        s->state = TEXT;
    else if (c != '-')
        s->at = 0;
    else if (s->at < 2)
        s->at++;
}

/* True at the end of the tag. */
static bool on_attributes(struct html_scan *s, char c)
{
    if (s->quote) {
        if (c == s->quote)
            s->quote = 0;
        return false;
    }
    if (c == '"' || c == '\'')
        s->quote = c;
    return c == '>';
}

static bool step_html(struct html_scan *s, char c)
{
    switch ((enum state)s->state) {
    case TEXT: break;
    case NAME: on_name(s, c); break;
    case BANG: on_bang(s, c); break;
    case COMMENT: on_comment(s, c); return false;
    case AFTER_NAME: return on_attributes(s, c);
    }
    if (s->state == AFTER_NAME)
        return c == '>';
    if (s->state == TEXT && c == '<') {
        s->state = NAME;
        s->at = 0;
    }
    return false;
}

ptrdiff_t html_find_head(struct html_scan *s, const char *p, size_t len)
{
    for (size_t i = 0; i < len && !s->is_over; i++) {
        s->is_over = ++s->seen >= HTML_HEAD_WITHIN;
        if (step_html(s, p[i])) {
            s->is_over = true;
            return (ptrdiff_t)i + 1;
        }
    }
    return -1;
}
