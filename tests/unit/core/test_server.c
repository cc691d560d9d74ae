/* SPDX-License-Identifier: MIT */
/* The table of servers: names in any case, aliases, and that every name is there once. */
#include "../check.h"

#include "base/cleanup.h"
#include "core/sandbox_args.h"
#include "core/server.h"

static void names_are_found(void **state)
{
    static const struct {
        const char *name, *server;
    } rows[] = {
        {"jira", "jira"},
        {"JIRA", "jira"},
        {"Cal.com", "cal.com"},
        {"cal.com", "cal.com"},
        {"calcom", "cal.com"},
        {"teams", "microsoft_teams"},
        {"12306", "12306"},
        {"github_atlas", "github"},
        {"google_cloud", "google_cloud"},
        {"local_dev", "local_dev"},
        {"conformance", "conformance"},
        {"jir", NULL},
        {"jiraa", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct server *s = server_find(str_of(rows[i].name));
        assert_int_equal(s != NULL, rows[i].server != NULL);
        if (s)
            assert_string_equal(s->name, rows[i].server);
    }
}

static void all_are_listed_once(void **state)
{
    size_t n_listed = 0, n_data = 0;

    (void)state;
    for (size_t i = 0; server_at(i); i++) {
        assert_ptr_equal(server_find(str_of(server_at(i)->name)), server_at(i));
        n_listed += server_at(i)->is_listed;
        n_data += server_at(i)->is_listed && server_at(i)->has_data;
    }
    assert_int_equal(n_listed, 73);
    assert_int_equal(n_data, 43);
}

static void no_sandbox_is_called_like_one(void **state)
{
    (void)state;
    assert_true(sandbox_name_is_reserved(STR("slack")));
    assert_true(sandbox_name_is_reserved(STR("prepare")));
    assert_false(sandbox_name_is_reserved(STR("slacker")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(all_are_listed_once),
        cmocka_unit_test(no_sandbox_is_called_like_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
