/* SPDX-License-Identifier: MIT */
/* Help on the terminal, and the view on a verb's flags that help, man pages and completion share:
 * see cli.h. */
#include "cli/cli.h"

#include <string.h>

#include "core/wrap.h"

enum { WIDTH = 80, MAX_LEFT = 26 };

const char *const CLI_ALL_SETTINGS[] = {"*", NULL};
const char *const CLI_STATE_SETTINGS[] = {"state", "config", NULL};

static const struct cli_option help_option = {
    .name = "help", .letter = 'h', .help = "Show this help."};

/* ---- the view on flags ---- */

/* Flag number I among VERB's settings, counting only those that have a flag. */
static const struct config_option *setting_at(const struct cli_verb *verb, size_t i)
{
    bool is_all = verb->settings == CLI_ALL_SETTINGS;

    for (size_t k = 0; is_all ? k < CONFIG_N_OPTIONS : verb->settings && verb->settings[k]; k++) {
        const struct config_option *o =
            is_all ? &config_options[k] : config_find(str_of(verb->settings[k]));
        if (o && o->flag && i-- == 0)
            return o;
    }
    return NULL;
}

static struct cli_flag own_flag(const struct cli_option *o)
{
    return (struct cli_flag){
        .name = o->name, .arg = o->arg, .help = o->help, .option = o, .choices = o->choices};
}

bool cli_flag_at(const struct cli_verb *verb, size_t i, struct cli_flag *ret)
{
    size_t n_own = 0;

    while (verb->options && verb->options[n_own].name)
        n_own++;
    if (i < n_own) {
        *ret = own_flag(&verb->options[i]);
        return true;
    }
    const struct config_option *o = setting_at(verb, i - n_own);
    if (o) {
        *ret = (struct cli_flag){.name = o->flag,
                                 .arg = o->type == CONFIG_BOOL ? NULL : o->arg,
                                 .help = o->help,
                                 .setting = o,
                                 .choices = o->choices};
        return true;
    }
    /* --help comes right behind the last setting. */
    if (i > n_own && !setting_at(verb, i - n_own - 1))
        return false;
    *ret = own_flag(&help_option);
    return true;
}

struct str cli_group(const struct cli_verb *verb)
{
    struct str rest = str_of(verb->name);

    return str_cut(&rest, ' ');
}

bool cli_leads_group(size_t i)
{
    if (cli_verbs[i]->is_hidden)
        return false;
    for (size_t k = 0; k < i; k++)
        if (!cli_verbs[k]->is_hidden && str_eq(cli_group(cli_verbs[k]), cli_group(cli_verbs[i])))
            return false;
    return true;
}

/* ---- layout ---- */

/* "  LEFT    right right right", the right part wrapped in its column. */
static void add_help_row(struct buf *out, struct str left, size_t column, struct str right)
{
    char indent[64];

    memset(indent, ' ', sizeof indent);
    indent[column < sizeof indent ? column : sizeof indent - 1] = '\0';
    (void)buf_printf(out, "  " STR_FMT, STR_ARG(left));
    if (left.len + 4 > column)
        (void)buf_printf(out, "\n%s", indent);
    else
        (void)buf_printf(out, "%*s", (int)(column - left.len - 2), "");
    (void)wrap_text(out, right, indent, column, WIDTH);
    (void)buf_add_char(out, '\n');
}

static void flag_left(struct buf *out, const struct cli_flag *f)
{
    if (f->option && f->option->letter)
        (void)buf_printf(out, "-%c, ", f->option->letter);
    (void)buf_printf(out, "--%s%s%s", f->name, f->arg ? " " : "", f->arg ? f->arg : "");
}

static void flag_right(struct buf *out, const struct cli_flag *f)
{
    (void)buf_printf(out, "%s", f->help);
    for (size_t i = 0; f->choices && f->choices[i]; i++)
        (void)buf_printf(out, "%s%s", i ? ", " : " One of ", f->choices[i]);
    if (f->choices)
        (void)buf_add_char(out, '.');
    if (f->setting && f->setting->def)
        (void)buf_printf(out, " Default %s.", f->setting->def);
}

static void add_help_flags(struct buf *out, const struct cli_verb *verb)
{
    struct buf left auto_buf = BUF_INIT(256), right auto_buf = BUF_INIT(2048);
    size_t column = 0;
    struct cli_flag f;

    for (size_t i = 0; cli_flag_at(verb, i, &f); i++) {
        buf_clear(&left);
        flag_left(&left, &f);
        if (left.len > column && left.len <= MAX_LEFT)
            column = left.len;
    }
    column += 4;
    for (size_t i = 0; cli_flag_at(verb, i, &f); i++) {
        buf_clear(&left);
        buf_clear(&right);
        flag_left(&left, &f);
        flag_right(&right, &f);
        add_help_row(out, buf_str(&left), column, buf_str(&right));
    }
}

static void add_usage(struct buf *out, const struct cli_verb *verb)
{
    (void)buf_printf(out, "tidepool %s [OPTION]...%s%s\n", verb->name, verb->args ? " " : "",
                     verb->args ? verb->args : "");
}

static void add_verbs(struct buf *out, struct str group)
{
    size_t column = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; cli_verbs[i]; i++) {
            const struct cli_verb *v = cli_verbs[i];
            if (v->is_hidden || (group.len && !str_eq(group, cli_group(v))))
                continue;
            if (pass == 0 && strlen(v->name) + 4 > column)
                column = strlen(v->name) + 4;
            else if (pass == 1)
                add_help_row(out, str_of(v->name), column, str_of(v->summary));
        }
}

/* ---- the three kinds of help ---- */

void cli_help_overview(struct buf *out)
{
    (void)buf_add_lit(out, "Usage: tidepool VERB [OPTION]... [ARGUMENT]...\n\n"
                           "A self-hosted sandbox service for AI agents.\n\nVerbs:\n");
    add_verbs(out, STR_NULL);
    (void)buf_add_lit(out, "\n"
                           "Run 'tidepool VERB --help' for help on a verb.\n"
                           "\n"
                           "Exit status: 0 success, 1 failure, 2 wrong usage or configuration.\n");
}

void cli_help_group(struct buf *out, struct str group)
{
    (void)buf_printf(out, "Usage: tidepool " STR_FMT " VERB [OPTION]...\n\nVerbs:\n",
                     STR_ARG(group));
    add_verbs(out, group);
}

void cli_help_verb(struct buf *out, const struct cli_verb *verb)
{
    (void)buf_add_lit(out, "Usage: ");
    add_usage(out, verb);
    (void)buf_add_char(out, '\n');
    (void)wrap_text(out, str_of(verb->help), "", 0, WIDTH);
    (void)buf_add_lit(out, "\n\nOptions:\n");
    add_help_flags(out, verb);
}
