/* SPDX-License-Identifier: MIT */
#include "local/interpreter/language.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

/* local/interpreter/, as text (src/local/meson.build). */
extern const char interpreter_charts[], interpreter_python[], interpreter_javascript[],
    interpreter_bash[], interpreter_r[], interpreter_java[];

#define NODE_BOOT "new Function('require', require('fs').readFileSync(5, 'utf8'))(require)"

static const struct language LANGUAGES[] = {
    {
        .name = "python",
        /* Debian's IPython is for Debian's Python. */
        .program = "/usr/bin/python3",
        .cure = "python3 python3-ipython",
        .argv = (const char *const[]){"/usr/bin/python3", "-c", "exec(open(5).read())", NULL},
        .drivers = (const char *const[]){interpreter_charts, interpreter_python, NULL},
        .is_forked = true,
        .is_listed = true,
    },
    {
        .name = "javascript",
        .alias = "js",
        .program = "node",
        .cure = "nodejs",
        .argv = (const char *const[]){"node", "-e", NODE_BOOT, NULL},
        .drivers = (const char *const[]){interpreter_javascript, NULL},
        .is_listed = true,
    },
    {
        .name = "typescript",
        .alias = "ts",
        .program = "node",
        .cure = "nodejs",
        .argv = (const char *const[]){"node", "-e", NODE_BOOT, "typescript", NULL},
        .drivers = (const char *const[]){interpreter_javascript, NULL},
    },
    {
        .name = "bash",
        .program = "/bin/bash",
        .cure = "bash",
        .argv = (const char *const[]){"/bin/bash", "--noprofile", "--noediting", "--rcfile",
                                      "/proc/self/fd/5", "-i", NULL},
        .drivers = (const char *const[]){interpreter_bash, NULL},
        .style = FRAME_BASH,
    },
    {
        .name = "r",
        .program = "/usr/bin/Rscript",
        .cure = "r-base-core",
        .argv = (const char *const[]){"/usr/bin/Rscript", "--vanilla", "/proc/self/fd/5", NULL},
        .drivers = (const char *const[]){interpreter_r, NULL},
    },
    {
        .name = "java",
        /* Comes with a JDK, not with the JRE that also has a `java`. */
        .program = "/usr/bin/jshell",
        .cure = "default-jdk-headless",
        .argv = (const char *const[]){"java", "--add-modules", "jdk.jshell", "--source", "17",
                                      "-XX:TieredStopAtLevel=1", "-Xshare:auto", "/proc/self/fd/5",
                                      NULL},
        .drivers = (const char *const[]){interpreter_java, NULL},
    },
};

const struct language *language_at(size_t i)
{
    return i < ARRAY_LEN(LANGUAGES) ? &LANGUAGES[i] : NULL;
}

const struct language *language_find(struct str name)
{
    name = str_trim(name);
    if (name.len == 0)
        return &LANGUAGES[0];
    for (size_t i = 0; i < ARRAY_LEN(LANGUAGES); i++) {
        const struct language *l = &LANGUAGES[i];
        if (str_iis(name, l->name) || (l->alias && str_iis(name, l->alias)))
            return l;
    }
    return NULL;
}

static bool is_executable(const char *program)
{
    struct str path = str_of(getenv("PATH"));
    char file[PATH_MAX];

    if (program[0] == '/')
        return access(program, X_OK) == 0;
    while (path.p) {
        struct str dir = str_cut(&path, ':');
        int n = snprintf(file, sizeof file, STR_FMT "/%s", STR_ARG(dir), program);
        if (n < PATH_MAX && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

int language_check(const struct language *l, struct err *e)
{
    if (is_executable(l->program))
        return 0;
    return err_set(e, -ENOENT, "%s is not available: %s is not installed (apt install %s)", l->name,
                   l->program, l->cure);
}

void language_put_names(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(LANGUAGES); i++)
        (void)buf_printf(out, "%s%s", i > 0 ? ", " : "", LANGUAGES[i].name);
}
