/* SPDX-License-Identifier: MIT */
/* The server "word": from a call to its document and back. */
#include "local/word/word.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "local/kit/servers.h"
#include "local/word/tools.h"

/* A document is read, changed and replaced: two calls at once would lose what one of them did. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define WORD_TOOL(name, need, shape, failed)                                                       \
    {#name, tool_##name, WORD_##need, WORD_##shape, failed},
static const struct word_tool rows[] = {
#include "local/word/tools.def"
};
#undef WORD_TOOL

/* ---- answers ---- */

struct str word_say(struct word *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = arena_vprintf(w->arena, fmt, ap);
    va_end(ap);
    return s;
}

struct str word_done(struct word *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = arena_vprintf(w->arena, fmt, ap);
    va_end(ap);
    w->is_done = true;
    return s;
}

struct str word_json(struct word *w, const struct json *v, enum json_style style)
{
    auto_buf struct buf text = BUF_INIT(LOCAL_ANSWER_MAX), out = BUF_INIT(LOCAL_ANSWER_MAX);

    (void)json_write(&text, v, style);
    for (size_t i = 0; buf_ok(&text) && i < text.len;) {
        uint32_t c;
        size_t n = utf8_decode(text.p + i, text.len - i, &c);
        if (n <= 1)
            (void)buf_add_char(&out, text.p[i]);
        else if (c < 0x10000)
            (void)buf_printf(&out, "\\u%04x", c);
        else
            (void)buf_printf(&out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                             0xdc00 + ((c - 0x10000) & 0x3ff));
        i += n > 0 ? n : 1;
    }
    return buf_ok(&text) && buf_ok(&out) ? arena_str(w->arena, buf_str(&out)) : STR_NULL;
}

/* TEXT as the tool reports failures. */
static struct str shaped(struct word *w, struct str text)
{
    static const char *const forms[] = {
        [WORD_ERROR] = "{\n  \"error\": %s\n}",
        [WORD_COMMENTS] = "{\n  \"success\": false,\n  \"error\": %s\n}",
        [WORD_NOTES] = "{\"success\":false,\"message\":%s,\"details\":null}",
        [WORD_VALID] = "{\"valid\":false,\"message\":%s,\"report\":{}}",
    };
    struct json v = {.type = JSON_STRING, .s = text};
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);

    if (w->tool->shape == WORD_TEXT || w->tool->shape == WORD_BLOCK)
        return text;
    struct str form = str_of(forms[w->tool->shape]), rest = form;
    (void)buf_add_str(&b, str_cut(&rest, '%'));
    (void)buf_add_str(&b, word_json(w, &v, JSON_COMPACT));
    (void)buf_add_str(&b, str_skip(rest, 1));
    return arena_str(w->arena, buf_str(&b));
}

struct str word_refuse(struct word *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = arena_vprintf(w->arena, fmt, ap);
    va_end(ap);
    return shaped(w, s);
}

struct str word_failed(struct word *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = arena_vprintf(w->arena, fmt, ap);
    va_end(ap);
    return shaped(w, word_say(w, "%s: " STR_FMT, w->tool->failed, STR_ARG(s)));
}

/* ---- files ---- */

struct str word_docx(struct arena *a, struct str name)
{
    return str_ends(name, STR(".docx")) ? name : arena_printf(a, STR_FMT ".docx", STR_ARG(name));
}

const char *word_path(struct word *w, struct str name)
{
    struct str why = STR_NULL;
    const char *path = path_check(w->c, name, &why);

    if (!path && str_starts(why, STR("Parent directory")))
        return "";
    if (!path)
        local_fail_text(w->c, why);
    return path;
}

/* Opens the document at PATH: 0 or -errno. */
static int word_open(struct word *w, const char *path, struct err *e)
{
    int r = package_open(&w->package, w->arena, path, e);

    if (r < 0)
        return r;
    w->part = package_main(&w->package);
    if (!w->part)
        return err_set(e, -EINVAL, "it has no document");
    w->doc = part_xml(&w->package, w->part, e);
    if (!w->doc)
        return err_ctx(e, -EINVAL, "its document");
    w->body = xml_child(w->doc->root, "w:body");
    return w->body ? 0 : err_set(e, -EINVAL, "its document has no body");
}

/* Whether the document is there and may be read or changed; else *SAID says why not. */
static bool is_word_usable(struct word *w, struct str *said)
{
    struct stat st;

    if (stat(w->path, &st) < 0 || !S_ISREG(st.st_mode)) {
        bool is_block = w->tool->shape == WORD_BLOCK, is_note = w->tool->shape == WORD_NOTES;
        *said = word_say(w, "%s" STR_FMT " %s", is_note ? "File not found: " : "Document ",
                         STR_ARG(w->name),
                         is_block  ? "not found."
                         : is_note ? ""
                                   : "does not exist");
        *said = shaped(w, is_note ? str_trim(*said) : *said);
        return false;
    }
    if (w->tool->need != WORD_CHANGES || access(w->path, W_OK) == 0)
        return true;
    *said = word_say(w,
                     "Cannot modify document: File " STR_FMT
                     " is not writeable (permission denied). Consider creating a copy first.",
                     STR_ARG(w->name));
    *said = shaped(w, *said);
    return false;
}

static struct str save_document(struct word *w, struct str said)
{
    struct err e = ERR_INIT;

    w->part->is_changed = true;
    if (w->styles_part && w->styles_part->is_changed && w->styles && w->styles->error)
        return word_failed(w, "%s", "not enough memory");
    if (package_save(&w->package, w->save_path, &e) < 0)
        return word_failed(w, "%s", err_text(&e));
    return said;
}

/* The answer; .p is NULL when the call has failed already. */
static struct str answer_word_call(struct word *w)
{
    struct err e = ERR_INIT;
    struct str said = STR_NULL;

    if (w->tool->need == WORD_NOTHING)
        return w->tool->run(w);
    w->name = word_docx(w->arena, local_str(w->c, "filename"));
    w->path = w->save_path = word_path(w, w->name);
    if (!w->path || !is_word_usable(w, &said))
        return said;
    int r = word_open(w, w->path, &e);
    if (r == -EINVAL && !w->part)
        return word_failed(w, "Package not found at '" STR_FMT "'", STR_ARG(w->name));
    if (r < 0)
        return word_failed(w, "%s", err_text(&e));
    said = w->tool->run(w);
    return w->is_done && said.p ? save_document(w, said) : said;
}

static void call_word_tool(struct local_call *c)
{
    struct word w = {.c = c, .arena = &c->arena};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, c->tool->name) == 0)
            w.tool = &rows[i];
    }
    if (w.tool->need == WORD_CHANGES)
        (void)pthread_mutex_lock(&lock);
    struct str said = answer_word_call(&w);
    if (w.tool->need == WORD_CHANGES)
        (void)pthread_mutex_unlock(&lock);
    if (said.p)
        local_text(c, said);
    else if (!c->is_error)
        local_fail(c, "%s: not enough memory", w.tool->failed);
}

#define WORD_TOOL(name, need, shape, failed) {#name, call_word_tool},
static const struct local_tool tools[] = {
#include "local/word/tools.def"
};
#undef WORD_TOOL

const struct local_server word_server = {"word", tools, ARRAY_LEN(tools)};
