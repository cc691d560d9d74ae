/* SPDX-License-Identifier: MIT */
/* The default template of an engine: made when the engine starts, and again when something was
 * installed on the host, changed or removed. A few facts are looked at often, because that costs
 * nothing; when they differ, and now and then anyway, a thread looks at everything and builds.
 * Living cells keep the template that they have. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/work.h"
#include "runtime/engine_assign.h"
#include "runtime/engine_internal.h"
#include "runtime/template.h"
#include "sys/io.h"

enum {
    LOOK_MS = 2000, /* between looks at the few facts */
    FULL_LOOKS = 30 /* after this number of them everything is looked at */
};

/* What a thread does; it outlives the engine when that is closed meanwhile. */
struct engine_renewal {
    struct work work;
    struct engine *engine; /* NULL: closed. Only the loop's thread looks at it */
    char state[PATH_MAX], local[PATH_MAX], root[PATH_MAX];
    const char *const *etc;
    size_t n_etc;
    int result;
};

uint64_t engine_root_stamp(const struct engine *en)
{
    return str_hash(str_of(en->template_root), 0);
}

/* ---- building ---- */

void engine_find_local(const struct engine *en, char ret[PATH_MAX])
{
    const char *slash = strrchr(en->envd, '/');

    (void)snprintf(ret, PATH_MAX, "%.*s/tidepool-local", slash ? (int)(slash - en->envd) : 1,
                   slash ? en->envd : ".");
}

/* ---- looking ---- */

/* dpkg replaces its files while it works: what it leaves is looked at when it is done. */
static bool is_dpkg_busy(void)
{
    static const char *const locks[] = {"/var/lib/dpkg/lock", "/var/lib/dpkg/lock-frontend"};

    for (size_t i = 0; i < ARRAY_LEN(locks); i++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        auto_close int fd = io_open(locks[i], O_RDWR, 0);
        if (fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
            return true;
    }
    return false;
}

static uint64_t add_time(uint64_t key, const char *path)
{
    struct stat st = {0};
    char text[64];

    (void)stat(path, &st);
    (void)snprintf(text, sizeof text, "%lld.%ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    return str_hash(str_of(text), key);
}

static uint64_t look_at_sources(const struct engine *en)
{
    static const char *const paths[] = {
        "/var/lib/dpkg/status",
        "/etc",
        "/etc/alternatives",
        "/etc/ssl/certs",
        "/etc/ld.so.cache",
        "/etc/passwd",
        "/etc/group",
        "/etc/apt/sources.list.d",
        "/etc/apt",
        "/usr/local/lib",
    };
    char local[PATH_MAX];

    engine_find_local(en, local);
    uint64_t key = add_time(0, local);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        key = add_time(key, paths[i]);
    for (size_t i = 0; i < en->options.n_etc; i++)
        key = add_time(key, en->options.etc[i]);
    return key;
}

static void build_template_on_worker(struct work *w)
{
    struct engine_renewal *t = container_of(w, struct engine_renewal, work);
    const struct template_source from = {.local = t->local, .etc = t->etc, .n_etc = t->n_etc};

    t->result = is_dpkg_busy()
                    ? -EBUSY
                    : template_build_default(t->state, &from, t->root, sizeof t->root, NULL);
}

/* What is under way for the stock has the old template, too. */
static void replace_engine_template(struct engine *en)
{
    /* What lies on the default template has to be laid on the new one. */
    en->spawner->roots.n = 0;
    list_each(node, &en->old) list_entry(node, struct spawner_link, node)->roots.n = 0;
    if (engine_send_template(en->spawner, true) < 0) {
        en->template_stamp = 0; /* once more with the next look */
        en->template_root[0] = '\0';
        return;
    }
    list_each(node, &en->building)
    {
        struct building *b = list_entry(node, struct building, node);
        b->is_outdated = b->fn == NULL;
    }
    engine_stock_drop(en);
    engine_stock_tend(en);
}

static void on_template_built(struct work *w)
{
    struct engine_renewal *t = container_of(w, struct engine_renewal, work);
    struct engine *en = t->engine;

    if (en)
        en->renewal = NULL;
    if (en && t->result < 0)
        en->template_stamp = 0; /* once more with the next look */
    else if (en && strcmp(t->root, en->template_root) != 0) {
        memcpy(en->template_root, t->root, sizeof t->root);
        en->has_old_templates = true;
        if (en->spawner->io.loop)
            replace_engine_template(en);
    }
    free(t);
}

static void renew(struct engine *en)
{
    struct engine_renewal *t = mem_zalloc(1, sizeof *t);

    if (!t)
        return;
    if (!en->workers)
        en->workers = work_pool_new(1, 1, NULL);
    t->engine = en;
    t->work = (struct work){.run = build_template_on_worker, .done = on_template_built};
    t->etc = en->options.etc;
    t->n_etc = en->options.n_etc;
    (void)snprintf(t->state, sizeof t->state, "%s", en->state);
    engine_find_local(en, t->local);
    if (!en->workers || work_submit(en->workers, en->loop, &t->work) < 0)
        free(t);
    else
        en->renewal = t;
}

static void on_template_look(struct loop_timer *timer)
{
    struct engine *en = container_of(timer, struct engine, looks);
    uint64_t stamp = look_at_sources(en);
    bool is_idle = en->n_cells == 0 && en->n_old == 0 && list_is_empty(&en->building);
    bool is_due = stamp != en->template_stamp || ++en->n_looks >= FULL_LOOKS;

    if (en->has_old_templates && is_idle && !en->renewal) {
        en->has_old_templates = false;
        engine_place_tidy(en);
    }
    if (is_due && !en->renewal) {
        en->template_stamp = stamp;
        en->n_looks = 0;
        renew(en);
    }
    (void)loop_timer_start(en->loop, timer, LOOK_MS, on_template_look);
}

void engine_template_watch(struct engine *en)
{
    en->template_stamp = look_at_sources(en);
    (void)loop_timer_start(en->loop, &en->looks, LOOK_MS, on_template_look);
}

void engine_template_unwatch(struct engine *en)
{
    loop_timer_stop(&en->looks);
    if (en->renewal)
        en->renewal->engine = NULL;
    if (en->workers)
        work_pool_free(en->workers);
    en->workers = NULL;
}
