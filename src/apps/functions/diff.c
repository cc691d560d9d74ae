/* SPDX-License-Identifier: MIT */
/* Texts compared and merged by lines. */
#include "apps/functions/functions.h"
#include "apps/text/merge.h"
#include "base/textdiff.h"

#define WORK_MAX (256UL << 20)
#define CONTEXT  3 /* unchanged lines around a change */

/* diff_patch(old, new): {"additions", "deletions", "patch"}; the patch is null without changes. */
static void fn_diff_patch(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf patch = BUF_INIT(APPDB_RESULT_MAX), b = BUF_INIT(APPDB_RESULT_MAX);
    int64_t additions = 0, deletions = 0;
    uint64_t given = fn_steps(x), steps = given;
    struct textdiff d;

    (void)n;
    arena_init(&arena, WORK_MAX);
    int r = textdiff_lines(&d, fn_text(v[0]), fn_text(v[1]), &arena, &steps);
    if (r < 0)
        sqlite3_result_error_nomem(x);
    if (!fn_spent(x, given, steps) || r < 0)
        return;
    (void)textdiff_write(&patch, &d, CONTEXT, TEXTDIFF_GIT);
    for (size_t i = 0; i < d.n; i++) {
        additions += d.changes[i].n_b;
        deletions += d.changes[i].n_a;
    }
    struct jw w = jw_to(&b);
    jw_object(&w);
    jw_key(&w, "additions");
    jw_int(&w, additions);
    jw_key(&w, "deletions");
    jw_int(&w, deletions);
    jw_key(&w, "patch");
    /* As git's patches are shown: without the last line break. */
    if (d.n > 0)
        jw_str(&w, str_slice(buf_str(&patch), 0, patch.len - 1));
    else
        jw_null(&w);
    jw_end(&w);
    if (!buf_ok(&patch))
        sqlite3_result_error_toobig(x);
    else
        fn_give_json(x, &b);
}

/* diff_merge(base, ours, theirs): the text with both changes, NULL when they contradict. */
static void fn_diff_merge(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    const struct str sides[2] = {fn_text(v[1]), fn_text(v[2])};
    uint64_t given = fn_steps(x), steps = given;

    (void)n;
    arena_init(&arena, WORK_MAX);
    int r = merge_texts(&arena, fn_text(v[0]), sides, &b, &steps);
    if (!fn_spent(x, given, steps))
        return;
    if (r < 0)
        sqlite3_result_error_nomem(x);
    else if (r == 0)
        fn_give(x, &b);
}

const struct sql_function functions_diff[] = {
    {"diff_patch", 2, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_diff_patch},
    {"diff_merge", 3, SQLITE_DETERMINISTIC, fn_diff_merge},
    {NULL, 0, 0, NULL},
};
