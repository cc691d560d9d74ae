/* SPDX-License-Identifier: MIT */
/* desktop-commander: edit_block, which returns the closest text if there is no exact match. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "local/commander/commander.h"

enum {
    SIMILAR = 70,            /* percent from which on a text is worth showing */
    WORK_MAX = 200 * 1000000 /* cells of the table; larger texts are not compared */
};

static size_t count_occurrences(struct str text, struct str part)
{
    size_t n = 0;

    for (ptrdiff_t at; (at = str_find(text, part)) >= 0; n++)
        text = str_skip(text, (size_t)at + part.len);
    return n;
}

static struct str replace_all_text(struct local_call *c, struct str text, struct str old,
                                   struct str new)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    for (ptrdiff_t at; (at = str_find(text, old)) >= 0;) {
        (void)buf_add_str(&b, str_slice(text, 0, (size_t)at));
        (void)buf_add_str(&b, new);
        text = str_skip(text, (size_t)at + old.len);
    }
    (void)buf_add_str(&b, text);
    return buf_ok(&b) ? arena_str(&c->arena, buf_str(&b)) : STR_NULL;
}

/* ---- the nearest text ---- */

/* One column of the table of edit distances between the pattern's beginnings and texts that end
 * here; and where those texts begin. */
struct column {
    uint32_t *cost, *start;
};

static void step_column(const struct column *from, const struct column *to, struct str pattern,
                        char c, uint32_t at)
{
    to->cost[0] = 0;
    to->start[0] = at + 1;
    for (size_t i = 1; i <= pattern.len; i++) {
        uint32_t change = from->cost[i - 1] + (pattern.p[i - 1] != c);
        uint32_t more = from->cost[i] + 1, less = to->cost[i - 1] + 1;
        to->cost[i] = change;
        to->start[i] = from->start[i - 1];
        if (more < to->cost[i]) {
            to->cost[i] = more;
            to->start[i] = from->start[i];
        }
        if (less < to->cost[i]) {
            to->cost[i] = less;
            to->start[i] = to->start[i - 1];
        }
    }
}

/* The part of TEXT that takes the fewest edits to become PATTERN, and how many. */
static struct str nearest(struct str text, struct str pattern, uint32_t *cost)
{
    size_t n = pattern.len + 1;
    uint32_t *cells = mem_zalloc(4 * n, sizeof *cells);
    struct str best = STR("");

    *cost = (uint32_t)pattern.len;
    if (!cells)
        return best;
    struct column a = {cells, cells + n}, b = {cells + 2 * n, cells + 3 * n};
    for (size_t i = 0; i < n; i++)
        a.cost[i] = (uint32_t)i;
    for (size_t i = 0; i < text.len; i++) {
        step_column(&a, &b, pattern, text.p[i], (uint32_t)i);
        if (b.cost[pattern.len] < *cost) {
            *cost = b.cost[pattern.len];
            best = str_slice(text, b.start[pattern.len], i + 1);
        }
        struct column t = a;
        a = b;
        b = t;
    }
    free(cells);
    return best;
}

/* "pre{-wanted-}{+found+}fix" */
static struct str differences(struct local_call *c, struct str wanted, struct str found)
{
    size_t most = wanted.len < found.len ? wanted.len : found.len, head = 0, tail = 0;

    while (head < most && wanted.p[head] == found.p[head])
        head++;
    while (tail < most - head && wanted.p[wanted.len - 1 - tail] == found.p[found.len - 1 - tail])
        tail++;
    return arena_printf(&c->arena, STR_FMT "{-" STR_FMT "-}{+" STR_FMT "+}" STR_FMT, (int)head,
                        wanted.p, STR_ARG(str_slice(wanted, head, wanted.len - tail)),
                        STR_ARG(str_slice(found, head, found.len - tail)),
                        STR_ARG(str_skip(wanted, wanted.len - tail)));
}

static void tell_nearest(struct local_call *c, struct str text, struct str old, struct str given)
{
    int64_t begin_us = clock_mono_us();
    uint32_t cost;

    if (text.len * old.len > WORK_MAX) {
        local_textf(c, "Search content not found in " STR_FMT ".", STR_ARG(given));
        return;
    }
    struct str found = nearest(text, old, &cost);
    size_t longer = found.len > old.len ? found.len : old.len;
    unsigned percent = (unsigned)((longer - (cost < longer ? cost : longer)) * 100 / longer);
    double ms = (double)(clock_mono_us() - begin_us) / 1000;
    if (percent >= SIMILAR)
        local_textf(
            c,
            "Exact match not found, but found a similar text with %u%% similarity (found in "
            "%.2fms):\n\nDifferences:\n" STR_FMT
            "\n\nTo replace this text, use the exact text found in the file.",
            percent, ms, STR_ARG(differences(c, old, found)));
    else
        local_textf(
            c,
            "Search content not found in " STR_FMT ". The closest match was \"" STR_FMT
            "\" with only %u%% similarity, which is below the %d%% threshold. (Fuzzy search "
            "completed in %.2fms)",
            STR_ARG(given), STR_ARG(found), percent, SIMILAR, ms);
}

/* ---- the tool ---- */

void commander_edit_block(struct local_call *c)
{
    struct str given = local_str(c, "file_path"), old = local_str(c, "old_string"), text;
    int64_t expected = local_int(c, "expected_replacements", 1);
    const char *path = commander_path(c, given);

    if (!path)
        return;
    if (old.len == 0) {
        local_text(c, STR("Empty search strings are not allowed. Please provide a non-empty string "
                          "to search for."));
        return;
    }
    int r = path_read(c, path, &text);
    if (r < 0) {
        commander_fail(c, r, "open", path);
        return;
    }
    int64_t n = (int64_t)count_occurrences(text, old);
    if (n == 0) {
        tell_nearest(c, text, old, given);
        return;
    }
    if (n != expected) {
        local_textf(
            c,
            "Expected %lld occurrences but found %lld in " STR_FMT
            ". Double check and make sure you understand all occurencies and if you want to "
            "replace all %lld occurrences, set expected_replacements to %lld. If there are "
            "many occurrancies and you want to change some of them and keep the rest. Do it "
            "one by one, by adding more lines around each occurrence.If you want to replace "
            "a specific occurrence, make your search string more unique by adding more "
            "lines around search string.",
            (long long)expected, (long long)n, STR_ARG(given), (long long)n, (long long)n);
        return;
    }
    struct str after = replace_all_text(c, text, old, local_str(c, "new_string"));
    r = after.p ? path_write(c, path, after) : -EFBIG;
    if (r < 0)
        commander_fail(c, r, "open", path);
    else
        local_textf(c, "Successfully applied %lld edit%s to " STR_FMT, (long long)n,
                    n == 1 ? "" : "s", STR_ARG(given));
}
