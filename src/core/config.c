/* SPDX-License-Identifier: MIT */
/* The configuration: see config.h. Sources are applied from the weakest to the strongest, each
 * value through the row of its option; types are in config_value.c. */
#include "core/config.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/config_value.h"
#include "core/limits.h"
#include "core/own_server.h"
#include "core/suggest.h"
#include "core/yaml.h"
#include "sys/io.h"

#define ETC_FILE     "/etc/tidepool/tidepool.yaml"
#define FILE_NAME    "tidepool.yaml"
#define MAX_MEMORY   (4UL << 20)
#define MAX_KEY      128
#define MAX_NOTES    64
#define OWN_PREFIX   "TIDEPOOL_"
#define SECRET_SHOWN "set"

/* ---- the table ---- */

#define OPTION(field, kind, ...)                                                                   \
    {.key = #field, .type = CONFIG_##kind, .offset = offsetof(struct config, field), __VA_ARGS__},
#define IGNORED(...)
const struct config_option config_options[CONFIG_N_OPTIONS] = {
#include "core/options.def"
};
#undef OPTION
#undef IGNORED

#define OPTION(...)
#define IGNORED(ignored_name, reason) {.name = (ignored_name), .why = (reason)},
static const struct config_ignored ignored[] = {
#include "core/options.def"
};
#undef OPTION
#undef IGNORED

/* A row's type and its field's C type must agree, because values are stored by offset. */
typedef const char *c_type_STRING, *c_type_PATH, *c_type_ADDRESS;
typedef int64_t c_type_INT, c_type_DURATION, c_type_SIZE;
typedef bool c_type_BOOL;
typedef int c_type_ENUM;
typedef struct config_list c_type_LIST;
typedef const char *c_type_MAP;
#define OPTION(field, kind, ...)                                                                   \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(((struct config *)0)->field), c_type_##kind),      \
        #field);
#define IGNORED(...)
#include "core/options.def"
#undef OPTION
#undef IGNORED

const struct config_option *config_find(struct str key)
{
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (str_is(key, config_options[i].key))
            return &config_options[i];
    return NULL;
}

static void *field_of(struct config *c, const struct config_option *o)
{
    return (char *)c + o->offset;
}

static const void *const_field_of(const struct config *c, const struct config_option *o)
{
    return (const char *)c + o->offset;
}

/* ---- loading ---- */

struct loader {
    struct config *c;
    const struct config_args *args;
    struct config_ctx x;
    struct err *e;
    const char *path; /* of the file */
    struct yaml_doc doc;
    unsigned n_mistakes;
};

/* R, or 0 when it was a mistake that somebody lists. */
static int go_on_loading(struct loader *l, int r)
{
    if (r == 0 || r == -ENOMEM || !l->args->mistake)
        return r;
    l->args->mistake(l->args->ctx, l->e);
    l->n_mistakes++;
    *l->e = (struct err)ERR_INIT;
    return 0;
}

static const char **source_of(struct loader *l, const struct config_option *o)
{
    return &l->c->sources[o - config_options];
}

/* Sets O from TEXT; the source is "KIND NAME". */
static int set_option(struct loader *l, const struct config_option *o, const char *text,
                      const char *kind, const char *name)
{
    const char *source = arena_printf(&l->c->arena, "%s%s", kind, name).p;

    if (!source)
        return err_sys(l->e, -ENOMEM, "configuration");
    int r = config_value_parse(&l->x, o, str_of(text), field_of(l->c, o), l->e);
    if (r < 0)
        return err_ctx(l->e, r, "%s", source);
    *source_of(l, o) = source;
    return 0;
}

static const char *find_env(const struct config_args *args, const char *name)
{
    size_t len = strlen(name);

    for (char *const *at = args->env; at && *at; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=' && (*at)[len + 1])
            return *at + len + 1;
    return NULL;
}

static const char *find_config_flag(const struct config_args *args, const struct config_option *o)
{
    for (size_t i = args->n_flags; i > 0; i--)
        if (args->flags[i - 1].option == o)
            return args->flags[i - 1].value;
    return NULL;
}

/* The strongest of flag, own and foreign variable; the others are not even looked at, so that
 * somebody else's LOG_LEVEL=trace can be overruled. */
static int apply_outside(struct loader *l, const struct config_option *o)
{
    const char *text = find_config_flag(l->args, o);

    if (text)
        return set_option(l, o, text, "flag --", o->flag);
    text = o->env ? find_env(l->args, o->env) : NULL;
    if (text)
        return set_option(l, o, text, "environment ", o->env);
    text = o->foreign ? find_env(l->args, o->foreign) : NULL;
    return text ? set_option(l, o, text, "environment ", o->foreign) : 0;
}

static int apply_default(struct loader *l, const struct config_option *o)
{
    *source_of(l, o) = "default";
    return o->def ? set_option(l, o, o->def, "default", "") : 0;
}

/* The state directory's default depends on who runs the program. */
static int apply_default_state(struct loader *l)
{
    const struct config_option *o = config_find(STR("state"));

    if (l->c->state)
        return 0;
    if (geteuid() == 0)
        return set_option(l, o, "/var/lib/tidepool", "default", "");
    if (!l->x.home)
        return err_set(l->e, -EINVAL, "no state directory: neither --state nor HOME is set");
    return set_option(l, o, "~/.local/state/tidepool", "default", "");
}

/* Last of all, because some follow from others. */
static int apply_derived(struct loader *l, const struct config_option *o)
{
    if (!o->derive || strcmp(*source_of(l, o), "default") != 0)
        return 0;
    int64_t value = o->derive(l->c, o);
    if (value < 0)
        return err_sys(l->e, (int)value, "%s: what the host has", o->key);
    *(int64_t *)field_of(l->c, o) = value;
    return 0;
}

/* ---- the file ---- */

static int fail_at(struct loader *l, const struct json *v, int code)
{
    return err_ctx(l->e, code, "%s:%u", l->path, yaml_line(&l->doc, v));
}

static bool is_section(struct str key)
{
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (str_starts(str_of(config_options[i].key), key) && config_options[i].key[key.len] == '.')
            return true;
    return false;
}

static int unknown_key(struct loader *l, struct str key, const struct json *v)
{
    struct suggest s = suggest_for(key);
    const char *why = config_find(key) ? "cannot be set in a file:" : "unknown key";

    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (!config_options[i].not_in_file)
            suggest_try(&s, config_options[i].key);
    if (s.best && !config_find(key))
        (void)err_set(l->e, -EINVAL, "%s '" STR_FMT "' (did you mean '%s'?)", why, STR_ARG(key),
                      s.best);
    else
        (void)err_set(l->e, -EINVAL, "%s '" STR_FMT "'", why, STR_ARG(key));
    return fail_at(l, v, -EINVAL);
}

static int apply_file_value(struct loader *l, const struct config_option *o, const struct json *v)
{
    const char *source = arena_printf(&l->c->arena, "file %s:%u", l->path, yaml_line(&l->doc, v)).p;

    if (!source)
        return err_sys(l->e, -ENOMEM, "configuration");
    int r = config_value_take(&l->x, o, v, field_of(l->c, o), l->e);
    if (r < 0)
        return fail_at(l, v, err_ctx(l->e, r, "%s", o->key));
    *source_of(l, o) = source;
    return 0;
}

/* Applies a mapping whose keys stand below PREFIX ("" or "tls."). It nests no deeper than the
 * sections of the table do. */
static int apply_mapping(struct loader *l, const struct json *map, struct str prefix)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < map->n; i++) {
        struct buf key auto_buf = BUF_INIT(MAX_KEY);
        const struct json *v = &map->members[i].value;
        (void)buf_add_str(&key, prefix);
        if (buf_add_str(&key, map->members[i].key) == -ENOMEM)
            return err_sys(l->e, -ENOMEM, "configuration");
        const struct config_option *o = buf_ok(&key) ? config_find(buf_str(&key)) : NULL;
        if (o && !o->not_in_file)
            r = apply_file_value(l, o, v);
        else if (v->type == JSON_OBJECT && is_section(buf_str(&key)))
            r = buf_add_char(&key, '.') < 0 ? err_sys(l->e, -ENOMEM, "configuration")
                                            : apply_mapping(l, v, buf_str(&key));
        else if (v->type == JSON_NULL && is_section(buf_str(&key)))
            continue;
        else
            r = unknown_key(l, buf_ok(&key) ? buf_str(&key) : map->members[i].key, v);
        r = go_on_loading(l, r);
    }
    return r;
}

static int apply_document(struct loader *l)
{
    const struct json *root = l->doc.root;

    if (root->type == JSON_NULL)
        return 0;
    if (root->type != JSON_OBJECT) {
        (void)err_set(l->e, -EINVAL, "expected a mapping of keys to values, got %s",
                      json_type_name(root->type));
        return fail_at(l, root, -EINVAL);
    }
    return apply_mapping(l, root, STR(""));
}

static const char *dir_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return arena_strdup(a, ".");
    return arena_str(a, str_n(path, slash == path ? 1 : (size_t)(slash - path))).p;
}

static int apply_file(struct loader *l, const char *path)
{
    struct arena a auto_arena;
    struct buf text auto_buf = BUF_INIT(YAML_MAX_BYTES);
    int r = io_read_file(path, &text, l->e);

    arena_init(&a, 8 * MAX_MEMORY);
    if (r < 0)
        return r;
    l->path = path;
    l->x.base_dir = dir_of(&l->c->arena, path);
    if (!l->x.base_dir)
        return err_sys(l->e, -ENOMEM, "configuration");
    r = yaml_parse(&a, buf_str(&text), path, &l->doc, l->e);
    if (text.p)
        mem_wipe(text.p, text.len);
    if (r == 0)
        r = apply_document(l);
    l->x.base_dir = NULL;
    l->c->config = path;
    return r;
}

static int add_config_note(struct config *c, const char *name, const char *text)
{
    if (c->n_notes == MAX_NOTES)
        return 0;
    if (!c->notes)
        c->notes = arena_zalloc(&c->arena, MAX_NOTES, sizeof *c->notes);
    if (!c->notes || !name || !text)
        return -ENOMEM;
    c->notes[c->n_notes++] = (struct config_note){name, text};
    return 0;
}

/* Reads the file that is named, else the first that exists of the usual ones. */
static int find_and_apply_file(struct loader *l)
{
    struct config *c = l->c;

    if (c->config)
        return apply_file(l, c->config);
    if (l->args->no_search)
        return 0;
    const char *beside = arena_printf(&c->arena, "%s/" FILE_NAME, c->state).p;
    if (!beside)
        return err_sys(l->e, -ENOMEM, "configuration");
    int r = access(beside, F_OK) == 0 ? apply_file(l, beside) : -ENOENT;
    if (r != -ENOENT)
        return r;
    /* The machine's file need not be for this user. */
    if (access(ETC_FILE, R_OK) == 0)
        return apply_file(l, ETC_FILE);
    if (errno == EACCES &&
        add_config_note(c, ETC_FILE, "is not readable by this user: ignored") < 0)
        return err_sys(l->e, -ENOMEM, "configuration");
    return 0;
}

/* ---- notes ---- */

static bool is_known_variable(struct str name)
{
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        if ((o->env && str_is(name, o->env)) || (o->foreign && str_is(name, o->foreign)))
            return true;
    }
    return false;
}

static const char *ignored_reason(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
        struct str pattern = str_of(ignored[i].name);
        bool is_prefix = str_ends(pattern, STR("*"));
        if (is_prefix ? str_starts(name, str_n(pattern.p, pattern.len - 1)) : str_eq(name, pattern))
            return ignored[i].why;
    }
    return NULL;
}

static int note_variable(struct config *c, struct str name)
{
    const char *why = ignored_reason(name);
    struct suggest s = suggest_for(name);

    if (is_known_variable(name))
        return 0;
    if (why)
        return add_config_note(c, arena_str(&c->arena, name).p,
                               arena_printf(&c->arena, "is ignored: %s", why).p);
    if (!str_starts(name, STR(OWN_PREFIX)))
        return 0;
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (config_options[i].env)
            suggest_try(&s, config_options[i].env);
    return add_config_note(
        c, arena_str(&c->arena, name).p,
        s.best ? arena_printf(&c->arena, "is not a setting (did you mean %s?)", s.best).p
               : "is not a setting");
}

static int note_environment(struct loader *l)
{
    for (char *const *at = l->args->env; at && *at; at++) {
        struct str rest = str_of(*at);
        if (note_variable(l->c, str_cut(&rest, '=')) < 0)
            return err_sys(l->e, -ENOMEM, "configuration");
    }
    return 0;
}

/* ---- all together ---- */

static int check_tls(struct loader *l)
{
    const struct config *c = l->c;

    if (!c->tls.cert == !c->tls.key)
        return 0;
    const struct config_option *o = config_find(c->tls.cert ? STR("tls.cert") : STR("tls.key"));
    return err_set(l->e, -EINVAL, "%s: %s needs %s as well", *source_of(l, o), o->key,
                   c->tls.cert ? "tls.key" : "tls.cert");
}

static int apply_all(struct loader *l, int (*apply)(struct loader *, const struct config_option *))
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < CONFIG_N_OPTIONS; i++)
        r = apply(l, &config_options[i]);
    return r;
}

static int load_all_sources(struct loader *l)
{
    int r = apply_all(l, apply_default);

    /* These two say where the file is. */
    if (r == 0)
        r = apply_outside(l, config_find(STR("state")));
    if (r == 0)
        r = apply_outside(l, config_find(STR("config")));
    if (r == 0)
        r = apply_default_state(l);
    if (r == 0)
        r = find_and_apply_file(l);
    if (r == 0)
        r = apply_all(l, apply_outside);
    if (r == 0)
        r = apply_all(l, apply_derived);
    if (r == 0)
        r = go_on_loading(l, check_tls(l));
    return r < 0 ? r : note_environment(l);
}

int config_load(struct config *c, const struct config_args *args, struct err *e)
{
    struct loader l = {.c = c, .args = args, .e = e};

    *c = (struct config){0};
    arena_init(&c->arena, MAX_MEMORY);
    l.x = (struct config_ctx){.a = &c->arena, .home = args->home};
    if (!l.x.home)
        l.x.home = find_env(args, "HOME");
    int r = load_all_sources(&l);
    if (r < 0 && args->mistake)
        args->mistake(args->ctx, e);
    if (r == 0 && l.n_mistakes > 0)
        r = -EINVAL;
    if (r < 0)
        config_done(c);
    return r;
}

void config_done(struct config *c)
{
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (config_options[i].is_secret)
            config_value_wipe(&config_options[i], field_of(c, &config_options[i]));
    arena_done(&c->arena);
    *c = (struct config){0};
}

/* ---- showing ---- */

int config_print(struct buf *out, const struct config *c, const struct config_option *o)
{
    const void *field = const_field_of(c, o);

    if (config_value_is_unset(o, field))
        return 0;
    return o->is_secret ? buf_add_lit(out, SECRET_SHOWN) : config_value_print(out, o, field);
}

void config_write_json(struct jw *w, const struct config *c, const struct config_option *o)
{
    const void *field = const_field_of(c, o);

    if (config_value_is_unset(o, field))
        jw_null(w);
    else if (o->is_secret)
        jw_cstr(w, SECRET_SHOWN);
    else
        config_value_json(w, o, field);
}
