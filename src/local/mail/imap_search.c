/* SPDX-License-Identifier: MIT */
/* SEARCH: the criteria as a tree, and what it says of a message. */
#include "base/cleanup.h"
#include "local/mail/date.h"
#include "local/mail/imap_internal.h"
#include "local/mail/match.h"

enum { DEPTH_MAX = 32, NODES_MAX = 1000 };

/* What follows a word. */
enum operand { NOTHING, TEXT, FIELD_TEXT, DAY, NUMBER, KEYWORD, SET, ONE, TWO };

struct search_node;

/* A message while it is looked at; its bytes are read when something needs them. */
struct search_look {
    struct imap *i;
    const struct mail_message *m;
    size_t k; /* in the view */
    struct mime_part *top;
    bool is_unreadable;
};

struct search_word {
    const char *name;
    enum operand operand;
    bool (*fn)(struct search_look *l, const struct search_node *n);
    uint32_t flag;     /* for the words about flags */
    const char *field; /* for those about a header's field */
};

struct search_node {
    const struct search_word *word; /* NULL: all of the list must hold */
    struct str field, text;
    uint32_t number; /* or the bits of a keyword */
    int64_t day;
    struct imap_set set;
    struct search_node *a, *b; /* operands */
    struct search_node *next;  /* in a list */
};

/* ---- what the words say ---- */

static const struct mime_part *message(struct search_look *l)
{
    struct str raw;

    if (l->top || l->is_unreadable)
        return l->top;
    arena_reset(&l->i->one);
    if (mail_read(l->i->account, l->m->file, &l->i->one, &raw) == 0)
        l->top = mime_parse(&l->i->one, raw);
    l->is_unreadable = !l->top;
    return l->top;
}

static bool holds_criterion(struct search_look *l, const struct search_node *n)
{
    if (n->word)
        return n->word->fn(l, n);
    for (const struct search_node *one = n->a; one; one = one->next) {
        if (!holds_criterion(l, one))
            return false;
    }
    return true;
}

static bool is_all_found(struct search_look *l, const struct search_node *n)
{
    (void)l;
    (void)n;
    return true;
}

static bool is_flagged(struct search_look *l, const struct search_node *n)
{
    return l->m->flags & (n->word->flag ? n->word->flag : n->number);
}

static bool is_not_flagged(struct search_look *l, const struct search_node *n)
{
    return !is_flagged(l, n);
}

static bool is_recent(struct search_look *l, const struct search_node *n)
{
    (void)n;
    return l->m->uid >= l->i->recent_from;
}

static bool is_old(struct search_look *l, const struct search_node *n)
{
    return !is_recent(l, n);
}

static bool is_new(struct search_look *l, const struct search_node *n)
{
    return is_recent(l, n) && !(l->m->flags & MAIL_SEEN);
}

static bool has_field(struct search_look *l, const struct search_node *n)
{
    const struct mime_part *p = message(l);
    struct str name = n->word->field ? str_of(n->word->field) : arena_str(&l->i->one, n->field);

    return p && name.p && match_header(&l->i->one, p->header, name.p, n->text);
}

static bool has_search_body(struct search_look *l, const struct search_node *n)
{
    const struct mime_part *p = message(l);

    return p && match_body(&l->i->one, p, n->text);
}

static bool has_criterion_text(struct search_look *l, const struct search_node *n)
{
    const struct mime_part *p = message(l);

    return p && (match_header(&l->i->one, p->header, NULL, n->text) || has_search_body(l, n));
}

static int64_t arrived(const struct search_look *l)
{
    return mail_date_day_of((struct mail_date){l->m->date_s, 0});
}

/* The day that the header says; that of the arrival when it says none. */
static int64_t sent(struct search_look *l)
{
    const struct mime_part *p = message(l);
    struct str text = p ? mime_field(&l->i->one, p->header, "Date") : STR_NULL;
    struct mail_date d;

    return text.len > 0 && mail_date_parse(text, 0, &d) == 0 ? mail_date_day_of(d) : arrived(l);
}

static bool is_before_criterion(struct search_look *l, const struct search_node *n)
{
    return arrived(l) < n->day;
}

static bool is_on_day(struct search_look *l, const struct search_node *n)
{
    return arrived(l) == n->day;
}

static bool is_since(struct search_look *l, const struct search_node *n)
{
    return arrived(l) >= n->day;
}

static bool is_sent_before(struct search_look *l, const struct search_node *n)
{
    return sent(l) < n->day;
}

static bool is_sent_on(struct search_look *l, const struct search_node *n)
{
    return sent(l) == n->day;
}

static bool is_sent_since(struct search_look *l, const struct search_node *n)
{
    return sent(l) >= n->day;
}

static bool is_larger(struct search_look *l, const struct search_node *n)
{
    return l->m->size > n->number;
}

static bool is_smaller(struct search_look *l, const struct search_node *n)
{
    return l->m->size < n->number;
}

static bool is_in_uids(struct search_look *l, const struct search_node *n)
{
    return imap_set_has(&n->set, l->m->uid, l->i->view[l->i->n_view - 1].uid);
}

static bool is_in_set(struct search_look *l, const struct search_node *n)
{
    return imap_set_has(&n->set, (uint32_t)l->k + 1, (uint32_t)l->i->n_view);
}

static bool is_not(struct search_look *l, const struct search_node *n)
{
    return !holds_criterion(l, n->a);
}

static bool is_either(struct search_look *l, const struct search_node *n)
{
    return holds_criterion(l, n->a) || holds_criterion(l, n->b);
}

static const struct search_word words[] = {
    {"ALL", NOTHING, is_all_found, 0, NULL},
    {"SEEN", NOTHING, is_flagged, MAIL_SEEN, NULL},
    {"UNSEEN", NOTHING, is_not_flagged, MAIL_SEEN, NULL},
    {"ANSWERED", NOTHING, is_flagged, MAIL_ANSWERED, NULL},
    {"UNANSWERED", NOTHING, is_not_flagged, MAIL_ANSWERED, NULL},
    {"FLAGGED", NOTHING, is_flagged, MAIL_FLAGGED, NULL},
    {"UNFLAGGED", NOTHING, is_not_flagged, MAIL_FLAGGED, NULL},
    {"DELETED", NOTHING, is_flagged, MAIL_DELETED, NULL},
    {"UNDELETED", NOTHING, is_not_flagged, MAIL_DELETED, NULL},
    {"DRAFT", NOTHING, is_flagged, MAIL_DRAFT, NULL},
    {"UNDRAFT", NOTHING, is_not_flagged, MAIL_DRAFT, NULL},
    {"RECENT", NOTHING, is_recent, 0, NULL},
    {"OLD", NOTHING, is_old, 0, NULL},
    {"NEW", NOTHING, is_new, 0, NULL},
    {"FROM", TEXT, has_field, 0, "From"},
    {"TO", TEXT, has_field, 0, "To"},
    {"CC", TEXT, has_field, 0, "Cc"},
    {"BCC", TEXT, has_field, 0, "Bcc"},
    {"SUBJECT", TEXT, has_field, 0, "Subject"},
    {"HEADER", FIELD_TEXT, has_field, 0, NULL},
    {"BODY", TEXT, has_search_body, 0, NULL},
    {"TEXT", TEXT, has_criterion_text, 0, NULL},
    {"BEFORE", DAY, is_before_criterion, 0, NULL},
    {"ON", DAY, is_on_day, 0, NULL},
    {"SINCE", DAY, is_since, 0, NULL},
    {"SENTBEFORE", DAY, is_sent_before, 0, NULL},
    {"SENTON", DAY, is_sent_on, 0, NULL},
    {"SENTSINCE", DAY, is_sent_since, 0, NULL},
    {"LARGER", NUMBER, is_larger, 0, NULL},
    {"SMALLER", NUMBER, is_smaller, 0, NULL},
    {"KEYWORD", KEYWORD, is_flagged, 0, NULL},
    {"UNKEYWORD", KEYWORD, is_not_flagged, 0, NULL},
    {"UID", SET, is_in_uids, 0, NULL},
    {"NOT", ONE, is_not, 0, NULL},
    {"OR", TWO, is_either, 0, NULL},
};

static const struct search_word set_word = {"", SET, is_in_set, 0, NULL};

/* ---- reading ---- */

struct search_reader {
    struct imap *i;
    struct imap_cur *c;
    struct str charset;
    size_t n_nodes;
};

static struct search_node *read_search_key(struct search_reader *r, unsigned depth);

static struct str read_criterion_text(struct search_reader *r)
{
    return mime_to_utf8(r->c->arena, imap_astring(r->c), r->charset);
}

static void read_operand(struct search_reader *r, struct search_node *n, unsigned depth)
{
    struct imap_cur *c = r->c;

    switch (n->word->operand) {
    case TEXT: n->text = read_criterion_text(r); break;
    case FIELD_TEXT:
        n->field = imap_astring(c);
        imap_space(c);
        n->text = read_criterion_text(r);
        break;
    case DAY: c->is_bad = mail_date_day(imap_astring(c), &n->day) < 0 || c->is_bad; break;
    case NUMBER: n->number = imap_number(c); break;
    case KEYWORD: n->number = mail_keyword(r->i->account, imap_atom(c), false); break;
    case SET: n->set = imap_set(c); break;
    case ONE:
    case TWO:
        n->a = read_search_key(r, depth + 1);
        if (n->word->operand == ONE)
            break;
        imap_space(c);
        n->b = read_search_key(r, depth + 1);
        break;
    case NOTHING:
    default: break;
    }
}

static struct search_node *new_criterion(struct search_reader *r)
{
    struct search_node *n =
        r->n_nodes++ < NODES_MAX ? arena_new(r->c->arena, struct search_node) : NULL;

    if (!n)
        r->c->is_bad = true;
    return n;
}

/* Keys with spaces between them, up to END. */
static struct search_node *read_criteria(struct search_reader *r, unsigned depth)
{
    struct search_node *list = new_criterion(r), **last = list ? &list->a : NULL;

    while (!r->c->is_bad) {
        *last = read_search_key(r, depth + 1);
        if (r->c->is_bad || !imap_char(r->c, ' '))
            break;
        last = &(*last)->next;
    }
    return list;
}

static const struct search_word *find_word(struct str name)
{
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        if (str_iis(name, words[k].name))
            return &words[k];
    }
    return NULL;
}

static bool is_at_set(const struct imap_cur *c)
{
    return imap_at(c, '*') || (c->s.len > 0 && c->s.p[0] >= '0' && c->s.p[0] <= '9');
}

static struct search_node *read_search_key(struct search_reader *r, unsigned depth)
{
    struct imap_cur *c = r->c;

    c->is_bad = c->is_bad || depth > DEPTH_MAX;
    if (!c->is_bad && imap_char(c, '(')) {
        struct search_node *list = read_criteria(r, depth);
        c->is_bad = c->is_bad || !imap_char(c, ')');
        return list;
    }
    struct search_node *n = c->is_bad ? NULL : new_criterion(r);
    if (!n)
        return NULL;
    n->word = is_at_set(c) ? &set_word : find_word(imap_atom(c));
    c->is_bad = c->is_bad || !n->word;
    if (!c->is_bad && n->word != &set_word && n->word->operand != NOTHING)
        imap_space(c);
    if (!c->is_bad)
        read_operand(r, n, depth);
    return n;
}

/* "CHARSET x " at the begin. */
static void read_charset(struct search_reader *r)
{
    struct imap_cur ahead = *r->c;

    if (!str_iis(imap_atom(&ahead), "CHARSET"))
        return;
    imap_space(&ahead);
    r->charset = imap_astring(&ahead);
    imap_space(&ahead);
    *r->c = ahead;
}

/* ---- the command ---- */

static bool is_known_charset(struct str charset)
{
    static const char *const known[] = {"",         "UTF-8",        "UTF8",
                                        "US-ASCII", "ASCII",        "ISO-8859-1",
                                        "LATIN1",   "WINDOWS-1252", "ISO-8859-15"};

    for (size_t k = 0; k < ARRAY_LEN(known); k++) {
        if (str_iis(charset, known[k]))
            return true;
    }
    return false;
}

void imap_search(struct imap *i, struct imap_cur *c)
{
    struct search_reader r = {.i = i, .c = c};
    size_t n = 0;

    imap_space(c);
    read_charset(&r);
    if (!is_known_charset(r.charset)) {
        imap_reply(i, "NO", "[BADCHARSET (UTF-8 US-ASCII ISO-8859-1)] Unknown charset");
        return;
    }
    const struct search_node *keys = read_criteria(&r, 0);
    imap_end(c);
    if (c->is_bad)
        return;
    const struct mail_message *all = mail_messages(i->account, i->folder, &i->arena, &n);
    imap_say(i, "* SEARCH");
    for (size_t k = 0; all && k < i->n_view && !i->is_lost; k++) {
        struct search_look l = {.i = i, .m = imap_find(all, n, i->view[k].uid), .k = k};
        if (l.m && holds_criterion(&l, keys))
            imap_say(i, " %u", i->is_uid ? l.m->uid : (uint32_t)k + 1);
    }
    imap_say(i, "\r\n");
    imap_sync(i, i->is_uid);
    imap_reply(i, "OK", "SEARCH completed");
}
