/* SPDX-License-Identifier: MIT */
/* Tools that change mail and folders. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/mail/mail.h"

static void fail_mail_change(struct local_call *c, const char *doing, struct str why)
{
    local_textf(c, "Error %s: " STR_FMT, doing, STR_ARG(why));
}

/* ---- messages ---- */

/* What is done to each message, and with what. */
struct mail_action {
    struct mail_user u;
    struct mail_folder from, to;
    uint32_t keep_set[2];
};

typedef int act(struct mail_action *a, uint32_t uid);

static int delete_one(struct mail_action *a, uint32_t uid)
{
    return mail_remove(a->u.account, a->from.id, uid);
}

static int move_one(struct mail_action *a, uint32_t uid)
{
    int r = mail_copy(a->u.account, a->from.id, uid, a->to.id, NULL);

    return r < 0 ? r : mail_remove(a->u.account, a->from.id, uid);
}

static int mark_one(struct mail_action *a, uint32_t uid)
{
    struct mail_message m;

    return mail_set_flags(a->u.account, a->from.id, uid, a->keep_set, &m);
}

static bool begin_mail_change(struct local_call *c, struct mail_action *a, const char *folder,
                              struct str *why)
{
    return mail_user(c, &a->u, why) &&
           mail_user_folder(c, &a->u, local_str(c, folder), &a->from, why);
}

/* The one message that email_id names. */
static bool act_on_one(struct local_call *c, struct mail_action *a, act *fn, struct str *why)
{
    struct str id = local_str(c, "email_id");
    struct mail_message m;

    if (letter_find(c, &a->u, &a->from, id, &m) && fn(a, m.uid) == 0)
        return true;
    *why = arena_printf(&c->arena, "Email " STR_FMT " not found in current folder", STR_ARG(id));
    return false;
}

/* Those that email_ids names, as they are numbered now: how many it worked for. */
static size_t act_on_all(struct local_call *c, struct mail_action *a, act *fn, size_t *ret_given)
{
    const struct json *ids = json_get(c->args, "email_ids");
    size_t n = 0, n_given = json_is(ids, JSON_ARRAY) ? ids->n : 0, n_all = 0;
    const struct mail_message *all = mail_messages(a->u.account, a->from.id, &c->arena, &n_all);

    *ret_given = n_given;
    for (size_t i = 0; all && i < n_given; i++) {
        uint64_t k;
        if (str_to_u64(json_str(json_at(ids, i), STR("")), &k) == 0 && k > 0 && k <= n_all)
            n += fn(a, all[k - 1].uid) == 0;
    }
    return n;
}

void mail_delete_email(struct local_call *c)
{
    struct mail_action a;
    struct str why = STR("");

    if (begin_mail_change(c, &a, "folder", &why) && act_on_one(c, &a, delete_one, &why))
        local_textf(c, "Email " STR_FMT " deleted successfully", STR_ARG(local_str(c, "email_id")));
    else
        fail_mail_change(c, "deleting email: Failed to delete email", why);
}

static bool begin_mail_move(struct local_call *c, struct mail_action *a, struct str *why)
{
    struct str target = str_trim(local_str(c, "target_folder"));

    if (!begin_mail_change(c, a, "source_folder", why))
        return false;
    if (target.len > 0 && mail_folder_find(a->u.account, target, &a->to) == 0)
        return true;
    *why = arena_printf(&c->arena, "Failed to copy email to " STR_FMT ": no such folder",
                        STR_ARG(target));
    return false;
}

void mail_move_email(struct local_call *c)
{
    struct mail_action a;
    struct str why = STR("");

    if (begin_mail_move(c, &a, &why) && act_on_one(c, &a, move_one, &why))
        local_textf(c, "Email " STR_FMT " moved to " STR_FMT " successfully",
                    STR_ARG(local_str(c, "email_id")), STR_ARG(local_str(c, "target_folder")));
    else
        fail_mail_change(c, "moving email: Failed to move email", why);
}

void mail_move_emails(struct local_call *c)
{
    struct mail_action a;
    struct str why = STR("");
    size_t n_given;

    if (!begin_mail_move(c, &a, &why)) {
        fail_mail_change(c, "moving emails: Failed to move email", why);
        return;
    }
    size_t n = act_on_all(c, &a, move_one, &n_given);
    local_textf(c, "Successfully moved %zu/%zu emails to " STR_FMT, n, n_given,
                STR_ARG(local_str(c, "target_folder")));
}

void mail_delete_emails(struct local_call *c)
{
    struct mail_action a;
    struct str why = STR("");
    size_t n_given;

    if (!begin_mail_change(c, &a, "folder", &why)) {
        fail_mail_change(c, "deleting emails: Failed to delete email", why);
        return;
    }
    size_t n = act_on_all(c, &a, delete_one, &n_given);
    local_textf(c, "Successfully deleted %zu/%zu emails", n, n_given);
}

void mail_mark_emails(struct local_call *c)
{
    static const struct {
        const char *status;
        uint32_t keep, set;
    } states[] = {{"read", UINT32_MAX, MAIL_SEEN},
                  {"unread", ~(uint32_t)MAIL_SEEN, 0},
                  {"important", UINT32_MAX, MAIL_FLAGGED},
                  {"not_important", ~(uint32_t)MAIL_FLAGGED, 0}};
    struct mail_action a;
    struct str why = STR(""), status = local_str(c, "status");
    size_t k = 0, n_given;

    while (k < ARRAY_LEN(states) && !str_is(status, states[k].status))
        k++;
    if (k == ARRAY_LEN(states)) {
        local_textf(c,
                    "Error: Invalid status '" STR_FMT
                    "'. Must be 'read', 'unread', 'important', or 'not_important'",
                    STR_ARG(status));
        return;
    }
    if (!begin_mail_change(c, &a, "folder", &why)) {
        fail_mail_change(c, "marking emails", why);
        return;
    }
    a.keep_set[0] = states[k].keep;
    a.keep_set[1] = states[k].set;
    size_t n = act_on_all(c, &a, mark_one, &n_given);
    local_textf(c, "Successfully marked %zu/%zu emails as %s", n, n_given, states[k].status);
}

/* ---- folders ---- */

void mail_get_folders(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str why = STR("");
    struct mail_user u;
    size_t n = 0;

    if (!mail_user(c, &u, &why)) {
        fail_mail_change(c, "getting folders: Failed to get folders", why);
        return;
    }
    const struct mail_folder *all = mail_folders(u.account, &c->arena, &n);
    (void)buf_printf(&b, "Email Folders (%zu):\n", n);
    for (size_t i = 0; all && i < n; i++)
        (void)buf_printf(&b, "- " STR_FMT " (Total: %u, Unread: %u)\n", STR_ARG(all[i].name),
                         all[i].n, all[i].n_unseen);
    local_text(c, buf_str(&b));
}

/* What this server takes as a name; .p NULL when it is one. */
static struct str name_fault(struct local_call *c, struct str name)
{
    static const char *const bad[] = {"/", "\\", "..", "<", ">", ":", "\"", "|", "?", "*"};

    if (name.len == 0)
        return STR("Folder name cannot be empty");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (str_find(name, str_of(bad[i])) >= 0)
            return arena_printf(&c->arena, "Folder name contains invalid character: %s", bad[i]);
    }
    return name.len > 255 ? STR("Folder name too long (max 255 characters)") : STR_NULL;
}

void mail_create_folder(struct local_call *c)
{
    struct str name = local_str(c, "folder_name"), why = name_fault(c, name);
    struct mail_user u;

    if (why.p || !mail_user(c, &u, &why)) {
        fail_mail_change(c, "creating folder", why);
        return;
    }
    int r = mail_folder_create(u.account, name, NULL);
    if (r == 0)
        local_textf(c, "Folder '" STR_FMT "' created successfully", STR_ARG(name));
    else
        local_textf(c, "Error creating folder: Failed to create folder '" STR_FMT "': %s",
                    STR_ARG(name),
                    r == -EEXIST   ? "it exists already"
                    : r == -ENOSPC ? "there are too many"
                                   : "that is no name");
}

void mail_delete_folder(struct local_call *c)
{
    static const char *const system[] = {"INBOX", "Sent", "Drafts", "Trash", "Junk", "Spam"};
    struct str name = local_str(c, "folder_name"), why = name_fault(c, name);
    struct mail_user u;

    for (size_t i = 0; !why.p && i < ARRAY_LEN(system); i++) {
        if (str_is(name, system[i]))
            why = arena_printf(&c->arena, "Cannot delete system folder: %s", system[i]);
    }
    if (why.p || !mail_user(c, &u, &why)) {
        fail_mail_change(c, "deleting folder", why);
        return;
    }
    if (mail_folder_delete(u.account, name) == 0)
        local_textf(c, "Folder '" STR_FMT "' deleted successfully", STR_ARG(name));
    else
        local_textf(c, "Error deleting folder: Failed to delete folder '" STR_FMT "': NO",
                    STR_ARG(name));
}

static void put_stats(struct buf *b, const struct mail_folder *f)
{
    (void)buf_printf(b, "Folder: " STR_FMT "\nTotal messages: %u\nUnread messages: %u\n",
                     STR_ARG(f->name), f->n, f->n_unseen);
}

void mail_get_mailbox_stats(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str why = STR(""), name = local_str(c, "folder_name");
    struct mail_user u;
    struct mail_folder f;
    size_t n = 0, total = 0, unread = 0;

    if (!mail_user(c, &u, &why) || (name.len > 0 && !mail_user_folder(c, &u, name, &f, &why))) {
        fail_mail_change(c, "getting mailbox stats: Failed to get folder stats", why);
        return;
    }
    (void)buf_add_lit(&b, "Mailbox Statistics:\n");
    if (name.len > 0) {
        put_stats(&b, &f);
        local_text(c, buf_str(&b));
        return;
    }
    const struct mail_folder *all = mail_folders(u.account, &c->arena, &n);
    for (size_t i = 0; all && i < n; i++) {
        put_stats(&b, &all[i]);
        (void)buf_add_char(&b, '\n');
        total += all[i].n;
        unread += all[i].n_unseen;
    }
    (void)buf_printf(&b, "Total: %zu messages, %zu unread", total, unread);
    local_text(c, buf_str(&b));
}

void mail_get_unread_count(struct local_call *c)
{
    struct str why = STR(""), name = local_str(c, "folder_name");
    struct mail_user u;
    struct mail_folder f;
    size_t n = 0, unread = 0;

    if (!mail_user(c, &u, &why) || (name.len > 0 && !mail_user_folder(c, &u, name, &f, &why))) {
        fail_mail_change(c, "getting unread count: Failed to get unread count", why);
        return;
    }
    if (name.len > 0) {
        local_textf(c, "Unread messages in " STR_FMT ": %u", STR_ARG(f.name), f.n_unseen);
        return;
    }
    const struct mail_folder *all = mail_folders(u.account, &c->arena, &n);
    for (size_t i = 0; all && i < n; i++)
        unread += all[i].n_unseen;
    local_textf(c, "Total unread messages: %zu", unread);
}
