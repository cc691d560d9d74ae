/* SPDX-License-Identifier: MIT */
/* The bash completion script, from the tables of verbs and settings: see cli.h. It needs bash and
 * nothing else. The tables become associative arrays; the function that reads them is fixed. */
#include "cli/cli.h"

#include <string.h>

/* Words after each path of verbs: [""]="config doctor …", ["config"]="show check …". */
static void add_completion_words(struct buf *out)
{
    (void)buf_add_lit(out, "declare -gA _tidepool_words=(\n    [_]='");
    for (size_t i = 0; cli_verbs[i]; i++)
        if (cli_leads_group(i))
            (void)buf_printf(out, STR_FMT " ", STR_ARG(cli_group(cli_verbs[i])));
    (void)buf_add_lit(out, "--help --version'\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        struct str group = cli_group(cli_verbs[i]);
        if (!cli_leads_group(i) || group.len == strlen(cli_verbs[i]->name))
            continue;
        (void)buf_printf(out, "    [" STR_FMT "]='", STR_ARG(group));
        for (size_t k = 0; cli_verbs[k]; k++)
            if (!cli_verbs[k]->is_hidden && str_eq(cli_group(cli_verbs[k]), group))
                (void)buf_printf(out, "%s ", cli_verbs[k]->name + group.len + 1);
        (void)buf_add_lit(out, "--help'\n");
    }
    (void)buf_add_lit(out, ")\n");
}

static void add_completion_flags(struct buf *out)
{
    struct cli_flag f;

    (void)buf_add_lit(out, "declare -gA _tidepool_flags=(\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        if (cli_verbs[i]->is_hidden)
            continue;
        (void)buf_printf(out, "    ['%s']='", cli_verbs[i]->name);
        for (size_t k = 0; cli_flag_at(cli_verbs[i], k, &f); k++)
            (void)buf_printf(out, "%s--%s", k ? " " : "", f.name);
        (void)buf_add_lit(out, "'\n");
    }
    (void)buf_add_lit(out, ")\n");
}

/* How the value of a flag, or an argument, is completed: file, dir, words, or not at all. */
static void add_value_kind(struct buf *out, const char *arg, const char *const *choices)
{
    if (choices) {
        for (size_t i = 0; choices[i]; i++)
            (void)buf_printf(out, "%s%s", i ? " " : "", choices[i]);
    } else if (strcmp(arg, "FILE") == 0) {
        (void)buf_add_lit(out, "@file");
    } else if (strcmp(arg, "DIR") == 0) {
        (void)buf_add_lit(out, "@dir");
    } else {
        (void)buf_add_lit(out, "@none");
    }
}

static void add_completion_values(struct buf *out)
{
    struct cli_flag f;

    (void)buf_add_lit(out, "declare -gA _tidepool_values=(\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        const struct cli_verb *v = cli_verbs[i];
        for (size_t k = 0; !v->is_hidden && cli_flag_at(v, k, &f); k++) {
            if (!f.arg)
                continue;
            (void)buf_printf(out, "    ['%s --%s']='", v->name, f.name);
            add_value_kind(out, f.arg, f.choices);
            (void)buf_add_lit(out, "'\n");
        }
        if (!v->is_hidden && v->args) {
            (void)buf_printf(out, "    ['%s']='", v->name);
            add_value_kind(out, v->args, NULL);
            (void)buf_add_lit(out, "'\n");
        }
    }
    (void)buf_add_lit(out, ")\n");
}

static const char script[] =
    "_tidepool_kind() {\n"
    "    case $1 in\n"
    "    @file) mapfile -t COMPREPLY < <(compgen -f -- \"$2\") ;;\n"
    "    @dir) mapfile -t COMPREPLY < <(compgen -d -- \"$2\") ;;\n"
    "    @none) COMPREPLY=() ;;\n"
    "    *) mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\") ;;\n"
    "    esac\n"
    "}\n"
    "_tidepool() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local first=${COMP_WORDS[1]} verb n=2\n"
    "    COMPREPLY=()\n"
    "    # With \"--flag=value\" bash hands over three words.\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=''\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        _tidepool_kind \"${_tidepool_words[_]}\" \"$cur\"\n"
    "        return\n"
    "    fi\n"
    "    verb=$first\n"
    "    if [[ $first == help && $COMP_CWORD == 2 && $cur != -* ]]; then\n"
    "        _tidepool_kind \"${_tidepool_words[_]%--help*}\" \"$cur\"\n"
    "        return\n"
    "    fi\n"
    "    if [[ -n ${_tidepool_words[$first]-} ]]; then\n"
    "        if ((COMP_CWORD == 2)); then\n"
    "            _tidepool_kind \"${_tidepool_words[$first]}\" \"$cur\"\n"
    "            return\n"
    "        fi\n"
    "        verb=\"$first ${COMP_WORDS[2]}\" n=3\n"
    "    fi\n"
    "    if ((COMP_CWORD > n)) && [[ -n ${_tidepool_values[$verb $prev]-} ]]; then\n"
    "        _tidepool_kind \"${_tidepool_values[$verb $prev]}\" \"$cur\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _tidepool_kind \"${_tidepool_flags[$verb]-}\" \"$cur\"\n"
    "    elif [[ -n ${_tidepool_values[$verb]-} ]]; then\n"
    "        _tidepool_kind \"${_tidepool_values[$verb]}\" \"$cur\"\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _tidepool tidepool\n";

void cli_completion_bash(struct buf *out)
{
    (void)buf_add_lit(
        out, "# bash completion for tidepool; generated by 'tidepool __completion bash'\n");
    add_completion_words(out);
    add_completion_flags(out);
    add_completion_values(out);
    (void)buf_add(out, script, sizeof script - 1);
}
