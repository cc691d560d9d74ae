/* SPDX-License-Identifier: MIT */
#include "local/kit/helper.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "local/kit/program.h"

/* The last line of TEXT that is not empty. */
static struct str last_stderr_line(struct str text)
{
    struct str last = STR("");

    while (text.p) {
        struct str line = str_trim(str_cut(&text, '\n'));
        if (line.len > 0)
            last = line;
    }
    return last;
}

bool helper_run(struct local_call *c, const struct helper *h, struct str *ret, struct str *why)
{
    struct run r = {.argv = h->argv,
                    .cwd = c->local->root,
                    .timeout_ms = HELPER_TIMEOUT_MS,
                    .max_output = HELPER_OUTPUT_MAX};
    int code = run_program(&r);

    *why = STR_NULL;
    if (code == -ENOENT)
        *why = arena_printf(&c->arena, "%s is not installed in this sandbox (Debian package: %s)",
                            h->argv[0], h->package);
    else if (code < 0)
        *why = arena_printf(&c->arena, "%s could not be started: %s", h->argv[0], strerror(-code));
    else if (r.is_timed_out)
        *why = arena_printf(&c->arena, "%s did not end within %d seconds", h->argv[0],
                            HELPER_TIMEOUT_MS / 1000);
    else if (r.status != 0 && r.status != h->warns_with)
        *why = r.err.len > 0 ? arena_str(&c->arena, last_stderr_line(buf_str(&r.err)))
                             : arena_printf(&c->arena, "%s ended with %d", h->argv[0], r.status);
    else
        *ret = arena_str(&c->arena, buf_str(&r.out));
    run_done(&r);
    return !why->p;
}

bool helper_is_url(struct str s)
{
    return str_starts(s, STR("http://")) || str_starts(s, STR("https://"));
}

bool helper_fetch(struct local_call *c, struct str url, const char *to, struct str *why)
{
    const char *temp = arena_printf(&c->arena, "%s.%p.part", to, (void *)c).p;
    const char *address = arena_str(&c->arena, url).p;
    char seconds[16], bytes[16];
    struct str said;

    (void)snprintf(seconds, sizeof seconds, "%d", HELPER_FETCH_S);
    (void)snprintf(bytes, sizeof bytes, "%d", LOCAL_FILE_MAX);
    const char *const argv[] = {"curl",       "-gfsSL", "--proto",        "=http,https",
                                "--max-time", seconds,  "--max-filesize", bytes,
                                "-o",         temp,     address,          NULL};
    const struct helper h = {.argv = argv, .package = "curl"};
    if (!temp || !address || memchr(url.p, '\0', url.len)) {
        *why = STR("the address cannot be read");
        return false;
    }
    bool is_done = helper_run(c, &h, &said, why);
    if (is_done && rename(temp, to) < 0) {
        *why = str_of(strerror(errno));
        is_done = false;
    }
    if (!is_done)
        (void)unlink(temp);
    return is_done;
}
