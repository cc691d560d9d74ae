/* SPDX-License-Identifier: MIT */
/* The table of tools, who calls them, and the listeners. */
#include "local/mail/mail.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "local/kit/servers.h"
#include "local/mail/listen.h"
#include "net/listen.h"

static const struct local_tool tools[] = {
    {"get_emails", mail_get_emails},
    {"read_email", mail_read_email},
    {"search_emails", mail_search_emails},
    {"send_email", mail_send_email},
    {"reply_email", mail_reply_email},
    {"forward_email", mail_forward_email},
    {"delete_email", mail_delete_email},
    {"move_email", mail_move_email},
    {"mark_emails", mail_mark_emails},
    {"move_emails", mail_move_emails},
    {"delete_emails", mail_delete_emails},
    {"get_folders", mail_get_folders},
    {"create_folder", mail_create_folder},
    {"delete_folder", mail_delete_folder},
    {"get_mailbox_stats", mail_get_mailbox_stats},
    {"get_unread_count", mail_get_unread_count},
    {"check_connection", mail_check_connection},
    {"get_email_headers", mail_get_email_headers},
    {"save_draft", mail_save_draft},
    {"get_drafts", mail_get_drafts},
    {"update_draft", mail_update_draft},
    {"delete_draft", mail_delete_draft},
    {"export_emails", mail_export_emails},
    {"import_emails", mail_import_emails},
    {"download_attachment", mail_download_attachment},
};

const struct local_server mail_server = {"poste_email_toolathlon", tools, ARRAY_LEN(tools)};

/* ---- the store ---- */

struct mail_store *mail_shared(const struct local *l)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct mail_store *store;
    struct err e = ERR_INIT;

    (void)pthread_mutex_lock(&lock);
    if (!store)
        store = mail_store_new(l->mail, &e);
    struct mail_store *s = store;
    (void)pthread_mutex_unlock(&lock);
    return s;
}

int mail_start(struct loop *loop, const struct local *l, struct err *e)
{
    if (!l->imap && !l->smtp)
        return 0;
    struct mail_store *store = mail_shared(l);
    if (!store)
        return err_set(e, -EIO, "the mail in '%s' cannot be used", l->mail);
    int imap = l->imap ? http_listen(l->imap, false, e) : -1;
    if (l->imap && (imap < 0 || !mail_listen_imap(loop, store, imap, e)))
        return -EIO;
    int smtp = l->smtp ? http_listen(l->smtp, false, e) : -1;
    if (l->smtp && (smtp < 0 || !mail_listen_smtp(loop, store, smtp, e)))
        return -EIO;
    (void)printf("mail on ports %d %d\n", imap < 0 ? 0 : http_listen_port(imap),
                 smtp < 0 ? 0 : http_listen_port(smtp));
    return 0;
}

/* ---- who calls ---- */

static const struct json *read_mail_config(struct local_call *c, struct str header)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);

    if (enc_unbase64(&b, str_trim(header)) < 0)
        return NULL;
    struct str text = arena_str(&c->arena, buf_str(&b));
    const struct json *v = text.p ? json_parse(&c->arena, text, NULL, NULL) : NULL;
    return json_str(json_get(v, "email"), STR("")).len > 0 ? v : NULL;
}

static struct mail_account *fallback(const struct local_call *c, struct mail_store *s, int *why)
{
    if (c->email.len > 0)
        return mail_account(s, c->email, true, why);
    struct mail_account *first = mail_account_at(s, 0);
    return first ? first : mail_account(s, STR("user@mcp.com"), true, why);
}

bool mail_user(struct local_call *c, struct mail_user *u, struct str *why)
{
    struct str header = json_str(json_get(c->headers, "x-email-config"), STR_NULL);
    const struct json *config = header.len > 0 ? read_mail_config(c, header) : NULL;
    int code = 0;

    *u = (struct mail_user){.store = mail_shared(c->local)};
    if (!u->store) {
        *why = STR("IMAP connection failed: the store of mail cannot be opened");
        return false;
    }
    if (header.len > 0 && !config) {
        *why = STR("Invalid x-email-config header: not base64 of JSON with an email");
        return false;
    }
    struct str password = json_str(json_get(config, "password"), STR(""));
    struct str email = json_str(json_get(config, "email"), STR(""));
    if (!config)
        u->account = fallback(c, u->store, &code);
    else if (password.len > 0)
        u->account = mail_login(u->store, email, password, &code);
    else
        u->account = mail_account(u->store, email, true, &code);
    if (!u->account) {
        *why = code == -EACCES ? STR("IMAP login failed: Wrong user or password")
                               : STR("IMAP login failed: that is no account");
        return false;
    }
    u->email = mail_account_address(u->account);
    u->name = json_str(json_get(config, "name"), STR(""));
    return true;
}

bool mail_user_folder(struct local_call *c, const struct mail_user *u, struct str name,
                      struct mail_folder *ret, struct str *why)
{
    name = name.len > 0 ? str_trim(name) : STR("INBOX");
    if (mail_folder_find(u->account, name, ret) == 0) {
        ret->name = str_iis(name, "INBOX") ? STR("INBOX") : name;
        return true;
    }
    *why = arena_printf(&c->arena,
                        "Error selecting folder '" STR_FMT "': Failed to select folder '" STR_FMT
                        "': NO",
                        STR_ARG(name), STR_ARG(name));
    return false;
}
