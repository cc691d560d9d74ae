/* SPDX-License-Identifier: MIT */
/* Importing images: see image.h. */
#include "core/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/disk_guard.h"
#include "core/image_internal.h"
#include "core/root_internal.h"
#include "sys/io.h"

enum { ARENA_MAX = 64 << 20 };

/* Below the state directory: where images are pulled to. */
#define PULL_FOLDER "layers"

struct import_job {
    struct image_import import; /* first: what others see of it */
    struct work work;
    struct roots *set;
    bool is_under_way;
    uint64_t max_bytes;
    /* Layers that are pinned until the root is taken in. */
    char pinned[ROOT_LAYERS_MAX][LAYER_ID_MAX];
    size_t n_pinned;
    uint64_t bytes; /* of layers that were not there before */
};

static const char *const phases[] = {
    [IMAGE_WAITING] = "waiting", [IMAGE_PULLING] = "pulling", [IMAGE_UNPACKING] = "unpacking",
    [IMAGE_DONE] = "done",       [IMAGE_FAILED] = "failed",
};

const char *image_phase_name(enum image_phase phase)
{
    return phases[phase];
}

static void set_phase(struct import_job *j, enum image_phase phase)
{
    __atomic_store_n(&j->import.phase, phase, __ATOMIC_RELEASE);
}

/* ---- names ---- */

static bool is_image_name_char(char c)
{
    return ascii_is_alnum(c) || (c && strchr("._-/:@", c));
}

/* NAME as images are called: lower case, with a tag; 0 or -EINVAL. */
static int image_name(struct str name, char ret[IMAGE_NAME_MAX + 1])
{
    struct str rest = name, last = name;

    while (rest.p)
        last = str_cut(&rest, '/');
    const char *tag = str_chr(last, ':') >= 0 || str_chr(last, '@') >= 0 ? "" : ":latest";
    if (!name.p || last.len == 0 || name.len + strlen(tag) > IMAGE_NAME_MAX ||
        !ascii_is_alnum(name.p[0]))
        return -EINVAL;
    for (size_t i = 0; i < name.len; i++)
        if (!is_image_name_char(name.p[i]))
            return -EINVAL;
    (void)snprintf(ret, IMAGE_NAME_MAX + 1, STR_FMT "%s", STR_ARG(name), tag);
    for (char *p = ret; *p; p++)
        *p = ascii_lower(*p);
    return 0;
}

/* Without what was said: what the source says, or how its file is called. */
static int choose_image_name(struct import_job *j, const struct image_plan *p, struct err *e)
{
    char file[IMAGE_SOURCE_MAX + 1];

    if (j->import.name[0])
        return 0;
    (void)snprintf(file, sizeof file, "%s", j->import.source);
    struct str rest = str_of(file), last = STR("");
    while (rest.p) {
        struct str part = str_cut(&rest, '/');
        last = part.len > 0 ? part : last;
    }
    if (str_ends(last, STR(".tar")))
        last.len -= strlen(".tar");
    /* A tag alone is no name. */
    bool has_name = p->name.len > 0 && (str_chr(p->name, ':') >= 0 || str_chr(p->name, '/') >= 0);
    if (image_name(has_name ? p->name : last, j->import.name) < 0)
        return err_set(e, -EINVAL, "the image has no usable name; choose one (--name)");
    return 0;
}

/* ---- the thread ---- */

static int feed_layer(void *ctx, const char *p, size_t len, struct err *e)
{
    return layer_unpack_feed(ctx, p, len, e);
}

static int unpack_into(struct import_job *j, struct layer_draft *d, const struct image_blob *b,
                       struct err *e)
{
    struct layer_unpack *u = layer_unpack_new(d);
    int r = u ? image_blob_read(b, feed_layer, u, e) : err_sys(e, -ENOMEM, "layer");

    (void)j;
    if (r == 0)
        r = layer_unpack_finish(u, e);
    layer_unpack_free(u);
    return r;
}

static int import_layer(struct import_job *j, const struct image_source *s,
                        const struct image_layer *l, const char *id, struct err *e)
{
    const char *state = j->set->state;
    const struct layer_size max = {.bytes = j->max_bytes - j->bytes, .n_files = LAYER_FILES_MAX};
    struct image_blob b = {
        .digest = l->digest, .diff_id = l->diff_id, .progress = &j->import.progress.bytes};
    struct layer_draft d = {.fd = -1, .is_stopped = &j->set->is_stopped};
    char name[PATH_MAX];

    (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(l->file));
    int r = image_source_find(s, name, &b.file);
    if (r < 0)
        return err_sys(e, r, "'%s'", name);
    r = layer_begin(&d, state, &max, e);
    if (r == 0)
        r = unpack_into(j, &d, &b, e);
    j->bytes += d.size.bytes;
    if (r == 0)
        r = layer_commit(&d, id, true, e);
    layer_drop(&d);
    image_file_close(&b.file);
    return r;
}

/* Each layer once, however many images have it. */
static int import_layers(struct import_job *j, const struct image_source *s,
                         const struct image_plan *p, struct err *e)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct image_layer *l = &p->layers[i];
        char *id = j->pinned[i];
        (void)snprintf(id, LAYER_ID_MAX, "s-" STR_FMT, STR_ARG(l->diff_id));
        int r = roots_pin(j->set, id);
        if (r < 0)
            return err_sys(e, r, "layer");
        j->n_pinned++;
        if (!layer_exists(j->set->state, id))
            r = import_layer(j, s, l, id, e);
        if (r < 0)
            return err_ctx(e, r, "layer %zu of %zu", i + 1, p->n_layers);
        (void)__atomic_add_fetch(&j->import.progress.n_done, 1U, __ATOMIC_RELAXED);
    }
    return 0;
}

static int write_image_root(struct import_job *j, const struct image_plan *p, struct err *e)
{
    char layers[ROOT_LAYERS_MAX][LAYER_ID_MAX];
    struct root_args a = {
        .kind = ROOT_IMAGE,
        .name = str_of(j->import.name),
        .origin = p->digest,
        .layers = (const char(*)[LAYER_ID_MAX])layers,
        .n_layers = p->n_layers,
        .bytes = j->bytes,
        .config = p->config,
    };

    for (size_t i = 0; i < p->n_layers; i++)
        memcpy(layers[i], j->pinned[p->n_layers - 1 - i], LAYER_ID_MAX);
    return root_write(j->set->state, &a, j->import.root, e);
}

static void plan_progress(struct import_job *j, const struct image_source *s,
                          const struct image_plan *p)
{
    uint64_t total = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        struct image_file f;
        char name[PATH_MAX], id[LAYER_ID_MAX];
        (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(p->layers[i].file));
        (void)snprintf(id, sizeof id, "s-" STR_FMT, STR_ARG(p->layers[i].diff_id));
        if (layer_exists(j->set->state, id) || image_source_find(s, name, &f) < 0)
            continue;
        total += f.size;
        image_file_close(&f);
    }
    __atomic_store_n(&j->import.progress.bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&j->import.progress.total, total, __ATOMIC_RELAXED);
    __atomic_store_n(&j->import.progress.n_layers, (unsigned)p->n_layers, __ATOMIC_RELAXED);
}

static int import_from(struct import_job *j, const char *path, struct err *e)
{
    struct arena a auto_arena;
    struct image_source s;
    struct image_plan *p = mem_zalloc(1, sizeof *p);

    arena_init(&a, ARENA_MAX);
    int r = image_source_open(&s, path, e);
    if (r == 0)
        r = p ? image_plan_read(&s, str_of(j->import.name), &a, p, e) : -ENOMEM;
    if (r == 0)
        r = choose_image_name(j, p, e);
    if (r == 0) {
        plan_progress(j, &s, p);
        set_phase(j, IMAGE_UNPACKING);
        r = import_layers(j, &s, p, e);
    }
    if (r == 0)
        r = write_image_root(j, p, e);
    image_source_close(&s);
    free(p);
    return r;
}

static int import_pulled(struct import_job *j, struct err *e)
{
    char path[PATH_MAX];

    /* Named as what layer_sweep() removes when this process does not come to it. */
    if (snprintf(path, sizeof path, "%s/" PULL_FOLDER "/.new-pull-%s", j->set->state,
                 j->import.id) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "pull");
    set_phase(j, IMAGE_PULLING);
    const struct image_pull pull = {.progress = &j->import.progress.bytes,
                                    .max_bytes = j->max_bytes,
                                    .is_stopped = &j->set->is_stopped};
    int r = image_pull(j->import.source, path, &pull, e);
    if (r == 0)
        r = import_from(j, path, e);
    (void)io_remove_tree(path);
    return r;
}

static void run_image_job(struct work *w)
{
    struct import_job *j = container_of(w, struct import_job, work);
    bool is_pull = str_starts(str_of(j->import.source), STR(IMAGE_REGISTRY));
    int r =
        is_pull ? import_pulled(j, &j->import.e) : import_from(j, j->import.source, &j->import.e);

    if (r < 0 && !j->import.e.code)
        (void)err_sys(&j->import.e, r, "import");
}

/* ---- the loop ---- */

/* Who has the name of a new image before it. */
static void replace_older_image(const struct root *root)
{
    for (struct root *next = root_next(root->set, NULL), *old; (old = next);) {
        next = root_next(root->set, old);
        if (old != root && old->args.kind == ROOT_IMAGE && str_eq(old->args.name, root->args.name))
            root_remove(old);
    }
}

static void forget_old_imports(struct roots *set)
{
    unsigned n = 0;

    list_each(node, &set->importing) n++;
    list_each(node, &set->importing)
    {
        struct import_job *j =
            container_of(list_entry(node, struct image_import, node), struct import_job, import);
        if (n <= IMAGE_IMPORTS_KEPT || j->is_under_way)
            continue;
        list_del(node);
        free(j);
        n--;
    }
}

static void end_image_job(struct work *w)
{
    struct import_job *j = container_of(w, struct import_job, work);
    struct roots *set = j->set;
    struct root *r = NULL;

    j->is_under_way = false;
    if (!j->import.e.code && set->is_stopped)
        (void)err_set(&j->import.e, -ESHUTDOWN, "the service is stopping");
    if (!j->import.e.code)
        r = roots_take_in(set, j->import.root, &j->import.e);
    while (j->n_pinned > 0)
        roots_unpin(set, j->pinned[--j->n_pinned]);
    if (r)
        replace_older_image(r);
    else
        roots_sweep(set);
    root_unref(r);
    set_phase(j, r ? IMAGE_DONE : IMAGE_FAILED);
    forget_old_imports(set);
}

static unsigned n_under_way(const struct roots *set)
{
    unsigned n = 0;

    for (const struct image_import *i = NULL; (i = image_import_next(set, i));)
        n += i->phase != IMAGE_DONE && i->phase != IMAGE_FAILED;
    return n;
}

static int check_image_source(const struct roots *set, struct str source, struct str name,
                              struct err *e)
{
    char clean[IMAGE_NAME_MAX + 1];

    if (source.len == 0 || source.len > IMAGE_SOURCE_MAX || memchr(source.p, 0, source.len))
        return err_set(e, -EINVAL,
                       "source is required: the path of an image, or " IMAGE_REGISTRY "REFERENCE");
    bool is_pull = str_starts(source, STR(IMAGE_REGISTRY));
    if (!is_pull && source.p[0] != '/')
        return err_set(e, -EINVAL,
                       "source must be an absolute path, or begin with " IMAGE_REGISTRY);
    if (is_pull && !image_can_pull(e))
        return -EOPNOTSUPP;
    if (name.len > 0 && image_name(name, clean) < 0)
        return err_set(e, -EINVAL, "invalid image name \"" STR_FMT "\"",
                       STR_ARG(str_slice(name, 0, 100)));
    if (n_under_way(set) >= IMAGE_IMPORTS_MAX)
        return err_set(e, -EBUSY, "%d imports are waiting already", IMAGE_IMPORTS_MAX);
    return disk_guard_check(set->core->disk_guard, e);
}

int image_import(struct roots *set, struct str source, struct str name,
                 const struct image_import **ret, struct err *e)
{
    const struct str registry = STR(IMAGE_REGISTRY);
    int r = check_image_source(set, source, name, e);

    if (r < 0)
        return r;
    struct import_job *j = mem_zalloc(1, sizeof *j);
    if (!j)
        return err_sys(e, -ENOMEM, "import");
    j->set = set;
    j->max_bytes = (uint64_t)set->core->config->cells.image_size;
    j->is_under_way = true;
    id_hex(j->import.id, IMAGE_ID_LEN);
    (void)snprintf(j->import.source, sizeof j->import.source, STR_FMT, STR_ARG(source));
    if (name.len == 0 && str_starts(source, registry))
        name = str_skip(source, registry.len);
    if (name.len > 0 && image_name(name, j->import.name) < 0) {
        free(j);
        return err_set(e, -EINVAL, "the image has no usable name; choose one");
    }
    j->import.is_named = j->import.name[0] != '\0';
    j->work = (struct work){.run = run_image_job, .done = end_image_job};
    r = work_submit(set->movers, set->core->loop, &j->work);
    if (r < 0) {
        free(j);
        return err_sys(e, r, "import");
    }
    list_append(&set->importing, &j->import.node);
    *ret = &j->import;
    return 0;
}

const struct image_import *image_import_next(const struct roots *set, const struct image_import *i)
{
    const struct list *next = i ? i->node.next : set ? set->importing.next : NULL;

    return !next || next == &set->importing ? NULL : list_entry(next, struct image_import, node);
}

const struct image_import *image_import_find(const struct roots *set, struct str id)
{
    for (const struct image_import *i = NULL; (i = image_import_next(set, i));)
        if (str_is(id, i->id))
            return i;
    return NULL;
}

enum image_phase image_import_state(const struct image_import *i, struct image_progress *ret)
{
    ret->n_layers = __atomic_load_n(&i->progress.n_layers, __ATOMIC_RELAXED);
    ret->n_done = __atomic_load_n(&i->progress.n_done, __ATOMIC_RELAXED);
    ret->bytes = __atomic_load_n(&i->progress.bytes, __ATOMIC_RELAXED);
    ret->total = __atomic_load_n(&i->progress.total, __ATOMIC_RELAXED);
    return __atomic_load_n(&i->phase, __ATOMIC_ACQUIRE);
}

void image_imports_free(struct roots *set)
{
    for (struct list *node; (node = list_pop(&set->importing));)
        free(container_of(list_entry(node, struct image_import, node), struct import_job, import));
}
