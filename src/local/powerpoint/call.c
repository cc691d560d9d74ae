/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/kit/servers.h"
#include "local/powerpoint/deck.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/tools.h"

/* ---- the presentations, under LOCK ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct deck *decks, *current;
static size_t n_decks;

struct deck *pp_decks(void)
{
    return decks;
}

struct deck *pp_current(void)
{
    return current;
}

void pp_set_current(struct deck *d)
{
    current = d;
}

struct deck *pp_find(struct str id)
{
    for (struct deck *d = decks; d; d = d->next) {
        if (str_is(id, d->id))
            return d;
    }
    return NULL;
}

void pp_close(struct deck *d)
{
    if (!d)
        return;
    arena_done(&d->arena);
    free(d->id);
    free(d);
}

static void drop_deck(struct deck *d)
{
    for (struct deck **at = &decks; *at; at = &(*at)->next) {
        if (*at != d)
            continue;
        *at = d->next;
        n_decks--;
        break;
    }
    if (current == d)
        current = NULL;
    pp_close(d);
}

/* Reads BYTES into D, which has an empty arena. */
static int fill_deck(struct deck *d, struct str bytes, struct err *e)
{
    struct str own = bytes.p ? arena_str(&d->arena, bytes) : STR_NULL;

    if (bytes.p && !own.p)
        return err_set(e, -ENOMEM, "the file is too large");
    int r = own.p ? package_read(&d->package, &d->arena, own, e) : deck_blank(d, e);
    if (r == 0)
        r = deck_check(d, e);
    d->fresh = d->arena.used;
    return r;
}

struct deck *pp_peek(struct pp *p, struct str bytes)
{
    struct deck *d = mem_zalloc(1, sizeof *d);

    if (!d) {
        (void)err_set(&p->err, -ENOMEM, "out of memory");
        return NULL;
    }
    arena_init(&d->arena, PP_DECK_BYTES);
    if (fill_deck(d, bytes, &p->err) == 0)
        return d;
    pp_close(d);
    return NULL;
}

static char *new_id(struct str id)
{
    char name[40];

    if (id.len > 0)
        return mem_strndup(id.p, id.len);
    for (size_t i = n_decks + 1;; i++) {
        (void)snprintf(name, sizeof name, "presentation_%zu", i);
        if (!pp_find(str_of(name)))
            return mem_strdup(name);
    }
}

/* Is there room for one more, in place of OLD? */
static bool has_deck_room(struct pp *p, const struct deck *old)
{
    size_t used = 0;

    for (const struct deck *d = decks; d; d = d->next)
        used += d == old ? 0 : d->arena.used;
    if ((old || n_decks < PP_DECKS_MAX) && used < PP_TOTAL_BYTES)
        return true;
    (void)err_set(&p->err, -ENOBUFS,
                  "%zu presentations are in memory, and no more fit: use the id of one that is not "
                  "needed any more",
                  n_decks);
    return false;
}

struct deck *pp_open(struct pp *p, struct str id, struct str bytes)
{
    struct deck *old = id.len > 0 ? pp_find(id) : NULL, **end = &decks;

    if (id.len > PP_ID_MAX || (id.p && memchr(id.p, '\0', id.len))) {
        (void)err_set(&p->err, -EINVAL, "the id is too long or not a text");
        return NULL;
    }
    if (!has_deck_room(p, old))
        return NULL;
    struct deck *d = pp_peek(p, bytes);
    if (!d)
        return NULL;
    d->id = new_id(id);
    if (!d->id) {
        (void)err_set(&p->err, -ENOMEM, "out of memory");
        pp_close(d);
        return NULL;
    }
    if (old)
        drop_deck(old);
    while (*end)
        end = &(*end)->next;
    *end = d;
    n_decks++;
    current = d;
    return d;
}

/* Edits leave waste in an arena. When there is much of it, the presentation is written and read
 * again; when that fails it stays as it is. */
static struct deck *compact(struct pp *p, struct deck *d)
{
    auto_buf struct buf b = BUF_INIT(PACKAGE_MAX);

    if (d->arena.used < d->fresh + PP_COMPACT_BYTES || package_write(&d->package, &b, NULL) < 0)
        return d;
    struct deck *fresh = pp_peek(p, buf_str(&b));
    if (!fresh)
        return d;
    for (struct deck **at = &decks; *at; at = &(*at)->next) {
        if (*at != d)
            continue;
        fresh->id = take(d->id);
        fresh->next = d->next;
        *at = fresh;
        break;
    }
    if (current == d)
        current = fresh;
    pp_close(d);
    return fresh;
}

/* ---- answers ---- */

void pp_put(struct pp *p, struct json *o, const char *key, const struct json *value)
{
    if (o && value)
        (void)json_set(&p->c->arena, o, key, value);
}

void pp_put_str(struct pp *p, struct json *o, const char *key, struct str value)
{
    pp_put(p, o, key, json_new_str(&p->c->arena, value));
}

void pp_put_int(struct pp *p, struct json *o, const char *key, int64_t value)
{
    pp_put(p, o, key, json_new_int(&p->c->arena, value));
}

struct json *pp_object(struct pp *p)
{
    return json_new_object(&p->c->arena);
}

struct json *pp_array(struct pp *p)
{
    return json_new_array(&p->c->arena);
}

void pp_push(struct pp *p, struct json *array, const struct json *value)
{
    if (array && value)
        (void)json_push(&p->c->arena, array, value);
}

void pp_push_str(struct pp *p, struct json *array, struct str value)
{
    pp_push(p, array, json_new_str(&p->c->arena, value));
}

void pp_set(struct pp *p, const char *key, const struct json *value)
{
    pp_put(p, p->answer, key, value);
}

void pp_int(struct pp *p, const char *key, int64_t value)
{
    pp_put_int(p, p->answer, key, value);
}

void pp_bool(struct pp *p, const char *key, bool value)
{
    pp_set(p, key, json_new_bool(&p->c->arena, value));
}

void pp_text(struct pp *p, const char *key, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str text = arena_vprintf(&p->c->arena, fmt, ap);
    va_end(ap);
    pp_put_str(p, p->answer, key, text);
}

void pp_error(struct pp *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str text = arena_vprintf(&p->c->arena, fmt, ap);
    va_end(ap);
    p->answer = pp_object(p);
    pp_put_str(p, p->answer, "error", text);
}

bool pp_failed(const struct pp *p)
{
    return json_get(p->answer, "error") != NULL;
}

/* ---- arguments ---- */

const struct json *pp_arg(const struct pp *p, const char *name)
{
    const struct json *v = json_get(p->c->args, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

struct str pp_arg_str(const struct pp *p, const char *name)
{
    return json_str(pp_arg(p, name), STR_NULL);
}

double pp_arg_real(const struct pp *p, const char *name, double fallback)
{
    return json_real(pp_arg(p, name), fallback);
}

int64_t pp_emu(double inches)
{
    if (!(inches > -10000))
        return -(int64_t)10000 * PP_EMU_INCH;
    return (int64_t)((inches < 10000 ? inches : 10000) * PP_EMU_INCH);
}

bool pp_rgb(const struct json *v, char ret[7])
{
    int64_t part[3];

    if (!json_is(v, JSON_ARRAY) || v->n != 3)
        return false;
    for (size_t i = 0; i < 3; i++) {
        part[i] = json_int(&v->items[i], -1);
        if (part[i] < 0 || part[i] > 255)
            return false;
    }
    (void)snprintf(ret, 7, "%02X%02X%02X", (unsigned)part[0], (unsigned)part[1], (unsigned)part[2]);
    return true;
}

const char *pp_path(struct pp *p, struct str given)
{
    struct str why = STR_NULL;
    const char *path = path_check(p->c, given.p ? given : STR(""), &why);

    if (!path)
        pp_error(p, STR_FMT, STR_ARG(why));
    return path;
}

/* ---- calls ---- */

static bool find_deck(struct pp *p, bool is_brief)
{
    struct str id = pp_arg_str(p, "presentation_id");

    p->deck = id.p && (id.len > 0 || !is_brief) ? pp_find(id) : current;
    if (p->deck) {
        p->deck = compact(p, p->deck);
        return true;
    }
    pp_error(p, "%s",
             is_brief ? "Presentation not found"
                      : "No presentation is currently loaded or the specified ID is invalid");
    return false;
}

static bool find_call_slide(struct pp *p, bool is_brief)
{
    size_t n = deck_n_slides(p->deck);

    p->slide_index = json_int(pp_arg(p, "slide_index"), -1);
    if (p->slide_index < 0 || (uint64_t)p->slide_index >= n) {
        if (is_brief)
            pp_error(p, "Slide index %lld out of range", (long long)p->slide_index);
        else
            pp_error(p, "Invalid slide index: %lld. Available slides: 0-%lld",
                     (long long)p->slide_index, (long long)n - 1);
        return false;
    }
    if (deck_slide(p->deck, (size_t)p->slide_index, &p->slide, &p->err) == 0)
        return true;
    pp_error(p, "Failed to read slide %lld: %s", (long long)p->slide_index, err_text(&p->err));
    return false;
}

static bool find_shape(struct pp *p, bool is_brief)
{
    size_t n = shape_count(&p->slide);

    p->shape_index = json_int(pp_arg(p, "shape_index"), -1);
    p->shape = p->shape_index >= 0 ? shape_at(&p->slide, (size_t)p->shape_index) : NULL;
    if (p->shape)
        return true;
    if (is_brief)
        pp_error(p, "Shape index %lld out of range", (long long)p->shape_index);
    else
        pp_error(p, "Invalid shape index: %lld. Available shapes: 0-%lld",
                 (long long)p->shape_index, (long long)n - 1);
    return false;
}

/* The same tools twice: for us, and for the program. */
static const struct pp_tool {
    void (*run)(struct pp *p);
    unsigned needs;
} tools[] = {
#define TOOL(name, needs_) {pp_##name, needs_},
#include "local/powerpoint/tools.def"
#undef TOOL
};
const size_t pp_n_tools = ARRAY_LEN(tools);

static void call_pp_tool(struct local_call *c);

static const struct local_tool names[] = {
#define TOOL(name, needs) {#name, call_pp_tool},
#include "local/powerpoint/tools.def"
#undef TOOL
};
const struct local_server powerpoint_server = {"powerpoint", names, ARRAY_LEN(names)};

static void run_pp_tool(struct pp *p, const struct pp_tool *t)
{
    bool is_brief = t->needs & PP_BRIEF;

    if (t->needs & PP_DECK && !find_deck(p, is_brief))
        return;
    if ((t->needs & PP_SLIDE) == PP_SLIDE && !find_call_slide(p, is_brief))
        return;
    if ((t->needs & PP_SHAPE) == PP_SHAPE && !find_shape(p, is_brief))
        return;
    t->run(p);
    if (p->slide.part && !(t->needs & PP_READS) && !p->is_unchanged && !pp_failed(p))
        (void)part_edit(&p->deck->package, p->slide.part, NULL);
}

static void call_pp_tool(struct local_call *c)
{
    struct pp p = {.c = c, .answer = json_new_object(&c->arena)};
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX);

    (void)pthread_mutex_lock(&lock);
    run_pp_tool(&p, &tools[c->tool - names]);
    (void)pthread_mutex_unlock(&lock);
    if (json_write(&out, p.answer, JSON_PRETTY) < 0 || !p.answer)
        local_fail(c, "out of memory");
    else
        local_text(c, buf_str(&out));
}
