/* SPDX-License-Identifier: MIT */
/* Man pages as scdoc source, from the tables of verbs and settings: see cli.h. A paragraph is one
 * line of source; indents are tabs, as scdoc wants them. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

#define SETTINGS_PAGE "tidepool.yaml.5"

/* ---- pieces ---- */

/* Text in which nothing is markup. */
static void add_plain_roff(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (strchr("\\*_#~[|]<>-.", s.p[i]) && s.p[i] != '\0')
            (void)buf_add_char(out, '\\');
        (void)buf_add_char(out, s.p[i]);
    }
}

static void add_cstr(struct buf *out, const char *s)
{
    add_plain_roff(out, str_of(s));
}

static void add_marked(struct buf *out, char mark, const char *s)
{
    (void)buf_add_char(out, mark);
    add_cstr(out, s);
    (void)buf_add_char(out, mark);
}

static void add_bold(struct buf *out, const char *s)
{
    add_marked(out, '*', s);
}

static void add_man_title(struct buf *out, const char *name, char section)
{
    (void)buf_printf(out, "%s(%c) \"Tidepool " TIDEPOOL_VERSION "\"\n", name, section);
}

static void add_heading(struct buf *out, const char *text)
{
    (void)buf_printf(out, "\n# %s\n\n", text);
}

/* "TERM" on a line, its explanation indented below; the caller writes both. */
static void begin_explanation(struct buf *out)
{
    (void)buf_add_lit(out, "\n\t");
}

static void end_item(struct buf *out)
{
    (void)buf_add_lit(out, "\n\n");
}

static void add_default(struct buf *out, const struct config_option *o)
{
    for (size_t i = 0; o->choices && o->choices[i]; i++) {
        (void)buf_add_str(out, i ? STR(", ") : STR(" One of "));
        add_bold(out, o->choices[i]);
    }
    if (o->choices)
        (void)buf_add_char(out, '.');
    if (!o->def)
        return;
    (void)buf_add_lit(out, " Default ");
    add_bold(out, o->def);
    (void)buf_add_char(out, '.');
}

static void add_flag(struct buf *out, const struct cli_flag *f)
{
    if (f->option && f->option->letter)
        (void)buf_printf(out, "*-%c*, ", f->option->letter);
    (void)buf_add_lit(out, "*\\-\\-");
    add_cstr(out, f->name);
    (void)buf_add_char(out, '*');
    if (f->arg) {
        (void)buf_add_char(out, ' ');
        add_marked(out, '_', f->arg);
    }
    begin_explanation(out);
    add_cstr(out, f->help);
    if (f->setting) {
        add_default(out, f->setting);
        (void)buf_add_lit(out, " Environment: ");
        add_bold(out, f->setting->env);
        (void)buf_add_char(out, '.');
    }
    end_item(out);
}

static void add_synopsis(struct buf *out, const struct cli_verb *v)
{
    (void)buf_add_lit(out, "*tidepool ");
    add_cstr(out, v->name);
    (void)buf_add_lit(out, "* [_OPTION_]...");
    if (v->args) {
        (void)buf_add_char(out, ' ');
        add_cstr(out, v->args);
    }
    (void)buf_add_char(out, '\n');
}

static void add_exit_status(struct buf *out)
{
    static const struct {
        const char *code, *text;
    } rows[] = {
        {"0", "Success."},
        {"1", "The operation failed, or a check found a problem."},
        {"2", "The command line or the configuration is wrong."},
    };

    add_heading(out, "EXIT STATUS");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        add_bold(out, rows[i].code);
        begin_explanation(out);
        add_cstr(out, rows[i].text);
        end_item(out);
    }
}

static void add_see_also(struct buf *out, const char *self)
{
    bool is_first = true;
    struct buf names auto_buf = BUF_INIT(4096);

    add_heading(out, "SEE ALSO");
    cli_man_names(&names);
    for (struct str rest = buf_str(&names); rest.len;) {
        struct str page = str_cut(&rest, '\n');
        if (str_is(page, self))
            continue;
        if (!is_first)
            (void)buf_add_lit(out, ", ");
        (void)buf_add_char(out, '*');
        add_plain_roff(out, str_n(page.p, page.len - 2));
        (void)buf_printf(out, "*(%c)", page.p[page.len - 1]);
        is_first = false;
    }
    (void)buf_add_char(out, '\n');
}

/* ---- tidepool(1) ---- */

static void add_environment(struct buf *out)
{
    add_heading(out, "ENVIRONMENT");
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        add_bold(out, o->env);
        if (o->foreign) {
            (void)buf_add_lit(out, ", ");
            add_bold(out, o->foreign);
        }
        begin_explanation(out);
        (void)buf_add_lit(out, "Setting ");
        add_bold(out, o->key);
        (void)buf_add_lit(out, ". ");
        add_cstr(out, o->help);
        end_item(out);
    }
}

static void add_files(struct buf *out)
{
    add_heading(out, "FILES");
    add_cstr(out, "STATE/tidepool.yaml, /etc/tidepool/tidepool.yaml");
    begin_explanation(out);
    (void)buf_add_lit(out, "Configuration file; the first one found is read. See "
                           "*tidepool.yaml*(5).\n\n");
    add_cstr(out, "~/.local/state/tidepool, /var/lib/tidepool");
    begin_explanation(out);
    (void)buf_add_lit(out, "State directory of an ordinary user, and of root.\n");
}

static void page_overview(struct buf *out)
{
    add_man_title(out, "tidepool", '1');
    add_heading(out, "NAME");
    (void)buf_add_lit(out, "tidepool - self-hosted sandbox service for AI agents\n");
    add_heading(out, "SYNOPSIS");
    (void)buf_add_lit(out, "*tidepool* _VERB_ [_OPTION_]... [_ARGUMENT_]...\n");
    add_heading(out, "DESCRIPTION");
    (void)buf_add_lit(out, "One program that contains both the service and its command line. The "
                           "verb selects what it does; every verb accepts *\\-\\-help*.\n");
    add_heading(out, "VERBS");
    for (size_t i = 0; cli_verbs[i]; i++) {
        const struct cli_verb *v = cli_verbs[i];
        if (v->is_hidden)
            continue;
        add_bold(out, v->name);
        begin_explanation(out);
        add_cstr(out, v->summary);
        (void)buf_add_char(out, '.');
        end_item(out);
    }
    add_exit_status(out);
    add_environment(out);
    add_files(out);
    add_see_also(out, "tidepool.1");
}

/* ---- tidepool-GROUP(1) ---- */

static bool is_in_group(const struct cli_verb *v, struct str group)
{
    return !v->is_hidden && str_eq(cli_group(v), group);
}

static void add_verb_section(struct buf *out, const struct cli_verb *v)
{
    struct cli_flag f;

    (void)buf_add_lit(out, "\n## tidepool ");
    (void)buf_printf(out, "%s\n\n", v->name);
    /* Paragraphs are separated by empty lines in the table, as scdoc wants them. */
    add_cstr(out, v->help);
    (void)buf_add_lit(out, "\n\n");
    for (size_t i = 0; cli_flag_at(v, i, &f); i++)
        add_flag(out, &f);
}

static void page_group(struct buf *out, const struct cli_verb *leader)
{
    struct str group = cli_group(leader);
    struct buf name auto_buf = BUF_INIT(128);
    size_t n = 0;

    (void)buf_printf(&name, "tidepool-" STR_FMT, STR_ARG(group));
    if (!buf_cstr(&name))
        return;
    add_man_title(out, buf_cstr(&name), '1');
    add_heading(out, "NAME");
    (void)buf_printf(out, "%s - ", buf_cstr(&name));
    for (size_t i = 0; cli_verbs[i]; i++)
        if (is_in_group(cli_verbs[i], group)) {
            (void)buf_add_str(out, n++ ? STR("; ") : STR(""));
            add_cstr(out, cli_verbs[i]->summary);
        }
    (void)buf_add_char(out, '\n');
    add_heading(out, "SYNOPSIS");
    for (size_t i = 0; cli_verbs[i]; i++)
        if (is_in_group(cli_verbs[i], group)) {
            add_synopsis(out, cli_verbs[i]);
            (void)buf_add_char(out, '\n');
        }
    add_heading(out, "DESCRIPTION");
    for (size_t i = 0; cli_verbs[i]; i++)
        if (is_in_group(cli_verbs[i], group))
            add_verb_section(out, cli_verbs[i]);
    add_exit_status(out);
    (void)buf_printf(&name, ".1");
    add_see_also(out, buf_ok(&name) ? buf_cstr(&name) : "");
}

/* ---- tidepool.yaml(5) ---- */

static void add_setting(struct buf *out, const struct config_option *o)
{
    add_bold(out, o->key);
    (void)buf_printf(out, " (%s)", config_type_name(o->type));
    begin_explanation(out);
    add_cstr(out, o->help);
    add_default(out, o);
    (void)buf_add_lit(out, " Environment: ");
    add_bold(out, o->env);
    if (o->foreign) {
        (void)buf_add_lit(out, " or ");
        add_bold(out, o->foreign);
    }
    (void)buf_add_char(out, '.');
    end_item(out);
}

static void page_settings(struct buf *out)
{
    add_man_title(out, "tidepool.yaml", '5');
    add_heading(out, "NAME");
    (void)buf_add_lit(out, "tidepool.yaml - settings of the Tidepool service\n");
    add_heading(out, "DESCRIPTION");
    (void)buf_add_lit(
        out, "A YAML file of settings. A key with a dot belongs to a section: *tls.cert* is the "
             "key *cert* in the mapping *tls*. A flag overrides an environment variable, which "
             "overrides the file; an unknown key or a value of the wrong type is an error that "
             "names the line. *tidepool config example* prints a file to start from, *tidepool "
             "config check* checks one, *tidepool config show* shows the effective settings and "
             "where each one comes from.\n"
             "\n"
             "Durations carry a unit: *250ms*, *30s*, *5m*, *2h*, *7d*. Sizes are bytes or carry "
             "one: *64KiB*, *16MiB*, *2GiB*, *10MB*. A path may begin with *\\~/*; a relative "
             "path is resolved against the directory of the file. Anchors, aliases, tags and "
             "duplicate keys are rejected.\n");
    add_heading(out, "SETTINGS");
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (!config_options[i].not_in_file)
            add_setting(out, &config_options[i]);
    add_see_also(out, SETTINGS_PAGE);
}

/* ---- all pages ---- */

void cli_man_names(struct buf *out)
{
    (void)buf_add_lit(out, "tidepool.1\n");
    for (size_t i = 0; cli_verbs[i]; i++)
        if (cli_leads_group(i))
            (void)buf_printf(out, "tidepool-" STR_FMT ".1\n", STR_ARG(cli_group(cli_verbs[i])));
    (void)buf_add_lit(out, SETTINGS_PAGE "\n");
}

int cli_man_page(struct buf *out, const char *name)
{
    if (strcmp(name, "tidepool.1") == 0) {
        page_overview(out);
        return 0;
    }
    if (strcmp(name, SETTINGS_PAGE) == 0) {
        page_settings(out);
        return 0;
    }
    for (size_t i = 0; cli_verbs[i]; i++) {
        struct buf page auto_buf = BUF_INIT(128);
        (void)buf_printf(&page, "tidepool-" STR_FMT ".1", STR_ARG(cli_group(cli_verbs[i])));
        if (cli_leads_group(i) && str_is(buf_str(&page), name)) {
            page_group(out, cli_verbs[i]);
            return 0;
        }
    }
    return -ENOENT;
}
