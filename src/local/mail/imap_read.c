/* SPDX-License-Identifier: MIT */
/* The words of IMAP commands. A command is in one piece, its literals included: "{3}\r\nabc". */
#include "base/cleanup.h"
#include "local/mail/imap_internal.h"
#include "local/mail/utf7.h"

static bool is_imap_atom_char(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f && !strchr("(){%*\"\\]", c);
}

void imap_space(struct imap_cur *c)
{
    if (!imap_char(c, ' '))
        c->is_bad = true;
}

bool imap_at(const struct imap_cur *c, char wanted)
{
    return c->s.len > 0 && c->s.p[0] == wanted;
}

bool imap_char(struct imap_cur *c, char wanted)
{
    if (!imap_at(c, wanted))
        return false;
    c->s = str_skip(c->s, 1);
    return true;
}

void imap_end(struct imap_cur *c)
{
    if (c->s.len > 0)
        c->is_bad = true;
}

static struct str cut_command_text(struct imap_cur *c, size_t n)
{
    struct str s = str_n(c->s.p, n);

    c->s = str_skip(c->s, n);
    c->is_bad = c->is_bad || n == 0;
    return s;
}

struct str imap_atom(struct imap_cur *c)
{
    size_t n = 0;

    while (n < c->s.len && c->s.p[n] && is_imap_atom_char(c->s.p[n]))
        n++;
    return cut_command_text(c, n);
}

static struct str quoted(struct imap_cur *c)
{
    char *out = arena_alloc(c->arena, c->s.len + 1);
    size_t n = 0, i = 1;

    for (; i < c->s.len && c->s.p[i] != '"'; i++) {
        if (c->s.p[i] == '\\' && i + 1 < c->s.len)
            i++;
        if (out)
            out[n++] = c->s.p[i];
    }
    if (!out || i >= c->s.len) {
        c->is_bad = true;
        return STR("");
    }
    c->s = str_skip(c->s, i + 1);
    return str_n(out, n);
}

int64_t imap_literal(struct str line, bool *is_sync)
{
    size_t n = line.len;
    uint64_t value;

    if (n < 3 || line.p[n - 1] != '}')
        return -1;
    size_t end = --n;
    *is_sync = line.p[n - 1] != '+';
    end -= !*is_sync;
    for (n = end; n > 0 && line.p[n - 1] >= '0' && line.p[n - 1] <= '9';)
        n--;
    if (n == 0 || line.p[n - 1] != '{' || n == end)
        return -1;
    return str_to_u64(str_slice(line, n, end), &value) == 0 && value <= INT32_MAX ? (int64_t)value
                                                                                  : INT32_MAX;
}

static struct str literal(struct imap_cur *c)
{
    ptrdiff_t brace = str_chr(c->s, '}');
    bool is_sync;
    int64_t n = brace > 0 ? imap_literal(str_n(c->s.p, (size_t)brace + 1), &is_sync) : -1;
    struct str rest = str_skip(c->s, (size_t)(brace + 1));

    if (str_starts(rest, STR("\r\n")))
        rest = str_skip(rest, 2);
    else if (str_starts(rest, STR("\n")))
        rest = str_skip(rest, 1);
    else
        n = -1;
    if (n < 0 || (size_t)n > rest.len) {
        c->is_bad = true;
        return STR("");
    }
    c->s = str_skip(rest, (size_t)n);
    return str_n(rest.p, (size_t)n);
}

struct str imap_string(struct imap_cur *c)
{
    if (imap_at(c, '"'))
        return quoted(c);
    if (imap_at(c, '{'))
        return literal(c);
    c->is_bad = true;
    return STR("");
}

struct str imap_astring(struct imap_cur *c)
{
    size_t n = 0;

    if (imap_at(c, '"') || imap_at(c, '{'))
        return imap_string(c);
    while (n < c->s.len && c->s.p[n] && (is_imap_atom_char(c->s.p[n]) || c->s.p[n] == ']'))
        n++;
    return cut_command_text(c, n);
}

struct str imap_pattern(struct imap_cur *c)
{
    size_t n = 0;

    if (imap_at(c, '"') || imap_at(c, '{'))
        return imap_string(c);
    while (n < c->s.len && c->s.p[n] && (is_imap_atom_char(c->s.p[n]) || strchr("]%*", c->s.p[n])))
        n++;
    return cut_command_text(c, n);
}

struct str imap_mailbox(struct imap_cur *c)
{
    struct str name = utf7_decode(c->arena, imap_astring(c));

    return str_iis(name, "INBOX") ? STR("INBOX") : name;
}

uint32_t imap_number(struct imap_cur *c)
{
    uint64_t value = 0;
    size_t n = 0;

    while (n < c->s.len && c->s.p[n] >= '0' && c->s.p[n] <= '9')
        n++;
    if (n == 0 || str_to_u64(str_n(c->s.p, n), &value) < 0 || value > UINT32_MAX)
        c->is_bad = true;
    c->s = str_skip(c->s, n);
    return (uint32_t)value;
}

static uint32_t set_number(struct imap_cur *c)
{
    if (imap_char(c, '*'))
        return UINT32_MAX;
    uint32_t n = imap_number(c);
    if (n == 0)
        c->is_bad = true;
    return n;
}

struct imap_set imap_set(struct imap_cur *c)
{
    struct imap_set set = {0};
    size_t cap = 0;

    do {
        struct imap_range *grown = arena_grow(c->arena, set.ranges, set.n, &cap, sizeof *grown);
        if (!grown) {
            c->is_bad = true;
            break;
        }
        set.ranges = grown;
        struct imap_range *r = &set.ranges[set.n++];
        r->low = r->high = set_number(c);
        if (imap_char(c, ':'))
            r->high = set_number(c);
    } while (!c->is_bad && imap_char(c, ','));
    return set;
}

bool imap_set_has(const struct imap_set *set, uint32_t n, uint32_t max)
{
    for (size_t i = 0; i < set->n; i++) {
        uint32_t low = set->ranges[i].low == UINT32_MAX ? max : set->ranges[i].low;
        uint32_t high = set->ranges[i].high == UINT32_MAX ? max : set->ranges[i].high;
        if ((n >= low && n <= high) || (n >= high && n <= low))
            return true;
    }
    return false;
}

/* ---- flags ---- */

static const struct {
    const char *name;
    uint32_t bit;
} system_flags[] = {{"Seen", MAIL_SEEN},
                    {"Answered", MAIL_ANSWERED},
                    {"Flagged", MAIL_FLAGGED},
                    {"Deleted", MAIL_DELETED},
                    {"Draft", MAIL_DRAFT}};

static uint32_t one_flag(struct imap *i, struct imap_cur *c, bool create)
{
    bool is_system = imap_char(c, '\\');
    struct str name = imap_atom(c);

    for (size_t k = 0; is_system && k < ARRAY_LEN(system_flags); k++) {
        if (str_iis(name, system_flags[k].name))
            return system_flags[k].bit;
    }
    /* \Recent cannot be changed, others are of no meaning here. */
    if (is_system || c->is_bad || name.len > MAIL_FOLDER_NAME_MAX)
        return 0;
    return mail_keyword(i->account, name, create);
}

uint32_t imap_flags(struct imap *i, struct imap_cur *c, bool create)
{
    uint32_t flags = 0;
    bool is_list = imap_char(c, '(');

    if (is_list && imap_char(c, ')'))
        return 0;
    do {
        flags |= one_flag(i, c, create);
    } while (!c->is_bad && imap_char(c, ' '));
    if (is_list && !imap_char(c, ')'))
        c->is_bad = true;
    return flags;
}

void imap_say_flags(struct imap *i, const struct mail_message *m)
{
    const char *gap = "";

    imap_say(i, "FLAGS (");
    for (size_t k = 0; k < ARRAY_LEN(system_flags); k++) {
        if (!(m->flags & system_flags[k].bit))
            continue;
        imap_say(i, "%s\\%s", gap, system_flags[k].name);
        gap = " ";
    }
    for (size_t k = 0; k < MAIL_KEYWORDS_MAX; k++) {
        if (!(m->flags & (uint32_t)MAIL_KEYWORD << k))
            continue;
        imap_say(i, "%s" STR_FMT, gap, STR_ARG(mail_keyword_at(i->account, k, &i->arena)));
        gap = " ";
    }
    if (m->uid >= i->recent_from)
        imap_say(i, "%s\\Recent", gap);
    imap_say(i, ")");
}
