/* SPDX-License-Identifier: MIT */
/* The whole store as JSON, for the daemon:
 *
 *     {"users": {"ann@mcp.com": {"emails": [{"email_id", "subject", "from_addr", …}]}}}
 *
 * Reading replaces all that there is; with "?keep=1" only the mail of those users that it names.
 * What was written is read back as the same. */
#include "local/mail/seed.h"

#include <errno.h>

#include "base/cleanup.h"
#include "local/mail/mail.h"

static int add_letter(struct mail_account *a, const struct json *v)
{
    struct arena arena auto_arena = {0};
    struct str name = json_str(json_get(v, "folder"), STR("INBOX"));
    struct mail_folder f;
    int r = mail_folder_find(a, name.len > 0 ? name : STR("INBOX"), &f);

    if (r == -ENOENT)
        r = mail_folder_create(a, name, &f.id);
    arena_init(&arena, (size_t)256 << 20);
    return r < 0 ? r : letter_add(&arena, a, f.id, v);
}

static int add_seed_user(struct request *q, struct mail_store *s, struct json_member *user)
{
    struct json *emails = json_get(&user->value, "emails");
    int r = 0;
    struct mail_account *a = mail_account(s, user->key, true, &r);

    if (!a) {
        request_fail(q, 422, "'" STR_FMT "' is not a mail address",
                     STR_ARG(str_slice(user->key, 0, 100)));
        return r;
    }
    r = mail_account_wipe(a);
    if (json_is(emails, JSON_ARRAY))
        letter_sort(emails);
    for (size_t i = 0; r == 0 && json_is(emails, JSON_ARRAY) && i < emails->n; i++)
        r = add_letter(a, &emails->items[i]);
    if (r < 0)
        request_fail(q, r == -ENOSPC ? 507 : 422, "the mail of '" STR_FMT "' cannot be stored: %s",
                     STR_ARG(str_slice(user->key, 0, 100)),
                     r == -EINVAL  ? "a folder has no name"
                     : r == -EFBIG ? "a message is too large"
                                   : "there is no room");
    return r;
}

void mail_import(struct request *q)
{
    struct mail_store *s = mail_shared(q->local);
    struct str text;
    int r = request_read_all(q, LOCAL_BODY_MAX, &text);

    if (r < 0) {
        request_fail(q, r == -EFBIG ? 413 : 400, "the body could not be read");
        return;
    }
    const struct json *v = json_parse(&q->arena, text, NULL, NULL);
    struct json *users = json_get(v, "users");
    if (!s || !json_is(v, JSON_OBJECT)) {
        request_fail(q, s ? 400 : 500, s ? "that is no mail" : "the store cannot be opened");
        return;
    }
    if (!str_is(request_param(q, "keep"), "1") && mail_store_wipe(s) < 0) {
        request_fail(q, 500, "the store could not be emptied");
        return;
    }
    size_t n = 0;
    for (size_t i = 0; json_is(users, JSON_OBJECT) && i < users->n; i++) {
        const struct json *emails = json_get(&users->members[i].value, "emails");
        if (add_seed_user(q, s, &users->members[i]) < 0)
            return;
        n += json_is(emails, JSON_ARRAY) ? emails->n : 0;
    }
    request_reply(q, "application/json",
                  arena_printf(&q->arena, "{\"users\":%zu,\"emails\":%zu}",
                               json_is(users, JSON_OBJECT) ? (size_t)users->n : 0, n));
}

/* ---- the other way ---- */

static int write_seed_folder(struct request *q, struct mail_account *a, const struct mail_folder *f,
                             size_t *n_written)
{
    struct arena all_arena auto_arena = {0};
    size_t n = 0;
    int r = 0;

    arena_init(&all_arena, (size_t)64 << 20);
    const struct mail_message *all = mail_messages(a, f->id, &all_arena, &n);
    for (size_t k = 0; all && k < n && r == 0; k++) {
        struct arena arena auto_arena = {0};
        auto_buf struct buf b = BUF_INIT((size_t)256 << 20);
        struct jw w = jw_to(&b);
        struct letter l;
        arena_init(&arena, (size_t)512 << 20);
        if (letter_load(&arena, a, &all[k], &l) < 0)
            continue;
        l.id = (uint32_t)k + 1;
        l.folder = f->name;
        if ((*n_written)++ > 0)
            (void)buf_add_char(&b, ',');
        letter_json(&w, &arena, &l);
        r = buf_ok(&b) ? request_write(q, b.p, b.len) : -ENOMEM;
    }
    return r;
}

static int write_user(struct request *q, struct mail_account *a, bool is_first)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    struct arena arena auto_arena = {0};
    size_t n = 0, n_written = 0;

    arena_init(&arena, 8 << 20);
    (void)buf_add_str(&b, is_first ? STR("") : STR(","));
    (void)json_write_str(&b, mail_account_address(a));
    (void)buf_add_lit(&b, ":{\"emails\":[");
    int r = request_write(q, b.p, b.len);
    const struct mail_folder *all = mail_folders(a, &arena, &n);
    for (size_t i = 0; all && i < n && r == 0; i++)
        r = write_seed_folder(q, a, &all[i], &n_written);
    return r < 0 ? r : request_write(q, "]}", 2);
}

void mail_export(struct request *q)
{
    struct mail_store *s = mail_shared(q->local);
    struct mail_account *a;
    int r = s ? request_write(q, "{\"users\":{", 10) : -EIO;

    for (size_t i = 0; r == 0 && (a = mail_account_at(s, i)); i++)
        r = write_user(q, a, i == 0);
    if (r == 0)
        r = request_write(q, "}}", 2);
    if (r < 0)
        request_fail(q, 500, "the mail could not be read");
}
