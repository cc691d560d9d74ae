/* SPDX-License-Identifier: MIT */
/* The example file, from the table of settings: see config_example() in config.h. Prose begins with
 * "# ", settings with "#" alone, so that removing that one character switches a setting on. */
#include "core/config.h"
#include "core/wrap.h"

static struct str section_of(const struct config_option *o)
{
    struct str key = str_of(o->key);
    ptrdiff_t dot = str_chr(key, '.');

    return str_n(key.p, dot < 0 ? 0 : (size_t)dot);
}

static void add_prose(struct buf *out, struct str text)
{
    (void)buf_add_lit(out, "# ");
    (void)wrap_text(out, text, "# ", 2, 80);
    (void)buf_add_char(out, '\n');
}

static void add_choices(struct buf *out, const struct config_option *o)
{
    struct buf line auto_buf = BUF_INIT(512);

    for (size_t i = 0; o->choices && o->choices[i]; i++)
        (void)buf_printf(&line, "%s%s", i ? ", " : "One of ", o->choices[i]);
    if (line.len) {
        (void)buf_add_char(&line, '.');
        add_prose(out, buf_str(&line));
    }
    if (!buf_ok(&line))
        out->error = line.error;
}

static void add_option(struct buf *out, const struct config_option *o)
{
    struct str section = section_of(o);
    const char *name = section.len ? o->key + section.len + 1 : o->key;
    const char *value = o->def ? o->def : o->sample;

    add_prose(out, str_of(o->help));
    add_choices(out, o);
    (void)buf_printf(out, "#%s%s: %s\n", section.len ? "  " : "", name,
                     value ? value : "/var/lib/tidepool");
}

int config_example(struct buf *out)
{
    struct str section = STR("");

    add_prose(out, STR("Settings of Tidepool. All are commented out and show the default, or an "
                       "example where there is none. Flags and environment variables override "
                       "this file; 'tidepool config show' says what holds and why."));
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        if (o->not_in_file)
            continue;
        (void)buf_add_char(out, '\n');
        if (!str_eq(section, section_of(o))) {
            section = section_of(o);
            (void)buf_printf(out, "#" STR_FMT ":\n", STR_ARG(section));
        }
        add_option(out, o);
    }
    return out->error;
}
