/* SPDX-License-Identifier: MIT */
/* desktop-commander: files. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "local/commander/commander.h"
#include "local/filesystem/filesystem.h"
#include "sys/io.h"

enum { LINES_DEFAULT = 1000, TIP_LINES = 50 };

/* ---- lines ---- */

static size_t count_breaks(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.p[i] == '\n';
    return n;
}

/* Lines that can be read; what is behind the last break counts only when it is not empty. */
static size_t count_text_lines(struct str text)
{
    return count_breaks(text) + (text.len > 0 && text.p[text.len - 1] != '\n');
}

/* N lines from number FROM on, without the break behind the last one. */
static struct str take_line_range(struct str text, size_t from, size_t n)
{
    for (; from > 0 && text.p; from--)
        (void)str_cut(&text, '\n');
    struct str rest = text;
    for (; n > 0 && rest.p; n--)
        (void)str_cut(&rest, '\n');
    if (!text.p)
        return STR("");
    struct str part = rest.p ? str_n(text.p, (size_t)(rest.p - text.p)) : text;
    return str_ends(part, STR("\n")) ? str_slice(part, 0, part.len - 1) : part;
}

/* The part of TEXT that the arguments ask for, with a line about it. */
static struct str show_lines(struct local_call *c, struct str text, int64_t offset, int64_t length)
{
    int64_t n_lines = (int64_t)count_text_lines(text), total = (int64_t)count_breaks(text) + 1;

    if (offset < 0) {
        int64_t n = -offset < n_lines ? -offset : n_lines;
        struct str part = take_line_range(text, (size_t)(n_lines - n), (size_t)n);
        return arena_printf(&c->arena, "[Reading last %lld lines (total: %lld lines)]\n\n" STR_FMT,
                            (long long)n, (long long)total, STR_ARG(part));
    }
    int64_t left = n_lines > offset ? n_lines - offset : 0, n = left < length ? left : length;
    int64_t remaining = total - offset - n;
    struct str part = n > 0 ? take_line_range(text, (size_t)offset, (size_t)n) : STR("");
    struct str where = offset == 0 ? STR("from start")
                                   : arena_printf(&c->arena, "from line %lld", (long long)offset);
    return arena_printf(&c->arena,
                        "[Reading %lld lines " STR_FMT
                        " (total: %lld lines, %lld remaining)]\n\n" STR_FMT,
                        (long long)n, STR_ARG(where), (long long)total,
                        (long long)(remaining > 0 ? remaining : 0), STR_ARG(part));
}

/* ---- reading ---- */

static const char *image_type_of_path(const char *path)
{
    static const char *const rows[][2] = {{".png", "image/png"},
                                          {".jpg", "image/jpeg"},
                                          {".jpeg", "image/jpeg"},
                                          {".gif", "image/gif"},
                                          {".webp", "image/webp"}};
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < ARRAY_LEN(rows); i++) {
        if (strcasecmp(dot, rows[i][0]) == 0)
            return rows[i][1];
    }
    return NULL;
}

/* 0 with the content; else *WHY says what is wrong. */
static int read_whole(struct local_call *c, const char *path, struct str *text, struct str *why)
{
    struct stat st;
    int r = stat(path, &st) < 0 ? -errno : 0;

    if (r < 0)
        *why = path_error(c, r, "stat", path, NULL);
    else if (!S_ISREG(st.st_mode))
        *why = STR("Path provided was not a file!");
    else if ((r = path_read(c, path, text)) < 0)
        *why = path_error(c, r, "open", path, NULL);
    else
        return 0;
    return -EINVAL;
}

void commander_read_file(struct local_call *c)
{
    struct str given = local_str(c, "path"), text, why;

    if (local_bool(c, "isUrl")) {
        local_fail(c, "Error: addresses cannot be read here; use a command that fetches them");
        return;
    }
    const char *path = commander_path(c, given);
    if (!path)
        return;
    const char *type = image_type_of_path(path);
    if (read_whole(c, path, &text, &why) < 0) {
        local_fail(c, "Error: " STR_FMT, STR_ARG(why));
        return;
    }
    if (type) {
        local_textf(c, "Image file: " STR_FMT " (%s)\n", STR_ARG(given), type);
        local_media(c, "image", type, text);
        return;
    }
    local_text(
        c, show_lines(c, text, local_int(c, "offset", 0), local_int(c, "length", LINES_DEFAULT)));
}

/* A line about the file GIVEN, whose content *TEXT gets. */
static void put_about(struct local_call *c, struct buf *about, struct str given, struct str *text)
{
    struct str why;
    const char *path = commander_check(c, given, &why);

    if (path && read_whole(c, path, text, &why) < 0)
        path = NULL;
    const char *type = path ? image_type_of_path(path) : NULL;
    (void)buf_printf(about, "%s" STR_FMT ": ", about->len > 0 ? "\n" : "", STR_ARG(given));
    if (path)
        (void)buf_printf(about, "%s (%s)", type ? type : "text/plain", type ? "image" : "text");
    else
        (void)buf_printf(about, "Error - " STR_FMT, STR_ARG(why));
}

static void put_file_content(struct local_call *c, struct str given, struct str text)
{
    const char *type = image_type_of_path(arena_str(&c->arena, given).p);

    if (type)
        local_media(c, "image", type, text);
    else
        local_textf(c, "\n--- " STR_FMT " contents: ---\n" STR_FMT, STR_ARG(given),
                    STR_ARG(show_lines(c, text, 0, LINES_DEFAULT)));
}

void commander_read_multiple_files(struct local_call *c)
{
    const struct json *paths = json_get(c->args, "paths");
    auto_buf struct buf about = BUF_INIT(1 << 20);
    size_t n = paths ? paths->n : 0;
    struct str *texts = arena_zalloc(&c->arena, n + 1, sizeof *texts);

    for (size_t i = 0; texts && i < n; i++)
        put_about(c, &about, json_str(json_at(paths, i), STR("")), &texts[i]);
    local_text(c, buf_str(&about));
    for (size_t i = 0; texts && i < n; i++) {
        if (texts[i].p)
            put_file_content(c, json_str(json_at(paths, i), STR("")), texts[i]);
    }
}

/* ---- writing ---- */

void commander_write_file(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);
    struct str given = local_str(c, "path"), content = local_str(c, "content"), old = STR("");
    bool is_append = str_is(local_str(c, "mode"), "append");
    const char *path = commander_path(c, given);
    size_t n = count_breaks(content) + 1;

    if (!path)
        return;
    int r = is_append ? path_read(c, path, &old) : 0;
    r = r == -ENOENT ? 0 : r;
    (void)buf_add_str(&b, old);
    (void)buf_add_str(&b, content);
    if (r == 0)
        r = buf_ok(&b) ? path_write(c, path, buf_str(&b)) : -EFBIG;
    if (r < 0) {
        commander_fail(c, r, "open", path);
        return;
    }
    struct str tip = n <= TIP_LINES
                         ? STR("")
                         : arena_printf(&c->arena,
                                        "✅ File written successfully! (%zu lines)\n            \n"
                                        "💡 Performance tip: For optimal speed, consider chunking "
                                        "files into ≤30 line pieces in future operations.",
                                        n);
    local_textf(c, "Successfully %s to " STR_FMT " (%zu lines) " STR_FMT,
                is_append ? "appended" : "wrote", STR_ARG(given), n, STR_ARG(tip));
}

void commander_create_directory(struct local_call *c)
{
    const char *path = commander_path(c, local_str(c, "path"));
    struct stat st;

    if (!path)
        return;
    int r = io_mkdirs(path, 0777, NULL);
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        r = -EEXIST;
    if (r < 0)
        commander_fail(c, r, "mkdir", path);
    else
        local_textf(c, "Successfully created directory " STR_FMT, STR_ARG(local_str(c, "path")));
}

void commander_list_directory(struct local_call *c)
{
    const char *path = commander_path(c, local_str(c, "path"));
    struct buf *b = local_buf(c);
    int r = path ? fs_list_names(c, path, b) : 0;

    if (path && r < 0)
        commander_fail(c, r, "scandir", path);
    else if (path)
        local_text(c, buf_str(b));
}

void commander_move_file(struct local_call *c)
{
    struct str source = local_str(c, "source"), destination = local_str(c, "destination");
    const char *from = commander_path(c, source);
    const char *to = from ? commander_path(c, destination) : NULL;

    if (!to)
        return;
    if (rename(from, to) < 0)
        local_fail(c, "Error: " STR_FMT, STR_ARG(path_error(c, -errno, "rename", from, to)));
    else
        local_textf(c, "Successfully moved " STR_FMT " to " STR_FMT, STR_ARG(source),
                    STR_ARG(destination));
}

void commander_get_file_info(struct local_call *c)
{
    const char *path = commander_path(c, local_str(c, "path"));
    struct stat st;
    struct str text, more = STR("");

    if (!path)
        return;
    if (stat(path, &st) < 0) {
        commander_fail(c, -errno, "stat", path);
        return;
    }
    if (S_ISREG(st.st_mode) && path_read(c, path, &text) == 0 && str_is_utf8(text)) {
        size_t n = count_breaks(text) + 1;
        more = arena_printf(&c->arena, "\nlineCount: %zu\nlastLine: %zu\nappendPosition: %zu", n,
                            n - 1, n);
    }
    local_textf(c, STR_FMT STR_FMT, STR_ARG(fs_info(c, path, &st)), STR_ARG(more));
}
