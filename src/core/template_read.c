/* SPDX-License-Identifier: MIT */
/* Reading templates: every field has a row here that says what it may be. The error of the first
 * wrong one names it from the list down, because such documents are written by hand. */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/regex.h"
#include "core/quantity.h"
#include "core/sandbox_args.h"
#include "core/template_internal.h"

enum { WHERE_MAX = 64, ARRAY_MAX = 256 };

/* What a field may be, and how it is kept. */
enum kind {
    NAME,     /* const char *, fit for a name */
    LINE,     /* const char *, not empty */
    TEXT,     /* struct str */
    PATH,     /* struct str that begins with '/' */
    QUANTITY, /* struct str */
    FLAG,     /* bool */
    PORT,     /* uint16_t, 1 to 65535 */
    COUNT,    /* unsigned, 0 to TEMPLATE_POOL_MAX */
    STRINGS,  /* array of strings */
    NAMES,    /* array of names */
    MAP       /* object of strings */
};

struct template_field {
    const char *name;
    enum kind kind;
    size_t offset;
    bool is_required;
};

struct template_list_reader {
    struct arena *arena;
    struct err *e;
    char where[WHERE_MAX]; /* "templates[2].pool" */
};

#define OF(member)      offsetof(struct template, member)
#define IN_POOL(member) offsetof(struct template_pool, member)
#define OF_ALL(member)  offsetof(struct template_resources, member)

static const struct template_field template_fields[] = {
    {"name", NAME, OF(name), true},
    {"image", LINE, OF(image), true},
    {"description", LINE, OF(description), true},
    {"port", PORT, OF(port), false},
    {"user", LINE, OF(user), false},
    {"cmd", TEXT, OF(cmd), false},
    {"args", STRINGS, OF(args), false},
    {"envVars", MAP, OF(env), false},
    {"metadata", MAP, OF(metadata), false},
    {"workdir", PATH, OF(workdir), false},
    {"shell", PATH, OF(shell), false},
    {"noStartupProbe", FLAG, OF(has_no_probe), false},
    {"aliases", NAMES, OF(aliases), false},
    {"requires", STRINGS, OF(requires), false},
};

static const struct template_field pool_fields[] = {
    {"size", COUNT, IN_POOL(size), false},
    {"onDemand", FLAG, IN_POOL(is_on_demand), false},
    {"probePort", PORT, IN_POOL(probe_port), false},
    {"warmupCmd", TEXT, IN_POOL(warmup), false},
    {"startupCmd", TEXT, IN_POOL(startup), false},
};

static const struct template_field resource_fields[] = {
    {"cpu", QUANTITY, OF_ALL(cpu), false},
    {"memory", QUANTITY, OF_ALL(memory), false},
    {"cpuLimit", QUANTITY, OF_ALL(cpu_limit), false},
    {"memoryLimit", QUANTITY, OF_ALL(memory_limit), false},
    {"disk", QUANTITY, OF_ALL(disk), false},
};

/* ---- faults ---- */

static int refuse_template_field(const struct template_list_reader *r, const char *field,
                                 const char *what)
{
    return err_set(r->e, -EINVAL, "%s.%s: %s", r->where, field, what);
}

static int no_room(const struct template_list_reader *r)
{
    return err_set(r->e, -E2BIG, "templates: the list is larger than %d bytes",
                   TEMPLATE_LIST_BYTES);
}

/* ---- values ---- */

/* True for what can be the name of a template: [a-z0-9] with '.', '_' and '-' inside. */
static bool template_name_is_valid(struct str name)
{
    if (name.len == 0 || name.len > TEMPLATE_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        bool is_alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        bool is_inner = i > 0 && i + 1 < name.len && (c == '-' || c == '.' || c == '_');
        if (!is_alnum && !is_inner)
            return false;
    }
    return true;
}

/* What is wrong with the text V of FIELD; NULL: nothing. */
static const char *fault_of_text(const struct template_field *f, const struct json *v)
{
    struct str s = json_str(v, STR_NULL);
    uint64_t ignored;

    if (!s.p)
        return "must be a string";
    if (s.len > TEMPLATE_TEXT_MAX)
        return "must have at most 4096 bytes";
    if (str_chr(s, '\0') >= 0)
        return "must not contain NUL bytes";
    if (f->kind == NAME && !template_name_is_valid(s))
        return "must be 1 to 63 lowercase letters, digits, '-', '.' or '_', with a letter or digit "
               "at both ends";
    if (f->kind == LINE && s.len == 0)
        return "must not be empty";
    if (f->kind == PATH && s.len > 0 && s.p[0] != '/')
        return "must begin with '/'";
    if (f->kind == QUANTITY && quantity_milli(s, &ignored) < 0)
        return "must be a quantity such as 500m or 512Mi";
    return NULL;
}

static int read_template_text(const struct template_list_reader *r, const struct template_field *f,
                              const struct json *v, void *to)
{
    const char *fault = fault_of_text(f, v);

    if (fault)
        return refuse_template_field(r, f->name, fault);
    if (f->kind == NAME || f->kind == LINE)
        *(const char **)to = v->s.p;
    else
        *(struct str *)to = v->s;
    return 0;
}

static int read_template_number(const struct template_list_reader *r,
                                const struct template_field *f, const struct json *v, void *to)
{
    int64_t i = json_int(v, -1);

    if (f->kind == PORT && (i < 1 || i > UINT16_MAX))
        return refuse_template_field(r, f->name, "must be a port, 1 to 65535");
    if (f->kind == COUNT && (i < 0 || i > TEMPLATE_POOL_MAX))
        return err_set(r->e, -EINVAL, "%s.%s: must be 0 to %d", r->where, f->name,
                       TEMPLATE_POOL_MAX);
    if (f->kind == PORT)
        *(uint16_t *)to = (uint16_t)i;
    else
        *(unsigned *)to = (unsigned)i;
    return 0;
}

static int read_template_strings(const struct template_list_reader *r,
                                 const struct template_field *f, const struct json *v, void *to)
{
    static const struct template_field text = {"", TEXT, 0, false}, name = {"", NAME, 0, false};

    if (!json_is(v, JSON_ARRAY))
        return refuse_template_field(r, f->name, "must be an array of strings");
    if (v->n > ARRAY_MAX || (f->kind == NAMES && v->n > TEMPLATE_REQUIRES_MAX))
        return refuse_template_field(r, f->name, "has too many entries");
    for (size_t i = 0; i < v->n; i++) {
        const char *fault = fault_of_text(f->kind == NAMES ? &name : &text, &v->items[i]);
        if (fault)
            return err_set(r->e, -EINVAL, "%s.%s[%zu]: %s", r->where, f->name, i, fault);
    }
    *(const struct json **)to = v;
    return 0;
}

static int read_template_map(const struct template_list_reader *r, const struct template_field *f,
                             const struct json *v, void *to)
{
    static const struct template_field text = {"", TEXT, 0, false};

    if (!json_is(v, JSON_OBJECT) || v->n > SANDBOX_ENV_MAX)
        return refuse_template_field(r, f->name, "must be an object of at most 256 strings");
    for (size_t i = 0; i < v->n; i++) {
        struct str key = v->members[i].key;
        const char *fault = fault_of_text(&text, &v->members[i].value);
        if (!fault && (key.len == 0 || str_chr(key, '=') >= 0 || str_chr(key, '\0') >= 0))
            fault = "is not a valid name";
        if (fault)
            return err_set(r->e, -EINVAL, "%s.%s.%.60s: %s", r->where, f->name, key.p, fault);
    }
    *(const struct json **)to = v;
    return 0;
}

static int read_template_field(const struct template_list_reader *r, const struct template_field *f,
                               const struct json *v, void *to)
{
    switch (f->kind) {
    case NAME:
    case LINE:
    case TEXT:
    case PATH:
    case QUANTITY: return read_template_text(r, f, v, to);
    case PORT:
    case COUNT: return read_template_number(r, f, v, to);
    case STRINGS:
    case NAMES: return read_template_strings(r, f, v, to);
    case MAP: return read_template_map(r, f, v, to);
    case FLAG: break;
    }
    if (!json_is(v, JSON_BOOL))
        return refuse_template_field(r, f->name, "must be true or false");
    *(bool *)to = v->b;
    return 0;
}

/* Null is as good as absent. */
static int read_template_fields(const struct template_list_reader *r, const struct json *from,
                                const struct template_field *fields, size_t n, void *to)
{
    for (size_t i = 0; i < n; i++) {
        const struct template_field *f = &fields[i];
        const struct json *v = json_get(from, f->name);
        bool is_absent = !v || json_is(v, JSON_NULL);
        if (is_absent && f->is_required)
            return refuse_template_field(r, f->name, "is required");
        int code = is_absent ? 0 : read_template_field(r, f, v, (char *)to + f->offset);
        if (code < 0)
            return code;
    }
    return 0;
}

/* ---- objects inside ---- */

/* Goes into member NAME of FROM. 1: INSIDE and *RET are about it; 0: it is absent; -errno. */
static int enter_template(const struct template_list_reader *r, const struct json *from,
                          const char *name, struct template_list_reader *inside)
{
    const struct json *v = json_get(from, name);

    *inside = *r;
    if (!v || json_is(v, JSON_NULL))
        return 0;
    if (!json_is(v, JSON_OBJECT))
        return refuse_template_field(r, name, "must be an object");
    (void)snprintf(inside->where, sizeof inside->where, "%.40s.%s", r->where, name);
    return 1;
}

static int read_resources(const struct template_list_reader *r, const struct json *from,
                          struct template_resources *to)
{
    struct template_list_reader inside;
    int code = enter_template(r, from, "resources", &inside);

    return code <= 0 ? code
                     : read_template_fields(&inside, json_get(from, "resources"), resource_fields,
                                            ARRAY_LEN(resource_fields), to);
}

/* Agent-Sandbox writes "program,arguments"; the rest is shell text as it is. */
static int read_warmup(const struct template_list_reader *r, struct template_pool *pool)
{
    struct str text = pool->warmup;
    size_t comma = 0;

    while (comma < text.len && text.p[comma] != ',' && text.p[comma] != ' ')
        comma++;
    char *copy = arena_strdup(r->arena, text.p);
    struct json *args = json_new_array(r->arena);
    if (copy && comma < text.len && copy[comma] == ',')
        copy[comma] = ' ';
    const struct json *option = json_new_str(r->arena, STR("-c"));
    const struct json *command = copy ? json_new_str(r->arena, str_of(copy)) : NULL;
    if (!args || !option || !command || json_push(r->arena, args, option) < 0 ||
        json_push(r->arena, args, command) < 0)
        return no_room(r);
    pool->warmup_args = args;
    return 0;
}

static int read_pool(const struct template_list_reader *r, const struct json *from,
                     struct template *t)
{
    const struct json *pool = json_get(from, "pool");
    struct template_list_reader inside;
    int code = enter_template(r, from, "pool", &inside);

    if (code <= 0)
        return code;
    code = read_template_fields(&inside, pool, pool_fields, ARRAY_LEN(pool_fields), &t->pool);
    if (code == 0)
        code = read_resources(&inside, pool, &t->pool.resources);
    if (code == 0 && t->pool.warmup.len > 0)
        code = read_warmup(&inside, &t->pool);
    if (code == 0 && t->is_dynamic && t->pool.size > 0)
        code = refuse_template_field(&inside, "size", "must be 0: a dynamic template has no pool");
    return code;
}

/* ---- dynamic ones ---- */

/* How a group begins at S: the bytes of "(?P<name>" with the name in *NAME, or of a plain "(" with
 * an empty one; 0: none that captures. */
static size_t group_at(struct str s, struct str *name)
{
    *name = STR_NULL;
    if (s.p[0] != '(')
        return 0;
    if (s.len < 2 || s.p[1] != '?')
        return 1;
    size_t skip = str_starts(s, STR("(?P<")) ? 4 : 3;
    if (skip == 3 && !str_starts(s, STR("(?<")))
        return 0;
    struct str rest = str_skip(s, skip);
    ptrdiff_t end = str_chr(rest, '>');
    if (end < 1 || rest.p[0] == '=' || rest.p[0] == '!')
        return 0;
    *name = str_n(rest.p, (size_t)end);
    return skip + (size_t)end + 1;
}

/* Appends PATTERN with group KEEP as the only one that captures: the search reports the first.
 * Returns how many groups have that name. */
static unsigned isolate_group(struct buf *out, struct str pattern, struct str keep)
{
    unsigned n_found = 0;
    bool is_class = false;

    for (size_t i = 0; i < pattern.len;) {
        struct str rest = str_skip(pattern, i), name;
        size_t n = is_class ? 0 : group_at(rest, &name);
        if (n > 0) {
            bool is_it = str_eq(name, keep);
            n_found += is_it;
            (void)buf_add_str(out, is_it ? STR("(") : STR("(?:"));
            i += n;
            continue;
        }
        n = rest.p[0] == '\\' && rest.len > 1 ? 2 : 1;
        if (rest.p[0] == '[')
            is_class = true;
        else if (rest.p[0] == ']')
            is_class = false;
        (void)buf_add_str(out, str_slice(rest, 0, n));
        i += n;
    }
    return n_found;
}

static int compile_group(const struct template_list_reader *r, struct str pattern,
                         const char *group, const struct regex **ret)
{
    struct buf text auto_buf = BUF_INIT(2 * TEMPLATE_PATTERN_MAX);
    struct err why = ERR_INIT;
    unsigned n = isolate_group(&text, pattern, str_of(group));

    if (n != 1)
        return err_set(r->e, -EINVAL, "%s.pattern: must have one group (?P<%s>…)", r->where, group);
    if (!buf_ok(&text))
        return no_room(r);
    *ret = regex_compile(r->arena, buf_str(&text), &why);
    if (!*ret && why.code == -ENOMEM)
        return no_room(r);
    return *ret ? 0 : err_set(r->e, -EINVAL, "%s.pattern: %s", r->where, err_text(&why));
}

static int read_template_type(const struct template_list_reader *r, const struct json *from,
                              struct template *t)
{
    struct str type = json_str(json_get(from, "type"), STR(""));
    const struct json *v = json_get(from, "pattern");
    struct str pattern = json_str(v, STR(""));

    if (type.len > 0 && !str_is(type, "dynamic") && !str_is(type, "static"))
        return refuse_template_field(r, "type", "must be \"static\" or \"dynamic\"");
    t->is_dynamic = str_is(type, "dynamic");
    if (v && !json_is(v, JSON_STRING) && !json_is(v, JSON_NULL))
        return refuse_template_field(r, "pattern", "must be a string");
    if (!t->is_dynamic)
        return pattern.len > 0 ? refuse_template_field(r, "pattern", "needs \"type\": \"dynamic\"")
                               : 0;
    if (pattern.len == 0)
        return refuse_template_field(r, "pattern", "is required");
    if (pattern.len > TEMPLATE_PATTERN_MAX)
        return refuse_template_field(r, "pattern", "must have at most 512 bytes");
    int code = compile_group(r, pattern, "name", &t->by_name);
    return code < 0 ? code : compile_group(r, pattern, "version", &t->by_version);
}

/* ---- the list ---- */

static int read_one_template(const struct template_list_reader *r, const struct json *from,
                             struct template *t)
{
    *t = (struct template){.user = "user", .port = 8080, .doc = from};
    if (!json_is(from, JSON_OBJECT))
        return err_set(r->e, -EINVAL, "%s: must be an object", r->where);
    int code = read_template_fields(r, from, template_fields, ARRAY_LEN(template_fields), t);
    if (code == 0)
        code = read_template_type(r, from, t);
    if (code == 0)
        code = read_resources(r, from, &t->resources);
    return code < 0 ? code : read_pool(r, from, t);
}

static bool has_template_name(const struct template *t, struct str name)
{
    for (size_t i = 0; t->aliases && i < t->aliases->n; i++)
        if (str_eq(t->aliases->items[i].s, name))
            return true;
    return str_is(name, t->name);
}

/* Whose name or alias NAME is among the first N of L; N: nobody's. */
static size_t holder_of(const struct template_list *l, size_t n, struct str name)
{
    size_t i = 0;

    while (i < n && !has_template_name(&l->items[i], name))
        i++;
    return i;
}

static int check_template_names(const struct template_list *l, size_t at,
                                const struct template_list_reader *r)
{
    const struct template *t = &l->items[at];
    size_t holder = holder_of(l, at, str_of(t->name));

    if (holder < at)
        return err_set(r->e, -EINVAL, "%s.name: \"%s\" is also templates[%zu]", r->where, t->name,
                       holder);
    for (size_t i = 0; t->aliases && i < t->aliases->n; i++) {
        struct str alias = t->aliases->items[i].s;
        holder = holder_of(l, at, alias);
        if (holder < at || str_is(alias, t->name))
            return err_set(r->e, -EINVAL, "%s.aliases[%zu]: \"" STR_FMT "\" is also templates[%zu]",
                           r->where, i, STR_ARG(alias), holder);
    }
    return 0;
}

int template_read_all(struct template_list *l, struct err *e)
{
    struct template_list_reader r = {.arena = &l->arena, .e = e};

    if (!json_is(l->doc, JSON_ARRAY))
        return err_set(e, -EINVAL, "templates: must be an array");
    if (l->doc->n == 0 || l->doc->n > TEMPLATE_MAX)
        return err_set(e, -EINVAL, "templates: must have 1 to %d entries", TEMPLATE_MAX);
    l->items = arena_zalloc(&l->arena, l->doc->n, sizeof *l->items);
    if (!l->items)
        return no_room(&r);
    for (size_t i = 0; i < l->doc->n; i++) {
        (void)snprintf(r.where, sizeof r.where, "templates[%zu]", i);
        int code = read_one_template(&r, &l->doc->items[i], &l->items[i]);
        if (code == 0)
            code = check_template_names(l, i, &r);
        if (code < 0)
            return code;
        l->items[i].list = l;
    }
    l->n = l->doc->n;
    return 0;
}
