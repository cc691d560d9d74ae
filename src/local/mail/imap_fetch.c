/* SPDX-License-Identifier: MIT */
/* FETCH. */
#include "base/cleanup.h"
#include "local/mail/date.h"
#include "local/mail/imap_internal.h"

enum kind { FLAGS, UID, DATE, SIZE, ENVELOPE, BODY, BODYSTRUCTURE, SECTION, KIND_COUNT };
/* What of a part a section means. */
enum piece { WHOLE, HEADER, FIELDS, FIELDS_NOT, TEXT, MIME };

struct fetch_item {
    enum kind kind;
    enum piece piece;
    struct str name; /* as the answer names it */
    bool is_peek;
    uint32_t path[IMAP_PATH_MAX]; /* of the part: 1, 2, … */
    size_t n_path;
    struct str fields; /* "(From To)", as it was given */
    bool is_partial;
    uint32_t from, count;
};

struct request {
    struct fetch_item items[IMAP_FETCH_MAX];
    struct fetch_item spare; /* what is over the limit is read and refused */
    size_t n;
    bool needs_message, sets_seen;
};

/* ---- reading ---- */

/* The words, and what they mean; those of RFC822 are sections by another name. */
static const struct {
    const char *word;
    enum kind kind;
    enum piece piece;
    bool is_peek;
} words[] = {
    {"FLAGS", FLAGS, WHOLE, true},
    {"UID", UID, WHOLE, true},
    {"INTERNALDATE", DATE, WHOLE, true},
    {"RFC822.SIZE", SIZE, WHOLE, true},
    {"ENVELOPE", ENVELOPE, WHOLE, true},
    {"BODY", BODY, WHOLE, true},
    {"BODYSTRUCTURE", BODYSTRUCTURE, WHOLE, true},
    {"RFC822", SECTION, WHOLE, false},
    {"RFC822.HEADER", SECTION, HEADER, true},
    {"RFC822.TEXT", SECTION, TEXT, false},
};

static const struct {
    const char *word, *items;
} macros[] = {{"ALL", "FLAGS INTERNALDATE RFC822.SIZE ENVELOPE"},
              {"FAST", "FLAGS INTERNALDATE RFC822.SIZE"},
              {"FULL", "FLAGS INTERNALDATE RFC822.SIZE ENVELOPE BODY"}};

static const struct {
    const char *word;
    enum piece piece;
} pieces[] = {{"HEADER", HEADER},
              {"HEADER.FIELDS", FIELDS},
              {"HEADER.FIELDS.NOT", FIELDS_NOT},
              {"TEXT", TEXT},
              {"MIME", MIME}};

static struct fetch_item *new_fetch_item(struct request *q, struct imap_cur *c)
{
    if (q->n == IMAP_FETCH_MAX) {
        c->is_bad = true;
        return &q->spare;
    }
    q->items[q->n] = (struct fetch_item){0};
    return &q->items[q->n++];
}

/* The header's names behind HEADER.FIELDS. */
static void read_fetch_fields(struct imap_cur *c, struct fetch_item *it)
{
    imap_space(c);
    const char *begin = c->s.p;
    c->is_bad = c->is_bad || !imap_char(c, '(');
    do {
        (void)imap_astring(c);
    } while (!c->is_bad && imap_char(c, ' '));
    c->is_bad = c->is_bad || !imap_char(c, ')');
    it->fields = str_n(begin, (size_t)(c->s.p - begin));
}

static void read_section_path(struct imap_cur *c, struct fetch_item *it)
{
    while (c->s.len > 0 && c->s.p[0] >= '1' && c->s.p[0] <= '9' && !c->is_bad) {
        c->is_bad = it->n_path == IMAP_PATH_MAX;
        uint32_t n = imap_number(c);
        if (!c->is_bad)
            it->path[it->n_path++] = n;
        if (!imap_char(c, '.'))
            break;
    }
}

/* "1.2.HEADER" up to "]". */
static void read_fetch_section(struct imap_cur *c, struct fetch_item *it)
{
    size_t k = 0;

    read_section_path(c, it);
    if (imap_char(c, ']'))
        return;
    struct str word = imap_atom(c);
    while (k < ARRAY_LEN(pieces) && !str_iis(word, pieces[k].word))
        k++;
    it->piece = k < ARRAY_LEN(pieces) ? pieces[k].piece : WHOLE;
    c->is_bad = c->is_bad || it->piece == WHOLE || (it->piece == MIME && it->n_path == 0);
    if (!c->is_bad && (it->piece == FIELDS || it->piece == FIELDS_NOT))
        read_fetch_fields(c, it);
    c->is_bad = c->is_bad || !imap_char(c, ']');
}

/* "<0.100>" */
static void read_partial(struct imap_cur *c, struct fetch_item *it)
{
    it->is_partial = imap_char(c, '<');
    if (!it->is_partial)
        return;
    it->from = imap_number(c);
    c->is_bad = c->is_bad || !imap_char(c, '.');
    it->count = imap_number(c);
    c->is_bad = c->is_bad || it->count == 0 || !imap_char(c, '>');
}

/* The name of an item ends where a section begins. */
static struct str item_word(struct imap_cur *c)
{
    size_t n = 0;

    while (n < c->s.len && c->s.p[n] && !strchr("[ ()<]", c->s.p[n]))
        n++;
    struct str word = str_n(c->s.p, n);
    c->s = str_skip(c->s, n);
    return word;
}

static void read_fetch_item(struct imap_cur *c, struct request *q)
{
    struct fetch_item *it = new_fetch_item(q, c);
    const char *begin = c->s.p;
    struct str word = item_word(c);
    bool is_peek = str_iis(word, "BODY.PEEK"), is_known = false;

    if ((str_iis(word, "BODY") || is_peek) && imap_char(c, '[')) {
        it->kind = SECTION;
        it->is_peek = is_peek;
        read_fetch_section(c, it);
        struct str section = str_n(begin + word.len, (size_t)(c->s.p - begin) - word.len);
        it->name = arena_printf(c->arena, "BODY" STR_FMT, STR_ARG(section));
        read_partial(c, it);
        return;
    }
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        if (!str_iis(word, words[k].word))
            continue;
        it->kind = words[k].kind;
        it->piece = words[k].piece;
        it->is_peek = words[k].is_peek;
        it->name = str_of(words[k].word);
        is_known = true;
    }
    c->is_bad = c->is_bad || !is_known;
}

static void read_macro(struct imap_cur *c, struct request *q)
{
    for (size_t k = 0; k < ARRAY_LEN(macros); k++) {
        if (!str_iis(c->s, macros[k].word))
            continue;
        struct imap_cur items = {.s = str_of(macros[k].items), .arena = c->arena};
        do {
            read_fetch_item(&items, q);
        } while (imap_char(&items, ' '));
        c->s = STR("");
    }
}

static void read_fetch_request(struct imap *i, struct imap_cur *c, struct request *q)
{
    bool is_list = imap_char(c, '('), has_uid = false;

    if (!is_list)
        read_macro(c, q);
    while (q->n == 0 || (is_list && !c->is_bad && imap_char(c, ' ')))
        read_fetch_item(c, q);
    c->is_bad = c->is_bad || (is_list && !imap_char(c, ')'));
    imap_end(c);
    for (size_t k = 0; k < q->n; k++) {
        has_uid = has_uid || q->items[k].kind == UID;
        q->needs_message = q->needs_message || q->items[k].kind >= ENVELOPE;
        q->sets_seen = q->sets_seen || !q->items[k].is_peek;
    }
    if (i->is_uid && !has_uid && !c->is_bad)
        *new_fetch_item(q, c) = (struct fetch_item){.kind = UID, .is_peek = true};
}

/* ---- sections ---- */

/* The part that PATH leads to, or NULL. */
static const struct mime_part *find_fetch_part(const struct mime_part *p,
                                               const struct fetch_item *it)
{
    for (size_t k = 0; k < it->n_path; k++) {
        if (p->is_message)
            p = &p->parts[0];
        if (p->is_multipart && it->path[k] <= p->n_parts)
            p = &p->parts[it->path[k] - 1];
        else if (p->is_multipart || it->path[k] != 1)
            return NULL;
        /* The one part of a message that has no parts is its body. */
    }
    return p;
}

static bool is_fetch_named(struct imap *i, struct str list, struct str name)
{
    struct imap_cur c = {.s = str_slice(list, 1, list.len - 1), .arena = &i->one};

    do {
        if (str_ieq(imap_astring(&c), name))
            return true;
    } while (!c.is_bad && imap_char(&c, ' '));
    return false;
}

/* The fields that IT names, or all others, with the empty line. */
static struct str some_fields(struct imap *i, struct str header, const struct fetch_item *it)
{
    auto_buf struct buf b = BUF_INIT(header.len + 16);
    struct str name, value;

    while (header.len > 0) {
        const char *begin = header.p;
        if (!mime_next(&header, &name, &value))
            break;
        begin = name.p > begin ? name.p : begin;
        if (is_fetch_named(i, it->fields, name) == (it->piece == FIELDS))
            (void)buf_add(&b, begin, (size_t)(header.p - begin));
    }
    (void)buf_add_lit(&b, "\r\n");
    struct str out = arena_str(&i->one, buf_str(&b));
    return out.p ? out : STR("");
}

static struct str section(struct imap *i, const struct mime_part *top, const struct fetch_item *it)
{
    const struct mime_part *p = find_fetch_part(top, it);

    if (!p)
        return STR_NULL;
    if (it->piece == MIME)
        return p->header;
    if (it->n_path == 0 && it->piece == WHOLE)
        return p->whole;
    if (it->piece == WHOLE)
        return p->body;
    /* HEADER and TEXT of a part are those of the message in it. */
    if (it->n_path > 0) {
        if (!p->is_message)
            return STR_NULL;
        p = &p->parts[0];
    }
    if (it->piece == HEADER)
        return p->header;
    return it->piece == TEXT ? p->body : some_fields(i, p->header, it);
}

/* ---- answers ---- */

static void say_section(struct imap *i, const struct mime_part *top, const struct fetch_item *it)
{
    struct str s = section(i, top, it);

    imap_add(i, it->name);
    if (it->is_partial) {
        imap_say(i, "<%u>", it->from);
        s = s.p ? str_slice(s, it->from, (size_t)it->from + it->count) : s;
    }
    if (!s.p) {
        imap_say(i, " NIL");
        return;
    }
    imap_say(i, " {%zu}\r\n", s.len);
    imap_add(i, s);
}

static void say_item(struct imap *i, const struct fetch_item *it, const struct mail_message *m,
                     const struct mime_part *top)
{
    char date[MAIL_DATE_MAX];

    switch (it->kind) {
    case FLAGS: imap_say_flags(i, m); break;
    case UID: imap_say(i, "UID %u", m->uid); break;
    case DATE:
        mail_date_internal(date, m->date_s);
        imap_say(i, "INTERNALDATE \"%s\"", date);
        break;
    case SIZE: imap_say(i, "RFC822.SIZE %u", m->size); break;
    case ENVELOPE:
        imap_say(i, "ENVELOPE ");
        imap_envelope(i, top);
        break;
    case BODY:
    case BODYSTRUCTURE:
        imap_say(i, it->kind == BODY ? "BODY " : "BODYSTRUCTURE ");
        imap_structure(i, top, it->kind == BODYSTRUCTURE);
        break;
    case SECTION: say_section(i, top, it); break;
    case KIND_COUNT:
    default: break;
    }
}

/* The K-th message of the view. */
static void fetch_one(struct imap *i, const struct request *q, size_t k,
                      const struct mail_message *have)
{
    static const uint32_t add_seen[2] = {UINT32_MAX, MAIL_SEEN};
    struct mail_message m = *have;
    struct mime_part *top = NULL;
    struct str raw;
    bool has_flags = false, is_new = q->sets_seen && !i->is_read_only && !(m.flags & MAIL_SEEN);

    arena_reset(&i->one);
    if (q->needs_message) {
        if (mail_read(i->account, m.file, &i->one, &raw) < 0)
            return;
        top = mime_parse(&i->one, raw);
        if (!top)
            return;
    }
    if (is_new && mail_set_flags(i->account, i->folder, m.uid, add_seen, &m) == 0)
        i->view[k].change = m.change;
    imap_say(i, "* %zu FETCH (", k + 1);
    for (size_t n = 0; n < q->n; n++) {
        has_flags = has_flags || q->items[n].kind == FLAGS;
        imap_say(i, n > 0 ? " " : "");
        say_item(i, &q->items[n], &m, top);
    }
    if (is_new && !has_flags) {
        imap_say(i, " ");
        imap_say_flags(i, &m);
    }
    imap_say(i, ")\r\n");
}

void imap_fetch(struct imap *i, struct imap_cur *c)
{
    struct request *q = arena_new(&i->arena, struct request);
    size_t n = 0;

    imap_space(c);
    struct imap_set set = imap_set(c);
    imap_space(c);
    if (c->is_bad || !q) {
        c->is_bad = true;
        return;
    }
    read_fetch_request(i, c, q);
    if (c->is_bad)
        return;
    const struct mail_message *all = mail_messages(i->account, i->folder, &i->arena, &n);
    for (size_t k = 0; all && k < i->n_view && !i->is_lost; k++) {
        if (!imap_has(i, &set, k))
            continue;
        const struct mail_message *m = imap_find(all, n, i->view[k].uid);
        if (m)
            fetch_one(i, q, k, m);
    }
    imap_sync(i, i->is_uid);
    imap_reply(i, "OK", "FETCH completed");
}
