/* SPDX-License-Identifier: MIT */
/* Tools that show mail. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/mail/mail.h"
#include "local/mail/match.h"

static void fail_mail_read(struct local_call *c, const char *doing, struct str why)
{
    local_textf(c, "Error %s: " STR_FMT, doing, STR_ARG(why));
}

/* ---- pages ---- */

struct mail_page {
    int64_t number, size, n_pages;
    size_t from, to; /* of all, newest first */
};

static struct mail_page page_of(const struct local_call *c, size_t total)
{
    struct mail_page p = {.number = local_int(c, "page", 1), .size = local_int(c, "page_size", 20)};

    if (p.size < 1)
        p.size = 20;
    if (p.size > MAIL_PAGE_MAX)
        p.size = MAIL_PAGE_MAX;
    p.n_pages = ((int64_t)total + p.size - 1) / p.size;
    if (p.number > p.n_pages)
        p.number = p.n_pages;
    if (p.number < 1)
        p.number = 1;
    p.from = (size_t)((p.number - 1) * p.size);
    p.to = p.from + (size_t)p.size < total ? p.from + (size_t)p.size : total;
    return p;
}

static void put_labelled_line(struct buf *b, const char *label, struct str value)
{
    (void)buf_printf(b, "   %s: ", label);
    (void)buf_add_str(b, value);
    (void)buf_add_char(b, '\n');
}

static void put_letter_summary(struct buf *b, size_t place, const struct letter *l)
{
    (void)buf_printf(b, "%zu. ID: %u%s%s\n", place, l->id,
                     l->m.flags & MAIL_SEEN ? "" : " [UNREAD]",
                     l->m.flags & MAIL_FLAGGED ? " [IMPORTANT]" : "");
    put_labelled_line(b, "Subject", l->subject);
    put_labelled_line(b, "From", l->from);
    put_labelled_line(b, "To", l->to);
    if (l->cc.len > 0)
        put_labelled_line(b, "CC", l->cc);
    put_labelled_line(b, "Date", l->date);
    if (l->n_files > 0)
        (void)buf_printf(b, "   Attachments: %zu files\n", l->n_files);
    (void)buf_add_char(b, '\n');
}

/* What a page is taken from: the messages of a folder, or those whose numbers are in IDS, oldest
 * first. */
struct mail_listing {
    const struct mail_message *all;
    const uint32_t *ids; /* NULL: all */
    size_t n;
};

static void put_mail_page(const struct mail_user *u, struct buf *b, const struct mail_listing *of,
                          const struct mail_page *p)
{
    for (size_t k = p->from; k < p->to; k++) {
        struct arena arena auto_arena = {0};
        struct letter l;
        uint32_t id = of->ids ? of->ids[of->n - 1 - k] : (uint32_t)(of->n - k);
        arena_init(&arena, (size_t)256 << 20);
        if (letter_load(&arena, u->account, &of->all[id - 1], &l) < 0)
            continue;
        l.id = id;
        put_letter_summary(b, k + 1, &l);
    }
}

void mail_get_emails(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str why = STR("");
    struct mail_user u;
    struct mail_folder f;
    size_t n = 0;

    if (!mail_user(c, &u, &why) || !mail_user_folder(c, &u, local_str(c, "folder"), &f, &why)) {
        fail_mail_read(c, "getting emails: Failed to get emails", why);
        return;
    }
    const struct mail_message *all = mail_messages(u.account, f.id, &c->arena, &n);
    if (!all || n == 0) {
        local_textf(c, "No emails found in folder '" STR_FMT "'", STR_ARG(f.name));
        return;
    }
    struct mail_page p = page_of(c, n);
    (void)buf_printf(&b, "Emails in " STR_FMT " (Page %d/%d):\nTotal emails: %zu\n\n",
                     STR_ARG(f.name), (int)p.number, (int)p.n_pages, n);
    put_mail_page(&u, &b, &(struct mail_listing){all, NULL, n}, &p);
    local_text(c, buf_str(&b));
}

/* ---- searching ---- */

enum { TERMS_MAX = 32 };

struct mail_term {
    const char *field; /* NULL: anywhere; "": the body */
    uint32_t flag;     /* or a flag */
    bool is_not;
    struct str text;
};

/* "from:ann subject:plan is:unread": words with a known prefix, the others are text. */
static const struct {
    const char *prefix;
    struct mail_term term;
} prefixes[] = {
    {"from:", {.field = "From"}},     {"to:", {.field = "To"}},
    {"cc:", {.field = "Cc"}},         {"subject:", {.field = "Subject"}},
    {"body:", {.field = ""}},         {"is:unread", {.flag = MAIL_SEEN, .is_not = true}},
    {"is:read", {.flag = MAIL_SEEN}}, {"is:important", {.flag = MAIL_FLAGGED}},
};

/* A word, or what is in quotes. */
static struct str next_search_word(struct str *s)
{
    *s = str_trim(*s);
    size_t n = 0;
    bool is_quoted = false;

    for (; n < s->len && (is_quoted || s->p[n] != ' '); n++)
        is_quoted = is_quoted != (s->p[n] == '"');
    struct str word = str_n(s->p, n);
    *s = str_skip(*s, n);
    return word;
}

static bool read_search_term(struct str word, struct mail_term *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        struct str prefix = str_of(prefixes[i].prefix);
        if (word.len < prefix.len || !str_ieq(str_slice(word, 0, prefix.len), prefix))
            continue;
        *ret = prefixes[i].term;
        ret->text = str_skip(word, prefix.len);
        if (ret->text.len > 1 && ret->text.p[0] == '"')
            ret->text = str_slice(ret->text, 1, ret->text.len - 1);
        return (ret->flag != 0) == (ret->text.len == 0);
    }
    *ret = (struct mail_term){.text = word};
    return false;
}

/* The terms of QUERY: without a prefix it is one text. */
static size_t read_mail_query(struct str query, struct mail_term terms[TERMS_MAX])
{
    struct str rest = query;
    bool has_prefix = false;
    size_t n = 0;

    while (str_trim(rest).len > 0 && n < TERMS_MAX)
        has_prefix = read_search_term(next_search_word(&rest), &terms[n++]) || has_prefix;
    if (has_prefix)
        return n;
    terms[0] = (struct mail_term){.text = query};
    return 1;
}

static bool has_term(struct arena *a, const struct letter *l, const struct mail_term *t)
{
    if (t->flag)
        return !(l->m.flags & t->flag) == t->is_not;
    if (t->field && t->field[0])
        return match_header(a, l->top->header, t->field, t->text);
    bool is_in_body = match_body(a, l->top, t->text);
    return is_in_body || (!t->field && match_header(a, l->top->header, NULL, t->text));
}

static bool is_mail_found(const struct mail_user *u, const struct mail_message *m,
                          const struct mail_term *terms, size_t n)
{
    struct arena arena auto_arena = {0};
    struct letter l;

    arena_init(&arena, (size_t)256 << 20);
    if (letter_load(&arena, u->account, m, &l) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!has_term(&arena, &l, &terms[i]))
            return false;
    }
    return true;
}

static size_t find_all(struct local_call *c, const struct mail_user *u,
                       const struct mail_message *all, size_t n, uint32_t *ids)
{
    struct mail_term terms[TERMS_MAX];
    size_t n_terms = read_mail_query(str_trim(local_str(c, "query")), terms), found = 0;

    for (size_t k = 0; k < n; k++) {
        if (is_mail_found(u, &all[k], terms, n_terms))
            ids[found++] = (uint32_t)k + 1;
    }
    return found;
}

void mail_search_emails(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str why = STR(""), query = local_str(c, "query");
    struct mail_user u;
    struct mail_folder f;
    size_t n = 0;

    if (str_trim(query).len == 0)
        why = STR("Search query cannot be empty");
    else if (query.len > MAIL_QUERY_MAX)
        why = STR("Search query too long (max 1000 characters)");
    if (why.len > 0 || !mail_user(c, &u, &why) ||
        !mail_user_folder(c, &u, local_str(c, "folder"), &f, &why)) {
        fail_mail_read(c, "searching emails: Failed to search emails", why);
        return;
    }
    const struct mail_message *all = mail_messages(u.account, f.id, &c->arena, &n);
    uint32_t *ids = arena_zalloc(&c->arena, n + 1, sizeof *ids);
    size_t found = all && ids ? find_all(c, &u, all, n, ids) : 0;
    if (found == 0) {
        local_textf(c, "No emails found matching query: " STR_FMT, STR_ARG(query));
        return;
    }
    struct mail_page p = page_of(c, found);
    (void)buf_printf(&b, "Search results for '" STR_FMT "' (Page %d/%d):\nTotal results: %zu\n\n",
                     STR_ARG(query), (int)p.number, (int)p.n_pages, found);
    put_mail_page(&u, &b, &(struct mail_listing){all, ids, found}, &p);
    local_text(c, buf_str(&b));
}

/* ---- one of them ---- */

static void put_mail_letter(struct buf *b, struct arena *a, const struct letter *l)
{
    (void)buf_printf(b, "Email ID: %u\nFolder: " STR_FMT "\n", l->id, STR_ARG(l->folder));
    const struct {
        const char *label;
        struct str value;
        bool is_optional;
    } lines[] = {{"Subject", l->subject, false},
                 {"From", l->from, false},
                 {"To", l->to, false},
                 {"CC", l->cc, true},
                 {"BCC", l->bcc, true},
                 {"Date", l->date, false},
                 {"Message-ID", l->message_id, true}};

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (lines[i].is_optional && lines[i].value.len == 0)
            continue;
        (void)buf_printf(b, "%s: " STR_FMT "\n", lines[i].label, STR_ARG(lines[i].value));
    }
    (void)buf_printf(b, "Status: Read%s\n", l->m.flags & MAIL_FLAGGED ? ", Important" : "");
    if (l->n_files > 0)
        (void)buf_printf(b, "Attachments (%zu):\n", l->n_files);
    for (size_t i = 0; i < l->n_files; i++)
        (void)buf_printf(b, "  - " STR_FMT " (" STR_FMT ", %zu bytes)\n", STR_ARG(l->files[i].name),
                         STR_ARG(l->files[i].type), mime_bytes(a, l->files[i].part).len);
    if (l->text.len > 0 || l->html.len == 0) {
        (void)buf_add_lit(b, "\nBody:\n");
        (void)buf_add_str(b, l->text);
    }
    if (l->html.len > 0) {
        (void)buf_add_lit(b, "\nHTML Body:\n");
        (void)buf_add_str(b, l->html);
    }
}

void mail_read_email(struct local_call *c)
{
    static const uint32_t add_seen[2] = {UINT32_MAX, MAIL_SEEN};
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str why = STR(""), id = local_str(c, "email_id");
    struct letter *l = arena_new(&c->arena, struct letter);
    struct mail_user u;
    struct mail_folder f;

    if (!l || !mail_user(c, &u, &why) || !letter_open(c, &u, l, &why)) {
        local_textf(c, "Error reading email: Failed to read email " STR_FMT ": " STR_FMT,
                    STR_ARG(id), STR_ARG(why));
        return;
    }
    if (mail_folder_find(u.account, l->folder, &f) == 0)
        (void)mail_set_flags(u.account, f.id, l->m.uid, add_seen, &l->m);
    put_mail_letter(&b, &c->arena, l);
    local_text(c, buf_str(&b));
}

void mail_get_email_headers(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str why = STR(""), id = local_str(c, "email_id"), name, value;
    struct letter *l = arena_new(&c->arena, struct letter);
    struct mail_user u;

    if (!l || !mail_user(c, &u, &why) || !letter_open(c, &u, l, &why)) {
        fail_mail_read(c, "getting email headers", why);
        return;
    }
    (void)buf_printf(&b, "Email Headers for ID: " STR_FMT "\n", STR_ARG(id));
    (void)buf_add_lit(&b, "==================================================\n");
    for (struct str header = l->top->header; mime_next(&header, &name, &value);)
        (void)buf_printf(&b, STR_FMT ": " STR_FMT "\n", STR_ARG(name),
                         STR_ARG(mime_unfold(&c->arena, value)));
    local_text(c, buf_str(&b));
}

void mail_check_connection(struct local_call *c)
{
    struct str why = STR("");
    struct mail_user u;

    if (mail_user(c, &u, &why))
        local_text(c, STR("Connection Status:\nIMAP: ✓ Connected\nSMTP: ✓ Connected\n\n"
                          "All connections are working properly"));
    else
        local_textf(c,
                    "Connection Status:\nIMAP: ✗ Failed\nSMTP: ✗ Failed\n\n"
                    "Error: Both connections failed - check configuration\n" STR_FMT,
                    STR_ARG(why));
}
