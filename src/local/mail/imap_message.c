/* SPDX-License-Identifier: MIT */
/* Commands that change messages: STORE, COPY, MOVE, EXPUNGE, CLOSE. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/mail/imap_internal.h"

static bool may_write(struct imap *i)
{
    if (i->is_read_only)
        imap_reply(i, "NO", "[READ-ONLY] The mailbox was opened read-only");
    return !i->is_read_only;
}

/* ---- STORE ---- */

struct imap_change {
    uint32_t keep_set[2];
    bool is_silent;
};

/* "+FLAGS.SILENT (\Seen)" */
static struct imap_change read_imap_change(struct imap *i, struct imap_cur *c)
{
    bool is_more = imap_char(c, '+'), is_less = !is_more && imap_char(c, '-');
    struct str word = imap_atom(c);
    struct imap_change change = {.is_silent = str_iis(word, "FLAGS.SILENT")};

    c->is_bad = c->is_bad || !(change.is_silent || str_iis(word, "FLAGS"));
    imap_space(c);
    uint32_t flags = c->is_bad ? 0 : imap_flags(i, c, !is_less);
    imap_end(c);
    change.keep_set[0] = is_more ? UINT32_MAX : is_less ? ~flags : 0;
    change.keep_set[1] = is_less ? 0 : flags;
    return change;
}

void imap_store(struct imap *i, struct imap_cur *c)
{
    struct mail_message m;

    imap_space(c);
    struct imap_set set = imap_set(c);
    imap_space(c);
    struct imap_change change = read_imap_change(i, c);
    if (c->is_bad || !may_write(i))
        return;
    for (size_t k = 0; k < i->n_view; k++) {
        if (!imap_has(i, &set, k) ||
            mail_set_flags(i->account, i->folder, i->view[k].uid, change.keep_set, &m) < 0)
            continue;
        i->view[k].change = m.change;
        if (change.is_silent)
            continue;
        imap_say(i, "* %zu FETCH (", k + 1);
        if (i->is_uid)
            imap_say(i, "UID %u ", m.uid);
        imap_say_flags(i, &m);
        imap_say(i, ")\r\n");
    }
    imap_sync(i, i->is_uid);
    imap_reply(i, "OK", "STORE completed");
}

/* ---- COPY and MOVE ---- */

/* The UIDs before and after, as the client sees them. */
struct imap_pairs {
    struct buf *from, *to;
};

/* Copies the K-th message and notes both UIDs. */
static int copy_one_message(struct imap *i, size_t k, uint32_t to, const struct imap_pairs *p)
{
    uint32_t uid;
    int r = mail_copy(i->account, i->folder, i->view[k].uid, to, &uid);

    if (r == -ENOENT) /* somebody else removed it */
        return 0;
    if (r < 0)
        return r;
    (void)buf_printf(p->from, "%s%u", p->from->len ? "," : "", i->view[k].uid);
    (void)buf_printf(p->to, "%s%u", p->to->len ? "," : "", uid);
    return 0;
}

/* Copies what is in SET, and removes it when it is moved. */
static int copy_all_messages(struct imap *i, const struct imap_set *set, uint32_t to, bool is_move,
                             const struct imap_pairs *p)
{
    for (size_t k = 0; k < i->n_view; k++) {
        if (!imap_has(i, set, k))
            continue;
        int r = copy_one_message(i, k, to, p);
        if (r < 0)
            return r;
        if (is_move)
            (void)mail_remove(i->account, i->folder, i->view[k].uid);
    }
    return 0;
}

static void copy_messages(struct imap *i, struct imap_cur *c, bool is_move)
{
    auto_buf struct buf from = BUF_INIT(4 << 20), to = BUF_INIT(4 << 20);
    struct mail_folder f;

    imap_space(c);
    struct imap_set set = imap_set(c);
    imap_space(c);
    struct str name = imap_mailbox(c);
    imap_end(c);
    if (c->is_bad || (is_move && !may_write(i)))
        return;
    if (mail_folder_find(i->account, name, &f) < 0) {
        imap_reply(i, "NO", "[TRYCREATE] There is no such mailbox");
        return;
    }
    int r = copy_all_messages(i, &set, f.id, is_move, &(struct imap_pairs){&from, &to});
    struct str code = STR("");
    if (from.len > 0 && buf_ok(&from) && buf_ok(&to))
        code = arena_printf(&i->arena, "[COPYUID %u %s %s] ", f.uid_validity, buf_cstr(&from),
                            buf_cstr(&to));
    /* A move reports where to before it happens. */
    if (is_move)
        imap_say(i, "* OK " STR_FMT "Moved\r\n", STR_ARG(code));
    imap_sync(i, true);
    if (r < 0)
        imap_fail(i, r);
    else
        imap_reply(i, "OK", STR_FMT "Completed", STR_ARG(is_move ? STR("") : code));
}

void imap_copy(struct imap *i, struct imap_cur *c)
{
    copy_messages(i, c, false);
}

void imap_move(struct imap *i, struct imap_cur *c)
{
    copy_messages(i, c, true);
}

/* ---- EXPUNGE ---- */

/* Those with \Deleted; of SET when it is not NULL. */
static void remove_deleted(struct imap *i, const struct imap_set *set)
{
    size_t n = 0;
    const struct mail_message *all = mail_messages(i->account, i->folder, &i->arena, &n);

    for (size_t k = 0; all && k < n; k++) {
        if (!(all[k].flags & MAIL_DELETED))
            continue;
        if (!set || imap_set_has(set, all[k].uid, all[n - 1].uid))
            (void)mail_remove(i->account, i->folder, all[k].uid);
    }
}

void imap_expunge(struct imap *i, struct imap_cur *c)
{
    struct imap_set set = {0};

    if (i->is_uid) {
        imap_space(c);
        set = imap_set(c);
    }
    imap_end(c);
    if (c->is_bad || !may_write(i))
        return;
    remove_deleted(i, i->is_uid ? &set : NULL);
    imap_sync(i, true);
    imap_reply(i, "OK", "EXPUNGE completed");
}

void imap_do_close(struct imap *i, struct imap_cur *c)
{
    imap_end(c);
    if (c->is_bad)
        return;
    if (!i->is_read_only)
        remove_deleted(i, NULL);
    imap_close(i);
    imap_reply(i, "OK", "CLOSE completed");
}

void imap_unselect(struct imap *i, struct imap_cur *c)
{
    imap_end(c);
    if (c->is_bad)
        return;
    imap_close(i);
    imap_reply(i, "OK", "UNSELECT completed");
}
