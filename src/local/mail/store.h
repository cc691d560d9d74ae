/* SPDX-License-Identifier: MIT */
/* The mail of a sandbox: accounts, their folders, and messages.
 *
 * On disk an account is a directory: a file for each message, which never changes, and "journal", a
 * line for every change of what is kept beside them (folders, flags, UIDs). A line counts when its
 * end is there, so a process that dies leaves the change or nothing; when most lines are outdated
 * the journal is rewritten and exchanged by a rename. Everything but the messages' bytes is also
 * in memory.
 *
 * Any address is an account: it is made when somebody logs in as it or when mail for it arrives, so
 * nothing ever leaves the sandbox. The first password that is used for an account is recorded and
 * asked for from then on.
 *
 * All functions may be called on any thread; folders are named by ids, because they may go at any
 * time, and accounts stay until the store is closed. Results are 0 or more, or -errno: -ENOENT no
 * such folder or message, -EEXIST, -EACCES wrong password, -EINVAL not a name, -ENOSPC over a
 * limit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"

enum {
    MAIL_ACCOUNTS_MAX = 4096,
    MAIL_FOLDERS_MAX = 500,     /* of an account */
    MAIL_MESSAGES_MAX = 200000, /* of the store */
    MAIL_MESSAGE_MAX = 32 << 20,
    MAIL_ADDRESS_MAX = 200, /* bytes of an account's name */
    MAIL_FOLDER_NAME_MAX = 255,
    MAIL_KEYWORDS_MAX = 24, /* of an account */
    MAIL_PASSWORD_MAX = 512
};
#define MAIL_BYTES_MAX (2ULL << 30) /* of all messages */

/* The bits of a message's flags; from MAIL_KEYWORD on those of the account's keywords. */
enum {
    MAIL_SEEN = 1,
    MAIL_ANSWERED = 2,
    MAIL_FLAGGED = 4,
    MAIL_DELETED = 8,
    MAIL_DRAFT = 16,
    MAIL_KEYWORD = 256
};

struct mail_store;
struct mail_account;

struct mail_message {
    uint32_t uid, flags;
    uint32_t file; /* for mail_read() */
    uint32_t size;
    int64_t date_s;  /* when it arrived */
    uint64_t change; /* grows with every change of its flags */
};

struct mail_folder {
    uint32_t id, uid_validity, uid_next;
    uint32_t n, n_unseen, n_recent;
    uint32_t recent_from; /* the first UID that no session has seen */
    bool is_subscribed;
    uint64_t change; /* grows with every change of it */
    struct str name; /* UTF-8 */
};

/* ---- the store ---- */

struct mail_store *mail_store_new(const char *dir, struct err *e);
void mail_store_free(struct mail_store *s);
/* All accounts and mail go. */
int mail_store_wipe(struct mail_store *s);

/* Something changed: FD, an eventfd, is written to. */
struct mail_watch {
    struct list node;
    int fd;
};
void mail_watch_start(struct mail_store *s, struct mail_watch *w);
void mail_watch_stop(struct mail_store *s, struct mail_watch *w);

/* ---- accounts ---- */

/* The account of ADDRESS ("a@b.c", case does not matter); made when there is none and CREATE. NULL:
 * none, or it cannot be made (-errno in *WHY). */
struct mail_account *mail_account(struct mail_store *s, struct str address, bool create, int *why);
/* The same when PASSWORD is right. */
struct mail_account *mail_login(struct mail_store *s, struct str address, struct str password,
                                int *why);
/* The K-th in the order of their making, or NULL. */
struct mail_account *mail_account_at(struct mail_store *s, size_t k);
struct str mail_account_address(const struct mail_account *a);
/* All of its mail and its password go. */
int mail_account_wipe(struct mail_account *a);

/* ---- folders ---- */

/* "inbox" in any case is INBOX. */
int mail_folder_find(struct mail_account *a, struct str name, struct mail_folder *ret);
int mail_folder_get(struct mail_account *a, uint32_t id, struct mail_folder *ret);
/* All, in the order of their making; names are copied. */
struct mail_folder *mail_folders(struct mail_account *a, struct arena *arena, size_t *n);
int mail_folder_create(struct mail_account *a, struct str name, uint32_t *ret_id);
int mail_folder_delete(struct mail_account *a, struct str name);
int mail_folder_rename(struct mail_account *a, struct str from, struct str to);
int mail_folder_subscribe(struct mail_account *a, struct str name, bool on);
/* A session has seen all messages. */
void mail_folder_shown(struct mail_account *a, uint32_t id);

/* ---- messages ---- */

/* Those of a folder, by UID. */
struct mail_message *mail_messages(struct mail_account *a, uint32_t folder, struct arena *arena,
                                   size_t *n);
int mail_add(struct mail_account *a, uint32_t folder, struct str raw, const struct mail_message *as,
             uint32_t *ret_uid);
int mail_copy(struct mail_account *a, uint32_t from, uint32_t uid, uint32_t to, uint32_t *ret_uid);
/* Flags become (flags & KEEP) | SET; the new ones are returned in RET. */
int mail_set_flags(struct mail_account *a, uint32_t folder, uint32_t uid,
                   const uint32_t keep_set[2], struct mail_message *ret);
int mail_remove(struct mail_account *a, uint32_t folder, uint32_t uid);
/* The bytes of a message. */
int mail_read(struct mail_account *a, uint32_t file, struct arena *arena, struct str *ret);
/* The bit of a keyword, 0: there is none (and no room when MAKE). */
uint32_t mail_keyword(struct mail_account *a, struct str name, bool make);
/* The name of the K-th keyword, copied; .p NULL: none. */
struct str mail_keyword_at(struct mail_account *a, size_t k, struct arena *arena);
