/* SPDX-License-Identifier: MIT */
#include "core/sandbox_fields.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define SANDBOX_OPTION(kind_, member, api, store, mcp, title_, help_, option_, letter, arg)        \
    {.kind = SANDBOX_##kind_,                                                                      \
     .offset = offsetof(struct sandbox_args, member),                                              \
     .names = {api, store, mcp},                                                                   \
     .option = (option_),                                                                          \
     .title = (title_),                                                                            \
     .help = (help_)},
#define SANDBOX_FIELD(kind, member, api, store, mcp, title, help)                                  \
    SANDBOX_OPTION(kind, member, api, store, mcp, title, help, NULL, 0, NULL)
#define SANDBOX_KEPT(kind, member, store)                                                          \
    SANDBOX_OPTION(kind, member, NULL, store, NULL, NULL, NULL, NULL, 0, NULL)

const struct sandbox_field sandbox_fields[] = {
#include "core/sandbox_fields.def"
};
const size_t sandbox_n_fields = ARRAY_LEN(sandbox_fields);

/* Where the field is; its kind says what is there. */
static void *member_place_of(struct sandbox_args *a, const struct sandbox_field *f)
{
    return (char *)a + f->offset;
}

/* ---- reading ---- */

/* What is wrong with a value: the words behind "must be"; NULL: nothing. */
static const char *read_text_field(struct sandbox_args *a, const struct sandbox_field *f,
                                   const struct json *v)
{
    if (!json_is(v, JSON_STRING))
        return "a string";
    *(struct str *)member_place_of(a, f) = v->s;
    if (f->kind == SANDBOX_NAME)
        a->has_name = true;
    return NULL;
}

static const char *read_amount(struct sandbox_args *a, const struct sandbox_field *f,
                               const struct json *v, struct arena *arena)
{
    struct buf text auto_buf = BUF_INIT(64);

    if (!arena || !json_is_number(v))
        return read_text_field(a, f, v);
    if (json_write(&text, v, JSON_COMPACT) < 0)
        return "a shorter number";
    *(struct str *)member_place_of(a, f) = arena_str(arena, buf_str(&text));
    return NULL;
}

static const char *read_int(struct sandbox_args *a, const struct sandbox_field *f,
                            const struct json *v)
{
    int64_t value = json_int(v, INT64_MIN);

    if (value == INT64_MIN)
        return "an integer";
    *(int64_t *)member_place_of(a, f) = value;
    return NULL;
}

static const char *read_flag(struct sandbox_args *a, const struct sandbox_field *f,
                             const struct json *v, bool is_opposite)
{
    if (!json_is(v, JSON_BOOL))
        return "true or false";
    *(bool *)member_place_of(a, f) = v->b != is_opposite;
    return NULL;
}

static const char *read_one_field(struct sandbox_args *a, const struct sandbox_field *f,
                                  const struct json *v, enum sandbox_face face, struct arena *arena)
{
    switch (f->kind) {
    case SANDBOX_NAME:
    case SANDBOX_TEXT: return read_text_field(a, f, v);
    case SANDBOX_AMOUNT: return read_amount(a, f, v, face == SANDBOX_FACE_MCP ? arena : NULL);
    case SANDBOX_SECONDS:
    case SANDBOX_NUMBER: return read_int(a, f, v);
    case SANDBOX_FLAG: return read_flag(a, f, v, false);
    case SANDBOX_UNLESS: return read_flag(a, f, v, face != SANDBOX_FACE_STORE);
    case SANDBOX_STRINGS:
    case SANDBOX_LIST:
    case SANDBOX_NETWORK:
    case SANDBOX_VALUE:
        /* What is in it is checked by sandbox_fill(). */
        *(const struct json **)member_place_of(a, f) = v;
        return NULL;
    }
    return NULL;
}

int sandbox_fields_read(struct sandbox_args *a, const struct json *doc, enum sandbox_face face,
                        struct arena *arena, struct err *e)
{
    for (size_t i = 0; i < sandbox_n_fields; i++) {
        const struct sandbox_field *f = &sandbox_fields[i];
        const char *name = f->names[face];
        const struct json *v = name ? json_get(doc, name) : NULL;
        if (!v || json_is(v, JSON_NULL))
            continue;
        const char *want = read_one_field(a, f, v, face, arena);
        if (want)
            return err_set(e, -EINVAL, "%s must be %s", name, want);
    }
    return 0;
}

/* ---- writing ---- */

static void write_text_field(struct jw *w, const char *name, struct str text)
{
    if (text.len == 0)
        return;
    jw_key(w, name);
    jw_str(w, text);
}

static void write_flag(struct jw *w, const char *name, bool is_on)
{
    jw_key(w, name);
    jw_bool(w, is_on);
}

static void write_value_field(struct jw *w, const char *name, const struct json *v)
{
    if (!v)
        return;
    jw_key(w, name);
    jw_value(w, v);
}

static void write_one_field(struct jw *w, const char *name, const struct sandbox_field *f,
                            const void *at, enum sandbox_face face)
{
    switch (f->kind) {
    case SANDBOX_NAME:
    case SANDBOX_TEXT:
    case SANDBOX_AMOUNT: write_text_field(w, name, *(const struct str *)at); break;
    case SANDBOX_SECONDS:
    case SANDBOX_NUMBER:
        jw_key(w, name);
        jw_int(w, *(const int64_t *)at);
        break;
    case SANDBOX_FLAG: write_flag(w, name, *(const bool *)at); break;
    case SANDBOX_UNLESS:
        if (face == SANDBOX_FACE_STORE)
            write_flag(w, name, *(const bool *)at);
        else if (*(const bool *)at)
            write_flag(w, name, false);
        break;
    case SANDBOX_STRINGS:
    case SANDBOX_LIST:
    case SANDBOX_NETWORK:
    case SANDBOX_VALUE: write_value_field(w, name, *(const struct json *const *)at); break;
    }
}

void sandbox_fields_write(struct jw *w, const struct sandbox_args *a, enum sandbox_face face)
{
    for (size_t i = 0; i < sandbox_n_fields; i++) {
        const struct sandbox_field *f = &sandbox_fields[i];
        if (f->names[face])
            write_one_field(w, f->names[face], f, (const char *)a + f->offset, face);
    }
}
