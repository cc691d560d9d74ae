/* SPDX-License-Identifier: MIT */
/* The messages of the selected folder, as this session numbers them. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "local/mail/imap_internal.h"

const struct mail_message *imap_find(const struct mail_message *all, size_t n, uint32_t uid)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (all[mid].uid < uid)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && all[low].uid == uid ? &all[low] : NULL;
}

bool imap_has(const struct imap *i, const struct imap_set *set, size_t k)
{
    uint32_t last = i->is_uid ? i->view[i->n_view - 1].uid : (uint32_t)i->n_view;

    return imap_set_has(set, i->is_uid ? i->view[k].uid : (uint32_t)k + 1, last);
}

static bool add_viewed_message(struct imap *i, const struct mail_message *m)
{
    if (i->n_view == i->cap_view) {
        size_t cap = i->cap_view ? 2 * i->cap_view : 64;
        struct imap_seen *grown = mem_realloc(i->view, cap * sizeof *grown);
        if (!grown)
            return false;
        i->view = grown;
        i->cap_view = cap;
    }
    i->view[i->n_view++] = (struct imap_seen){m->uid, m->change};
    return true;
}

/* Tells of the messages that are gone; false: some are kept for later. */
static bool drop_gone(struct imap *i, const struct mail_message *all, size_t n, bool may_expunge)
{
    size_t kept = 0;
    bool is_complete = true;

    for (size_t k = 0; k < i->n_view; k++) {
        bool is_there = imap_find(all, n, i->view[k].uid) != NULL;
        if (!is_there && may_expunge) {
            imap_say(i, "* %zu EXPUNGE\r\n", kept + 1);
            continue;
        }
        is_complete = is_complete && is_there;
        i->view[kept++] = i->view[k];
    }
    i->n_view = kept;
    return is_complete;
}

static void tell_flags(struct imap *i, const struct mail_message *all, size_t n)
{
    for (size_t k = 0; k < i->n_view; k++) {
        const struct mail_message *m = imap_find(all, n, i->view[k].uid);
        if (!m || m->change == i->view[k].change)
            continue;
        i->view[k].change = m->change;
        imap_say(i, "* %zu FETCH (UID %u ", k + 1, m->uid);
        imap_say_flags(i, m);
        imap_say(i, ")\r\n");
    }
}

static void tell_new(struct imap *i, const struct mail_message *all, size_t n)
{
    uint32_t last = i->n_view > 0 ? i->view[i->n_view - 1].uid : 0;
    size_t before = i->n_view, n_recent = 0;

    for (size_t k = 0; k < n; k++) {
        n_recent += all[k].uid >= i->recent_from;
        if (all[k].uid > last && !add_viewed_message(i, &all[k]))
            break;
    }
    if (i->n_view > before)
        imap_say(i, "* %zu EXISTS\r\n* %zu RECENT\r\n", i->n_view, n_recent);
}

void imap_sync(struct imap *i, bool may_expunge)
{
    struct mail_folder f = {0};
    size_t n = 0;

    if (!i->folder)
        return;
    bool is_there = mail_folder_get(i->account, i->folder, &f) == 0;
    if (is_there && f.change == i->view_change)
        return;
    const struct mail_message *all = mail_messages(i->account, i->folder, &i->arena, &n);
    if (!all)
        return;
    bool is_complete = drop_gone(i, all, n, may_expunge);
    tell_flags(i, all, n);
    tell_new(i, all, n);
    i->view_change = is_complete ? f.change : 0;
}

void imap_close(struct imap *i)
{
    i->folder = 0;
    i->n_view = 0;
    i->view_change = 0;
}

int imap_open(struct imap *i, const struct mail_folder *f, bool is_read_only)
{
    size_t n = 0;

    imap_close(i);
    const struct mail_message *all = mail_messages(i->account, f->id, &i->arena, &n);
    if (!all)
        return -ENOMEM;
    for (size_t k = 0; k < n; k++) {
        if (!add_viewed_message(i, &all[k]))
            return -ENOMEM;
    }
    i->folder = f->id;
    i->is_read_only = is_read_only;
    i->recent_from = f->recent_from;
    i->view_change = f->change;
    if (!is_read_only)
        mail_folder_shown(i->account, f->id);
    return 0;
}
