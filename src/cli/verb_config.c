/* SPDX-License-Identifier: MIT */
/* tidepool config show, check, example */
#include "cli/verbs.h"

#include "base/cleanup.h"

/* ---- show ---- */

static void show_config_json(struct cli_call *call)
{
    const struct config *c = &call->config;
    struct jw w = jw_to(&call->out);

    jw_object(&w);
    jw_key(&w, "settings");
    jw_object(&w);
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        jw_key(&w, config_options[i].key);
        jw_object(&w);
        jw_key(&w, "value");
        config_write_json(&w, c, &config_options[i]);
        jw_key(&w, "source");
        jw_cstr(&w, c->sources[i]);
        jw_end(&w);
    }
    jw_end(&w);
    jw_key(&w, "notes");
    jw_array(&w);
    for (size_t i = 0; i < c->n_notes; i++) {
        jw_object(&w);
        jw_key(&w, "name");
        jw_cstr(&w, c->notes[i].name);
        jw_key(&w, "text");
        jw_cstr(&w, c->notes[i].text);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    (void)buf_add_char(&call->out, '\n');
}

struct widths {
    size_t key, value;
};

static void setting_text(struct buf *out, const struct config *c, size_t i)
{
    buf_clear(out);
    (void)config_print(out, c, &config_options[i]);
    if (out->len == 0)
        (void)buf_add_char(out, '-');
}

/* Columns as wide as needed, but a long value does not push all others away. */
static struct widths measure_settings(const struct config *c)
{
    struct buf text auto_buf = BUF_INIT(65536);
    struct widths w = {0};

    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        size_t key = strlen(config_options[i].key);
        setting_text(&text, c, i);
        if (key > w.key)
            w.key = key;
        if (text.len > w.value && text.len <= 32)
            w.value = text.len;
    }
    return w;
}

static void show_config_text(struct cli_call *call)
{
    const struct config *c = &call->config;
    struct buf text auto_buf = BUF_INIT(65536);
    struct widths w = measure_settings(c);

    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        setting_text(&text, c, i);
        (void)buf_printf(&call->out, "%-*s  %-*s  %s\n", (int)w.key, config_options[i].key,
                         (int)w.value, buf_ok(&text) ? buf_cstr(&text) : "?", c->sources[i]);
    }
    for (size_t i = 0; i < c->n_notes; i++)
        (void)buf_printf(&call->out, "%s%s %s\n", i ? "" : "\n", c->notes[i].name,
                         c->notes[i].text);
}

static int run_config_show(struct cli_call *call)
{
    if (cli_is_on(call, "json"))
        show_config_json(call);
    else
        show_config_text(call);
    return CLI_OK;
}

static const struct cli_option show_options[] = {
    {.name = "json", .help = "Print JSON; durations are milliseconds, sizes bytes."},
    {0},
};

const struct cli_verb verb_config_show = {
    .name = "config show",
    .summary = "Show the settings and where each comes from",
    .help = "Prints every setting as 'tidepool serve' would use it with the same flags, "
            "environment and file, and its source: a flag, an environment variable, a line of "
            "the file, or the default. Secrets are shown as 'set'. Variables that were "
            "recognised but have no effect are listed at the end with the reason.",
    .options = show_options,
    .settings = CLI_ALL_SETTINGS,
    .run = run_config_show,
};

/* ---- check ---- */

static void tell_mistake(void *ctx, const struct err *e)
{
    (void)cli_fail(ctx, e);
}

static int run_config_check(struct cli_call *call)
{
    const struct config_flag flag = {config_find(STR("config")), call->args[0]};
    const struct config_flag state = {config_find(STR("state")), "/"};
    const struct config_flag flags[] = {flag, state};
    struct config_args args = {.flags = flags,
                               .n_flags = ARRAY_LEN(flags),
                               .home = getenv("HOME"),
                               .mistake = tell_mistake,
                               .ctx = call};
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;

    if (config_load(&c, &args, &e) < 0)
        return CLI_USAGE;
    (void)buf_printf(&call->out, "%s: ok\n", call->args[0]);
    return CLI_OK;
}

const struct cli_verb verb_config_check = {
    .name = "config check",
    .summary = "Check a configuration file",
    .help = "Reads only FILE: no flags, no environment. Prints every error with its line and "
            "exits with 2, or prints 'ok'.",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .run = run_config_check,
};

/* ---- example ---- */

static int run_example(struct cli_call *call)
{
    (void)config_example(&call->out);
    return CLI_OK;
}

const struct cli_verb verb_config_example = {
    .name = "config example",
    .summary = "Print an example configuration file",
    .help = "Prints a file with every setting, its description and its default, all commented out.",
    .run = run_example,
};
