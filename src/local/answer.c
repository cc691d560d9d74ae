/* SPDX-License-Identifier: MIT */
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

static void begin_item(struct local_call *c, const char *type)
{
    if (c->n_items++ > 0)
        (void)buf_add_char(&c->content, ',');
    (void)buf_printf(&c->content, "{\"type\":\"%s\",", type);
}

void local_text(struct local_call *c, struct str text)
{
    begin_item(c, "text");
    (void)buf_add_lit(&c->content, "\"text\":");
    (void)json_write_str(&c->content, text);
    (void)buf_add_char(&c->content, '}');
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
    c->structured = arena_str(&c->arena, json);
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
    (void)buf_printf(out, "],\"isError\":%s", c->is_error ? "true" : "false");
    if (c->structured.p) {
        (void)buf_add_lit(out, ",\"structuredContent\":");
        (void)buf_add_str(out, c->structured);
    }
    (void)buf_add_char(out, '}');
}
