/* SPDX-License-Identifier: MIT */
/* The sources of apt in the default template: those of the host, without comments and without the
 * ones that need a password. See template_internal.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/template_internal.h"

#define SOURCES_DIR "etc/apt/sources.list.d"

enum { TEXT_MAX = 1 << 20 };

/* "://USER:PASSWORD@HOST/": anything before an @ in front of the path. */
static bool has_password(struct str text)
{
    for (ptrdiff_t at; (at = str_find(text, STR("://"))) >= 0;) {
        text = str_skip(text, (size_t)at + 3);
        for (size_t i = 0; i < text.len && !strchr("/ \t\r\n", text.p[i]); i++)
            if (text.p[i] == '@')
                return true;
    }
    return false;
}

/* One line each. */
static void add_list(struct buf *out, struct str text)
{
    while (text.p) {
        struct str line = str_trim(str_cut(&text, '\n'));
        if (str_starts(line, STR("deb")) && !has_password(line))
            (void)buf_printf(out, STR_FMT "\n", STR_ARG(line));
    }
}

/* Takes the next stanza, which an empty line ends, off the front of *TEXT. */
static struct str cut_stanza(struct str *text)
{
    const char *start = text->p;

    while (text->p) {
        struct str line = str_cut(text, '\n');
        if (str_trim(line).len == 0)
            return str_n(start, (size_t)(line.p - start));
        if (!text->p)
            return str_n(start, (size_t)(line.p + line.len - start));
    }
    return STR_NULL;
}

static void add_stanzas(struct buf *out, struct str text)
{
    while (text.p) {
        struct str stanza = cut_stanza(&text);
        if (stanza.len == 0 || has_password(stanza))
            continue;
        while (stanza.p) {
            struct str line = str_cut(&stanza, '\n');
            if (line.len > 0 && line.p[0] != '#')
                (void)buf_printf(out, STR_FMT "\n", STR_ARG(line));
        }
        (void)buf_add_char(out, '\n');
    }
}

static int copy_source(struct template_build *b, const char *path)
{
    auto_buf struct buf text = BUF_INIT(TEXT_MAX), out = BUF_INIT(TEXT_MAX);

    if (template_read(b, path, &text) < 0)
        return 0;
    if (str_ends(str_of(path), STR(".sources")))
        add_stanzas(&out, buf_str(&text));
    else
        add_list(&out, buf_str(&text));
    if (!buf_ok(&out))
        return out.error;
    return template_write(b->root, &(struct template_entry){.path = path, .mode = 0644},
                          buf_str(&out));
}

int template_copy_sources(struct template_build *b, struct err *e)
{
    template_make_parents(b, SOURCES_DIR "/x");
    int r = copy_source(b, "etc/apt/sources.list");
    DIR *dir = template_list(b->host, SOURCES_DIR);

    for (struct dirent *d; dir && r == 0 && (d = readdir(dir));) {
        char path[sizeof SOURCES_DIR + 1 + NAME_MAX];
        (void)snprintf(path, sizeof path, SOURCES_DIR "/%s", d->d_name);
        if (str_ends(str_of(path), STR(".list")) || str_ends(str_of(path), STR(".sources")))
            r = copy_source(b, path);
    }
    if (dir)
        (void)closedir(dir);
    return r < 0 ? err_sys(e, r, "sources of apt") : 0;
}
