/* SPDX-License-Identifier: MIT */
/* The server "poste_email_toolathlon": 25 tools over a store of mail (store.h) that programs also
 * reach by IMAP (imap.h) and SMTP (smtp.h). Tools work on the store directly, so that every client
 * sees at once what another one did. Failures are texts like "Error sending email: …" and no
 * errors of MCP, as agents know them from this server. */
#pragma once

#include "base/err.h"
#include "local/local.h"
#include "local/mail/mime.h"
#include "local/mail/store.h"
#include "loop/loop.h"

enum { MAIL_PAGE_MAX = 50, MAIL_QUERY_MAX = 1000, MAIL_ATTACHMENTS_MAX = 100 };

/* The store of this process; opened by the first who asks. NULL: it cannot be. */
struct mail_store *mail_shared(const struct local *l);
/* Begins to listen as L says. */
int mail_start(struct loop *loop, const struct local *l, struct err *e);

/* ---- who calls (mail.c) ---- */

struct mail_user {
    struct mail_store *store;
    struct mail_account *account;
    struct str email, name;
};

/* Whose mail a call is about: the header x-email-config says it, base64 of {"email", "password",
 * "name"}; without it it is the sandbox's test account, else the first account, else
 * "user@mcp.com". False with the reason in *WHY. */
bool mail_user(struct local_call *c, struct mail_user *u, struct str *why);
/* The folder of an argument. False with the reason in *WHY. */
bool mail_user_folder(struct local_call *c, const struct mail_user *u, struct str name,
                      struct mail_folder *ret, struct str *why);

/* ---- letters (letter.c) ---- */

struct letter_file {
    struct str name, type;
    const struct mime_part *part;
};

/* A message as tools show it. */
struct letter {
    uint32_t id; /* its number in its folder */
    struct mail_message m;
    struct str folder;
    struct mime_part *top;
    struct str subject, from, to, cc, bcc, date, message_id;
    struct str text, html;
    struct letter_file files[MAIL_ATTACHMENTS_MAX];
    size_t n_files;
};

/* Reads M; 0 or -errno. */
int letter_load(struct arena *a, struct mail_account *account, const struct mail_message *m,
                struct letter *ret);
/* The message that the number ID ("12") means. False: there is none. */
bool letter_find(struct local_call *c, const struct mail_user *u, const struct mail_folder *f,
                 struct str id, struct mail_message *ret);
/* Finds and reads the one of the arguments email_id and folder; false with the reason in *WHY. */
bool letter_open(struct local_call *c, const struct mail_user *u, struct letter *ret,
                 struct str *why);
/* As exports and dumps have it. */
void letter_json(struct jw *w, struct arena *a, const struct letter *l);
/* The other way: puts what V describes into ACCOUNT's FOLDER. 0 or -errno. */
int letter_add(struct arena *a, struct mail_account *account, uint32_t folder,
               const struct json *v);
/* Orders letters (of an array) by their ids where those are numbers, else as they are. */
void letter_sort(struct json *letters);

/* ---- tools, in the files tool_*.c ---- */

typedef void mail_tool(struct local_call *c);

mail_tool mail_get_emails, mail_read_email, mail_search_emails, mail_get_email_headers,
    mail_check_connection;
mail_tool mail_send_email, mail_reply_email, mail_forward_email;
mail_tool mail_delete_email, mail_move_email, mail_mark_emails, mail_move_emails,
    mail_delete_emails;
mail_tool mail_get_folders, mail_create_folder, mail_delete_folder, mail_get_mailbox_stats,
    mail_get_unread_count;
mail_tool mail_save_draft, mail_get_drafts, mail_update_draft, mail_delete_draft;
mail_tool mail_export_emails, mail_import_emails, mail_download_attachment;
