/* SPDX-License-Identifier: MIT */
#include "core/share.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/config.h"

/* What the root of a checkout has, and no other directory above a build folder. */
static const char *const checkout_marks[] = {"meson.build", "apps", "local", "src/core"};

/* Cuts the last component off: false when none is left. */
static bool cut_last_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return false;
    *slash = 0;
    return true;
}

static int join_share_path(char out[PATH_MAX], const char *dir, const char *name, struct err *e)
{
    if (snprintf(out, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
        return err_set(e, -ENAMETOOLONG, "'%s': the path is too long", dir);
    return 0;
}

static bool has_entry_named(const char *dir, const char *name)
{
    char path[PATH_MAX];

    return join_share_path(path, dir, name, NULL) == 0 && access(path, F_OK) == 0;
}

/* The directory of this program. When the file was replaced while it runs, " (deleted)" stands
 * behind its name only. */
static int own_dir(char out[PATH_MAX], struct err *e)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

    out[n > 0 ? n : 0] = 0;
    return n > 0 && cut_last_name(out)
               ? 0
               : err_set(e, -ENOENT, "cannot determine where this program is");
}

/* A build folder may be called bin as well. */
static bool is_installed_below(const char *dir)
{
    const char *slash = strrchr(dir, '/');

    return slash && strcmp(slash, "/bin") == 0 && !has_entry_named(dir, "build.ninja");
}

static bool is_checkout(const char *dir)
{
    for (size_t i = 0; i < ARRAY_LEN(checkout_marks); i++)
        if (!has_entry_named(dir, checkout_marks[i]))
            return false;
    return true;
}

/* The directory that holds apps and local, in OUT, whether it is there or not. */
static int data_dir(char out[PATH_MAX], struct err *e)
{
    char self[PATH_MAX], dir[PATH_MAX];
    int r = own_dir(self, e);

    if (r < 0)
        return r;
    memcpy(dir, self, sizeof dir);
    if (is_installed_below(self)) {
        (void)cut_last_name(dir);
        return join_share_path(out, dir, "share/tidepool", e);
    }
    while (!is_checkout(dir))
        if (!cut_last_name(dir))
            return err_set(e, -ENOENT,
                           "the program in '%s' is neither installed (in bin, with "
                           "../share/tidepool) nor in a source tree; use --data to set the "
                           "directory that contains apps and local",
                           self);
    memcpy(out, dir, PATH_MAX);
    return 0;
}

int share_dir(const struct config *config, const char *name, char out[PATH_MAX], struct err *e)
{
    char dir[PATH_MAX];
    struct stat st;
    int r = config->data ? 0 : data_dir(dir, e);

    if (r == 0)
        r = join_share_path(out, config->data ? config->data : dir, name, e);
    if (r < 0)
        return err_ctx(e, r, "directory '%s' not found", name);
    if (stat(out, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return config->data
               ? err_set(e, -ENOENT, "data '%s': no directory '%s' in it", config->data, name)
               : err_set(e, -ENOENT, "directory '%s' not found; use --data to choose another", out);
}

int share_program(const char *name, char out[PATH_MAX], struct err *e)
{
    char dir[PATH_MAX];
    int r = own_dir(dir, e);

    if (r == 0 && is_installed_below(dir)) {
        (void)cut_last_name(dir);
        r = join_share_path(out, dir, "lib/tidepool", e);
        memcpy(dir, out, sizeof dir);
    }
    if (r == 0)
        r = join_share_path(out, dir, name, e);
    if (r < 0)
        return r;
    return access(out, X_OK) < 0 ? err_sys(e, -errno, "program '%s'", out) : 0;
}
