/* SPDX-License-Identifier: MIT */
/* Templates: see template.h. */
#include "core/template.h"

#include "base/cleanup.h"

const struct template template_default = {
    .name = "default",
    .image = "tidepool/default:latest",
    .description = "The host's /usr with its own home directory: shell, Python, Node, git and "
                   "curl as installed on the host.",
    .user = "user",
    .port = 8080,
};

/* Names that clients of the native API and of the E2B SDK use without having made a template. */
static const struct {
    const char *alias;
    const struct template *template;
} names[] = {
    {"default", &template_default},
    {"base", &template_default},
    {"aio", &template_default},
    {"code-interpreter", &template_default},
    {"sandbox-base", &template_default},
    {"sandbox-base-node", &template_default},
    {"sandbox-base-code", &template_default},
    {"mcp-gateway", &template_default},
    {"desktop", &template_default},
};

static const struct template *find_exact(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i].alias))
            return names[i].template;
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

struct str template_id(struct str name)
{
    struct str bare = without_version(name);

    if (find_exact(name))
        return name;
    return find_exact(bare) ? bare : STR_NULL;
}

const struct template *template_find(struct str name)
{
    struct str id = template_id(name);

    return id.p ? find_exact(id) : NULL;
}

const char *template_name_at(size_t i)
{
    return i < ARRAY_LEN(names) ? names[i].alias : NULL;
}

const struct template *template_by_image(struct str reference)
{
    const struct str ours = STR("tidepool/");
    struct str rest = str_starts(reference, ours) ? str_skip(reference, ours.len) : reference;

    const struct template *t = template_find(str_cut(&rest, ':'));
    return t;
}
