/* SPDX-License-Identifier: MIT */
/* What a template requires of the host: names of Debian packages or of programs, as in a Depends
 * field ("openbox | xfwm4"). Cells see the host's programs, so that what is installed there is
 * there for them, too. It is looked at whenever somebody asks: packages come and go. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/template.h"

enum { PATH_LEN = 256, TEXT_LEN = 200 };

static bool is_file(const char *dir, struct str name, const char *suffix)
{
    char path[PATH_LEN];
    int n = snprintf(path, sizeof path, "%s/" STR_FMT "%s", dir, STR_ARG(name), suffix);

    return n < PATH_LEN && access(path, F_OK) == 0;
}

/* Packages that can be installed for several architectures have the one in the name. The check sums
 * go with the package; its list stays behind as long as a configuration file of it does. */
static bool is_package(struct str name)
{
    static const char *const suffixes[] = {".md5sums", ":amd64.md5sums", ":arm64.md5sums",
                                           ":i386.md5sums"};

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (is_file("/var/lib/dpkg/info", name, suffixes[i]))
            return true;
    return false;
}

static bool is_program(struct str name)
{
    static const char *const dirs[] = {"/usr/bin", "/usr/local/bin", "/bin", "/usr/sbin", "/sbin"};

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (is_file(dirs[i], name, ""))
            return true;
    return false;
}

/* Any one of "a | b" will do. */
static bool has_any(struct str choices)
{
    while (choices.p) {
        struct str name = str_trim(str_cut(&choices, '|'));
        bool is_path = name.len > 0 && name.p[0] == '/';
        bool is_word = name.len > 0 && str_chr(name, '/') < 0;
        if ((is_path && is_file("", str_skip(name, 1), "")) ||
            (is_word && (is_package(name) || is_program(name))))
            return true;
    }
    return false;
}

int template_check(const struct template *t, struct err *e)
{
    struct buf lacks auto_buf = BUF_INIT(TEXT_LEN);
    struct buf cure auto_buf = BUF_INIT(TEXT_LEN);
    size_t n = t->requires ? t->requires->n : 0;
    bool has_all = true;

    for (size_t i = 0; i < n; i++) {
        struct str choices = t->requires->items[i].s, rest = choices;
        if (has_any(choices))
            continue;
        struct str first = str_trim(str_cut(&rest, '|'));
        (void)buf_printf(&lacks, "%s" STR_FMT, has_all ? "" : ", ", STR_ARG(choices));
        if (first.len > 0 && first.p[0] != '/')
            (void)buf_printf(&cure, " " STR_FMT, STR_ARG(first));
        has_all = false;
    }
    if (has_all)
        return 0;
    if (cure.len == 0)
        return err_set(e, -ENOENT, "template %s needs what this host lacks: " STR_FMT, t->name,
                       STR_ARG(buf_str(&lacks)));
    return err_set(e, -ENOENT,
                   "template %s needs what this host lacks: " STR_FMT "; apt-get install" STR_FMT,
                   t->name, STR_ARG(buf_str(&lacks)), STR_ARG(buf_str(&cure)));
}
