/* SPDX-License-Identifier: MIT */
/* The objects of git: names of blobs, trees and commits as git computes them, and folders. */
#include <stdio.h>
#include <stdlib.h>

#include "apps/functions/functions.h"
#include "base/enc.h"
#include "sys/digest.h"

#define SHA_HEX    (2 * DIGEST_SHA1_LEN)
#define WORK_ARENA (256UL << 20)

enum {
    MAX_DEPTH = 64,  /* of folders in folders */
    MAX_FOLDERS = 25 /* of those that are shown as such: a writer of JSON has 63 levels */
};

/* ---- names ---- */

static void name_object(const char *type, struct str body, struct buf *work, char ret[SHA_HEX + 1])
{
    unsigned char sha[DIGEST_SHA1_LEN];

    buf_clear(work);
    (void)buf_printf(work, "%s %zu", type, body.len);
    (void)buf_add_char(work, '\0');
    (void)buf_add_str(work, body);
    digest_sha1(sha, buf_str(work));
    enc_hex(ret, sha, sizeof sha);
}

static void give_name(sqlite3_context *x, const char *type, struct str body)
{
    auto_buf struct buf work = BUF_INIT(2 * (size_t)APPDB_RESULT_MAX);
    char sha[SHA_HEX + 1];

    name_object(type, body, &work, sha);
    if (buf_ok(&work))
        sqlite3_result_text(x, sha, SHA_HEX, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_toobig(x);
}

/* git_blob(content) */
static void fn_git_blob(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    give_name(x, "blob", fn_text(v[0]));
}

/* git_commit(tree, parents, author, committer, seconds, message): parents is a JSON array, the
 * people are "Name <address>". */
static void fn_git_commit(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    long long seconds = sqlite3_value_int64(v[4]);

    (void)n;
    arena_init(&arena, 1 << 20);
    const struct json *parents = json_parse(&arena, fn_text(v[1]), NULL, NULL);
    (void)buf_printf(&b, "tree " STR_FMT "\n", STR_ARG(fn_text(v[0])));
    for (size_t i = 0; json_is(parents, JSON_ARRAY) && i < parents->n; i++)
        (void)buf_printf(&b, "parent " STR_FMT "\n",
                         STR_ARG(json_str(json_at(parents, i), STR(""))));
    (void)buf_printf(&b, "author " STR_FMT " %lld +0000\n", STR_ARG(fn_text(v[2])), seconds);
    (void)buf_printf(&b, "committer " STR_FMT " %lld +0000\n\n", STR_ARG(fn_text(v[3])), seconds);
    (void)buf_add_str(&b, fn_text(v[5]));
    if (buf_ok(&b))
        give_name(x, "commit", buf_str(&b));
    else
        sqlite3_result_error_toobig(x);
}

/* ---- files ---- */

struct git_file {
    struct str path, value; /* value: the blob's name, or the content */
};

struct files {
    struct git_file *items;
    size_t n;
    struct buf work;
    struct jw out;
    unsigned depth;
    const char *error;
};

/* Bytes, shorter first: the order that git has in trees, as a folder there counts as "name/". */
static int by_path(const void *a, const void *b)
{
    const struct git_file *x = a, *y = b;

    return str_cmp(x->path, y->path);
}

/* Reads a JSON array of [path, value]. */
static bool read_git_files(struct files *f, struct arena *a, struct str text)
{
    const struct json *in = json_parse(a, text, NULL, NULL);

    f->error = "not an array of [path, value]";
    if (!json_is(in, JSON_ARRAY))
        return false;
    f->items = arena_zalloc(a, in->n + 1UL, sizeof *f->items);
    if (!f->items)
        return false;
    for (; f->n < in->n; f->n++) {
        const struct json *pair = json_at(in, f->n);
        f->items[f->n] = (struct git_file){json_str(json_at(pair, 0), STR_NULL),
                                           json_str(json_at(pair, 1), STR_NULL)};
        if (!f->items[f->n].path.len || !f->items[f->n].value.p)
            return false;
    }
    qsort(f->items, f->n, sizeof *f->items, by_path);
    f->error = NULL;
    return true;
}

/* The first part of the path behind SKIP bytes; IS_FOLDER: there is more behind it. */
static struct str path_part_of(const struct git_file *file, size_t skip, bool *is_folder)
{
    struct str rest = str_skip(file->path, skip);
    ptrdiff_t slash = str_chr(rest, '/');

    *is_folder = slash >= 0;
    return slash < 0 ? rest : str_slice(rest, 0, (size_t)slash);
}

/* Behind the last file of the folder PART, of which the file FROM is the first. */
static size_t folder_end(const struct files *f, size_t from, size_t to, size_t skip)
{
    bool is_folder;
    struct str part = path_part_of(&f->items[from], skip, &is_folder);

    for (size_t i = from; i < to; i++) {
        struct str other = path_part_of(&f->items[i], skip, &is_folder);
        if (!is_folder || !str_eq(other, part))
            return i;
    }
    return to;
}

/* ---- trees ---- */

/* A tree under construction, as git has it and as we return it. */
struct git_tree {
    struct buf body, entries;
    struct jw w;
};

static void add_tree_entry(struct git_tree *t, struct str name, const char *sha, bool is_folder)
{
    unsigned char raw[DIGEST_SHA1_LEN] = {0};

    (void)enc_unhex(raw, sizeof raw, str_of(sha));
    (void)buf_printf(&t->body, "%s " STR_FMT, is_folder ? "40000" : "100644", STR_ARG(name));
    (void)buf_add_char(&t->body, '\0');
    (void)buf_add(&t->body, raw, sizeof raw);
    jw_object(&t->w);
    jw_key(&t->w, "name");
    jw_str(&t->w, name);
    jw_key(&t->w, "type");
    jw_cstr(&t->w, is_folder ? "tree" : "blob");
    jw_key(&t->w, "sha");
    jw_cstr(&t->w, sha);
    jw_end(&t->w);
}

static void give_tree(struct files *f, struct git_tree *t, char ret[SHA_HEX + 1])
{
    jw_end(&t->w);
    name_object("tree", buf_str(&t->body), &f->work, ret);
    jw_object(&f->out);
    jw_key(&f->out, "sha");
    jw_cstr(&f->out, ret);
    jw_key(&f->out, "entries");
    jw_raw(&f->out, buf_str(&t->entries));
    jw_end(&f->out);
    if (!buf_ok(&t->body) || !buf_ok(&t->entries))
        f->error = "too many files";
    buf_done(&t->body);
    buf_done(&t->entries);
}

/* Writes the tree of the files [FROM, TO), whose paths begin with the same SKIP bytes, behind the
 * trees in it. */
static void add_git_tree(struct files *f, size_t from, size_t to, size_t skip,
                         char ret[SHA_HEX + 1])
{
    struct git_tree t = {BUF_INIT(APPDB_RESULT_MAX), BUF_INIT(APPDB_RESULT_MAX), {0}};

    t.w = jw_to(&t.entries);
    jw_array(&t.w);
    f->depth++;
    for (size_t i = from, next; i < to && !f->error; i = next) {
        bool is_folder;
        char sha[SHA_HEX + 1] = "";
        struct str name = path_part_of(&f->items[i], skip, &is_folder);
        next = is_folder ? folder_end(f, i, to, skip) : i + 1;
        if (name.len == 0 || f->depth > MAX_DEPTH)
            f->error = "a malformed path";
        else if (is_folder)
            add_git_tree(f, i, next, skip + name.len + 1, sha);
        else
            (void)snprintf(sha, sizeof sha, STR_FMT, STR_ARG(f->items[i].value));
        add_tree_entry(&t, name, sha, is_folder);
    }
    f->depth--;
    give_tree(f, &t, ret);
}

/* ---- folders ---- */

static void add_file_name(struct files *f, struct str name, struct str path)
{
    jw_object(&f->out);
    jw_key(&f->out, "name");
    jw_str(&f->out, name);
    jw_key(&f->out, "path");
    jw_str(&f->out, path);
}

/* The files of a folder, then the folders in it. */
static void add_folder(struct files *f, size_t from, size_t to, size_t skip)
{
    bool is_folder;

    jw_key(&f->out, "files");
    jw_array(&f->out);
    for (size_t i = from; i < to; i++) {
        struct str name = path_part_of(&f->items[i], skip, &is_folder);
        if (is_folder)
            continue;
        add_file_name(f, name, f->items[i].path);
        jw_key(&f->out, "content");
        jw_str(&f->out, f->items[i].value);
        jw_end(&f->out);
    }
    jw_end(&f->out);
    jw_key(&f->out, "folders");
    jw_array(&f->out);
    f->depth++;
    for (size_t i = from, next; i < to && !f->error; i = next) {
        struct str name = path_part_of(&f->items[i], skip, &is_folder);
        next = is_folder ? folder_end(f, i, to, skip) : i + 1;
        if (!is_folder)
            continue;
        if (f->depth > MAX_FOLDERS) {
            f->error = "folders nest too deep";
            break;
        }
        add_file_name(f, name, str_slice(f->items[i].path, 0, skip + name.len));
        add_folder(f, i, next, skip + name.len + 1);
        jw_end(&f->out);
    }
    f->depth--;
    jw_end(&f->out);
}

/* ---- the functions of files ---- */

static void with_files(sqlite3_context *x, sqlite3_value *v, void (*write)(struct files *f))
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct files f = {.work = BUF_INIT(APPDB_RESULT_MAX), .out = jw_to(&b)};

    arena_init(&arena, WORK_ARENA);
    if (read_git_files(&f, &arena, fn_text(v)))
        write(&f);
    if (!f.error && !buf_ok(&f.work))
        f.error = "too many files";
    buf_done(&f.work);
    if (f.error)
        sqlite3_result_error(x, f.error, -1);
    else
        fn_give_json(x, &b);
}

static void write_trees(struct files *f)
{
    char sha[SHA_HEX + 1];

    jw_array(&f->out);
    add_git_tree(f, 0, f->n, 0, sha);
    jw_end(&f->out);
}

/* git_trees(files): the trees of [[path, blob], …], the one of all files last:
 * [{"sha", "entries": [{"name", "type", "sha"}]}] */
static void fn_git_trees(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    with_files(x, v[0], write_trees);
}

static void write_folders(struct files *f)
{
    add_file_name(f, STR("root"), STR("/"));
    add_folder(f, 0, f->n, 0);
    jw_end(&f->out);
}

/* git_folders(files): [[path, content], …] as folders in folders:
 * {"name", "path", "files": [{"name", "path", "content"}], "folders": […]} */
static void fn_git_folders(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    with_files(x, v[0], write_folders);
}

const struct sql_function functions_git[] = {
    {"git_blob", 1, SQLITE_DETERMINISTIC, fn_git_blob},
    {"git_commit", 6, SQLITE_DETERMINISTIC, fn_git_commit},
    {"git_trees", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_git_trees},
    {"git_folders", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_git_folders},
    {NULL, 0, 0, NULL},
};
