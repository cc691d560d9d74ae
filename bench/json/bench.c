/* SPDX-License-Identifier: MIT */
/* CPU time of reading and writing JSON documents of about 1 MB, beside jansson where there is one.
 * The two take turns; the fastest of the rounds counts, which is the one least disturbed. */
#include "bench.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

enum { DOCUMENT = 1 << 20, MAX_DOCUMENT = 4 << 20, ROUNDS = 15 };

/* ---- documents ---- */

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* Like a listing of an API: short members of all types, some text, some escapes. */
static void add_record(struct jw *w, uint64_t r)
{
    static const char *const words[] = {"quick",
                                        "brown \"fox\"",
                                        "caf\xc3\xa9",
                                        "lazy\ndog",
                                        "a longer run of plain text without anything special",
                                        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
                                        "",
                                        "x"};

    jw_object(w);
    jw_key(w, "id");
    jw_int(w, (int64_t)(r >> 20));
    jw_key(w, "name");
    jw_cstr(w, words[r % 8]);
    jw_key(w, "score");
    jw_real(w, (double)(r % 100000) / 100.0);
    jw_key(w, "active");
    jw_bool(w, r & 1);
    jw_key(w, "parent");
    jw_null(w);
    jw_key(w, "tags");
    jw_array(w);
    for (uint64_t i = 0; i < r % 5; i++)
        jw_cstr(w, words[(r >> (8 + i)) % 8]);
    jw_end(w);
    jw_key(w, "created_at");
    jw_cstr(w, "2026-01-31T12:34:56.789Z");
    jw_key(w, "description");
    jw_cstr(w, words[(r >> 40) % 8]);
    jw_end(w);
}

static void add_integer(struct jw *w, uint64_t r)
{
    jw_int(w, (int64_t)(r >> (r % 60)));
}

static void add_short_real(struct jw *w, uint64_t r)
{
    jw_real(w, (double)(r % 10000000) / 1000.0);
}

static void add_long_real(struct jw *w, uint64_t r)
{
    jw_real(w, (double)(r >> 11) * 0x1p-53);
}

static void add_text(struct jw *w, uint64_t r)
{
    static const char text[] = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do "
                               "eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut "
                               "enim ad minim veniam, quis nostrud exercitation ullamco.";

    jw_str(w, str_n(text, 20 + r % (sizeof text - 21)));
}

static void add_members(struct jw *w, uint64_t r)
{
    jw_object(w);
    for (uint64_t i = 0; i < 200; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "item-%llu-%llu", (unsigned long long)(r % 1000),
                       (unsigned long long)i);
        jw_key(w, key);
        jw_int(w, (int64_t)i);
    }
    jw_end(w);
}

static const struct document {
    const char *name;
    void (*add)(struct jw *w, uint64_t r);
} documents[] = {
    {"mixed", add_record},         {"text", add_text},
    {"integers", add_integer},     {"short reals", add_short_real},
    {"long reals", add_long_real}, {"large objects", add_members},
};

static void make_document(struct buf *out, const struct document *d)
{
    struct jw w = jw_to(out);
    uint64_t seed = 88172645463325252;

    jw_array(&w);
    while (out->len < DOCUMENT && buf_ok(out))
        d->add(&w, next_random(&seed));
    jw_end(&w);
}

/* ---- measuring ---- */

static const struct bench_side *const sides[] = {
    &bench_tidepool,
#ifdef WITH_JANSSON
    &bench_jansson,
#endif
};
enum { N_SIDES = sizeof sides / sizeof sides[0] };

static double cpu_ms(size_t (*run)(const char *, size_t), struct str text)
{
    struct timespec from, to;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    (void)run(text.p, text.len);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

static void measure(const char *name, struct str text, bool writing)
{
    double best[N_SIDES];

    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < N_SIDES; i++) {
            double ms = cpu_ms(writing ? sides[i]->parse_write : sides[i]->parse, text);
            best[i] = round == 0 || ms < best[i] ? ms : best[i];
        }
    double megabytes = (double)text.len / 1e6;
    (void)printf("%-14s %-12s %8.2f ms %6.0f MB/s", name, writing ? "parse+write" : "parse",
                 best[0], megabytes / best[0] * 1e3);
    if (N_SIDES > 1)
        (void)printf(" %10.2f ms %6.0f MB/s %7.1f x", best[N_SIDES - 1],
                     megabytes / best[N_SIDES - 1] * 1e3, best[N_SIDES - 1] / best[0]);
    (void)printf("\n");
}

int main(void)
{
    (void)printf("%-14s %-12s %23s", "document", "", sides[0]->name);
    if (N_SIDES > 1)
        (void)printf(" %25s %9s", sides[N_SIDES - 1]->name, "ratio");
    (void)printf("\n");
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        struct buf text auto_buf = BUF_INIT(MAX_DOCUMENT);
        make_document(&text, &documents[i]);
        if (!buf_ok(&text))
            return 1;
        measure(documents[i].name, buf_str(&text), false);
        measure(documents[i].name, buf_str(&text), true);
    }
    return 0;
}
