/* SPDX-License-Identifier: MIT */
#include "local/interpreter/event.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

/* By MIME type: the member of a result that holds it. */
static const struct {
    const char *mime, *name;
} MIMES[] = {
    {"text/plain", "text"},        {"text/html", "html"},
    {"text/markdown", "markdown"}, {"image/svg+xml", "svg"},
    {"image/png", "png"},          {"image/jpeg", "jpeg"},
    {"application/pdf", "pdf"},    {"text/latex", "latex"},
    {"application/json", "json"},  {"application/javascript", "javascript"},
    {"e2b/data", "data"},          {"e2b/chart", "chart"},
};

static const char *name_of_mime(struct str mime)
{
    for (size_t i = 0; i < ARRAY_LEN(MIMES); i++)
        if (str_is(mime, MIMES[i].mime))
            return MIMES[i].name;
    return NULL;
}

/* ---- ASCII ---- */

static void put_unicode_escape(struct buf *out, uint32_t c)
{
    if (c >= 0x10000) {
        c -= 0x10000;
        (void)buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (c >> 10), 0xdc00 + (c & 0x3ff));
    } else
        (void)buf_printf(out, "\\u%04x", c);
}

/* JSON text with everything that is not ASCII escaped: that is in strings only. */
static void put_ascii_line(struct buf *out, const struct buf *json)
{
    const char *p = json->p, *end = p + json->len;

    if (!buf_ok(json)) {
        out->error = json->error;
        return;
    }
    while (p < end) {
        const char *start = p;
        uint32_t c;
        while (p < end && (unsigned char)*p < 0x80)
            p++;
        (void)buf_add(out, start, (size_t)(p - start));
        if (p == end)
            break;
        size_t n = utf8_decode(p, (size_t)(end - p), &c);
        put_unicode_escape(out, n > 0 ? c : 0xfffd);
        p += n > 0 ? n : 1;
    }
    (void)buf_add_char(out, '\n');
}

/* ---- events ---- */

static struct jw begin_event(struct buf *json, const char *type)
{
    struct jw w = jw_to(json);

    jw_object(&w);
    jw_key(&w, "type");
    jw_cstr(&w, type);
    return w;
}

static void end_event(struct buf *out, struct jw *w)
{
    jw_end(w);
    put_ascii_line(out, w->out);
}

void event_put_count(struct buf *out, int64_t n)
{
    struct buf json auto_buf = BUF_INIT(out->max);
    struct jw w = begin_event(&json, "number_of_executions");

    jw_key(&w, "execution_count");
    jw_int(&w, n);
    end_event(out, &w);
}

void event_put_text(struct buf *out, bool is_err, struct str text, int64_t real_us)
{
    struct buf json auto_buf = BUF_INIT(out->max);
    struct jw w = begin_event(&json, is_err ? "stderr" : "stdout");
    char time[CLOCK_RFC3339_MAX], stamp[CLOCK_RFC3339_MAX + 8];

    clock_rfc3339_us(time, real_us);
    time[strcspn(time, "Z")] = '\0';
    (void)snprintf(stamp, sizeof stamp, "%s+00:00", time);
    jw_key(&w, "text");
    jw_str(&w, text);
    jw_key(&w, "timestamp");
    jw_cstr(&w, stamp);
    end_event(out, &w);
}

/* Text is shown without the quotes of the language around it. */
static struct str without_code_quotes(struct str s)
{
    bool is_quoted = s.len >= 2 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.len - 1] == s.p[0];

    return is_quoted ? str_slice(s, 1, s.len - 1) : s;
}

static void put_member(struct jw *w, const char *name, const struct json *value)
{
    jw_key(w, name);
    if (strcmp(name, "text") == 0 && json_is(value, JSON_STRING))
        jw_str(w, without_code_quotes(value->s));
    else
        jw_value(w, value);
}

void event_put_result(struct buf *out, const struct json *bundle, bool is_main)
{
    struct buf json auto_buf = BUF_INIT(out->max);
    struct jw w = begin_event(&json, "result");
    size_t n = json_is(bundle, JSON_OBJECT) ? bundle->n : 0;

    for (size_t i = 0; i < n; i++) {
        const struct json_member *m = &bundle->members[i];
        const char *name = name_of_mime(m->key);
        if (name && !json_is(&m->value, JSON_NULL))
            put_member(&w, name, &m->value);
    }
    jw_key(&w, "extra");
    jw_object(&w);
    for (size_t i = 0; i < n; i++) {
        const struct json_member *m = &bundle->members[i];
        if (name_of_mime(m->key))
            continue;
        jw_key_str(&w, m->key);
        jw_value(&w, &m->value);
    }
    jw_end(&w);
    jw_key(&w, "is_main_result");
    jw_bool(&w, is_main);
    end_event(out, &w);
}

void event_put_error(struct buf *out, struct str name, struct str value, struct str traceback)
{
    struct buf json auto_buf = BUF_INIT(out->max);
    struct jw w = begin_event(&json, "error");

    jw_key(&w, "name");
    jw_str(&w, name);
    jw_key(&w, "value");
    jw_str(&w, value);
    jw_key(&w, "traceback");
    jw_str(&w, traceback);
    end_event(out, &w);
}

void event_put_keepalive(struct buf *out)
{
    (void)buf_add_lit(out, "{\"type\":\"keepalive\"}\n");
}

void event_put_end(struct buf *out)
{
    (void)buf_add_lit(out, "{\"type\":\"end_of_execution\"}\n");
}

/* ---- text in pieces ---- */

static size_t length_by_first_byte(unsigned char c)
{
    if (c >= 0xf0)
        return 4;
    return c >= 0xe0 ? 3 : 2;
}

size_t event_whole(struct str text)
{
    for (size_t back = 1; back < UTF8_MAX && back <= text.len; back++) {
        unsigned char c = (unsigned char)text.p[text.len - back];
        if (c < 0x80)
            break;
        if (c >= 0xc0)
            return length_by_first_byte(c) > back ? text.len - back : text.len;
    }
    return text.len;
}
