/* SPDX-License-Identifier: MIT */
/* The command line. A verb is one row of verbs.def and one struct cli_verb in a file of its own;
 * parsing, help, man pages and shell completion all read that struct and the table of settings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "core/config.h"

/* Exit statuses. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the verb could not do its work, or found what it looks for missing */
    CLI_USAGE = 2,  /* the command line or the configuration is wrong */
};

struct cli_option {
    const char *name; /* without "--" */
    char letter;      /* the short form "-x"; 0: none */
    const char *arg;  /* what help calls the value; NULL: a switch */
    const char *help;
    const char *const *choices; /* words for completion; NULL-terminated, may be NULL */
};

struct cli_call;

struct cli_verb {
    const char *name;    /* "version", or group and word: "keys create" */
    const char *summary; /* one line, no full stop */
    const char *help;    /* paragraphs, with an empty line between them */
    const char *args;    /* positional arguments as usage shows them: "FILE"; NULL: none */
    size_t min_args, max_args;
    size_t rest_at; /* after this number of arguments the options end, the rest is a command; 0:
                       none do */
    const struct cli_option *options; /* ends with a NULL name; may be NULL */
    /* Keys of the settings whose flags the verb takes, NULL-terminated, or CLI_ALL_SETTINGS. With
     * it the configuration is loaded before run(). NULL: the verb needs none. */
    const char *const *settings;
    bool is_hidden;
    int (*run)(struct cli_call *call); /* exit status */
};

extern const char *const CLI_ALL_SETTINGS[];
/* --state and --config, for verbs that work on the state directory. */
extern const char *const CLI_STATE_SETTINGS[];

struct cli_value {
    const struct cli_option *option;     /* one of the verb's own, or … */
    const struct config_option *setting; /* … a setting */
    const char *value;                   /* switches: "true" or "false" */
};

struct cli_call {
    const struct cli_verb *verb;
    const char **args; /* positional */
    size_t n_args;
    struct cli_value *values; /* in the order of the command line */
    size_t n_values;
    struct config config; /* when the verb has settings */
    struct buf out;       /* goes to standard output after run() */
};

/* Runs `tidepool ARGV…` and returns the exit status. */
int cli_main(int argc, char **argv);

/* The last value of the verb's own option NAME, or NULL. */
const char *cli_value(const struct cli_call *call, const char *name);
/* Value number I of the option NAME, which may be given several times, or NULL past the last. */
const char *cli_value_at(const struct cli_call *call, const char *name, size_t i);
/* True when the switch NAME is on. */
bool cli_is_on(const struct cli_call *call, const char *name);
/* The value of NAME as a whole number; FALLBACK when it is absent. CLI_OK, or CLI_USAGE after
 * telling the user. */
int cli_value_int(const struct cli_call *call, const char *name, int64_t fallback, int64_t *ret);

/* The value of NAME as seconds: "90", "90s", "15m", "1h30m"; as cli_value_int(). -1 is taken as it
 * is. */
int cli_value_seconds(const struct cli_call *call, const char *name, int64_t fallback,
                      int64_t *ret);

/* Says "tidepool VERB: …" on standard error. Return CLI_FAILED / CLI_USAGE (with a hint at --help).
 */
int cli_fail(const struct cli_call *call, const struct err *e);
int cli_usage(const struct cli_call *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends V as people and programs like it, with a line end. Returns as buf_add(). */
int cli_put_json(struct buf *out, const struct json *v);
/* Writes what is in call->out now; for verbs with much output. 0 or -errno. */
int cli_flush(struct cli_call *call);

/* ---- the tables, for help, man pages and completion ---- */

extern const struct cli_verb *const cli_verbs[]; /* NULL-terminated */

/* One flag of a verb, whichever table it comes from. */
struct cli_flag {
    const char *name, *arg, *help;
    const struct cli_option *option;
    const struct config_option *setting;
    const char *const *choices;
};
/* Flag number I of VERB: its own first, then settings, then --help. False past the end. */
bool cli_flag_at(const struct cli_verb *verb, size_t i, struct cli_flag *ret);
/* The first word of a verb's name: what groups verbs ("config" of "config show"). */
struct str cli_group(const struct cli_verb *verb);
/* True for the first visible verb of its group: loops over groups skip the others. */
bool cli_leads_group(size_t i);

/* Help as `--help` shows it: the overview; all verbs of a group; one verb. */
void cli_help_overview(struct buf *out);
void cli_help_group(struct buf *out, struct str group);
void cli_help_verb(struct buf *out, const struct cli_verb *verb);

/* scdoc source of page NAME ("tidepool-config.1"); -ENOENT when there is none. */
int cli_man_page(struct buf *out, const char *name);
/* The names of all pages, one a line. */
void cli_man_names(struct buf *out);
/* A completion script for bash. */
void cli_completion_bash(struct buf *out);
