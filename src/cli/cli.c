/* SPDX-License-Identifier: MIT */
/* The command line: finds the verb, parses its flags by the tables, loads the configuration when
 * the verb wants it, runs it, and writes what it has to say. See cli.h. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/verbs.h"
#include "core/config_value.h"
#include "core/suggest.h"
#include "sys/io.h"

#define PROGRAM     "tidepool"
#define MAX_OUT     (64UL << 20)
#define SECONDS_MAX (100LL * 365 * 86400)

#define VERB(name) &verb_##name,
const struct cli_verb *const cli_verbs[] = {
#include "cli/verbs.def"
    NULL};
#undef VERB

/* ---- messages ---- */

static void say(const struct cli_call *call, const char *text)
{
    const struct cli_verb *verb = call->verb;

    (void)fprintf(stderr, PROGRAM "%s%s: %s\n", verb ? " " : "", verb ? verb->name : "", text);
}

int cli_fail(const struct cli_call *call, const struct err *e)
{
    say(call, err_text(e));
    return CLI_FAILED;
}

int cli_usage(const struct cli_call *call, const char *fmt, ...)
{
    const struct cli_verb *verb = call->verb;
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(call, text);
    (void)fprintf(stderr, "Try '" PROGRAM "%s%s --help'.\n", verb ? " " : "",
                  verb ? verb->name : "");
    return CLI_USAGE;
}

int cli_put_json(struct buf *out, const struct json *v)
{
    (void)json_write(out, v, JSON_PRETTY);
    return buf_add_char(out, '\n');
}

int cli_flush(struct cli_call *call)
{
    int r = buf_ok(&call->out) ? io_write_all(STDOUT_FILENO, call->out.p, call->out.len)
                               : call->out.error;

    buf_clear(&call->out);
    return r;
}

/* ---- values ---- */

const char *cli_value(const struct cli_call *call, const char *name)
{
    for (size_t i = call->n_values; i > 0; i--) {
        const struct cli_value *v = &call->values[i - 1];
        if (v->option && strcmp(v->option->name, name) == 0)
            return v->value;
    }
    return NULL;
}

const char *cli_value_at(const struct cli_call *call, const char *name, size_t i)
{
    for (size_t k = 0; k < call->n_values; k++) {
        const struct cli_value *v = &call->values[k];
        if (v->option && strcmp(v->option->name, name) == 0 && i-- == 0)
            return v->value;
    }
    return NULL;
}

bool cli_is_on(const struct cli_call *call, const char *name)
{
    const char *value = cli_value(call, name);

    return value && strcmp(value, "true") == 0;
}

int cli_value_int(const struct cli_call *call, const char *name, int64_t fallback, int64_t *ret)
{
    const char *value = cli_value(call, name);
    int64_t v = fallback;

    if (value && (str_to_i64(str_of(value), &v) < 0 || v < 0))
        return cli_usage(call, "--%s: expected a whole number, got '%s'", name, value);
    *ret = v;
    return CLI_OK;
}

/* A number without a unit is seconds; else units from the largest to the smallest. */
static int read_command_seconds(struct str text, int64_t *ret)
{
    int64_t sum_ms = 0, ms;

    if (str_to_i64(text, ret) == 0)
        return *ret >= -1 ? 0 : -EINVAL;
    while (text.len > 0) {
        size_t n = 0;
        while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9')
            n++;
        while (n < text.len && (text.p[n] < '0' || text.p[n] > '9'))
            n++;
        if (config_duration(str_slice(text, 0, n), &ms) < 0 || ms > SECONDS_MAX * 1000 - sum_ms)
            return -EINVAL;
        sum_ms += ms;
        text = str_skip(text, n);
    }
    *ret = (sum_ms + 999) / 1000;
    return 0;
}

int cli_value_seconds(const struct cli_call *call, const char *name, int64_t fallback, int64_t *ret)
{
    const char *value = cli_value(call, name);
    int64_t v = fallback;

    if (value && (!*value || read_command_seconds(str_of(value), &v) < 0))
        return cli_usage(call, "--%s: expected a time such as 90, 90s, 15m or 1h30m, got '%s'",
                         name, value);
    *ret = v;
    return CLI_OK;
}

/* ---- parsing ---- */

static bool find_verb_flag(const struct cli_verb *verb, struct str name, struct cli_flag *ret)
{
    for (size_t i = 0; cli_flag_at(verb, i, ret); i++)
        if (str_is(name, ret->name))
            return true;
    return false;
}

static int unknown_flag(const struct cli_call *call, struct str name)
{
    struct suggest s = suggest_for(name);
    struct cli_flag f;

    for (size_t i = 0; cli_flag_at(call->verb, i, &f); i++)
        suggest_try(&s, f.name);
    if (s.best)
        return cli_usage(call, "unknown option '--" STR_FMT "' (did you mean '--%s'?)",
                         STR_ARG(name), s.best);
    return cli_usage(call, "unknown option '--" STR_FMT "'", STR_ARG(name));
}

static void add_command_value(struct cli_call *call, const struct cli_flag *f, const char *value)
{
    call->values[call->n_values++] = (struct cli_value){f->option, f->setting, value};
}

/* --switch, --no-switch. */
static int parse_switch(struct cli_call *call, const struct cli_flag *f, bool is_on, bool has_value)
{
    if (has_value)
        return cli_usage(call, "--%s takes no value", f->name);
    add_command_value(call, f, is_on ? "true" : "false");
    return CLI_OK;
}

/* The flag F without a value of its own: takes the next word of ARGV as it. */
static int parse_next(struct cli_call *call, const struct cli_flag *f, char **argv, int *at)
{
    const char *value = argv[*at + 1];

    if (!value)
        return cli_usage(call, "--%s needs a value: %s", f->name, f->arg);
    ++*at;
    add_command_value(call, f, value);
    return CLI_OK;
}

/* ARGV[*AT] is "-x". */
static int parse_short(struct cli_call *call, char **argv, int *at)
{
    const char *word = argv[*at];
    struct cli_flag f;

    for (size_t i = 0; word[2] == '\0' && cli_flag_at(call->verb, i, &f); i++) {
        if (!f.option || f.option->letter != word[1])
            continue;
        return f.arg ? parse_next(call, &f, argv, at) : parse_switch(call, &f, true, false);
    }
    return cli_usage(call, "unknown option '%s'", word);
}

/* ARGV[*AT] is "--…": takes it and, when it needs one, the value that follows. */
static int parse_long(struct cli_call *call, char **argv, int *at)
{
    struct str rest = str_of(argv[*at] + 2);
    struct str name = str_cut(&rest, '=');
    struct cli_flag f;

    if (!find_verb_flag(call->verb, name, &f)) {
        struct str base = str_skip(name, 3);
        if (!str_starts(name, STR("no-")) || !find_verb_flag(call->verb, base, &f) || f.arg)
            return unknown_flag(call, name);
        return parse_switch(call, &f, false, rest.p != NULL);
    }
    if (!f.arg)
        return parse_switch(call, &f, true, rest.p != NULL);
    if (!rest.p)
        return parse_next(call, &f, argv, at);
    add_command_value(call, &f, rest.p);
    return CLI_OK;
}

/* Sorts ARGV into values and positional arguments; "--" ends the options. */
static int parse_args(struct cli_call *call, int argc, char **argv)
{
    bool is_ended = false;
    int r = CLI_OK;

    for (int i = 0; r == CLI_OK && i < argc; i++) {
        if (is_ended || argv[i][0] != '-' || argv[i][1] == '\0')
            call->args[call->n_args++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            is_ended = true;
        else if (argv[i][1] == '-')
            r = parse_long(call, argv, &i);
        else
            r = parse_short(call, argv, &i);
        if (r == CLI_OK && cli_is_on(call, "help"))
            return CLI_OK;
        is_ended = is_ended || (call->verb->rest_at && call->n_args >= call->verb->rest_at);
    }
    if (r != CLI_OK)
        return r;
    if (call->n_args < call->verb->min_args)
        return cli_usage(call, "expected %s", call->verb->args);
    if (call->n_args > call->verb->max_args)
        return cli_usage(call, "unexpected argument '%s'", call->args[call->verb->max_args]);
    return CLI_OK;
}

/* ---- running ---- */

static int load_config(struct cli_call *call)
{
    auto_free struct config_flag *flags = mem_zalloc(call->n_values, sizeof *flags);
    struct config_args args = {.flags = flags, .env = environ};
    struct err e = ERR_INIT;

    if (!flags) {
        (void)err_sys(&e, -ENOMEM, "configuration");
        return cli_fail(call, &e);
    }
    for (size_t i = 0; i < call->n_values; i++)
        if (call->values[i].setting)
            flags[args.n_flags++] =
                (struct config_flag){call->values[i].setting, call->values[i].value};
    if (config_load(&call->config, &args, &e) < 0) {
        say(call, err_text(&e));
        return CLI_USAGE;
    }
    return CLI_OK;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run_verb(struct cli_call *call, int argc, char **argv)
{
    /* What looks like an option may belong to a command: only parsing shows which. */
    bool is_help = !call->verb->rest_at && wants_help(argc, argv);
    int r = is_help ? CLI_OK : parse_args(call, argc, argv);
    if (is_help || (r == CLI_OK && cli_is_on(call, "help"))) {
        cli_help_verb(&call->out, call->verb);
        return CLI_OK;
    }
    if (r == CLI_OK && call->verb->settings)
        r = load_config(call);
    if (r == CLI_OK)
        r = call->verb->run(call);
    config_done(&call->config);
    return r;
}

/* ---- finding the verb ---- */

/* How many words of ARGV VERB's name takes, or 0 when they differ. */
static int match_verb(const struct cli_verb *verb, int argc, char **argv)
{
    struct str rest = str_of(verb->name);
    int n = 0;

    while (rest.p) {
        struct str word = str_cut(&rest, ' ');
        if (n == argc || !str_is(word, argv[n]))
            return 0;
        n++;
    }
    return n;
}

static const struct cli_verb *find_verb(int argc, char **argv, int *ret_words)
{
    for (size_t i = 0; cli_verbs[i]; i++) {
        int n = match_verb(cli_verbs[i], argc, argv);
        if (n > 0) {
            *ret_words = n;
            return cli_verbs[i];
        }
    }
    return NULL;
}

static bool is_verb_group(const char *word)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (str_is(cli_group(cli_verbs[i]), word))
            return true;
    return false;
}

/* The word that is wrong is the first one, or the second of a group. */
static int unknown_verb(struct cli_call *call, int argc, char **argv)
{
    bool has_group = argc > 1 && is_verb_group(argv[0]);
    struct suggest s = suggest_for(str_of(argv[has_group]));
    char words[SUGGEST_WORD_MAX];

    for (size_t i = 0; cli_verbs[i]; i++) {
        struct str group = cli_group(cli_verbs[i]);
        if (cli_verbs[i]->is_hidden || (has_group && !str_is(group, argv[0])))
            continue;
        (void)snprintf(words, sizeof words, STR_FMT, STR_ARG(group));
        suggest_try(&s, has_group ? cli_verbs[i]->name + group.len + 1 : words);
        if (s.best == words)
            s.best = cli_verbs[i]->name;
    }
    if (s.best)
        return cli_usage(call, "unknown verb '%s' (did you mean '%s'?)", argv[has_group], s.best);
    return cli_usage(call, "unknown verb '%s'", argv[has_group]);
}

/* `tidepool config`, `tidepool config --help`: a group without its second word. */
static int run_group(struct cli_call *call, int argc, char **argv)
{
    cli_help_group(&call->out, str_of(argv[0]));
    if (wants_help(argc, argv))
        return CLI_OK;
    (void)fprintf(stderr, STR_FMT, STR_ARG(buf_str(&call->out)));
    buf_clear(&call->out);
    return CLI_USAGE;
}

static int dispatch_verb(struct cli_call *call, int argc, char **argv)
{
    int n_words = 0;

    call->verb = find_verb(argc, argv, &n_words);
    if (call->verb)
        return run_verb(call, argc - n_words, argv + n_words);
    if (argc == 0 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        cli_help_overview(&call->out);
        return CLI_OK;
    }
    if (strcmp(argv[0], "--version") == 0) {
        call->verb = &verb_version;
        return run_verb(call, argc - 1, argv + 1);
    }
    if (argv[0][0] == '-')
        return cli_usage(call, "unknown option '%s'", argv[0]);
    if (is_verb_group(argv[0]) && (argc == 1 || argv[1][0] == '-'))
        return run_group(call, argc, argv);
    return unknown_verb(call, argc, argv);
}

int cli_main(int argc, char **argv)
{
    size_t n = argc > 0 ? (size_t)argc : 1;
    auto_free const char **args = mem_zalloc(n, sizeof *args);
    auto_free struct cli_value *values = mem_zalloc(n, sizeof *values);
    struct cli_call call = {.args = args, .values = values, .out = BUF_INIT(MAX_OUT)};
    struct err e = ERR_INIT;

    if (!args || !values) {
        (void)err_sys(&e, -ENOMEM, "arguments");
        return cli_fail(&call, &e);
    }
    int status = dispatch_verb(&call, argc > 0 ? argc - 1 : 0, argv + (argc > 0));
    int r = cli_flush(&call);
    buf_done(&call.out);
    if (r < 0 && status == CLI_OK) {
        (void)err_sys(&e, r, "standard output");
        return cli_fail(&call, &e);
    }
    return status;
}
