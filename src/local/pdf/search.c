/* SPDX-License-Identifier: MIT */
/* pdf-tools of Toolathlon: searches by regular expression. What one found is kept under an id, so
 * that its pages of results can be asked for one by one. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "local/pdf/pdf.h"

enum {
    SESSIONS_MAX = 20,
    SESSION_BYTES = 8 << 20,
    SESSION_AGE_MS = 30 * 60 * 1000, /* without use */
    MATCHES_MAX = 10000,
    CONTEXT_CHARS = 100, /* on both sides of a match */
    ID_LEN = 8,
    PAGE_SIZE_MIN = 10,
    PAGE_SIZE_MAX = 50
};
#define STEPS_MAX ((uint64_t)2000000000)

struct search_match {
    int64_t page;
    struct str before, text, after;
};

struct search_session {
    char id[ID_LEN + 1];
    struct str path, pattern;
    struct search_match *matches;
    size_t n, cap;
    bool is_cut; /* there are more matches than are kept */
    int64_t current, page_size;
    int64_t used_ms, used_us; /* by both clocks */
    struct arena arena;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct search_session *sessions[SESSIONS_MAX];

static void free_session(struct search_session *s)
{
    if (s)
        arena_done(&s->arena);
    free(s);
}

static void touch_search_session(struct search_session *s)
{
    s->used_ms = clock_mono_ms();
    s->used_us = clock_real_us();
}

/* ---- finding ---- */

/* The beginning of the CONTEXT_CHARS characters in front of AT, or the end of those behind it. */
static size_t chars_before(struct str text, size_t at)
{
    for (int n = 0; at > 0 && n < CONTEXT_CHARS; n++) {
        at--;
        while (at > 0 && ((unsigned char)text.p[at] & 0xc0) == 0x80)
            at--;
    }
    return at;
}

static size_t chars_behind(struct str text, size_t at)
{
    for (int n = 0; at < text.len && n < CONTEXT_CHARS; n++) {
        size_t len = utf8_sequence(text.p + at, text.len - at);
        at += len ? len : 1;
    }
    return at;
}

/* False when no more can be kept. */
static bool add_page_match(struct search_session *s, struct str page, struct regex_match m,
                           int64_t number)
{
    struct search_match *all = arena_grow(&s->arena, s->matches, s->n, &s->cap, sizeof *all);

    s->is_cut = !all || s->n == MATCHES_MAX;
    if (s->is_cut)
        return false;
    s->matches = all;
    struct search_match *new = &all[s->n];
    new->page = number;
    new->text = arena_str(&s->arena, str_slice(page, m.start, m.end));
    new->before = arena_str(&s->arena, str_slice(page, chars_before(page, m.start), m.start));
    new->after = arena_str(&s->arena, str_slice(page, m.end, chars_behind(page, m.end)));
    s->is_cut = !new->text.p || !new->before.p || !new->after.p;
    s->n += !s->is_cut;
    return !s->is_cut;
}

/* All matches in a page, none inside another. 0, or as regex_find(). */
static int search_page(struct search_session *s, struct regex_find *f, int64_t number)
{
    int r = 1;

    for (f->from = 0; r > 0 && f->from <= f->text.len && !s->is_cut;) {
        struct arena scratch auto_arena;
        struct regex_match m;
        arena_init(&scratch, 1 << 20);
        r = regex_find(&scratch, f, &m);
        if (r <= 0 || !add_page_match(s, f->text, m, number))
            break;
        size_t len =
            m.end < f->text.len ? utf8_sequence(f->text.p + m.end, f->text.len - m.end) : 0;
        f->from = m.end > m.start ? m.end : m.end + (len ? len : 1);
    }
    return r < 0 ? r : 0;
}

/* ---- answers ---- */

static int64_t count_pages(const struct search_session *s)
{
    return ((int64_t)s->n + s->page_size - 1) / s->page_size;
}

static void write_matches(struct buf *b, const struct search_session *s)
{
    size_t from = (size_t)((s->current - 1) * s->page_size), to = from + (size_t)s->page_size;

    for (size_t i = from; i < to && i < s->n; i++) {
        const struct search_match *m = &s->matches[i];
        (void)buf_printf(b,
                         "Match %zu:\n  Page: %" PRId64 "\n  Text: \"" STR_FMT
                         "\"\n  Context: ..." STR_FMT "[" STR_FMT "]" STR_FMT "...\n\n",
                         i + 1, m->page, STR_ARG(m->text), STR_ARG(m->before), STR_ARG(m->text),
                         STR_ARG(m->after));
    }
}

static void write_session_head(struct buf *b, const struct search_session *s)
{
    (void)buf_printf(b,
                     "Search ID: %s\nPattern: " STR_FMT "\nTotal matches: %zu\nPage: %" PRId64
                     "/%" PRId64 "\n",
                     s->id, STR_ARG(s->pattern), s->n, s->current, count_pages(s));
}

static void answer_page(struct local_call *c, const struct search_session *s)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);

    write_session_head(&b, s);
    (void)buf_add_char(&b, '\n');
    write_matches(&b, s);
    local_text(c, buf_str(&b));
}

static void answer_first(struct local_call *c, const struct search_session *s, struct str warning)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);

    (void)buf_add_str(&b, warning);
    if (s->is_cut)
        (void)buf_printf(&b, "Warning: There are more matches; these are the first %zu.\n", s->n);
    write_session_head(&b, s);
    (void)buf_printf(&b, "Results per page: %" PRId64 "\n\n", s->page_size);
    write_matches(&b, s);
    if ((int64_t)s->n > s->page_size)
        (void)buf_printf(&b,
                         "Use search_pdf_next_page, search_pdf_prev_page, or search_pdf_go_page "
                         "with search_id '%s' to navigate.",
                         s->id);
    local_text(c, buf_str(&b));
}

/* ---- sessions ---- */

/* Takes S over, in the place of a free one, of one that is too old, or of the oldest. */
static void keep_search_session(struct search_session *s)
{
    size_t at = 0;

    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        if (sessions[i] && s->used_ms - sessions[i]->used_ms > SESSION_AGE_MS) {
            free_session(sessions[i]);
            sessions[i] = NULL;
        }
        if (!sessions[i] || (sessions[at] && sessions[i]->used_ms < sessions[at]->used_ms))
            at = i;
    }
    free_session(sessions[at]);
    sessions[at] = s;
}

/* Under the lock: that of the argument search_id; NULL, which is reported. */
static struct search_session *find_session(struct local_call *c)
{
    struct str id = local_str(c, "search_id");
    int64_t now_ms = clock_mono_ms();

    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct search_session *s = sessions[i];
        if (s && str_is(id, s->id) && now_ms - s->used_ms <= SESSION_AGE_MS) {
            touch_search_session(s);
            return s;
        }
    }
    local_textf(c, "Error: Search session '" STR_FMT "' not found or expired", STR_ARG(id));
    return NULL;
}

static struct search_session *new_session(struct local_call *c, struct str path, int64_t page_size)
{
    struct search_session *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        local_fail(c, "Error searching PDF: out of memory");
        return NULL;
    }
    arena_init(&s->arena, SESSION_BYTES);
    id_hex(s->id, ID_LEN);
    s->path = arena_str(&s->arena, path);
    s->pattern = arena_str(&s->arena, local_str(c, "pattern"));
    s->current = 1;
    s->page_size = page_size;
    touch_search_session(s);
    return s;
}

/* ---- tools ---- */

/* Searches the pages of TEXT; false when that did not work, which is reported. */
static bool search_pages(struct local_call *c, struct search_session *s, const struct regex *re,
                         struct str text)
{
    uint64_t steps = STEPS_MAX;
    struct regex_find f = {.re = re, .flags = REGEX_IGNORE_CASE | REGEX_LINES, .steps = &steps};

    for (int64_t i = 1; !s->is_cut && pdf_next_page(&text, &f.text); i++) {
        if (search_page(s, &f, i) == 0)
            continue;
        local_text(c, STR("Error searching PDF: the pattern takes too long on this file"));
        return false;
    }
    return true;
}

static void search_pdf(struct local_call *c, struct str text, int64_t page_size, struct str warning)
{
    struct err e = ERR_INIT;
    struct str pattern = local_str(c, "pattern");
    const struct regex *re = regex_compile(&c->arena, pattern, &e);

    if (!re) {
        local_textf(c, "Error searching PDF: Invalid regex pattern '" STR_FMT "': %s",
                    STR_ARG(pattern), err_text(&e));
        return;
    }
    struct search_session *s = new_session(c, local_str(c, "pdf_file_path"), page_size);
    if (!s || !search_pages(c, s, re, text) || s->n == 0) {
        if (s && c->n_items == 0)
            local_textf(c, "No matches found for pattern: " STR_FMT, STR_ARG(pattern));
        free_session(s);
        return;
    }
    answer_first(c, s, warning);
    (void)pthread_mutex_lock(&lock);
    keep_search_session(s);
    (void)pthread_mutex_unlock(&lock);
}

void pdf_search(struct local_call *c)
{
    int64_t page_size = local_int(c, "page_size", PAGE_SIZE_MIN);
    struct str warning = STR(""), text;
    struct pdf p;

    if (page_size < PAGE_SIZE_MIN || page_size > PAGE_SIZE_MAX) {
        warning = arena_printf(&c->arena,
                               "Warning: Page size %" PRId64
                               " is out of range (10-50). Using default value 10.\n",
                               page_size);
        page_size = PAGE_SIZE_MIN;
    }
    if (!pdf_open(&p, c, local_str(c, "pdf_file_path"), false)) {
        pdf_say_fault(&p, "Error searching PDF");
        return;
    }
    if (p.info.n_pages == 0 || !pdf_text(&p, 1, p.info.n_pages, &text)) {
        local_text(c, STR("Error: Could not extract text from PDF or PDF is empty"));
        return;
    }
    search_pdf(c, text, page_size, warning);
}

/* Under the lock. */
static void go_to(struct local_call *c, struct search_session *s, int64_t page)
{
    int64_t n = count_pages(s);

    if (page < 1 || page > n) {
        local_textf(c, "Error: Page number %" PRId64 " is out of range (1-%" PRId64 ")", page, n);
        return;
    }
    s->current = page;
    answer_page(c, s);
}

void pdf_search_next(struct local_call *c)
{
    (void)pthread_mutex_lock(&lock);
    struct search_session *s = find_session(c);
    if (s && s->current >= count_pages(s))
        local_textf(c, "Already on last page (%" PRId64 "/%" PRId64 ")", s->current,
                    count_pages(s));
    else if (s)
        go_to(c, s, s->current + 1);
    (void)pthread_mutex_unlock(&lock);
}

void pdf_search_prev(struct local_call *c)
{
    (void)pthread_mutex_lock(&lock);
    struct search_session *s = find_session(c);
    if (s && s->current <= 1)
        local_text(c, STR("Already on first page (1)"));
    else if (s)
        go_to(c, s, s->current - 1);
    (void)pthread_mutex_unlock(&lock);
}

void pdf_search_go(struct local_call *c)
{
    (void)pthread_mutex_lock(&lock);
    struct search_session *s = find_session(c);
    if (s)
        go_to(c, s, local_int(c, "page_number", 0));
    (void)pthread_mutex_unlock(&lock);
}

void pdf_search_info(struct local_call *c)
{
    char used[CLOCK_RFC3339_MAX];

    (void)pthread_mutex_lock(&lock);
    struct search_session *s = find_session(c);
    if (s) {
        clock_rfc3339(used, s->used_us);
        used[10] = ' '; /* between the date and the time */
        local_textf(c,
                    "Search Session Information:\nSearch ID: %s\nPDF Path: " STR_FMT
                    "\nPattern: " STR_FMT "\nTotal matches: %zu\nCurrent page: %" PRId64 "/%" PRId64
                    "\nResults per page: %" PRId64 "\nLast accessed: %.19s\n",
                    s->id, STR_ARG(s->path), STR_ARG(s->pattern), s->n, s->current, count_pages(s),
                    s->page_size, used);
    }
    (void)pthread_mutex_unlock(&lock);
}
