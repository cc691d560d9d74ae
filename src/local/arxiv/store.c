/* SPDX-License-Identifier: MIT */
/* arxiv: papers that were downloaded, a file of text each. */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "local/arxiv/arxiv.h"
#include "local/kit/helper.h"
#include "local/kit/path.h"
#include "sys/io.h"

enum { LISTED_MAX = 1000 };

/* Below the workspace. */
static const struct {
    const char *benchmark, *folder;
} folders[] = {
    {"Toolathlon", "arxiv_local_storage"},
    {"", ".arxiv-mcp-server/papers"},
};

static const char *arxiv_storage(struct local_call *c)
{
    size_t i = 0;

    while (folders[i].benchmark[0] && !str_is(c->benchmark, folders[i].benchmark))
        i++;
    return arena_printf(&c->arena, "%s/%s", c->local->root, folders[i].folder).p;
}

/* The file of a paper; the slash of an old id becomes an underscore. */
static const char *paper_path_of(struct local_call *c, struct str id, const char *suffix)
{
    char *name = arena_strdup(&c->arena, arena_str(&c->arena, id).p);
    const char *folder = arxiv_storage(c);

    for (char *p = name; p && *p; p++)
        *p = *p == '/' ? '_' : *p;
    return name && folder ? arena_printf(&c->arena, "%s/%s%s", folder, name, suffix).p : NULL;
}

/* ---- answers ---- */

static void answer_paper_json(struct local_call *c, const struct json *v, enum json_style style)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);

    if (!v || json_write(&b, v, style) < 0)
        local_fail(c, "Error: out of memory");
    else
        local_text(c, buf_str(&b));
}

/* {"status": …, KEY: …, "message": …}; without a value there is no KEY. */
static void answer_status(struct local_call *c, const char *status, const char *message,
                          const char *path)
{
    struct json *v = json_new_object(&c->arena);

    if (v) {
        (void)json_set(&c->arena, v, "status", json_new_str(&c->arena, str_of(status)));
        (void)json_set(&c->arena, v, "message", json_new_str(&c->arena, str_of(message)));
    }
    if (v && path)
        (void)json_set(&c->arena, v, "resource_uri",
                       json_new_str(&c->arena, arena_printf(&c->arena, "file://%s", path)));
    answer_paper_json(c, v, JSON_COMPACT);
}

static void answer_paper_error(struct local_call *c, struct str message)
{
    answer_status(c, "error", message.p ? message.p : "Error: out of memory", NULL);
}

/* ---- text ---- */

static bool add_paper_file(struct local_call *c, const char *path, struct buf *out, struct str *why)
{
    const char *const argv[] = {"pdftotext", "-q", "-enc", "UTF-8", path, "-", NULL};
    const struct helper h = {.argv = argv, .package = "poppler-utils"};
    struct str text;

    if (str_ends(str_of(path), STR(".pdf"))) {
        if (!helper_run(c, &h, &text, why))
            return false;
    } else {
        int r = path_read(c, path, &text);
        if (r < 0) {
            *why = path_error(c, r, "read", path, NULL);
            return false;
        }
    }
    for (struct str rest = text; rest.p;) {
        (void)buf_add_str(out, str_cut(&rest, '\f'));
        if (rest.len > 0)
            (void)buf_add_lit(out, "\n-----\n\n");
    }
    return true;
}

static void add_summary(const struct arxiv_paper *p, struct buf *out)
{
    for (size_t i = 0; i < p->n_authors; i++)
        (void)buf_printf(out, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(p->authors[i]));
    (void)buf_printf(out, "\n\narXiv:" STR_FMT ", " STR_FMT "\n\n## Summary\n\n" STR_FMT "\n\n",
                     STR_ARG(p->id), STR_ARG(str_slice(p->published, 0, 10)), STR_ARG(p->summary));
    (void)buf_add_lit(out, "The full text is not here: this sandbox cannot reach arXiv.\n");
}

/* The text of P: the workspace's own, arXiv's, or what is known of it. */
static bool write_paper_text(struct local_call *c, const struct arxiv_corpus *corpus,
                             const struct arxiv_paper *p, struct buf *out, struct str *why)
{
    const char *own = arxiv_corpus_file(c, p->id);
    const char *pdf = paper_path_of(c, p->id, ".pdf");

    if (!own || str_ends(str_of(own), STR(".pdf")))
        (void)buf_printf(out, "# " STR_FMT "\n\n", STR_ARG(p->title));
    if (own)
        return add_paper_file(c, own, out, why);
    enum arxiv_reach r =
        !corpus->has_own && pdf ? arxiv_fetch(c, p->id, pdf, why) : ARXIV_UNREACHED;
    if (r == ARXIV_REFUSED)
        return false;
    if (r == ARXIV_UNREACHED) {
        add_summary(p, out);
        return true;
    }
    bool is_read = add_paper_file(c, pdf, out, why);
    (void)unlink(pdf);
    return is_read;
}

/* ---- papers ---- */

/* What is known of the paper ID; NULL, which is reported. */
static const struct arxiv_paper *find_paper(struct local_call *c, const struct arxiv_corpus *corpus,
                                            struct str id)
{
    const struct arxiv_paper *p = arxiv_find(&corpus->papers, id);
    struct arxiv_papers found = {.n = 0};
    struct str why = STR_NULL;

    if (p)
        return p;
    enum arxiv_reach r = ARXIV_UNREACHED;
    if (!corpus->has_own)
        r = arxiv_ask(c, arena_printf(&c->arena, "id_list=" STR_FMT, STR_ARG(id)), &found, &why);
    if (r == ARXIV_ANSWERED && found.n > 0)
        return found.items; /* which is in the arena */
    if (r == ARXIV_REFUSED)
        answer_paper_error(c, arena_printf(&c->arena, "Error: " STR_FMT, STR_ARG(why)));
    else if (r == ARXIV_ANSWERED || corpus->has_own)
        answer_paper_error(
            c, arena_printf(&c->arena, "Paper " STR_FMT " not found on arXiv", STR_ARG(id)));
    else
        answer_paper_error(c,
                           arena_printf(&c->arena,
                                        "Error: paper " STR_FMT " is not in the local corpus, and "
                                        "this sandbox cannot reach arXiv",
                                        STR_ARG(id)));
    return NULL;
}

static void download_paper(struct local_call *c, struct str id, const char *path)
{
    auto_buf struct buf text = BUF_INIT(LOCAL_FILE_MAX);
    struct arxiv_corpus corpus;
    struct str why = STR_NULL;

    if (arxiv_corpus_load(c, &corpus, &why) < 0) {
        answer_paper_error(c, arena_printf(&c->arena, "Error: " STR_FMT, STR_ARG(why)));
        return;
    }
    const struct arxiv_paper *p = find_paper(c, &corpus, id);
    if (!p)
        return;
    int r = io_mkdirs(arxiv_storage(c), 0777, NULL);
    if (r == 0 && !write_paper_text(c, &corpus, p, &text, &why)) {
        answer_paper_error(c, arena_printf(&c->arena, "Error: " STR_FMT, STR_ARG(why)));
        return;
    }
    if (r == 0)
        r = buf_ok(&text) ? path_write(c, path, buf_str(&text)) : -EFBIG;
    if (r < 0) {
        why = path_error(c, r, "write", path, NULL);
        answer_paper_error(c, arena_printf(&c->arena, "Error: " STR_FMT, STR_ARG(why)));
        return;
    }
    answer_status(c, "success", "Paper is ready", path);
}

/* ---- tools ---- */

void arxiv_download(struct local_call *c)
{
    struct str id = str_trim(local_str(c, "paper_id"));

    if (!arxiv_is_id(id)) {
        answer_paper_error(c, arena_printf(&c->arena, "Error: '" STR_FMT "' is not an arXiv id",
                                           STR_ARG(str_slice(id, 0, 100))));
        return;
    }
    const char *path = paper_path_of(c, id, ".md");
    bool is_there = path && access(path, F_OK) == 0;
    if (!path)
        local_fail(c, "Error: out of memory");
    else if (is_there)
        answer_status(c, "success",
                      local_bool(c, "check_status") ? "Paper is ready" : "Paper already available",
                      path);
    else if (local_bool(c, "check_status"))
        answer_status(c, "unknown", "No download or conversion in progress", NULL);
    else
        download_paper(c, id, path);
}

void arxiv_read(struct local_call *c)
{
    struct str id = str_trim(local_str(c, "paper_id")), text;
    const char *path = arxiv_is_id(id) ? paper_path_of(c, id, ".md") : NULL;
    int r = path ? path_read(c, path, &text) : -ENOENT;

    if (r < 0) {
        struct str why = r == -ENOENT ? STR_NULL : path_error(c, r, "read", path, NULL);
        answer_paper_error(
            c, why.p ? arena_printf(&c->arena, "Error reading paper: " STR_FMT, STR_ARG(why))
                     : arena_printf(&c->arena,
                                    "Paper " STR_FMT
                                    " not found in storage. You may need to download it "
                                    "first using download_paper.",
                                    STR_ARG(str_slice(id, 0, 100))));
        return;
    }
    struct json *v = json_new_object(&c->arena);
    if (v) {
        (void)json_set(&c->arena, v, "status", json_new_str(&c->arena, STR("success")));
        (void)json_set(&c->arena, v, "paper_id", json_new_str(&c->arena, id));
        (void)json_set(&c->arena, v, "content", json_new_str(&c->arena, text));
    }
    answer_paper_json(c, v, JSON_COMPACT);
}

/* ---- list_papers ---- */

/* The ids of the papers that are there. */
static size_t list_ids(struct local_call *c, struct str **ret)
{
    const char *folder = arxiv_storage(c);
    DIR *dir = folder ? opendir(folder) : NULL;
    struct str *ids = dir ? arena_zalloc(&c->arena, LISTED_MAX, sizeof *ids) : NULL;
    const struct dirent *entry;
    size_t n = 0;

    while (ids && n < LISTED_MAX && (entry = readdir(dir))) {
        struct str name = str_of(entry->d_name);
        if (!str_ends(name, STR(".md")))
            continue;
        char *id =
            arena_strdup(&c->arena, arena_str(&c->arena, str_slice(name, 0, name.len - 3)).p);
        char *slash = id ? strchr(id, '_') : NULL;
        if (slash)
            *slash = '/';
        if (id)
            ids[n++] = str_of(id);
    }
    if (dir)
        (void)closedir(dir);
    *ret = ids;
    return n;
}

/* Of a paper that nobody knows: the heading of its file. */
static struct str title_of(struct local_call *c, struct str id)
{
    const char *path = paper_path_of(c, id, ".md");
    struct str text, line;

    if (!path || path_read(c, path, &text) < 0)
        return id;
    line = str_cut(&text, '\n');
    return str_starts(line, STR("# ")) ? str_skip(line, 2) : id;
}

static struct json *describe_stored_paper(struct local_call *c, const struct arxiv_paper *p)
{
    struct arena *a = &c->arena;
    struct str links[] = {arena_printf(a, "http://arxiv.org/abs/" STR_FMT, STR_ARG(p->id)),
                          arena_printf(a, "http://arxiv.org/pdf/" STR_FMT, STR_ARG(p->id))};
    struct json *v = json_new_object(a);

    if (!v)
        return NULL;
    (void)json_set(a, v, "title", json_new_str(a, p->title));
    (void)json_set(a, v, "summary", json_new_str(a, p->summary));
    (void)json_set(a, v, "authors", arxiv_strings(a, p->authors, p->n_authors));
    (void)json_set(a, v, "links", arxiv_strings(a, links, ARRAY_LEN(links)));
    (void)json_set(a, v, "pdf_url", json_new_str(a, links[1]));
    return v;
}

/* Asks arXiv for the papers that the corpus does not have. */
static void ask_rest(struct local_call *c, const struct arxiv_corpus *corpus, const struct str *ids,
                     size_t n, struct arxiv_papers *ret)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    struct str why;

    for (size_t i = 0; i < n; i++) {
        if (arxiv_find(&corpus->papers, ids[i]) || !arxiv_is_id(ids[i]))
            continue;
        (void)buf_printf(&b, "%s" STR_FMT, b.len > 0 ? "," : "id_list=", STR_ARG(ids[i]));
    }
    if (b.len == 0 || !buf_ok(&b) || corpus->has_own)
        return;
    (void)buf_printf(&b, "&max_results=%zu", n);
    if (arxiv_ask(c, buf_str(&b), ret, &why) != ARXIV_ANSWERED)
        *ret = (struct arxiv_papers){.n = 0};
}

void arxiv_list(struct local_call *c)
{
    struct arena *a = &c->arena;
    struct arxiv_papers more = {.n = 0};
    struct arxiv_corpus corpus;
    struct str why, *ids;

    if (arxiv_corpus_load(c, &corpus, &why) < 0) {
        local_textf(c, "Error: " STR_FMT, STR_ARG(why));
        return;
    }
    size_t n = list_ids(c, &ids);
    ask_rest(c, &corpus, ids, n, &more);
    struct json *v = json_new_object(a), *list = json_new_array(a);
    for (size_t i = 0; list && i < n; i++) {
        const struct arxiv_paper *p = arxiv_find(&corpus.papers, ids[i]);
        struct arxiv_paper unknown = {.id = ids[i]};
        p = p ? p : arxiv_find(&more, ids[i]);
        if (!p)
            unknown.title = title_of(c, ids[i]);
        (void)json_push(a, list, describe_stored_paper(c, p ? p : &unknown));
    }
    if (v && list) {
        (void)json_set(a, v, "total_papers", json_new_int(a, (int64_t)n));
        (void)json_set(a, v, "papers", list);
    }
    answer_paper_json(c, v, JSON_PRETTY);
}
