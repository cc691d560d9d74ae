/* SPDX-License-Identifier: MIT */
/* The server "filesystem": reading and writing single files. Listings and searches: walk.c,
 * edits: edit.c. */
#include "local/filesystem/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/kit/servers.h"
#include "sys/io.h"

/* Text as content and, where a client asks for structure, as {"content": …}. */
void fs_answer(struct local_call *c, struct str text)
{
    local_text_twice(c, "content", text);
}

/* ---- reading ---- */

/* The first N lines, without the line break behind them. */
static struct str lines_head_of(struct str text, int64_t n)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '\n' && --n == 0)
            return str_slice(text, 0, i);
    }
    return text.len > 0 && text.p[text.len - 1] == '\n' ? str_slice(text, 0, text.len - 1) : text;
}

/* The last N lines; what comes behind the last line break counts as one. */
static struct str lines_tail_of(struct str text, int64_t n)
{
    for (size_t i = text.len; i > 0; i--) {
        if (text.p[i - 1] == '\n' && --n == 0)
            return str_skip(text, i);
    }
    return text;
}

static void read_text_file(struct local_call *c)
{
    int64_t head = local_int(c, "head", 0), tail = local_int(c, "tail", 0);
    struct str text;

    if (head != 0 && tail != 0) {
        local_fail(c, "Cannot specify both head and tail parameters simultaneously");
        return;
    }
    const char *path = path_arg(c, "path");
    if (!path)
        return;
    int r = path_read(c, path, &text);
    if (r < 0)
        path_fail(c, r, r == -EISDIR ? "read" : "open", r == -EISDIR ? NULL : path);
    else
        fs_answer(c, head > 0   ? lines_head_of(text, head)
                     : tail > 0 ? lines_tail_of(text, tail)
                                : text);
}

static const struct {
    const char *extension, *mime;
} media[] = {
    {".png", "image/png"},     {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},     {".webp", "image/webp"}, {".bmp", "image/bmp"},
    {".svg", "image/svg+xml"}, {".mp3", "audio/mpeg"},  {".wav", "audio/wav"},
    {".ogg", "audio/ogg"},     {".flac", "audio/flac"},
};

static const char *mime_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < ARRAY_LEN(media); i++) {
        if (strcasecmp(dot, media[i].extension) == 0)
            return media[i].mime;
    }
    return "application/octet-stream";
}

static void read_media_file(struct local_call *c)
{
    const char *path = path_arg(c, "path");
    struct str bytes;

    if (!path)
        return;
    const char *mime = mime_of(path);
    int r = path_read(c, path, &bytes);
    if (r < 0)
        path_fail(c, r, r == -EISDIR ? "read" : "open", r == -EISDIR ? NULL : path);
    else if (strncmp(mime, "image/", 6) == 0 || strncmp(mime, "audio/", 6) == 0)
        local_media(c, mime[0] == 'i' ? "image" : "audio", mime, bytes);
    else
        local_blob(c, arena_printf(&c->arena, "file://%s", path), mime, bytes);
}

static void read_multiple_files(struct local_call *c)
{
    const struct json *paths = json_get(c->args, "paths");
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    for (size_t i = 0; paths && i < paths->n; i++) {
        struct str given = json_str(json_at(paths, i), STR("")), text, why;
        const char *path = path_check(c, given, &why);
        int r = path ? path_read(c, path, &text) : -EACCES;
        if (path && r < 0)
            why =
                path_error(c, r, r == -EISDIR ? "read" : "open", r == -EISDIR ? NULL : path, NULL);
        (void)buf_add_str(&b, i > 0 ? STR("\n---\n") : STR(""));
        (void)buf_add_str(&b, given);
        (void)buf_add_str(&b, r < 0 ? STR(": Error - ") : STR(":\n"));
        (void)buf_add_str(&b, r < 0 ? why : text);
        (void)buf_add_str(&b, r < 0 ? STR("") : STR("\n"));
    }
    if (buf_ok(&b))
        fs_answer(c, buf_str(&b));
    else
        local_fail(c, "The files are larger than %d MiB together", LOCAL_FILE_MAX >> 20);
}

/* ---- writing ---- */

static void tool_write_file(struct local_call *c)
{
    const char *path = path_arg(c, "path");

    if (!path)
        return;
    int r = path_write(c, path, local_str(c, "content"));
    if (r < 0)
        path_fail(c, r, "open", path);
    else
        fs_answer(c, arena_printf(&c->arena, "Successfully wrote to " STR_FMT,
                                  STR_ARG(local_str(c, "path"))));
}

static void create_directory(struct local_call *c)
{
    const char *path = path_arg(c, "path");
    struct err e = ERR_INIT;
    struct stat st;

    if (!path)
        return;
    int r = io_mkdirs(path, 0777, &e);
    if (r == 0 && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        r = -EEXIST;
    if (r < 0)
        path_fail(c, r == -ENOTDIR && stat(path, &st) == 0 ? -EEXIST : r, "mkdir", path);
    else
        fs_answer(c, arena_printf(&c->arena, "Successfully created directory " STR_FMT,
                                  STR_ARG(local_str(c, "path"))));
}

static void move_one_file(struct local_call *c)
{
    const char *from = path_arg(c, "source");
    const char *to = from ? path_arg(c, "destination") : NULL;
    struct stat st;

    if (!to)
        return;
    if (lstat(to, &st) == 0) {
        local_fail(c, "Destination already exists: " STR_FMT, STR_ARG(local_str(c, "destination")));
        return;
    }
    if (rename(from, to) < 0)
        local_fail_text(c, path_error(c, -errno, "rename", from, to));
    else
        fs_answer(c, arena_printf(&c->arena, "Successfully moved " STR_FMT " to " STR_FMT,
                                  STR_ARG(local_str(c, "source")),
                                  STR_ARG(local_str(c, "destination"))));
}

/* ---- about ---- */

static const char *file_date_text(struct local_call *c, int64_t seconds)
{
    char text[80];
    struct tm tm;
    time_t t = (time_t)seconds;

    if (!gmtime_r(&t, &tm) ||
        strftime(text, sizeof text, "%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)",
                 &tm) == 0)
        return "Invalid Date";
    return arena_strdup(&c->arena, text);
}

struct str fs_info(struct local_call *c, const char *path, const struct stat *st)
{
    return arena_printf(
        &c->arena,
        "size: %llu\ncreated: %s\nmodified: %s\naccessed: %s\n"
        "isDirectory: %s\nisFile: %s\npermissions: %03o",
        (unsigned long long)st->st_size, file_date_text(c, fs_birth(path, st->st_ctim.tv_sec)),
        file_date_text(c, st->st_mtim.tv_sec), file_date_text(c, st->st_atim.tv_sec),
        S_ISDIR(st->st_mode) ? "true" : "false", S_ISREG(st->st_mode) ? "true" : "false",
        st->st_mode & 0777U);
}

static void get_file_info(struct local_call *c)
{
    const char *path = path_arg(c, "path");
    struct stat st;

    if (!path)
        return;
    if (stat(path, &st) < 0)
        path_fail(c, -errno, "stat", path);
    else
        fs_answer(c, fs_info(c, path, &st));
}

static void list_allowed_directories(struct local_call *c)
{
    fs_answer(c, arena_printf(&c->arena, "Allowed directories:\n%s", c->local->root));
}

static const struct local_tool tools[] = {
    {"read_file", read_text_file},
    {"read_text_file", read_text_file},
    {"read_media_file", read_media_file},
    {"read_multiple_files", read_multiple_files},
    {"write_file", tool_write_file},
    {"edit_file", fs_edit_file},
    {"create_directory", create_directory},
    {"list_directory", fs_list_directory},
    {"list_directory_with_sizes", fs_list_directory_with_sizes},
    {"directory_tree", fs_directory_tree},
    {"move_file", move_one_file},
    {"search_files", fs_search_files},
    {"get_file_info", get_file_info},
    {"list_allowed_directories", list_allowed_directories},
};

const struct local_server filesystem_server = {"filesystem", tools, ARRAY_LEN(tools)};
