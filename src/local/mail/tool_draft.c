/* SPDX-License-Identifier: MIT */
/* Tools for drafts. A draft is a file in the workspace, "drafts/ID.json". */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "local/kit/path.h"
#include "local/mail/date.h"
#include "local/mail/mail.h"
#include "sys/io.h"

enum { DRAFTS_MAX = 10000, ID_MAX = 64 };

static const char *const fields[] = {"subject", "body", "html_body", "to", "cc", "bcc"};

static void fail_draft(struct local_call *c, const char *doing, struct str why)
{
    local_textf(c, "Error %s draft: " STR_FMT, doing, STR_ARG(why));
}

/* ---- files ---- */

static const char *folder(struct local_call *c)
{
    return arena_printf(&c->arena, "%s/drafts", c->local->root).p;
}

/* An id is a file's name, nothing else. */
static bool is_draft_id(struct str id)
{
    for (size_t i = 0; i < id.len; i++) {
        bool is_plain = (id.p[i] >= '0' && id.p[i] <= '9') ||
                        ((id.p[i] | 0x20) >= 'a' && (id.p[i] | 0x20) <= 'z');
        if (!is_plain && id.p[i] != '_' && id.p[i] != '-')
            return false;
    }
    return id.len > 0 && id.len <= ID_MAX;
}

static const char *draft_path_of(struct local_call *c, struct str id)
{
    return arena_printf(&c->arena, "%s/" STR_FMT ".json", folder(c), STR_ARG(id)).p;
}

/* The draft ID; NULL with the reason in *WHY. */
static struct json *load_draft(struct local_call *c, struct str id, struct str *why)
{
    struct str text = STR("");
    bool is_there = is_draft_id(id) && path_read(c, draft_path_of(c, id), &text) == 0;
    struct json *v = is_there ? json_parse(&c->arena, text, NULL, NULL) : NULL;

    if (json_is(v, JSON_OBJECT))
        return v;
    *why = arena_printf(&c->arena, "Draft " STR_FMT " not found", STR_ARG(id));
    return NULL;
}

static bool save_draft(struct local_call *c, struct str id, const struct json *v, struct str *why)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    (void)json_write(&b, v, JSON_PRETTY);
    int r = buf_ok(&b) ? io_mkdirs(folder(c), 0777, NULL) : -EFBIG;
    if (r == 0)
        r = path_write(c, draft_path_of(c, id), buf_str(&b));
    if (r < 0)
        *why = path_error(c, r, "open", draft_path_of(c, id), NULL);
    return r == 0;
}

static void set_draft_text(struct local_call *c, struct json *v, const char *key, struct str text)
{
    (void)json_set(&c->arena, v, key, json_new_str(&c->arena, text));
}

/* What the arguments say; absent ones become null in a new draft and stay in an old one. */
static void take_fields(struct local_call *c, struct json *v, bool is_new)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const struct json *given = json_get(c->args, fields[i]);
        if (json_is(given, JSON_STRING))
            (void)json_set(&c->arena, v, fields[i], given);
        else if (is_new)
            (void)json_set(&c->arena, v, fields[i], json_new_null(&c->arena));
    }
}

/* ---- tools ---- */

void mail_save_draft(struct local_call *c)
{
    char date[MAIL_DATE_MAX], compact[MAIL_DATE_MAX], random[7];
    int64_t now_s = clock_real_us() / 1000000;
    struct json *v = json_new_object(&c->arena);
    struct str why = STR("out of memory");

    mail_date_iso(date, now_s);
    mail_date_compact(compact, now_s);
    id_hex(random, 6);
    struct str id = arena_printf(&c->arena, "draft_%s_%s", compact, random);
    if (v) {
        set_draft_text(c, v, "draft_id", id);
        take_fields(c, v, true);
        set_draft_text(c, v, "created_at", str_of(date));
        set_draft_text(c, v, "updated_at", str_of(date));
    }
    if (v && save_draft(c, id, v, &why))
        local_textf(c, "Draft saved successfully with ID: " STR_FMT, STR_ARG(id));
    else
        fail_draft(c, "saving", why);
}

void mail_update_draft(struct local_call *c)
{
    char date[MAIL_DATE_MAX];
    struct str id = local_str(c, "draft_id"), why = STR("");
    struct json *v = load_draft(c, id, &why);

    if (v) {
        mail_date_iso(date, clock_real_us() / 1000000);
        take_fields(c, v, false);
        set_draft_text(c, v, "updated_at", str_of(date));
    }
    if (v && save_draft(c, id, v, &why))
        local_textf(c, "Draft " STR_FMT " updated successfully", STR_ARG(id));
    else
        fail_draft(c, "updating", why);
}

void mail_delete_draft(struct local_call *c)
{
    struct str id = local_str(c, "draft_id"), why = STR("");

    if (!load_draft(c, id, &why))
        fail_draft(c, "deleting", why);
    else if (unlink(draft_path_of(c, id)) < 0)
        fail_draft(c, "deleting", path_error(c, -errno, "unlink", draft_path_of(c, id), NULL));
    else
        local_textf(c, "Draft " STR_FMT " deleted successfully", STR_ARG(id));
}

/* ---- listing ---- */

/* Newest first: ids begin with the time. */
static int by_id(const void *a, const void *b)
{
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

/* The ids of all drafts. */
static const char **all_drafts(struct local_call *c, size_t *n)
{
    const char **ids = arena_zalloc(&c->arena, DRAFTS_MAX, sizeof *ids);
    DIR *d = ids ? opendir(folder(c)) : NULL;
    struct dirent *entry;

    *n = 0;
    while (d && *n < DRAFTS_MAX && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);
        if (!str_ends(name, STR(".json")))
            continue;
        name.len -= 5;
        if (is_draft_id(name) && (ids[*n] = arena_str(&c->arena, name).p))
            (*n)++;
    }
    if (d)
        (void)closedir(d);
    if (*n > 1)
        qsort(ids, *n, sizeof *ids, by_id);
    return ids;
}

static struct str shown_draft_text(const struct json *v, const char *key, const char *fallback)
{
    return json_str(json_get(v, key), str_of(fallback));
}

void mail_get_drafts(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    int64_t page = local_int(c, "page", 1), size = local_int(c, "page_size", 20);
    struct str why;
    size_t n = 0;
    const char **ids = all_drafts(c, &n);

    if (!ids || n == 0) {
        local_text(c, STR("No drafts found"));
        return;
    }
    size = size < 1 ? 20 : size > MAIL_PAGE_MAX ? MAIL_PAGE_MAX : size;
    int64_t n_pages = ((int64_t)n + size - 1) / size;
    page = page < 1 ? 1 : page > n_pages ? n_pages : page;
    (void)buf_printf(&b, "Drafts (Page %d/%d):\nTotal drafts: %zu\n\n", (int)page, (int)n_pages, n);
    for (size_t i = (size_t)((page - 1) * size); i < n && i < (size_t)(page * size); i++) {
        const struct json *v = load_draft(c, str_of(ids[i]), &why);
        (void)buf_printf(&b,
                         "%zu. ID: %s\n   Subject: " STR_FMT "\n   To: " STR_FMT
                         "\n   Updated: " STR_FMT "\n\n",
                         i + 1, ids[i], STR_ARG(shown_draft_text(v, "subject", "")),
                         STR_ARG(shown_draft_text(v, "to", "Not set")),
                         STR_ARG(shown_draft_text(v, "updated_at", "")));
    }
    local_text(c, buf_str(&b));
}
