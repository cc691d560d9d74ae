/* SPDX-License-Identifier: MIT */
/* What a sandbox is made with: checks, defaults, names. See sandbox.h. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "core/config.h"
#include "core/core.h"
#include "core/quantity.h"
#include "core/root.h"
#include "core/sandbox_disk.h"
#include "core/sandbox_fields.h"
#include "core/sandbox_internal.h"
#include "core/sandbox_volume.h"
#include "core/server.h"
#include "core/templates.h"

enum {
    CPU_MIN_MILLI = 10, /* less than the kernel can give out */
    MEMORY_MIN = 16 << 20,
    PIDS_MAX = 1000000,
    NAME_DIGITS = 12,
};

/* ---- names ---- */

bool sandbox_name_is_reserved(struct str name)
{
    return server_find(name) || str_is(name, "prepare");
}

static bool is_spec_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

bool sandbox_name_is_valid(struct str name)
{
    if (name.len == 0 || name.len > SANDBOX_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_spec_name_char(name.p[i]))
            return false;
    return name.p[0] != '-' && name.p[name.len - 1] != '-';
}

int sandbox_name(struct sandbox *sb, const struct sandbox_args *args, struct err *e)
{
    char digits[NAME_DIGITS + 1];
    struct str t = sb->spec.template_name;

    if (!args->has_name && args->name.len == 0) {
        id_hex(digits, NAME_DIGITS);
        int room = SANDBOX_NAME_MAX - NAME_DIGITS - (int)sizeof "sbx--" + 1;
        (void)snprintf(sb->name, sizeof sb->name, "sbx-%.*s-%s",
                       (int)t.len < room ? (int)t.len : room, t.p, digits);
        return 0;
    }
    if (!sandbox_name_is_valid(args->name))
        return err_set(e, -EINVAL,
                       "invalid sandbox name \"" STR_FMT
                       "\": only lowercase letters, numbers and '-', max %d chars",
                       STR_ARG(str_slice(args->name, 0, 100)), SANDBOX_NAME_MAX);
    if (sandbox_name_is_reserved(args->name))
        return err_set(e, -EINVAL, "invalid sandbox name \"" STR_FMT "\": this name is reserved",
                       STR_ARG(args->name));
    (void)snprintf(sb->name, sizeof sb->name, STR_FMT, STR_ARG(args->name));
    return 0;
}

/* ---- values ---- */

static int copy_str(struct sandbox *sb, struct str *to, struct str from, const char *fallback)
{
    *to = arena_str(&sb->arena, from.len > 0 ? from : str_of(fallback));
    return to->p ? 0 : -ENOMEM;
}

/* Copies an object of strings; the names of an environment are checked as such. */
static int copy_strings(struct sandbox *sb, const char *name, const struct json *from,
                        const struct json **to, struct err *e)
{
    bool is_env = strcmp(name, "envVars") == 0;

    if (!from || json_is(from, JSON_NULL)) {
        *to = json_new_object(&sb->arena);
        return *to ? 0 : -ENOMEM;
    }
    if (!json_is(from, JSON_OBJECT))
        return err_set(e, -EINVAL, "%s must be an object of strings", name);
    if (from->n > SANDBOX_ENV_MAX)
        return err_set(e, -EINVAL, "%s has more than %d entries", name, SANDBOX_ENV_MAX);
    for (size_t i = 0; i < from->n; i++) {
        const struct json_member *m = &from->members[i];
        if (m->value.type != JSON_STRING)
            return err_set(e, -EINVAL, "%s must be an object of strings", name);
        if (is_env && (m->key.len == 0 || str_chr(m->key, '=') >= 0 || str_has_nul(m->key) ||
                       str_has_nul(m->value.s)))
            return err_set(e, -EINVAL, "%s: \"" STR_FMT "\" is not a valid environment variable",
                           name, STR_ARG(str_slice(m->key, 0, 100)));
    }
    *to = json_copy(&sb->arena, from);
    return *to ? 0 : -ENOMEM;
}

static int copy_spec_args(struct sandbox *sb, const struct json *from, struct err *e)
{
    if (!from || json_is(from, JSON_NULL))
        return 0;
    for (size_t i = 0; json_is(from, JSON_ARRAY) && i < from->n; i++)
        if (from->items[i].type != JSON_STRING || str_has_nul(from->items[i].s))
            return err_set(e, -EINVAL, "args must be an array of strings");
    if (!json_is(from, JSON_ARRAY))
        return err_set(e, -EINVAL, "args must be an array of strings");
    sb->spec.args = json_copy(&sb->arena, from);
    return sb->spec.args ? 0 : -ENOMEM;
}

/* One that came back from before a restart has the cell that it has, whatever became of the root.
 */
static int fill_root(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    struct root *r = a->root.len > 0 ? root_find(sb->set->core->roots, a->root) : NULL;

    if (a->root.len >= ROOT_ID_MAX)
        return err_set(e, -EINVAL, "invalid root");
    if (r && !sb->root)
        sb->root = root_ref(r);
    return copy_str(sb, &sb->spec.root, a->root, "");
}

/* A create has resolved it; of one that is read back the template may be gone. */
static int fill_template(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    const struct template *t = sb->template;

    (void)e;
    if (!t)
        t = templates_find(sb->set->core->templates, a->template_name);
    if (!t)
        t = &template_default;
    if (!sb->template)
        sb->template = template_hold(t);
    int r = copy_str(sb, &sb->spec.template_name, a->template_name, t->name);
    if (r == 0)
        r = copy_str(sb, &sb->spec.user, a->user, t->user);
    if (r == 0)
        r = copy_str(sb, &sb->spec.image, a->image, t->image);
    return r < 0 ? r : fill_root(sb, a, e);
}

static int fill_times(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    if (a->timeout_s > SANDBOX_TIMEOUT_MAX_S)
        return err_set(e, -EINVAL,
                       "invalid timeout %lld, must be <= 60*60*24 (seconds), -1 is no timeout",
                       (long long)a->timeout_s);
    if (a->idle_timeout_s > SANDBOX_TIMEOUT_MAX_S)
        return err_set(e, -EINVAL,
                       "invalid idle_timeout %lld, must be <= 60*60*24 (seconds), -1 is off",
                       (long long)a->idle_timeout_s);
    sb->timeout_s = a->timeout_s < 0 ? -1 : a->timeout_s;
    if (sb->timeout_s == 0)
        sb->timeout_s = SANDBOX_TIMEOUT_DEFAULT_S;
    sb->spec.timeout_s = sb->timeout_s;
    sb->spec.idle_timeout_s = a->idle_timeout_s > 0 ? a->idle_timeout_s : -1;
    sb->spec.auto_pause = a->auto_pause;
    sb->spec.auto_resume = a->auto_resume;
    sb->spec.forgets_memory = a->forgets_memory;
    return 0;
}

static int bad_quantity(const char *name, struct str text, const char *why, struct err *e)
{
    return err_set(e, -EINVAL, "invalid %s \"" STR_FMT "\": %s", name,
                   STR_ARG(str_slice(text, 0, 60)), why);
}

static int fill_cpu(struct sandbox *sb, struct err *e)
{
    uint64_t milli;

    if (quantity_milli(sb->spec.cpu, &milli) < 0)
        return bad_quantity("cpu", sb->spec.cpu, "not a quantity such as 500m or 2", e);
    if (quantity_milli(sb->spec.cpu_limit, &milli) < 0 || milli > UINT32_MAX)
        return bad_quantity("cpu_limit", sb->spec.cpu_limit, "not a quantity such as 500m or 2", e);
    if (milli > 0 && milli < CPU_MIN_MILLI)
        return bad_quantity("cpu_limit", sb->spec.cpu_limit, "the minimum is 10m", e);
    /* More than the machine has is all that it has. */
    uint64_t has = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * 1000;
    sb->cell_spec.limits.cpu_milli = (uint32_t)(milli > has ? has : milli);
    return 0;
}

static int fill_memory(struct sandbox *sb, struct err *e)
{
    const char *example = "not a quantity such as 512Mi or 2Gi";
    uint64_t bytes;

    if (quantity_units(sb->spec.memory, &bytes) < 0)
        return bad_quantity("memory", sb->spec.memory, example, e);
    if (quantity_units(sb->spec.memory_limit, &bytes) < 0)
        return bad_quantity("memory_limit", sb->spec.memory_limit, example, e);
    if (bytes > 0 && bytes < MEMORY_MIN)
        return bad_quantity("memory_limit", sb->spec.memory_limit, "the minimum is 16Mi", e);
    sb->cell_spec.limits.memory_bytes = bytes;
    return 0;
}

/* What it gets of a limit that it did not ask for: none where the host could not keep it. */
static const char *usual_limit(const struct sandbox *sb, enum sandbox_limit limit,
                               const char *configured)
{
    return sandboxes_lack(sb->set, limit) ? "0" : configured;
}

/* What is set aside for it when nobody asks for more: USUAL, or all of LIMIT when that is less. */
static struct str within(struct str usual_amount, struct str limit)
{
    uint64_t a = 0, b = 0;
    bool is_less =
        quantity_milli(usual_amount, &a) == 0 && quantity_milli(limit, &b) == 0 && b > 0 && b < a;

    return is_less ? limit : usual_amount;
}

static int fill_requests(struct sandbox *sb, const struct sandbox_args *a)
{
    struct str cpu = a->cpu.len > 0 ? a->cpu : within(STR("200m"), sb->spec.cpu_limit);
    struct str memory = a->memory.len > 0 ? a->memory : within(STR("500Mi"), sb->spec.memory_limit);

    if (copy_str(sb, &sb->spec.cpu, cpu, "") < 0)
        return -ENOMEM;
    return copy_str(sb, &sb->spec.memory, memory, "");
}

static int fill_spec_limits(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    const struct config *config = sb->set->core->config;

    if (copy_str(sb, &sb->spec.cpu_limit, a->cpu_limit,
                 usual_limit(sb, SANDBOX_LIMIT_CPU, config->cells.cpu_limit)) < 0 ||
        copy_str(sb, &sb->spec.memory_limit, a->memory_limit,
                 usual_limit(sb, SANDBOX_LIMIT_MEMORY, config->cells.memory_limit)) < 0 ||
        fill_requests(sb, a) < 0)
        return -ENOMEM;
    if (a->pids < 0 || a->pids > PIDS_MAX)
        return err_set(e, -EINVAL, "invalid pids %lld: 1 to %d", (long long)a->pids, PIDS_MAX);
    sb->spec.pids = a->pids;
    if (a->pids == 0 && !sandboxes_lack(sb->set, SANDBOX_LIMIT_PIDS))
        sb->spec.pids = config->cells.pids;
    sb->cell_spec.limits.pids = (uint32_t)sb->spec.pids;
    int r = fill_cpu(sb, e);
    if (r == 0)
        r = fill_memory(sb, e);
    return r < 0 ? r : sandbox_fill_disk(sb, a, e);
}

static int fill_process(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    if (a->port < 0 || a->port > UINT16_MAX)
        return err_set(e, -EINVAL, "invalid port %lld: 1 to 65535", (long long)a->port);
    if (a->workdir.len > 0 && a->workdir.p[0] != '/')
        return err_set(e, -EINVAL, "invalid workdir: must begin with '/'");
    if (str_has_nul(a->workdir) || str_has_nul(a->cmd))
        return err_set(e, -EINVAL, "workdir and cmd must not contain NUL bytes");
    sb->spec.port = a->port > 0 ? a->port : sb->template->port;
    if (copy_str(sb, &sb->spec.workdir, a->workdir, "") < 0 ||
        copy_str(sb, &sb->spec.cmd, a->cmd, "") < 0 || copy_str(sb, &sb->spec.app, a->app, "") < 0)
        return -ENOMEM;
    return copy_spec_args(sb, a->args, e);
}

static int fill_maps(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    int r = copy_strings(sb, "envVars", a->env, &sb->spec.env, e);

    if (r == 0)
        r = copy_strings(sb, "metadata", a->metadata, &sb->spec.metadata, e);
    if (r == 0 && a->extra) {
        sb->spec.extra = json_copy(&sb->arena, a->extra);
        r = sb->spec.extra ? 0 : -ENOMEM;
    }
    return r;
}

static int fill_access(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    if (a->mask_host.len > SANDBOX_MASK_HOST_MAX || str_has_nul(a->mask_host))
        return err_set(e, -EINVAL, "invalid maskRequestHost: at most %d bytes",
                       SANDBOX_MASK_HOST_MAX);
    if (copy_str(sb, &sb->spec.mask_host, a->mask_host, "") < 0)
        return -ENOMEM;
    sb->spec.is_insecure = a->is_insecure;
    sb->spec.is_private = a->is_private;
    sb->access.is_secure = !a->is_insecure;
    sb->access.is_public = !a->is_private;
    sb->access.mask_host = sb->spec.mask_host;
    return 0;
}

int sandbox_fill(struct sandbox *sb, const struct sandbox_args *args, struct err *e)
{
    static int (*const steps[])(struct sandbox *, const struct sandbox_args *, struct err *) = {
        fill_template, fill_times,  fill_spec_limits,     fill_process,
        fill_maps,     fill_access, sandbox_fill_network, sandbox_fill_volumes,
    };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        int r = steps[i](sb, args, e);
        if (r == -ENOMEM)
            return err_set(e, -EINVAL, "the description of the sandbox is larger than %d bytes",
                           SANDBOX_SPEC_MAX);
        if (r < 0)
            return r;
    }
    struct str root = sb->spec.root.len > 0 ? sb->spec.root : str_of(template_default.name);
    (void)snprintf(sb->cell_spec.template_name, sizeof sb->cell_spec.template_name, STR_FMT,
                   STR_ARG(root));
    return 0;
}

/* ---- the environment ---- */

int sandbox_add_identity(struct sandbox *sb)
{
    const struct {
        const char *name, *value;
    } own[] = {
        {"AGENT_SANDBOX_ID", sb->id},
        {"AGENT_SANDBOX_NAME", sb->name},
        {"INSTANCE_NAME", sb->name},
    };
    struct json *env = json_copy(&sb->arena, sb->spec.env);

    for (size_t i = 0; env && i < ARRAY_LEN(own); i++) {
        const struct json *v = json_new_str(&sb->arena, str_of(own[i].value));
        if (!v || json_set(&sb->arena, env, own[i].name, v) < 0)
            return -ENOMEM;
    }
    sb->spec.env = env;
    return env ? 0 : -ENOMEM;
}

static bool put_spec_env(const struct json *from, const struct json *hidden_by, const char **out,
                         size_t *n, struct arena *a)
{
    for (size_t i = 0; json_is(from, JSON_OBJECT) && i < from->n; i++) {
        const struct json_member *m = &from->members[i];
        if (m->value.type != JSON_STRING || json_get_str(hidden_by, m->key))
            continue;
        out[*n] = arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(m->key), STR_ARG(m->value.s)).p;
        if (!out[(*n)++])
            return false;
    }
    return true;
}

const char *const *sandbox_env(const struct sandbox *sb, const struct json *more, struct arena *a)
{
    size_t n_more = json_is(more, JSON_OBJECT) ? more->n : 0, n = 0;
    const char **out = arena_zalloc(a, sb->spec.env->n + n_more + 1, sizeof *out);

    if (!out || !put_spec_env(sb->spec.env, more, out, &n, a) ||
        !put_spec_env(more, NULL, out, &n, a))
        return NULL;
    return out;
}

/* ---- as text ---- */

int sandbox_spec_write(struct buf *out, const struct sandbox *sb)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    sandbox_fields_write(&w, &sb->spec, SANDBOX_FACE_STORE);
    jw_end(&w);
    return out->error;
}

int sandbox_spec_read(struct sandbox *sb, struct str text, struct err *e)
{
    struct arena arena auto_arena;
    struct sandbox_args a = {.timeout_s = sb->timeout_s, .idle_timeout_s = -1};

    arena_init(&arena, (size_t)4 * SANDBOX_SPEC_MAX);
    const struct json *doc = json_parse(&arena, text, NULL, e);
    if (!doc)
        return err_ctx(e, e && e->code ? e->code : -EINVAL, "sandbox %s", sb->name);
    int r = sandbox_fields_read(&a, doc, SANDBOX_FACE_STORE, &arena, e);
    if (r == 0)
        r = sandbox_fill(sb, &a, e);
    return r < 0 ? err_ctx(e, r, "sandbox %s", sb->name) : 0;
}
