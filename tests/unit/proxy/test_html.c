/* SPDX-License-Identifier: MIT */
/* Where a document's head begins, in every split. */
#include "../check.h"

#include <string.h>

#include "base/cleanup.h"
#include "proxy/html.h"

static const struct {
    const char *text;
    const char *behind; /* what follows the tag; NULL: there is none */
} rows[] = {
    {"<head>", ""},
    {"<html><head><title>", "<title>"},
    {"<!DOCTYPE html>\n<HTML lang='en'>\n<HEAD>x", "x"},
    {"<head data-a=\"1>2\" b='>'>y", "y"},
    {"<head\n>y", "y"},
    {"<head/>y", "y"},
    {"<header>x</header><head>y", "y"},
    {"<!-- <head> --><head>y", "y"},
    {"<!-- a - -- <head> ---><head>y", "y"},
    {"<!--><head>y", "y"},
    {"<<head>y", "y"},
    {"<head><head>y", "<head>y"},
    {"< head>", NULL},
    {"<hea", NULL},
    {"<head", NULL},
    {"<head a='>", NULL},
    {"<!-- <head>", NULL},
    {"<p>no head</p>", NULL},
    {"", NULL},
};

static ptrdiff_t find(struct html_scan *s, struct str text, size_t split)
{
    ptrdiff_t at = html_find_head(s, text.p, split);

    if (at >= 0)
        return at;
    at = html_find_head(s, text.p + split, text.len - split);
    return at < 0 ? at : at + (ptrdiff_t)split;
}

static void heads_are_found_in_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str text = str_of(rows[i].text);
        for (size_t split = 0; split <= text.len; split++) {
            struct html_scan s = {0};
            ptrdiff_t at = find(&s, text, split);
            if (!rows[i].behind && at != -1)
                fail_msg("'%s': found at %td", rows[i].text, at);
            if (rows[i].behind && (at < 0 || strcmp(rows[i].text + at, rows[i].behind) != 0))
                fail_msg("'%s', split at %zu: %td", rows[i].text, split, at);
        }
    }
}

static void heads_far_away_are_left_alone(void **state)
{
    static char text[HTML_HEAD_WITHIN + 16];

    (void)state;
    for (int late = 0; late < 2; late++) {
        struct html_scan s = {0};
        size_t at = HTML_HEAD_WITHIN - 6 + (size_t)late;
        memset(text, 'x', sizeof text);
        memcpy(text + at, "<head>", 6);
        assert_int_equal(html_find_head(&s, text, sizeof text), late ? -1 : (ptrdiff_t)at + 6);
        assert_true(s.is_over);
        assert_int_equal(html_find_head(&s, "<head>", 6), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_found_in_every_split),
        cmocka_unit_test(heads_far_away_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
