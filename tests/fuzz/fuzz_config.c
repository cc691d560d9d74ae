/* SPDX-License-Identifier: MIT */
/* Settings from text: every line is KEY=VALUE and is given to that setting as a flag; whatever is
 * accepted must print, and be accepted again as it prints. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "core/config.h"
#include "fuzz.h"

enum { MAX_FLAGS = 64 };

static void check(int condition)
{
    if (!condition)
        abort();
}

/* One setting from TEXT: 0 when it was accepted, with what it prints. */
static int load_one(const struct config_option *o, const char *text, struct buf *shown)
{
    const char *pair = o == config_find(STR("tls.cert")) ? "tls.key" : "tls.cert";
    bool is_tls = str_starts(str_of(o->key), STR("tls."));
    const struct config_flag flags[] = {{o, text}, {config_find(str_of(pair)), "/x"}};
    const struct config_args args = {
        .flags = flags, .n_flags = is_tls ? 2 : 1, .home = "/h", .no_search = true};
    struct config c auto_(config_done) = {0};
    int r = config_load(&c, &args, NULL);

    if (r == 0)
        check(config_print(shown, &c, o) == 0);
    return r;
}

static void try_line(struct str line)
{
    struct str value = line;
    const struct config_option *o = config_find(str_cut(&value, '='));
    struct buf text auto_buf = BUF_INIT(1 << 20), shown auto_buf = BUF_INIT(1 << 20),
                    again auto_buf = BUF_INIT(1 << 20);

    if (!o || !value.p || o->is_secret || o->not_in_file)
        return;
    (void)buf_add_str(&text, value);
    if (load_one(o, buf_cstr(&text), &shown) < 0)
        return;
    check(load_one(o, buf_cstr(&shown), &again) == 0);
    check(str_eq(buf_str(&shown), buf_str(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size);

    for (int i = 0; rest.p && i < MAX_FLAGS; i++)
        try_line(str_cut(&rest, '\n'));
    return 0;
}
