/* SPDX-License-Identifier: MIT */
/* arXiv itself, through curl. Most cells cannot reach it: that is remembered for a while, so that
 * not every call waits for it. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "local/arxiv/arxiv.h"
#include "local/kit/helper.h"

enum { FORGET_MS = 60000 };

static _Atomic int64_t unreached_until_ms;

/* TIDEPOOL_ARXIV_URL is another server with the same interface; empty: none. */
static const char *base(void)
{
    const char *own = getenv("TIDEPOOL_ARXIV_URL");

    return own ? own : "http://export.arxiv.org";
}

static bool may_try(void)
{
    return base()[0] != '\0' && clock_mono_ms() >= atomic_load(&unreached_until_ms);
}

/* What curl's words mean: an answer with an error status was one. */
static enum arxiv_reach judge_curl_error(struct str why)
{
    if (str_starts(why, STR("curl: (22)")))
        return ARXIV_REFUSED;
    atomic_store(&unreached_until_ms, clock_mono_ms() + FORGET_MS);
    return ARXIV_UNREACHED;
}

enum arxiv_reach arxiv_ask(struct local_call *c, struct str query, struct arxiv_papers *ret,
                           struct str *why)
{
    const char *url = arena_printf(&c->arena, "%s/api/query?" STR_FMT, base(), STR_ARG(query)).p;
    const char *const argv[] = {"curl", "-gfsSL", "--proto", "=http,https", "--connect-timeout",
                                "5",    "-m",     "30",      url,           NULL};
    const struct helper h = {.argv = argv, .package = "curl"};
    struct err e = ERR_INIT;
    struct str text;

    if (!url || !may_try())
        return ARXIV_UNREACHED;
    if (!helper_run(c, &h, &text, why))
        return judge_curl_error(*why);
    if (arxiv_atom_parse(&c->arena, text, ret, &e) == 0)
        return ARXIV_ANSWERED;
    *why = arena_printf(&c->arena, "%s", err_text(&e));
    return ARXIV_REFUSED;
}

enum arxiv_reach arxiv_fetch(struct local_call *c, struct str id, const char *to, struct str *why)
{
    struct str url = arena_printf(&c->arena, "%s/pdf/" STR_FMT, base(), STR_ARG(id));

    if (!url.p || !may_try())
        return ARXIV_UNREACHED;
    return helper_fetch(c, url, to, why) ? ARXIV_ANSWERED : judge_curl_error(*why);
}
