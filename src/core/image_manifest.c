/* SPDX-License-Identifier: MIT */
/* What an image consists of: the index, manifest and configuration of OCI, and the manifest that
 * `docker save` writes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "core/image_internal.h"

enum { NAME_LEN = 128, INDEXES_MAX = 4 };

#define REF_NAME "org.opencontainers.image.ref.name"

/* ---- the configuration ---- */

/* As the makers of images call it. */
static const char *host_architecture(void)
{
    static const char *const names[][2] = {
        {"x86_64", "amd64"},    {"aarch64", "arm64"}, {"riscv64", "riscv64"},
        {"ppc64le", "ppc64le"}, {"s390x", "s390x"},
    };
    static struct utsname u;

    if (uname(&u) < 0)
        return "unknown";
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(u.machine, names[i][0]) == 0)
            return names[i][1];
    return u.machine;
}

static int check_platform(const struct json *image, struct err *e)
{
    struct str os = json_str(json_get(image, "os"), STR("linux"));
    struct str arch = json_str(json_get(image, "architecture"), str_of(host_architecture()));

    if (str_is(os, "linux") && str_is(arch, host_architecture()))
        return 0;
    return err_set(
        e, -EOPNOTSUPP, "the image is for " STR_FMT "/" STR_FMT ", this host is linux/%s",
        STR_ARG(str_slice(os, 0, 20)), STR_ARG(str_slice(arch, 0, 20)), host_architecture());
}

/* ["A=1", …] as an object. */
static struct json *read_manifest_env(const struct json *list, struct arena *a)
{
    struct json *env = json_new_object(a);

    for (size_t i = 0; env && json_is(list, JSON_ARRAY) && i < list->n && i < IMAGE_ENV_MAX; i++) {
        struct str value = json_str(&list->items[i], STR("")), name = str_cut(&value, '=');
        const struct json *v = name.len > 0 && value.p ? json_new_str(a, value) : NULL;
        if (v && json_set_str(a, env, name, v) < 0)
            return NULL;
    }
    return env;
}

/* {"80/tcp": {}, …} as [80, …]. */
static struct json *read_ports(const struct json *ports, struct arena *a)
{
    struct json *list = json_new_array(a);

    for (size_t i = 0; list && json_is(ports, JSON_OBJECT) && i < ports->n; i++) {
        struct str kind = ports->members[i].key, number = str_cut(&kind, '/');
        int64_t port;
        if (str_to_i64(number, &port) < 0 || port < 1 || port > UINT16_MAX ||
            (kind.p && !str_is(kind, "tcp")))
            continue;
        const struct json *v = json_new_int(a, port);
        if (!v || json_push(a, list, v) < 0)
            return NULL;
    }
    return list;
}

static int copy_member(struct json *to, const char *name, const struct json *v, struct arena *a)
{
    if (!v || json_is(v, JSON_NULL))
        return 0;
    const struct json *copy = json_copy(a, v);
    return copy ? json_set(a, to, name, copy) : -ENOMEM;
}

/* "user", "uid", each with ":group" or not: the group is that of the user here. */
static int put_user(struct json *to, struct str user, struct arena *a)
{
    const struct json *v = user.len > 0 ? json_new_str(a, str_cut(&user, ':')) : NULL;

    return v ? json_set(a, to, "user", v) : 0;
}

/* The configuration of an image as that of a root. NULL with E filled. */
static struct json *image_config_read(const struct json *image, struct arena *a, struct err *e)
{
    const struct json *from = json_get(image, "config");
    struct json *to = json_new_object(a), *env = read_manifest_env(json_get(from, "Env"), a);
    const struct json *ports = read_ports(json_get(from, "ExposedPorts"), a);
    struct str workdir = json_str(json_get(from, "WorkingDir"), STR(""));
    int r = to && env && ports ? 0 : -ENOMEM;

    if (r == 0)
        r = json_set(a, to, "env", env);
    if (r == 0)
        r = json_set(a, to, "ports", ports);
    if (r == 0)
        r = put_user(to, json_str(json_get(from, "User"), STR("")), a);
    /* That of most images, and no better place than the home. */
    if (r == 0 && workdir.len > 1)
        r = copy_member(to, "workdir", json_get(from, "WorkingDir"), a);
    if (r == 0)
        r = copy_member(to, "entrypoint", json_get(from, "Entrypoint"), a);
    if (r == 0)
        r = copy_member(to, "cmd", json_get(from, "Cmd"), a);
    if (r < 0)
        (void)err_sys(e, r, "configuration");
    return r < 0 ? NULL : to;
}

/* ---- layers ---- */

static int too_many(size_t n, struct err *e)
{
    return err_set(e, -E2BIG,
                   "the image has %zu layers; at most %d are supported (make fewer of "
                   "them, for example with umoci or docker build --squash)",
                   n, ROOT_LAYERS_MAX);
}

/* What the configuration says of them, which is bound to the image by its digest. */
static int take_diff_ids(struct image_plan *p, const struct json *image, struct err *e)
{
    const struct json *ids = json_get(json_get(image, "rootfs"), "diff_ids");

    if (!json_is(ids, JSON_ARRAY) || ids->n != p->n_layers || ids->n == 0)
        return err_set(e, -EINVAL, "the configuration does not list the layers of the manifest");
    for (size_t i = 0; i < ids->n; i++) {
        p->layers[i].diff_id = image_digest(json_str(&ids->items[i], STR("")));
        if (!p->layers[i].diff_id.p)
            return err_set(e, -EINVAL, "the digest of layer %zu is malformed", i + 1);
    }
    return 0;
}

static int take_manifest_config(struct image_plan *p, const struct json *image, struct arena *a,
                                struct err *e)
{
    int r = check_platform(image, e);

    if (r == 0)
        r = take_diff_ids(p, image, e);
    p->config = r == 0 ? image_config_read(image, a, e) : NULL;
    return p->config ? 0 : r < 0 ? r : -ENOMEM;
}

/* ---- OCI ---- */

static const char *blob_name(struct arena *a, struct str digest)
{
    struct str hex = image_digest(digest);

    return hex.p ? arena_printf(a, "blobs/sha256/" STR_FMT, STR_ARG(hex)).p : NULL;
}

/* The blob that DESCRIPTOR names. */
static struct json *read_manifest_blob(const struct image_source *s, const struct json *descriptor,
                                       struct arena *a, struct err *e)
{
    struct str digest = json_str(json_get(descriptor, "digest"), STR(""));
    const char *name = blob_name(a, digest);

    if (name)
        return image_source_json(s, name, digest, a, e);
    (void)err_set(e, -EINVAL, "a digest is not of the kind sha256");
    return NULL;
}

static bool fits_host(const struct json *descriptor)
{
    const struct json *platform = json_get(descriptor, "platform");

    return !platform ||
           (str_is(json_str(json_get(platform, "os"), STR("linux")), "linux") &&
            str_is(json_str(json_get(platform, "architecture"), STR("")), host_architecture()));
}

/* The one with this name, else the first for this host. */
static const struct json *choose_manifest(const struct json *index, struct str name)
{
    const struct json *list = json_get(index, "manifests"), *first = NULL;

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        const struct json *d = &list->items[i];
        struct str ref = json_str(json_get(json_get(d, "annotations"), REF_NAME), STR(""));
        if (!fits_host(d))
            continue;
        if (name.len > 0 && ref.len > 0 && str_ends(name, ref))
            return d;
        first = first ? first : d;
    }
    return first;
}

static int read_oci_layers(struct image_plan *p, const struct json *layers, struct arena *a,
                           struct err *e)
{
    if (!json_is(layers, JSON_ARRAY))
        return err_set(e, -EINVAL, "the manifest has no layers");
    if (layers->n > ROOT_LAYERS_MAX)
        return too_many(layers->n, e);
    for (size_t i = 0; i < layers->n; i++) {
        struct str digest = json_str(json_get(&layers->items[i], "digest"), STR(""));
        const char *file = blob_name(a, digest);
        if (!file)
            return err_set(e, -EINVAL, "the digest of layer %zu is malformed", i + 1);
        p->layers[p->n_layers++] =
            (struct image_layer){.file = str_of(file), .digest = image_digest(digest)};
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): what goes in and what comes out */
static int read_oci(const struct image_source *s, const struct json *index, struct str name,
                    struct arena *a, struct image_plan *p, struct err *e)
{
    const struct json *manifest = index;

    for (int i = 0; i < INDEXES_MAX && manifest && json_get(manifest, "manifests"); i++) {
        const struct json *d = choose_manifest(manifest, name);
        if (!d)
            return err_set(e, -EOPNOTSUPP, "no image in it is for linux/%s", host_architecture());
        struct str ref = json_str(json_get(json_get(d, "annotations"), REF_NAME), STR(""));
        p->name = ref.len > 0 ? ref : p->name;
        manifest = read_manifest_blob(s, d, a, e);
    }
    if (!manifest)
        return e->code;
    int r = read_oci_layers(p, json_get(manifest, "layers"), a, e);
    if (r < 0)
        return r;
    const struct json *image = read_manifest_blob(s, json_get(manifest, "config"), a, e);
    p->digest = json_str(json_get(json_get(manifest, "config"), "digest"), STR(""));
    return image ? take_manifest_config(p, image, a, e) : e->code;
}

/* ---- docker save ---- */

static int read_docker(const struct image_source *s, const struct json *list, struct arena *a,
                       struct image_plan *p, struct err *e)
{
    const struct json *first = json_is(list, JSON_ARRAY) && list->n > 0 ? &list->items[0] : NULL;
    const struct json *layers = json_get(first, "Layers"), *tags = json_get(first, "RepoTags");
    struct str file = json_str(json_get(first, "Config"), STR("")), hex = file;

    if (!json_is(layers, JSON_ARRAY) || file.len == 0)
        return err_set(e, -EINVAL, "manifest.json names no configuration or no layers");
    if (layers->n > ROOT_LAYERS_MAX)
        return too_many(layers->n, e);
    for (size_t i = 0; i < layers->n; i++)
        p->layers[p->n_layers++].file = json_str(&layers->items[i], STR(""));
    if (json_is(tags, JSON_ARRAY) && tags->n > 0)
        p->name = json_str(&tags->items[0], STR(""));
    /* "HEX.json", or "blobs/sha256/HEX". */
    if (str_ends(hex, STR(".json")))
        hex.len -= strlen(".json");
    else if (str_starts(hex, STR("blobs/sha256/")))
        hex = str_skip(hex, strlen("blobs/sha256/"));
    p->digest = image_digest(hex).p ? arena_printf(a, "sha256:" STR_FMT, STR_ARG(hex)) : STR("");
    const char *path = arena_str(a, file).p;
    const struct json *image = path ? image_source_json(s, path, p->digest, a, e) : NULL;
    return image ? take_manifest_config(p, image, a, e) : e->code;
}

int image_plan_read(const struct image_source *s, struct str name, struct arena *a,
                    struct image_plan *ret, struct err *e)
{
    struct image_file f;

    *ret = (struct image_plan){0};
    /* What `docker save` writes now is both; its tags are in its own manifest. */
    if (image_source_find(s, "manifest.json", &f) == 0) {
        image_file_close(&f);
        const struct json *list = image_source_json(s, "manifest.json", STR(""), a, e);
        return list ? read_docker(s, list, a, ret, e) : e->code;
    }
    if (image_source_find(s, "index.json", &f) < 0)
        return err_set(e, -EINVAL,
                       "neither an OCI image layout (index.json) nor a docker archive "
                       "(manifest.json)");
    image_file_close(&f);
    const struct json *index = image_source_json(s, "index.json", STR(""), a, e);
    return index ? read_oci(s, index, name, a, ret, e) : e->code;
}
