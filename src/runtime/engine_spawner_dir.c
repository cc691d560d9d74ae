/* SPDX-License-Identifier: MIT */
/* Where spawners are: every build of tidepool-envd has a directory of its own below the state
 * directory, with its socket, its lock and the files of its cells. Its name is a digest of the
 * program, so two builds never share anything, and who finds a directory knows whose it is.
 *
 *     STATE/spawners/BUILD/{spawner.sock,spawner.lock,cells/}
 *     STATE/spawners/BUILD-1/…          further ones of the same build (engine_links.h)
 *
 * Before there were several, the state directory itself was the place: "." */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"
#include "runtime/template.h"
#include "sys/io.h"

#define PLACES      "spawners/"
#define FIRST_PLACE "."

enum { PROGRAM_MAX = 64 << 20 };

static int engine_place_path(const struct engine *en, const char *place, char *ret, size_t size)
{
    int len = snprintf(ret, size, "%s/%s", en->state, place);

    return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

void engine_place_instance(const struct engine *en, const char *place, char *ret, size_t size)
{
    if (strcmp(place, FIRST_PLACE) == 0)
        (void)snprintf(ret, size, "%s", en->instance);
    else
        (void)snprintf(ret, size, "%s-%s", en->instance, place + strlen(PLACES));
}

int engine_place_choose(struct engine *en, struct err *e)
{
    auto_buf struct buf program = BUF_INIT(PROGRAM_MAX);
    char path[PATH_MAX];
    int r = io_read_file(en->envd, &program, e);

    if (r < 0)
        return r;
    (void)snprintf(en->build, sizeof en->build, PLACES "%016llx",
                   (unsigned long long)str_hash(buf_str(&program), 0));
    engine_place_number(en, 0, en->spawner->place);
    r = engine_place_path(en, en->build, path, sizeof path);
    en->home = r < 0 ? NULL : mem_strdup(path);
    if (!en->home)
        return err_sys(e, r < 0 ? r : -ENOMEM, "place of the spawner");
    if (snprintf(path, sizeof path, "%s/cells", en->home) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "place of the spawner");
    return io_mkdirs(path, 0700, e);
}

void engine_place_number(const struct engine *en, unsigned n, char ret[ENGINE_PLACE_MAX])
{
    if (n == 0)
        (void)snprintf(ret, ENGINE_PLACE_MAX, "%s", en->build);
    else
        (void)snprintf(ret, ENGINE_PLACE_MAX, "%.40s-%u", en->build, n);
}

bool engine_place_is_own(const struct engine *en, const char *place)
{
    size_t len = strlen(en->build);

    return strncmp(place, en->build, len) == 0 && (place[len] == '\0' || place[len] == '-');
}

int engine_place_make(const struct engine *en, const char *place)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s/cells", en->state, place);

    return len >= (int)sizeof path ? -ENAMETOOLONG : io_mkdirs(path, 0700, NULL);
}

static bool is_build(const char *name)
{
    return name[0] != '\0' && strspn(name, "0123456789abcdef-") == strlen(name) &&
           strlen(PLACES) + strlen(name) < ENGINE_PLACE_MAX;
}

int engine_place_each(struct engine *en,
                      int (*fn)(struct engine *en, const char *place, struct err *e), struct err *e)
{
    int fd = openat(en->state_fd, PLACES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int r = 0;

    if (!dir) {
        close_p(&fd);
        return err_sys(e, -errno, "list '%s/" PLACES "'", en->state);
    }
    for (struct dirent *d; r == 0 && (d = readdir(dir));) {
        char place[ENGINE_PLACE_MAX];
        if (!is_build(d->d_name))
            continue;
        (void)snprintf(place, sizeof place, PLACES "%s", d->d_name);
        if (strcmp(place, en->spawner->place) != 0)
            r = fn(en, place, e);
    }
    (void)closedir(dir);
    if (r == 0 && faccessat(en->state_fd, "spawner.lock", F_OK, 0) == 0)
        r = fn(en, FIRST_PLACE, e);
    return r;
}

/* Into the trash of this build's spawner: what its cells left may be much, and is deleted as
 * everything of cells is. */
static int throw_away(struct engine *en, const char *path)
{
    char trash[ENGINE_PLACE_MAX + 40], unique[17];

    id_hex(unique, sizeof unique - 1);
    (void)snprintf(trash, sizeof trash, "%s/cells/.trash/%s", en->spawner->place, unique);
    if (renameat(en->state_fd, path, en->state_fd, trash) < 0)
        return -errno;
    packet_begin(&en->out, PROTO_CLEAN, 0);
    (void)spawner_link_send(en->spawner);
    return 0;
}

void engine_place_remove(struct engine *en, const char *place)
{
    static const char *const files[] = {"spawner.sock", "spawner.lock"};
    char cells[ENGINE_PLACE_MAX + 8];

    /* The first one's has what all of this build share. */
    if (strcmp(place, en->build) == 0)
        return;
    (void)snprintf(cells, sizeof cells, "%s/cells", place);
    int r = throw_away(en, cells);
    if (r < 0 && r != -ENOENT)
        return; /* found again by the next start */
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char path[ENGINE_PLACE_MAX + 16];
        (void)snprintf(path, sizeof path, "%s/%s", place, files[i]);
        (void)unlinkat(en->state_fd, path, 0);
    }
    (void)unlinkat(en->state_fd, place, AT_REMOVEDIR);
}

void engine_place_tidy(struct engine *en)
{
    int fd = openat(en->state_fd, TEMPLATE_DEFAULTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        close_p(&fd);
        return;
    }
    for (struct dirent *d; (d = readdir(dir));) {
        char path[sizeof TEMPLATE_DEFAULTS + 1 + NAME_MAX];
        (void)snprintf(path, sizeof path, TEMPLATE_DEFAULTS "/%s", d->d_name);
        if (d->d_name[0] != '.' && !str_ends(str_of(en->template_root), str_of(path)))
            (void)throw_away(en, path);
    }
    (void)closedir(dir);
}
