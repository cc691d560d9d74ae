/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdarg.h>

#include "base/enc.h"
#include "local/local.h"

struct str local_str(const struct local_call *c, const char *name)
{
    return json_str(json_get(c->args, name), STR(""));
}

int64_t local_int(const struct local_call *c, const char *name, int64_t fallback)
{
    return json_int(json_get(c->args, name), fallback);
}

bool local_bool(const struct local_call *c, const char *name)
{
    return json_bool(json_get(c->args, name), false);
}

struct buf *local_buf(struct local_call *c)
{
    assert(c->n_bufs < LOCAL_BUFS);
    struct buf *b = &c->bufs[c->n_bufs++];

    b->max = LOCAL_ANSWER_MAX;
    buf_clear(b);
    return b;
}

static void begin_item(struct local_call *c, const char *type)
{
    if (c->n_items++ > 0)
        (void)buf_add_char(&c->content, ',');
    (void)buf_add_lit(&c->content, "{\"type\":\"");
    (void)buf_add_str(&c->content, str_of(type));
    (void)buf_add_lit(&c->content, "\",");
}

/* Where in the content the JSON string begins; the item's brace is all that is behind it. */
static size_t add_text_item(struct local_call *c, struct str text)
{
    begin_item(c, "text");
    (void)buf_add_lit(&c->content, "\"text\":");
    size_t at = c->content.len;
    (void)json_write_str(&c->content, text);
    (void)buf_add_char(&c->content, '}');
    return at;
}

void local_text(struct local_call *c, struct str text)
{
    (void)add_text_item(c, text);
}

void local_text_twice(struct local_call *c, const char *key, struct str text)
{
    struct buf *b = local_buf(c);
    size_t at = add_text_item(c, text);

    (void)buf_add_lit(b, "{\"");
    (void)buf_add_str(b, str_of(key));
    (void)buf_add_lit(b, "\":");
    (void)buf_add_str(b, str_skip(buf_str(&c->content), at));
    if (buf_ok(b))
        local_structured(c, buf_str(b));
}

void local_textf(struct local_call *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    local_text(c, arena_vprintf(&c->arena, fmt, ap));
    va_end(ap);
}

void local_media(struct local_call *c, const char *type, const char *mime, struct str bytes)
{
    begin_item(c, type);
    (void)buf_add_lit(&c->content, "\"data\":\"");
    (void)enc_base64(&c->content, bytes);
    (void)buf_printf(&c->content, "\",\"mimeType\":\"%s\"}", mime);
}

void local_blob(struct local_call *c, struct str uri, const char *mime, struct str bytes)
{
    begin_item(c, "resource");
    (void)buf_add_lit(&c->content, "\"resource\":{\"uri\":");
    (void)json_write_str(&c->content, uri);
    (void)buf_printf(&c->content, ",\"mimeType\":\"%s\",\"blob\":\"", mime);
    (void)enc_base64(&c->content, bytes);
    (void)buf_add_lit(&c->content, "\"}}");
}

void local_structured(struct local_call *c, struct str json)
{
    c->structured = json;
}

void local_fail_text(struct local_call *c, struct str text)
{
    buf_clear(&c->content);
    c->n_items = 0;
    c->structured = STR_NULL;
    c->is_error = true;
    local_text(c, text);
}

void local_fail(struct local_call *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    local_fail_text(c, arena_vprintf(&c->arena, fmt, ap));
    va_end(ap);
}

void local_run(struct local_call *c, struct buf *out)
{
    c->tool->call(c);
    if (!buf_ok(&c->content))
        local_fail(c, "The answer is larger than %d MiB", LOCAL_ANSWER_MAX >> 20);
    (void)buf_add_lit(out, "{\"content\":[");
    (void)buf_add_str(out, buf_str(&c->content));
    (void)buf_add_lit(out, "],\"isError\":");
    (void)buf_add_str(out, c->is_error ? STR("true") : STR("false"));
    if (c->structured.p) {
        (void)buf_add_lit(out, ",\"structuredContent\":");
        (void)buf_add_str(out, c->structured);
    }
    (void)buf_add_char(out, '}');
}
