/* SPDX-License-Identifier: MIT */
/* Which commands need no shell. */
#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/plain.h"

static const struct {
    const char *command;
    const char *words; /* joined by "|"; NULL: for a shell */
} rows[] = {
    {"true", "true"},
    {"true 1", NULL},
    {"echo hello world", "echo|hello|world"},
    {"echo -n hello", NULL},
    {"  ls \t -la  /data ", "ls|-la|/data"},
    {"python3 main.py --n=3 a@b:c,d +x 5%", "python3|main.py|--n=3|a@b:c,d|+x|5%"},
    {"./run.sh", "./run.sh"},
    {"env", "env"},
    {"", NULL},
    {"   ", NULL},
    {"A=1 env", NULL},
    {"cd /tmp", NULL},
    {"printf x", NULL},
    {". file", NULL},
    {"time ls", NULL},
    {"if", NULL},
    {"[ -e x ]", NULL},
    {"ls *", NULL},
    {"ls ~", NULL},
    {"ls; ls", NULL},
    {"ls&", NULL},
    {"ls | cat", NULL},
    {"ls > x", NULL},
    {"ls 'a'", NULL},
    {"ls \"a\"", NULL},
    {"ls $HOME", NULL},
    {"ls `x`", NULL},
    {"ls {a,b}", NULL},
    {"ls a\\b", NULL},
    {"ls #x", NULL},
    {"ls\nls", NULL},
    {"ls \n", NULL},
    {"!ls", NULL},
    {"%1", NULL},
    {"ls \xc3\xa9", NULL},
};

static void words_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena struct arena a;
        char joined[256] = "";
        arena_init(&a, 1 << 20);
        char **words = plain_words(&a, rows[i].command);
        for (size_t k = 0; words && words[k]; k++) {
            size_t at = strlen(joined);
            (void)snprintf(joined + at, sizeof joined - at, "%s%s", k ? "|" : "", words[k]);
        }
        if (rows[i].words)
            assert_string_equal(joined, rows[i].words);
        else if (words)
            fail_msg("'%s' needs a shell", rows[i].command);
    }
}

static void there_are_limits(void **state)
{
    auto_arena struct arena a;
    char many[1024];

    (void)state;
    arena_init(&a, 1 << 20);
    memset(many, 0, sizeof many);
    for (size_t i = 0; i < 100; i++)
        memcpy(many + 2 * i, "a ", 2);
    assert_null(plain_words(&a, many));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found),
        cmocka_unit_test(there_are_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
