/* SPDX-License-Identifier: MIT */
/* tidepool version */
#include "cli/verbs.h"

#include <sys/utsname.h>

#include "base/json.h"

static int run_version(struct cli_call *call)
{
    struct jw w = jw_to(&call->out);
    struct utsname u = {0};

    if (!cli_is_on(call, "json")) {
        (void)buf_add_lit(&call->out, "tidepool " TIDEPOOL_VERSION "\n");
        return CLI_OK;
    }
    (void)uname(&u);
    jw_object(&w);
    jw_key(&w, "version");
    jw_cstr(&w, TIDEPOOL_VERSION);
    jw_key(&w, "compiler");
    jw_cstr(&w, __VERSION__);
    jw_key(&w, "kernel");
    jw_cstr(&w, u.release);
    jw_key(&w, "machine");
    jw_cstr(&w, u.machine);
    jw_end(&w);
    (void)buf_add_char(&call->out, '\n');
    return CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "json", .help = "Print a JSON object that also has the compiler and the kernel."},
    {0},
};

const struct cli_verb verb_version = {
    .name = "version",
    .summary = "Print the version",
    .help = "Prints the version of Tidepool.",
    .options = options,
    .run = run_version,
};
