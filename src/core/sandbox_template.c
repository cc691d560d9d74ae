/* SPDX-License-Identifier: MIT */
/* What a sandbox is made from: see sandbox_template.h. */
#include "core/sandbox_template.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "core/core.h"
#include "core/root.h"
#include "core/sandbox_internal.h"
#include "core/template_blueprint.h"
#include "core/templates.h"

/* The name that a sandbox shows whose image alone was asked for. */
#define CUSTOM "custom"

/* Who names a root need not name a template that there is. */
static const struct template *find_sandbox_template(const struct sandbox *sb,
                                                    const struct sandbox_args *args, struct err *e)
{
    const struct templates *all = sb->set->core->templates;
    struct str name = args->template_name;
    const struct template *t =
        templates_find(all, str_is(name, CUSTOM) ? str_of(template_default.name) : name);

    if (!t && args->root.len > 0)
        t = &template_default;
    if (!t)
        (void)err_set(e, -EINVAL,
                      "failed to get Template by name " STR_FMT ": Template  " STR_FMT " not found",
                      STR_ARG(str_slice(name, 0, 100)), STR_ARG(str_slice(name, 0, 100)));
    return t;
}

/* An image may be named by a template that is made from it ("tidepool/base:latest", "base"). */
static struct str image_of_template(const struct sandbox *sb, struct str reference)
{
    const struct str ours = STR("tidepool/"), latest = STR(":latest");
    struct str name = str_starts(reference, ours) ? str_skip(reference, ours.len) : reference;

    if (str_ends(name, latest))
        name.len -= latest.len;
    const struct template *t = templates_find(sb->set->core->templates, name);
    return t && !t->is_dynamic ? str_of(t->image) : reference;
}

/* Chooses what the root of the cell is: the one that was asked for, or that of the image. */
static int choose_sandbox_root(struct sandbox *sb, struct sandbox_args *args, struct err *e)
{
    const struct roots *roots = sb->set->core->roots;
    struct str image = args->image;
    struct root *r = NULL;

    if (args->root.len > 0)
        r = root_find(roots, args->root);
    else if (template_is_host_image(image) || template_is_host_image(image_of_template(sb, image)))
        return 0;
    else
        r = root_find_image(roots, image, sb->account);
    if (!r && args->root.len > 0)
        return err_set(e, -ENOENT, "the image or snapshot of the sandbox no longer exists");
    if (!r)
        return err_set(e, -EINVAL,
                       "image \"" STR_FMT "\" is unknown: import it (tidepool image import), use "
                       "the name of a template, or omit it",
                       STR_ARG(str_slice(image, 0, 200)));
    args->root = str_of(r->id);
    root_unref(sb->root);
    sb->root = root_ref(r);
    return 0;
}

/* Before the template is merged, because every template has a user, said or not. */
static void choose_user(const struct sandbox *sb, const struct template *t,
                        struct sandbox_args *args)
{
    const struct root *r = sb->root;

    if (r && args->user.len == 0 && !json_get(t->doc, "user"))
        args->user = root_get_str(r, "user", r->args.is_on_default ? STR_NULL : STR("root"));
}

static bool is_array(const struct json *v)
{
    return json_is(v, JSON_ARRAY) && v->n > 0;
}

/* What an image runs when nobody types into it: a shell alone would end at once. */
static bool is_shell(const struct json *cmd)
{
    static const char *const shells[] = {"sh",  "bash",   "ash",     "dash",
                                         "zsh", "python", "python3", "node"};
    struct str rest = cmd->n == 1 ? json_str(&cmd->items[0], STR("")) : STR_NULL, name = rest;

    while (rest.p)
        name = str_cut(&rest, '/');
    for (size_t i = 0; name.p && i < ARRAY_LEN(shells); i++)
        if (str_is(name, shells[i]))
            return true;
    return false;
}

static int push_all(struct arena *a, struct json *to, const struct json *from)
{
    for (size_t i = 0; is_array(from) && i < from->n; i++)
        if (json_push(a, to, &from->items[i]) < 0)
            return -ENOMEM;
    return 0;
}

/* The main process: `cmd` of a request stands for the image's entry point and its command, `args`
 * for the command alone. */
static int merge_command(const struct root *r, struct sandbox_args *args, struct arena *a)
{
    const struct json *entry = root_get(r, "entrypoint"), *cmd = root_get(r, "cmd");
    const struct json *own = is_array(args->args) ? args->args : cmd;

    if (args->cmd.len > 0 || (!is_array(entry) && is_array(args->args)))
        return 0;
    if (!is_array(entry) && (!is_array(cmd) || is_shell(cmd)))
        return 0;
    struct json *all = json_new_array(a);
    if (!all || push_all(a, all, entry) < 0 || push_all(a, all, own) < 0)
        return -ENOMEM;
    args->args = all;
    return 0;
}

/* What the root says, where neither the request nor the template does. */
static int merge_root(const struct sandbox *sb, struct sandbox_args *args, struct arena *a)
{
    const struct root *r = sb->root;
    const struct json *env = root_get(r, "env");

    if (!r)
        return 0;
    if (args->workdir.len == 0)
        args->workdir = root_get_str(r, "workdir", STR_NULL);
    if (merge_command(r, args, a) < 0)
        return -ENOMEM;
    if (!json_is(env, JSON_OBJECT))
        return 0;
    struct json *all = json_copy(a, env);
    for (size_t i = 0; all && json_is(args->env, JSON_OBJECT) && i < args->env->n; i++) {
        const struct json_member *m = &args->env->members[i];
        if (json_set_str(a, all, m->key, &m->value) < 0)
            return -ENOMEM;
    }
    args->env = all;
    return all ? 0 : -ENOMEM;
}

/* Last, and only where neither the request nor the template says anything. */
static int apply_defaults(struct sandbox *sb, struct sandbox_args *args, struct arena *a)
{
    const struct blueprint_values values = {.name = str_of(sb->name),
                                            .id = str_of(sb->id),
                                            .user = str_of(sb->account),
                                            .template_name = args->template_name,
                                            .image = args->image};

    return blueprint_apply(templates_blueprint(sb->set->core->templates), &values, args, a);
}

int sandbox_resolve(struct sandbox *sb, struct sandbox_args *args, struct arena *a, struct err *e)
{
    sb->is_plain = args->cmd.len == 0 && (!args->args || args->args->n == 0);
    if (args->template_name.len == 0)
        args->template_name = args->image.len > 0 ? STR(CUSTOM) : str_of(template_default.name);
    const struct template *t = find_sandbox_template(sb, args, e);
    if (!t)
        return -EINVAL;
    int r = template_check(t, e);
    if (r < 0)
        return -EOPNOTSUPP;
    if (args->image.len == 0)
        args->image = template_image(t, args->template_name, a);
    r = choose_sandbox_root(sb, args, e);
    if (r < 0)
        return r;
    template_release(sb->template);
    sb->template = template_hold(t);
    sb->spec.template_name = args->template_name;
    r = sandbox_name(sb, args, e);
    if (r < 0)
        return r;
    choose_user(sb, t, args);
    if (template_merge(t, args, a) < 0 || merge_root(sb, args, a) < 0 ||
        apply_defaults(sb, args, a) < 0)
        return err_set(e, -EINVAL, "the description of the sandbox is larger than %d bytes",
                       SANDBOX_SPEC_MAX);
    return 0;
}
