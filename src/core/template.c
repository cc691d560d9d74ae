/* SPDX-License-Identifier: MIT */
/* Templates: see template.h. */
#include "core/template.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/regex.h"
#include "core/sandbox_args.h"
#include "core/template_internal.h"

DEFINE_CLEANUP(struct template_list *, template_list_unref)

#define HOST_IMAGE "tidepool/default:latest"

/* Values, groups and copies of both. */
enum { ARENA_MAX = 16 * TEMPLATE_LIST_BYTES };

const struct template template_default = {
    .name = "default",
    .image = HOST_IMAGE,
    .description = "The host's programs with a home directory of its own.",
    .user = "user",
    .port = 8080,
};

/* ---- lists ---- */

static struct template_list *list_new(struct err *e)
{
    struct template_list *l = mem_zalloc(1, sizeof *l);

    if (!l) {
        (void)err_sys(e, -ENOMEM, "templates");
        return NULL;
    }
    l->n_refs = 1;
    arena_init(&l->arena, ARENA_MAX);
    return l;
}

static struct template_list *template_list_ref(struct template_list *l)
{
    l->n_refs++;
    return l;
}

void template_list_unref(struct template_list *l)
{
    if (!l || --l->n_refs > 0)
        return;
    arena_done(&l->arena);
    free(l);
}

struct template_list *template_list_parse(struct str text, struct err *e)
{
    struct json_limits limits = JSON_LIMITS_DEFAULT;
    struct template_list *l auto_(template_list_unref) = list_new(e);

    limits.max_bytes = TEMPLATE_LIST_BYTES;
    if (!l)
        return NULL;
    l->doc = json_parse(&l->arena, text, &limits, e);
    if (!l->doc) {
        (void)err_ctx(e, e->code, "templates");
        return NULL;
    }
    return template_read_all(l, e) < 0 ? NULL : take(l);
}

const struct template *template_list_at(const struct template_list *l, size_t i)
{
    return i < l->n ? &l->items[i] : NULL;
}

const struct template *template_hold(const struct template *t)
{
    if (t && t->list)
        (void)template_list_ref(t->list);
    return t;
}

void template_release(const struct template *t)
{
    if (t)
        template_list_unref(t->list);
}

/* ---- finding ---- */

static bool has_alias(const struct template *t, struct str name)
{
    for (size_t i = 0; t->aliases && i < t->aliases->n; i++)
        if (str_eq(t->aliases->items[i].s, name))
            return true;
    return false;
}

static const struct template *find_exact(const struct template_list *l, struct str name)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct template *t = &l->items[i];
        if (!t->is_dynamic && (str_is(name, t->name) || has_alias(t, name)))
            return t;
    }
    return NULL;
}

static const struct template *find_dynamic(const struct template_list *l, struct str name)
{
    if (name.len > TEMPLATE_NAME_MAX)
        return NULL;
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].is_dynamic && regex_search(l->items[i].by_name, name, NULL) > 0)
            return &l->items[i];
    return NULL;
}

/* NAME without "-v" and digits at its end, if it ends so. */
static struct str without_version(struct str name)
{
    size_t n = name.len;

    while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    bool has_version = n < name.len && n > 2 && str_ends(str_n(name.p, n), STR("-v"));
    return has_version ? str_n(name.p, n - 2) : name;
}

struct str template_list_id(const struct template_list *l, struct str name)
{
    struct str bare = without_version(name);

    if (find_exact(l, name))
        return name;
    if (find_exact(l, bare))
        return bare;
    return find_dynamic(l, name) ? name : STR_NULL;
}

const struct template *template_list_find(const struct template_list *l, struct str name)
{
    const struct template *t = find_exact(l, name);

    if (!t)
        t = find_exact(l, without_version(name));
    return t ? t : find_dynamic(l, name);
}

/* ---- images ---- */

bool template_is_host_image(struct str reference)
{
    static const char *const names[] = {"default", "base", "host"};
    const struct str ours = STR("tidepool/");
    struct str rest = str_starts(reference, ours) ? str_skip(reference, ours.len) : reference;
    struct str name = str_cut(&rest, ':');

    if (rest.p && !str_is(rest, "latest"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* What the group of RE matched in NAME. */
static struct str regex_group_of(const struct regex *re, struct str name, struct arena *a)
{
    const struct regex_find f = {.re = re, .text = name};
    struct regex_match m;

    if (regex_find(a, &f, &m) <= 0 || m.group_start > name.len)
        return STR("");
    return str_slice(name, m.group_start, m.group_end);
}

struct str template_image(const struct template *t, struct str name, struct arena *a)
{
    const struct {
        struct str mark, value;
    } marks[] = {
        {STR("<name>"), t->is_dynamic ? regex_group_of(t->by_name, name, a) : STR("")},
        {STR("<version>"), t->is_dynamic ? regex_group_of(t->by_version, name, a) : STR("")},
    };
    struct buf out auto_buf = BUF_INIT(TEMPLATE_TEXT_MAX + 64 * TEMPLATE_NAME_MAX);
    struct str rest = str_of(t->image);

    if (!t->is_dynamic)
        return rest;
    while (rest.len > 0) {
        size_t n = 1, i = 0;
        while (i < ARRAY_LEN(marks) && !str_starts(rest, marks[i].mark))
            i++;
        if (i < ARRAY_LEN(marks))
            n = marks[i].mark.len;
        (void)buf_add_str(&out, i < ARRAY_LEN(marks) ? marks[i].value : str_n(rest.p, 1));
        rest = str_skip(rest, n);
    }
    return buf_ok(&out) ? arena_str(a, buf_str(&out)) : STR_NULL;
}

/* ---- merging ---- */

/* Both objects, and of what is in both that of OVER; values that are no objects are left to those
 * who check them. 0 or -ENOMEM. */
static int merge_strings(const struct json *under, const struct json **over, struct arena *a)
{
    if (!under || under->n == 0 || (*over && !json_is(*over, JSON_OBJECT)))
        return 0;
    struct json *all = json_copy(a, under);
    for (size_t i = 0; all && *over && i < (*over)->n; i++)
        if (json_set_str(a, all, (*over)->members[i].key, &(*over)->members[i].value) < 0)
            all = NULL;
    *over = all ? all : *over;
    return all ? 0 : -ENOMEM;
}

static void fill_text(struct str *to, struct str from)
{
    if (to->len == 0)
        *to = from;
}

static bool is_empty_list(const struct json *v)
{
    return json_is(v, JSON_ARRAY) && v->n == 0;
}

/* What a template warms up with is its main process, unless it has one of its own. */
static void put_main(const struct template *t, struct sandbox_args *args)
{
    bool has_own = t->cmd.len > 0 || (t->args && t->args->n > 0);

    args->cmd = has_own || !t->pool.warmup_args ? t->cmd : STR("/bin/sh");
    args->args = has_own ? t->args : t->pool.warmup_args;
}

int template_merge(const struct template *t, struct sandbox_args *args, struct arena *a)
{
    bool has_args = args->args && !json_is(args->args, JSON_NULL);
    bool has_main = args->cmd.len > 0 || (has_args && !is_empty_list(args->args));

    fill_text(&args->workdir, t->workdir);
    fill_text(&args->user, str_of(t->user));
    fill_text(&args->cpu, t->resources.cpu);
    fill_text(&args->memory, t->resources.memory);
    fill_text(&args->cpu_limit, t->resources.cpu_limit);
    fill_text(&args->memory_limit, t->resources.memory_limit);
    fill_text(&args->disk, t->resources.disk);
    if (args->port == 0)
        args->port = t->port;
    if (!has_main)
        put_main(t, args);
    if (merge_strings(t->env, &args->env, a) < 0)
        return -ENOMEM;
    return merge_strings(t->metadata, &args->metadata, a);
}
