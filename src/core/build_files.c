/* SPDX-License-Identifier: MIT */
/* The files of COPY steps: STATE/builds/ACCOUNT.HASH, an archive for each hash. They are a cache:
 * the oldest go, and clients upload again what is missing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/build_internal.h"

enum { HASH_LEN = 64 };

int build_file_path(const struct builds *set, const char *account, struct str hash,
                    char ret[PATH_MAX])
{
    for (size_t i = 0; i < hash.len; i++)
        if (!(hash.p[i] >= '0' && hash.p[i] <= '9') && !(hash.p[i] >= 'a' && hash.p[i] <= 'f'))
            return -EINVAL;
    if (hash.len != HASH_LEN ||
        snprintf(ret, PATH_MAX, "%s/%s." STR_FMT, set->dir, account, STR_ARG(hash)) >= PATH_MAX)
        return -EINVAL;
    return 0;
}

/* True when NAME is ACCOUNT.HASH; ACCOUNT NULL: of anybody. */
static bool is_file_of(const char *name, const char *account)
{
    const char *dot = strrchr(name, '.');

    if (!dot || strlen(dot + 1) != HASH_LEN)
        return false;
    return !account || (strlen(account) == (size_t)(dot - name) &&
                        strncmp(name, account, strlen(account)) == 0);
}

/* Removes the oldest when there is too much; true when that has to be asked again. */
static bool trim_once(const struct builds *set, const char *account)
{
    char oldest[NAME_MAX + 1] = "";
    struct timespec oldest_at = {0};
    uint64_t bytes = 0;
    struct stat st;
    DIR *dir = opendir(set->dir);

    for (const struct dirent *d; dir && (d = readdir(dir));) {
        if (!is_file_of(d->d_name, account) || fstatat(dirfd(dir), d->d_name, &st, 0) < 0)
            continue;
        bytes += (uint64_t)st.st_size;
        if (oldest[0] != '\0' && st.st_mtim.tv_sec >= oldest_at.tv_sec)
            continue;
        oldest_at = st.st_mtim;
        (void)snprintf(oldest, sizeof oldest, "%s", d->d_name);
    }
    bool is_over = bytes > BUILD_FILES_MAX && oldest[0] != '\0';
    if (is_over)
        is_over = unlinkat(dirfd(dir), oldest, 0) == 0;
    if (dir)
        (void)closedir(dir);
    return is_over;
}

void build_files_trim(const struct builds *set, const char *account)
{
    while (trim_once(set, account))
        ;
}

void build_files_sweep(const struct builds *set)
{
    DIR *dir = opendir(set->dir);

    for (const struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] != '.' && !is_file_of(d->d_name, NULL))
            (void)unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        (void)closedir(dir);
}
