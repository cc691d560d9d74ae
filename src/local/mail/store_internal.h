/* SPDX-License-Identifier: MIT */
/* For store.c and journal.c. */
#pragma once

#include <pthread.h>

#include "local/mail/store.h"

struct folder {
    struct mail_folder info;       /* the name is our own copy */
    struct mail_message *messages; /* by UID */
    size_t n, cap;
};

struct mail_account {
    struct mail_store *store;
    char address[MAIL_ADDRESS_MAX + 1];
    char *dir;
    char *password; /* NULL: none so far */
    char *keywords[MAIL_KEYWORDS_MAX];
    struct folder **folders;
    size_t n_folders, cap_folders;
    bool is_gone; /* wiped, and not used since */
    uint32_t last_folder, last_file, last_validity;
    size_t n_lines; /* of the journal */
};

struct mail_store {
    pthread_mutex_t lock;
    char *dir;
    struct mail_account *accounts[MAIL_ACCOUNTS_MAX];
    size_t n_accounts;
    size_t n_messages;
    uint64_t n_bytes;
    uint64_t change;
    struct list watches;
};

/* All of these with the lock held. */
struct folder *store_folder(struct mail_account *a, uint32_t id);
struct folder *store_add_folder(struct mail_account *a, struct str name, uint32_t id,
                                uint32_t validity);
void store_drop_folder(struct mail_account *a, struct folder *f);
int store_name_folder(struct folder *f, struct str name);
int store_put(struct mail_account *a, struct folder *f, const struct mail_message *m);
struct mail_message *store_message(struct folder *f, uint32_t uid);
/* The validity of a folder that is made now. */
uint32_t store_validity(const struct mail_account *a);
void store_take(struct mail_account *a, struct folder *f, struct mail_message *m);
void store_flag(struct mail_account *a, struct folder *f, struct mail_message *m, uint32_t flags);
int store_set_text(char **field, struct str value);
/* Something changed, in F when it is not NULL. */
void store_changed(struct mail_store *s, struct folder *f);

/* Reads what there is of A. */
int journal_load(struct mail_account *a);
/* Appends a line; the format has no end of line. */
int journal_add(struct mail_account *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* NAME as one word, in ARENA. */
const char *journal_word(struct arena *arena, struct str name);
