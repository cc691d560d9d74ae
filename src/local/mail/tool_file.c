/* SPDX-License-Identifier: MIT */
/* Tools between mail and the workspace: export, import, attachments. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "local/kit/path.h"
#include "local/mail/date.h"
#include "local/mail/mail.h"
#include "sys/io.h"

enum { REASONS_SHOWN = 5, COPIES_MAX = 1000 };

/* ---- export ---- */

struct exporting {
    struct local_call *c;
    struct mail_user u;
    struct buf emails; /* items of the array */
    struct buf breakdown;
    size_t n, max;
};

/* The folder's messages, newest first. */
static void export_folder(struct exporting *x, const struct mail_folder *f)
{
    size_t n = 0, before = x->n;
    const struct mail_message *all = mail_messages(x->u.account, f->id, &x->c->arena, &n);

    for (size_t k = n; all && k > 0 && x->n < x->max; k--) {
        struct arena arena auto_arena = {0};
        struct letter l;
        struct jw w = jw_to(&x->emails);
        arena_init(&arena, (size_t)256 << 20);
        if (letter_load(&arena, x->u.account, &all[k - 1], &l) < 0)
            continue;
        l.id = (uint32_t)k;
        l.folder = f->name;
        if (x->n++ > 0)
            (void)buf_add_char(&x->emails, ',');
        letter_json(&w, &arena, &l);
    }
    (void)buf_printf(&x->breakdown, "\n  - " STR_FMT ": %zu emails", STR_ARG(f->name),
                     x->n - before);
}

static int write_export(struct exporting *x, const char *path)
{
    auto_buf struct buf text = BUF_INIT(LOCAL_FILE_MAX), pretty = BUF_INIT(LOCAL_FILE_MAX);
    char date[MAIL_DATE_MAX];

    mail_date_iso(date, clock_real_us() / 1000000);
    (void)buf_printf(&text, "{\"export_date\":\"%s\",\"total_emails\":%zu,\"emails\":[", date,
                     x->n);
    (void)buf_add_str(&text, buf_str(&x->emails));
    (void)buf_add_lit(&text, "]}");
    if (!buf_ok(&text) || !buf_ok(&x->emails))
        return -EFBIG;
    const struct json *v = json_parse(&x->c->arena, buf_str(&text), NULL, NULL);
    (void)json_write(&pretty, v, JSON_PRETTY);
    return v && buf_ok(&pretty) ? path_write(x->c, path, buf_str(&pretty)) : -EFBIG;
}

/* Makes the directories that lead to PATH inside the workspace. */
static const char *target_path(struct local_call *c, struct str given, struct str *why)
{
    struct str full = given.len > 0 && given.p[0] == '/'
                          ? given
                          : arena_printf(&c->arena, "%s/" STR_FMT, c->local->root, STR_ARG(given));
    struct str root = str_of(c->local->root);
    char *dir = full.p ? arena_strdup(&c->arena, arena_str(&c->arena, full).p) : NULL;

    if (dir && str_starts(full, root) && str_find(full, STR("..")) < 0)
        (void)io_mkdirs(dirname(dir), 0777, NULL);
    return path_check(c, full, why);
}

static void export_all(struct exporting *x)
{
    size_t n = 0;
    const struct mail_folder *all = mail_folders(x->u.account, &x->c->arena, &n);

    for (size_t i = 0; all && i < n && x->n < x->max; i++)
        export_folder(x, &all[i]);
}

static void export(struct exporting *x)
{
    struct local_call *c = x->c;
    bool is_all = local_bool(c, "export_all_folders");
    struct str folder = local_str(c, "folder"), given = local_str(c, "export_path"), why = STR("");
    int64_t max = local_int(c, "max_emails", 0);
    struct mail_folder f = {.name = STR("all folders")};

    x->max = max > 0 ? (size_t)max : MAIL_MESSAGES_MAX;
    if (!mail_user(c, &x->u, &why) || (!is_all && !mail_user_folder(c, &x->u, folder, &f, &why))) {
        local_textf(c, "Error exporting emails: " STR_FMT, STR_ARG(why));
        return;
    }
    if (is_all)
        export_all(x);
    else
        export_folder(x, &f);
    if (x->n == 0) {
        local_textf(c, "No emails found to export from " STR_FMT, STR_ARG(f.name));
        return;
    }
    const char *path = target_path(c, given.len > 0 ? given : STR("emails_export.json"), &why);
    int r = path ? write_export(x, path) : -EINVAL;
    if (r < 0)
        local_textf(c, "Error exporting emails: Export failed: " STR_FMT,
                    STR_ARG(path ? path_error(c, r, "open", path, NULL) : why));
    else
        local_textf(c, "Successfully exported %zu emails to %s%s" STR_FMT, x->n, path,
                    is_all ? "\nExport breakdown by folder:" : "",
                    STR_ARG(is_all ? buf_str(&x->breakdown) : STR("")));
}

void mail_export_emails(struct local_call *c)
{
    struct exporting x = {.c = c};

    if (local_bool(c, "export_all_folders") && local_str(c, "folder").len > 0) {
        local_text(c, STR("Error: Cannot specify both 'folder' and 'export_all_folders=True'"));
        return;
    }
    buf_init(&x.emails, LOCAL_FILE_MAX);
    buf_init(&x.breakdown, 1 << 20);
    export(&x);
    buf_done(&x.emails);
    buf_done(&x.breakdown);
}

/* ---- import ---- */

struct importing {
    struct local_call *c;
    struct mail_user u;
    struct json *folders; /* how many went into each */
    struct buf reasons;
    size_t n, n_failed;
};

static void note_mail_file_failure(struct importing *x, const struct json *v, const char *why)
{
    struct str id = json_str(json_get(v, "email_id"), STR("?"));

    if (x->n_failed++ < REASONS_SHOWN)
        (void)buf_printf(&x->reasons, "\n  - Email " STR_FMT ": %s", STR_ARG(id), why);
}

/* Where V goes; folders that are not there are made. */
static bool import_folder(struct importing *x, const struct json *v, struct mail_folder *f)
{
    bool is_kept = local_bool(x->c, "preserve_folders");
    struct str own = json_str(json_get(v, "folder"), STR(""));
    struct str target = local_str(x->c, "target_folder");

    f->name = is_kept && own.len > 0 ? own : target.len > 0 ? target : STR("INBOX");
    struct str name = f->name;
    if (mail_folder_find(x->u.account, name, f) == 0) {
        f->name = name;
        return true;
    }
    f->name = name;
    return mail_folder_create(x->u.account, name, &f->id) == 0;
}

static void import_one(struct importing *x, const struct json *v)
{
    static const char *const required[] = {"subject", "from_addr", "to_addr"};
    struct arena arena auto_arena = {0};
    struct mail_folder f = {0};

    for (size_t i = 0; i < ARRAY_LEN(required); i++) {
        if (!json_is(json_get(v, required[i]), JSON_STRING)) {
            note_mail_file_failure(x, v, "Missing required field in JSON");
            return;
        }
    }
    if (!import_folder(x, v, &f)) {
        note_mail_file_failure(x, v, "Cannot access its folder");
        return;
    }
    arena_init(&arena, (size_t)256 << 20);
    if (letter_add(&arena, x->u.account, f.id, v) < 0) {
        note_mail_file_failure(x, v, "APPEND failed");
        return;
    }
    int64_t so_far = json_int(json_get_str(x->folders, f.name), 0);
    (void)json_set_str(&x->c->arena, x->folders, f.name, json_new_int(&x->c->arena, so_far + 1));
    x->n++;
}

static void import_answer(struct importing *x, size_t n_given)
{
    auto_buf struct buf b = BUF_INIT(4 << 20);

    (void)buf_printf(&b, "Successfully imported %zu/%zu emails", x->n, n_given);
    if (local_bool(x->c, "preserve_folders") && x->folders->n > 1) {
        (void)buf_add_lit(&b, "\n\nImport breakdown by folder:");
        for (size_t i = 0; i < x->folders->n; i++)
            (void)buf_printf(&b, "\n  - " STR_FMT ": %d emails",
                             STR_ARG(x->folders->members[i].key),
                             (int)json_int(&x->folders->members[i].value, 0));
    } else if (x->folders->n > 0) {
        (void)buf_printf(&b, " to " STR_FMT, STR_ARG(x->folders->members[0].key));
    }
    if (x->n_failed > 0)
        (void)buf_printf(&b, "\n\n%zu emails failed to import:" STR_FMT, x->n_failed,
                         STR_ARG(buf_str(&x->reasons)));
    if (x->n_failed > REASONS_SHOWN)
        (void)buf_printf(&b, "\n  ... and %zu more", x->n_failed - REASONS_SHOWN);
    local_text(x->c, buf_str(&b));
}

void mail_import_emails(struct local_call *c)
{
    struct importing x = {.c = c, .folders = json_new_object(&c->arena)};
    struct err e = ERR_INIT;
    struct str why = STR("");
    const struct json *v = json_parse(&c->arena, local_str(c, "json_string"), NULL, &e);
    struct json *emails =
        json_is(v, JSON_ARRAY) ? (struct json *)(uintptr_t)v : json_get(v, "emails");

    if (!v)
        why = arena_printf(&c->arena, "Invalid JSON: %s", err_text(&e));
    else if (!json_is(emails, JSON_ARRAY))
        why = STR("Invalid JSON format: missing 'emails' key");
    if (why.len > 0 || !x.folders || !mail_user(c, &x.u, &why)) {
        local_textf(c, "Error importing emails: Import failed: " STR_FMT, STR_ARG(why));
        return;
    }
    if (emails->n == 0) {
        local_text(c, STR("No emails found in the JSON string"));
        return;
    }
    buf_init(&x.reasons, 64 << 10);
    letter_sort(emails);
    for (size_t i = 0; i < emails->n; i++)
        import_one(&x, &emails->items[i]);
    import_answer(&x, emails->n);
    buf_done(&x.reasons);
}

/* ---- attachments ---- */

/* NAME without what would lead elsewhere. */
static struct str safe_name(struct local_call *c, struct str name)
{
    for (size_t i = name.len; i > 0; i--) {
        if (name.p[i - 1] == '/' || name.p[i - 1] == '\\')
            return arena_str(&c->arena, str_skip(name, i));
    }
    return name;
}

/* A new file: "a.txt", else "a(1).txt", … */
static int save_new(struct local_call *c, struct str name, struct str bytes, const char **ret_path)
{
    size_t dot = name.len;

    for (size_t i = name.len; i > 1 && dot == name.len; i--)
        dot = name.p[i - 1] == '.' ? i - 1 : dot;
    if (name.len == 0 || str_is(name, ".") || str_is(name, "..") || memchr(name.p, 0, name.len))
        return -EINVAL;
    for (int k = 0; k < COPIES_MAX; k++) {
        struct str stem = str_slice(name, 0, dot), end = str_skip(name, dot);
        struct str path =
            k == 0 ? arena_printf(&c->arena, "%s/" STR_FMT, c->local->root, STR_ARG(name))
                   : arena_printf(&c->arena, "%s/" STR_FMT "(%d)" STR_FMT, c->local->root,
                                  STR_ARG(stem), k, STR_ARG(end));
        int fd auto_close = path.p ? io_open(path.p, O_WRONLY | O_CREAT | O_EXCL, 0666) : -ENOMEM;
        if (fd == -EEXIST)
            continue;
        *ret_path = path.p;
        return fd < 0 ? fd : io_write_all(fd, bytes.p, bytes.len);
    }
    return -EEXIST;
}

static const struct letter_file *find_file(const struct letter *l, struct str name)
{
    for (size_t i = 0; i < l->n_files; i++) {
        if (str_eq(l->files[i].name, name))
            return &l->files[i];
    }
    return NULL;
}

void mail_download_attachment(struct local_call *c)
{
    struct str why = STR("out of memory"), id = local_str(c, "email_id");
    struct str name = local_str(c, "attachment_filename");
    struct letter *l = arena_new(&c->arena, struct letter);
    struct mail_user u;
    const char *path = "";

    if (!l || !mail_user(c, &u, &why) || !letter_open(c, &u, l, &why)) {
        local_textf(c, "Error downloading attachment: " STR_FMT, STR_ARG(why));
        return;
    }
    const struct letter_file *file = find_file(l, name);
    if (!file) {
        local_textf(c, "Attachment '" STR_FMT "' not found in email " STR_FMT, STR_ARG(name),
                    STR_ARG(id));
        return;
    }
    int r = save_new(c, safe_name(c, name), mime_bytes(&c->arena, file->part), &path);
    if (r < 0)
        local_textf(c, "Error downloading attachment: Failed to save attachment: " STR_FMT,
                    STR_ARG(path_error(c, r, "open", path, NULL)));
    else
        local_textf(c, "Attachment '" STR_FMT "' saved to: %s", STR_ARG(name), path);
}
