/* SPDX-License-Identifier: MIT */
/* Environments of logins: see login.h. */
#include "envd/login.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/mark.h"
#include "runtime/login.h"
#include "sys/io.h"

/* ---- the files ---- */

enum { KNOWN_MAX = 4, TEXT_MAX = 4096, ADDED_MAX = 4 };

enum {
    SH,
    BASH,
    PROFILE,
    PROFILE_D,
    BASHRC,
    USER_PROFILE,
    USER_BASHRC,
    USER_BASH_PROFILE,
    USER_BASH_LOGIN,
    FILES
};

/* What is known of a user's logins with a shell. */
struct login_known {
    char home[USER_TEXT_MAX]; /* empty: free */
    bool is_bash;             /* else /bin/sh */
    bool is_ours, has_profile;
    struct mark marks[FILES];
};

static struct login_known known[KNOWN_MAX];
static unsigned n_known;

enum { FOR_SH = 1, FOR_BASH = 2, FOR_BOTH = 3 };

static const struct {
    const char *path;
    bool is_users; /* below the home directory */
    unsigned shells;
} files[FILES] = {
    [SH] = {"/bin/sh", false, FOR_SH},
    [BASH] = {"/bin/bash", false, FOR_BASH},
    [PROFILE] = {"/etc/profile", false, FOR_BOTH},
    [PROFILE_D] = {"/etc/profile.d", false, FOR_BOTH},
    [BASHRC] = {"/etc/bash.bashrc", false, FOR_BASH},
    [USER_PROFILE] = {"/.profile", true, FOR_BOTH},
    [USER_BASHRC] = {"/.bashrc", true, FOR_BASH},
    [USER_BASH_PROFILE] = {"/.bash_profile", true, FOR_BASH},
    [USER_BASH_LOGIN] = {"/.bash_login", true, FOR_BASH},
};

static const char *login_path_of(int file, const struct login_known *k,
                                 char path[static USER_TEXT_MAX + 32])
{
    if (!files[file].is_users)
        return files[file].path;
    (void)snprintf(path, USER_TEXT_MAX + 32, "%s%s", k->home, files[file].path);
    return path;
}

static bool has_text(const char *path, const char *text)
{
    char found[TEXT_MAX];
    struct stat st;
    auto_close int fd = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH))
        return false;
    ssize_t n = io_read(fd, found, sizeof found);
    return n == (ssize_t)strlen(text) && memcmp(found, text, (size_t)n) == 0;
}

static bool is_empty_file(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    if (!dir)
        return false;
    for (struct dirent *d; (d = readdir(dir));)
        n += strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
    (void)closedir(dir);
    return n == 0;
}

/* Bash as sh, or another shell, would change more than is known here. */
static bool is_dash(const char *path)
{
    char target[16];
    ssize_t n = readlink(path, target, sizeof target);

    return n == 4 && memcmp(target, "dash", 4) == 0;
}

static void learn(struct login_known *k)
{
    char path[USER_TEXT_MAX + 32];
    const struct mark *m = k->marks;

    k->has_profile = m[USER_PROFILE].ino != 0;
    k->is_ours =
        has_text("/etc/profile", LOGIN_PROFILE) && is_empty_file("/etc/profile.d") &&
        (!k->has_profile || has_text(login_path_of(USER_PROFILE, k, path), LOGIN_USER_PROFILE));
    if (k->is_ours && !k->is_bash)
        k->is_ours = is_dash("/bin/sh");
    else if (k->is_ours)
        k->is_ours = has_text("/etc/bash.bashrc", LOGIN_BASHRC) &&
                     has_text(login_path_of(USER_BASHRC, k, path), LOGIN_USER_BASHRC) &&
                     !m[USER_BASH_PROFILE].ino && !m[USER_BASH_LOGIN].ino;
}

static struct login_known *find_known_login(const char *home, bool is_bash)
{
    for (unsigned i = 0; i < KNOWN_MAX; i++)
        if (known[i].is_bash == is_bash && strcmp(known[i].home, home) == 0)
            return &known[i];
    struct login_known *k = &known[n_known++ % KNOWN_MAX];
    *k = (struct login_known){.is_bash = is_bash};
    (void)snprintf(k->home, sizeof k->home, "%s", home);
    return k;
}

/* What there is to know of a user's logins with this shell. */
static const struct login_known *know(const char *home, bool is_bash)
{
    char path[USER_TEXT_MAX + 32];
    struct login_known *k = find_known_login(home, is_bash);
    bool has_changed = false;

    for (int i = 0; i < FILES; i++) {
        if (!(files[i].shells & (is_bash ? FOR_BASH : FOR_SH)))
            continue;
        struct mark now = mark_of(login_path_of(i, k, path));
        has_changed = has_changed || !mark_is_same(&now, &k->marks[i]);
        k->marks[i] = now;
    }
    if (has_changed)
        learn(k);
    return k;
}

/* ---- the environment ---- */

/* Variables that shells set, read or hand on in a way of their own. */
static bool is_login_special(const char *pair)
{
    static const char *const names[] = {"ENV", "FUNCNEST", "IFS", "OLDPWD", "POSIXLY_CORRECT",
                                        "PS1", "PS4",      "PWD", "SHLVL",  "SHELLOPTS",
                                        "_",   "f"};
    size_t len = strcspn(pair, "=");

    if (strncmp(pair, "BASH", 4) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i]) == len && memcmp(names[i], pair, len) == 0)
            return true;
    return false;
}

/* ENV without PATH in RET; its size, or -1 when it is not for this. */
static ssize_t copy_env(char **ret, char *const *env, const char *home)
{
    ssize_t n = 0;
    bool has_home = false;

    for (; *env; env++) {
        if (is_login_special(*env))
            return -1;
        if (strncmp(*env, "HOME=", 5) == 0)
            has_home = strcmp(*env + 5, home) == 0;
        if (strncmp(*env, "PATH=", 5) != 0)
            ret[n++] = *env;
    }
    return has_home ? n : -1;
}

bool login_env(struct login *l, struct arena *a, const struct user *user, const char *shell,
               char *const *env)
{
    bool is_bash = strcmp(shell, "/bin/bash") == 0;
    const struct login_known *k = user->home[0] ? know(user->home, is_bash) : NULL;
    size_t n = 0;

    while (env[n])
        n++;
    l->env = k && k->is_ours ? arena_zalloc(a, n + ADDED_MAX + 1, sizeof *l->env) : NULL;
    ssize_t copied = l->env ? copy_env(l->env, env, user->home) : -1;
    if (copied < 0)
        return false;
    l->n = (size_t)copied;
    struct str path = arena_printf(a, "PATH=%s%s%s", k->has_profile ? user->home : "",
                                   k->has_profile ? LOGIN_USER_DIR ":" : "", LOGIN_PATH);
    l->env[l->n++] = (char *)(uintptr_t)path.p;
    l->has_name = is_bash;
    if (l->has_name)
        l->env[l->n++] = arena_strdup(a, "SHLVL=0"); /* one for the shell, which is not there */
    return path.p && l->env[l->n - 1];
}
