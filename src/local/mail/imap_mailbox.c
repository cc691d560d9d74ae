/* SPDX-License-Identifier: MIT */
/* Commands on mailboxes. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "local/mail/date.h"
#include "local/mail/imap_internal.h"
#include "local/mail/utf7.h"

enum { PATTERN_MAX = 1000 };

/* What programs use to find the folders of known purpose (RFC 6154). */
static const struct {
    const char *name, *use;
} uses[] = {{"Sent", "\\Sent"}, {"Drafts", "\\Drafts"}, {"Trash", "\\Trash"}, {"Junk", "\\Junk"}};

static struct str one_mailbox(struct imap_cur *c)
{
    imap_space(c);
    struct str name = imap_mailbox(c);
    imap_end(c);
    return name;
}

static void answer_mailbox_result(struct imap *i, int r, const char *what)
{
    if (r < 0)
        imap_fail(i, r);
    else
        imap_reply(i, "OK", "%s completed", what);
}

/* ---- selecting ---- */

static void say_flag_names(struct imap *i, const char *before, const char *after)
{
    imap_say(i, "%s(\\Answered \\Flagged \\Deleted \\Seen \\Draft", before);
    for (size_t k = 0; k < MAIL_KEYWORDS_MAX; k++) {
        struct str name = mail_keyword_at(i->account, k, &i->arena);
        if (name.p)
            imap_say(i, " " STR_FMT, STR_ARG(name));
    }
    imap_say(i, "%s\r\n", after);
}

static void say_first_unseen(struct imap *i)
{
    size_t n = 0;
    const struct mail_message *all = mail_messages(i->account, i->folder, &i->arena, &n);

    for (size_t k = 0; all && k < n; k++) {
        if (all[k].flags & MAIL_SEEN)
            continue;
        imap_say(i, "* OK [UNSEEN %zu] First unseen\r\n", k + 1);
        return;
    }
}

static void open_mailbox(struct imap *i, struct imap_cur *c, bool is_read_only)
{
    struct mail_folder f;
    struct str name = one_mailbox(c);

    if (c->is_bad)
        return;
    imap_close(i);
    int r = mail_folder_find(i->account, name, &f);
    if (r == 0)
        r = imap_open(i, &f, is_read_only);
    if (r < 0) {
        imap_fail(i, r);
        return;
    }
    say_flag_names(i, "* FLAGS ", ")");
    say_flag_names(i, "* OK [PERMANENTFLAGS ", is_read_only ? ")] Read only" : " \\*)] Limited");
    imap_say(i, "* %u EXISTS\r\n* %u RECENT\r\n", f.n, f.n_recent);
    say_first_unseen(i);
    imap_say(i, "* OK [UIDVALIDITY %u] UIDs valid\r\n* OK [UIDNEXT %u] Predicted next UID\r\n",
             f.uid_validity, f.uid_next);
    imap_reply(i, "OK", "[READ-%s] Completed", is_read_only ? "ONLY" : "WRITE");
}

void imap_select(struct imap *i, struct imap_cur *c)
{
    open_mailbox(i, c, false);
}

void imap_examine(struct imap *i, struct imap_cur *c)
{
    open_mailbox(i, c, true);
}

/* ---- making and removing ---- */

void imap_create(struct imap *i, struct imap_cur *c)
{
    struct str name = one_mailbox(c);

    if (c->is_bad)
        return;
    /* A delimiter behind the name says that others will be below it. */
    if (name.len > 1 && name.p[name.len - 1] == '/')
        name.len--;
    answer_mailbox_result(i, mail_folder_create(i->account, name, NULL), "CREATE");
}

void imap_delete(struct imap *i, struct imap_cur *c)
{
    struct str name = one_mailbox(c);

    if (!c->is_bad)
        answer_mailbox_result(i, mail_folder_delete(i->account, name), "DELETE");
}

void imap_rename(struct imap *i, struct imap_cur *c)
{
    imap_space(c);
    struct str from = imap_mailbox(c);
    struct str to = one_mailbox(c);

    if (!c->is_bad)
        answer_mailbox_result(i, mail_folder_rename(i->account, from, to), "RENAME");
}

void imap_subscribe(struct imap *i, struct imap_cur *c)
{
    struct str name = one_mailbox(c);

    if (!c->is_bad)
        answer_mailbox_result(i, mail_folder_subscribe(i->account, name, true), "SUBSCRIBE");
}

void imap_unsubscribe(struct imap *i, struct imap_cur *c)
{
    struct str name = one_mailbox(c);

    if (!c->is_bad)
        answer_mailbox_result(i, mail_folder_subscribe(i->account, name, false), "UNSUBSCRIBE");
}

/* ---- listing ---- */

/* "*" is anything, "%" anything without a delimiter. AT says which beginnings of NAME the pattern
 * so far may be. */
static bool matches_mailbox(struct str pattern, struct str name)
{
    bool at[MAIL_FOLDER_NAME_MAX + 1] = {true};

    if (name.len > MAIL_FOLDER_NAME_MAX || pattern.len > PATTERN_MAX)
        return false;
    for (size_t p = 0; p < pattern.len; p++) {
        char c = pattern.p[p];
        bool is_wild = c == '*' || c == '%';
        for (size_t n = 0; is_wild && n < name.len; n++)
            at[n + 1] = at[n + 1] || (at[n] && (c == '*' || name.p[n] != '/'));
        for (size_t n = name.len; !is_wild && n > 0; n--)
            at[n] = at[n - 1] && name.p[n - 1] == c;
        at[0] = at[0] && is_wild;
    }
    return at[name.len];
}

static bool has_children(const struct mail_folder *all, size_t n, struct str name)
{
    for (size_t k = 0; k < n; k++) {
        if (all[k].name.len > name.len && str_starts(all[k].name, name) &&
            all[k].name.p[name.len] == '/')
            return true;
    }
    return false;
}

static void list_mailboxes(struct imap *i, struct imap_cur *c, const char *what)
{
    bool is_lsub = what[1] == 'S';
    size_t n = 0;

    imap_space(c);
    struct str reference = imap_mailbox(c);
    imap_space(c);
    struct str pattern = imap_pattern(c);
    imap_end(c);
    if (c->is_bad)
        return;
    if (pattern.len == 0) {
        imap_say(i, "* %s (\\Noselect) \"/\" \"\"\r\n", what);
        imap_reply(i, "OK", "%s completed", what);
        return;
    }
    pattern = arena_printf(&i->arena, STR_FMT STR_FMT, STR_ARG(reference),
                           STR_ARG(utf7_decode(&i->arena, pattern)));
    if (str_iis(pattern, "INBOX"))
        pattern = STR("INBOX");
    const struct mail_folder *all = mail_folders(i->account, &i->arena, &n);
    for (size_t k = 0; all && pattern.p && k < n; k++) {
        if ((is_lsub && !all[k].is_subscribed) || !matches_mailbox(pattern, all[k].name))
            continue;
        imap_say(i, "* %s (\\Has%sChildren", what, has_children(all, n, all[k].name) ? "" : "No");
        for (size_t u = 0; u < ARRAY_LEN(uses); u++) {
            if (str_is(all[k].name, uses[u].name))
                imap_say(i, " %s", uses[u].use);
        }
        imap_say(i, ") \"/\" ");
        imap_say_quoted(i, utf7_encode(&i->arena, all[k].name));
        imap_say(i, "\r\n");
    }
    imap_reply(i, "OK", "%s completed", what);
}

void imap_list(struct imap *i, struct imap_cur *c)
{
    list_mailboxes(i, c, "LIST");
}

void imap_lsub(struct imap *i, struct imap_cur *c)
{
    list_mailboxes(i, c, "LSUB");
}

void imap_namespace(struct imap *i, struct imap_cur *c)
{
    imap_end(c);
    if (c->is_bad)
        return;
    imap_say(i, "* NAMESPACE ((\"\" \"/\")) NIL NIL\r\n");
    imap_reply(i, "OK", "NAMESPACE completed");
}

/* ---- status ---- */

static bool status_item(const struct mail_folder *f, struct str name, uint32_t *ret)
{
    const struct {
        const char *name;
        uint32_t value;
    } items[] = {{"MESSAGES", f->n},
                 {"RECENT", f->n_recent},
                 {"UIDNEXT", f->uid_next},
                 {"UIDVALIDITY", f->uid_validity},
                 {"UNSEEN", f->n_unseen}};

    for (size_t k = 0; k < ARRAY_LEN(items); k++) {
        if (!str_iis(name, items[k].name))
            continue;
        *ret = items[k].value;
        return true;
    }
    return false;
}

void imap_status(struct imap *i, struct imap_cur *c)
{
    auto_buf struct buf b = BUF_INIT(4096);
    struct mail_folder f = {0};
    uint32_t value = 0;

    imap_space(c);
    struct str name = imap_mailbox(c);
    imap_space(c);
    c->is_bad = c->is_bad || !imap_char(c, '(');
    int r = c->is_bad ? 0 : mail_folder_find(i->account, name, &f);
    do {
        struct str item = imap_atom(c);
        c->is_bad = c->is_bad || !status_item(&f, item, &value);
        (void)buf_printf(&b, "%s" STR_FMT " %u", b.len > 0 ? " " : "", STR_ARG(item), value);
    } while (!c->is_bad && imap_char(c, ' '));
    c->is_bad = c->is_bad || !imap_char(c, ')') || !buf_ok(&b);
    imap_end(c);
    if (c->is_bad)
        return;
    if (r < 0) {
        imap_fail(i, r);
        return;
    }
    imap_say(i, "* STATUS ");
    imap_say_quoted(i, utf7_encode(&i->arena, name));
    imap_say(i, " (" STR_FMT ")\r\n", STR_ARG(buf_str(&b)));
    imap_reply(i, "OK", "STATUS completed");
}

/* ---- appending ---- */

void imap_append(struct imap *i, struct imap_cur *c)
{
    struct mail_date date = {.s = clock_real_us() / 1000000};
    struct mail_message as = {0};
    struct mail_folder f;
    uint32_t uid = 0;

    imap_space(c);
    struct str name = imap_mailbox(c);
    imap_space(c);
    if (imap_at(c, '(')) {
        as.flags = imap_flags(i, c, true);
        imap_space(c);
    }
    if (imap_at(c, '"')) {
        struct str text = imap_string(c);
        c->is_bad = c->is_bad || mail_date_parse(text, date.s, &date) < 0;
        imap_space(c);
    }
    c->is_bad = c->is_bad || !imap_at(c, '{');
    struct str raw = imap_string(c);
    imap_end(c);
    if (c->is_bad)
        return;
    as.date_s = date.s;
    int r = mail_folder_find(i->account, name, &f);
    if (r == -ENOENT) {
        imap_reply(i, "NO", "[TRYCREATE] There is no such mailbox");
        return;
    }
    if (r == 0)
        r = mail_add(i->account, f.id, raw, &as, &uid);
    if (r < 0) {
        imap_fail(i, r);
        return;
    }
    imap_sync(i, true);
    imap_reply(i, "OK", "[APPENDUID %u %u] APPEND completed", f.uid_validity, uid);
}
