/* SPDX-License-Identifier: MIT */
/* Accounts and keys: which tokens are the same, roles, limits, the life of a key. */
#include "../store/fixture.h"

#include <errno.h>

#include "base/cleanup.h"
#include "core/account.h"

#define HEX32 "2492a85b10ed4cb083b2c76b181eac96"
#define HEX40 "00112233445566778899aabbccddeeff00112233"

static int setup(void **state)
{
    const struct quota_limits defaults = {.max_live = 9, .max_creates = 0, .max_rps = 100};

    *state = accounts_new(&defaults, NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    accounts_free(*state);
    return 0;
}

static const struct quota_limits no_own = {-1, -1, -1};

static struct account_key *make(struct accounts *a, const char *secret, const char *account,
                                enum account_role role)
{
    const struct account_new args = {
        .secret = str_of(secret), .account = str_of(account), .role = role, .limits = no_own};
    struct account_key *k = accounts_prepare(a, &args, NULL);

    assert_non_null(k);
    assert_int_equal(accounts_settle(a, account_key_ref(k), 0), 0);
    account_key_unref(k);
    return k;
}

static void fixed(struct accounts *a, const char *token, enum account_role role)
{
    assert_int_equal(accounts_add_fixed(a, str_of(token), role, NULL, NULL), 0);
}

static void tokens_that_are_the_same(void **state)
{
    struct accounts *a = *state;
    static const struct {
        const char *token;
        char whose; /* s: the system token, u: the user's, k: the made key, -: nobody */
    } cases[] = {
        {"sys-" HEX32, 's'},
        {"e2b_sys-" HEX32, 's'},
        {"e2b_" HEX32, 's'},
        {HEX32, '-'}, /* the alias needs its prefix */
        {"e2b_e2b_" HEX32, '-'},
        {"E2B_" HEX32, '-'},
        {"sys-2492A85B10ED4CB083B2C76B181EAC96", '-'},
        {"e2b_2492A85B10ED4CB083B2C76B181EAC96", '-'},
        {"sys-" HEX32 " ", '-'},
        {"sys-" HEX32 "0", '-'},
        {"sys-", '-'},
        {"bob-secret", 'u'},
        {"e2b_bob-secret", 'u'},
        {"bob-secre", '-'},
        {"bob", '-'},
        {"e2b_" HEX40, 'k'},
        {HEX40, 'k'},
        {"e2b_00112233445566778899aabbccddeeff0011223", '-'},
        {"e2b_", '-'},
        {"", '-'},
    };

    fixed(a, "sys-" HEX32, ACCOUNT_SYSTEM);
    fixed(a, "bob-secret", ACCOUNT_USER);
    (void)make(a, "e2b_" HEX40, "alice", ACCOUNT_USER);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct account_key *k = accounts_find(a, str_of(cases[i].token));
        char whose = '-';
        if (k)
            whose = !k->is_fixed ? 'k' : k->account->role == ACCOUNT_SYSTEM ? 's' : 'u';
        if (whose != cases[i].whose)
            fail_msg("'%s': expected %c, got %c", cases[i].token, cases[i].whose, whose);
    }
}

static void aliases_need_32_digits_and_one_owner(void **state)
{
    struct accounts *a = *state;

    fixed(a, "sys-492a85b10ed4cb083b2c76b181eac96", ACCOUNT_SYSTEM); /* 31 digits */
    assert_null(accounts_find(a, STR("e2b_492a85b10ed4cb083b2c76b181eac96")));
    fixed(a, "ann-" HEX40, ACCOUNT_USER);
    assert_non_null(accounts_find(a, STR("e2b_" HEX40)));
    /* A second token with the same tail: now it is nobody's. */
    fixed(a, "sys-" HEX40, ACCOUNT_SYSTEM);
    assert_null(accounts_find(a, STR("e2b_" HEX40)));
    fixed(a, "eve-" HEX40, ACCOUNT_USER);
    assert_null(accounts_find(a, STR("e2b_" HEX40)));
    assert_non_null(accounts_find(a, STR("ann-" HEX40)));
}

static void fixed_tokens(void **state)
{
    struct accounts *a = *state;
    char longest[ACCOUNT_TOKEN_MAX + 2];

    memset(longest, 'x', sizeof longest);
    assert_int_equal(accounts_add_fixed(a, STR("abcd"), ACCOUNT_USER, NULL, NULL), -EINVAL);
    assert_int_equal(accounts_add_fixed(a, STR("abcde"), ACCOUNT_USER, NULL, NULL), 0);
    assert_int_equal(accounts_add_fixed(a, STR("abcde"), ACCOUNT_USER, NULL, NULL), -EEXIST);
    assert_int_equal(accounts_add_fixed(a, STR("e2b_abcde"), ACCOUNT_USER, NULL, NULL), -EEXIST);
    assert_int_equal(
        accounts_add_fixed(a, str_n(longest, ACCOUNT_TOKEN_MAX), ACCOUNT_USER, NULL, NULL), 0);
    assert_int_equal(
        accounts_add_fixed(a, str_n(longest, ACCOUNT_TOKEN_MAX + 1), ACCOUNT_USER, NULL, NULL),
        -EINVAL);
    assert_null(accounts_find(a, str_n(longest, ACCOUNT_TOKEN_MAX + 1)));
    /* Tokens with one label are still two accounts. */
    fixed(a, "bob-11111", ACCOUNT_USER);
    fixed(a, "bob-22222", ACCOUNT_USER);
    const struct account *one = accounts_find(a, STR("bob-11111"))->account;
    const struct account *two = accounts_find(a, STR("bob-22222"))->account;
    assert_ptr_not_equal(one, two);
    assert_memory_equal(one->id, "bob-", 4);
    assert_true(account_id_is_valid(str_of(one->id)));
    /* A label that cannot be a name is not shown. */
    fixed(a, "B/b-33333", ACCOUNT_USER);
    assert_memory_equal(accounts_find(a, STR("B/b-33333"))->account->id, "user-", 5);
    assert_int_equal(accounts_add_fixed(a, STR("operator-token"), ACCOUNT_SYSTEM, "system", NULL),
                     0);
    assert_string_equal(accounts_find(a, STR("operator-token"))->account->id, "system");
}

static void the_life_of_a_key(void **state)
{
    struct accounts *a = *state;
    char secret[ACCOUNT_SECRET_LEN + 1];
    const struct account_new args = {
        .account = STR("alice"), .label = STR("laptop"), .limits = {-1, 4, 0}};
    struct account_new with_secret = args;

    account_secret_random(secret);
    assert_int_equal(strlen(secret), ACCOUNT_SECRET_LEN);
    assert_memory_equal(secret, "e2b_", 4);
    with_secret.secret = str_of(secret);
    struct account_key *k = accounts_prepare(a, &with_secret, NULL);
    assert_non_null(k);
    assert_null(accounts_find(a, str_of(secret))); /* not yet durable */
    assert_int_equal(accounts_settle(a, account_key_ref(k), -EIO), -EIO);
    assert_null(accounts_find(a, str_of(secret)));
    assert_int_equal(accounts_settle(a, k, 0), 0);
    assert_ptr_equal(accounts_find(a, str_of(secret)), k);
    assert_ptr_equal(accounts_by_id(a, str_of(k->id)), k);
    assert_string_equal(k->account->id, "alice");
    assert_string_equal(k->label, "laptop");
    assert_string_equal(k->hint, secret + ACCOUNT_SECRET_LEN - 4);
    assert_int_equal(k->limits.max_live, 9); /* the default */
    assert_int_equal(k->limits.max_creates, 4);
    assert_int_equal(k->limits.max_rps, 0); /* its own: no limit */
    assert_int_equal(accounts_n_valid(a), 1);

    /* Who holds a reference can go on after the end of the key. */
    (void)account_key_ref(k);
    accounts_revoke(a, k);
    accounts_revoke(a, k);
    assert_null(accounts_find(a, str_of(secret)));
    assert_ptr_equal(accounts_by_id(a, str_of(k->id)), k);
    assert_true(k->revoked_us > 0);
    assert_int_equal(accounts_n_valid(a), 0);
    account_key_unref(k);
}

static void accounts_have_one_role(void **state)
{
    struct accounts *a = *state;
    struct err e = ERR_INIT;
    const struct account_new args = {.secret = STR("e2b_12345"),
                                     .account = STR("alice"),
                                     .role = ACCOUNT_SYSTEM,
                                     .limits = no_own};

    (void)make(a, "e2b_aaaaa", "alice", ACCOUNT_USER);
    assert_null(accounts_prepare(a, &args, &e));
    assert_int_equal(e.code, -EEXIST);
    assert_string_equal(err_text(&e), "account 'alice' has the role user");
    /* Without a name: one account for all system keys, one for each other key. */
    assert_string_equal(make(a, "e2b_bbbbb", "", ACCOUNT_SYSTEM)->account->id, "system");
    assert_string_equal(make(a, "e2b_ccccc", "", ACCOUNT_SYSTEM)->account->id, "system");
    const struct account *one = make(a, "e2b_ddddd", "", ACCOUNT_USER)->account;
    assert_ptr_not_equal(one, make(a, "e2b_eeeee", "", ACCOUNT_USER)->account);
}

static void malformed_fields_are_refused(void **state)
{
    struct accounts *a = *state;
    static const char *const names[] = {"Alice",
                                        "a b",
                                        "-a",
                                        "a-",
                                        "a/b",
                                        "\xc3\xa9",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    char label[ACCOUNT_LABEL_MAX + 1];
    struct account_new args = {.secret = STR("e2b_12345"), .limits = no_own};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err e = ERR_INIT;
        args.account = str_of(names[i]);
        assert_null(accounts_prepare(a, &args, &e));
        assert_int_equal(e.code, -EINVAL);
    }
    memset(label, 'x', sizeof label);
    args.account = STR_NULL;
    args.label = str_n(label, ACCOUNT_LABEL_MAX + 1);
    assert_null(accounts_prepare(a, &args, NULL));
    args.label = STR("a\nb");
    assert_null(accounts_prepare(a, &args, NULL));
    args.label = str_n(label, ACCOUNT_LABEL_MAX);
    struct account_key *k = accounts_prepare(a, &args, NULL);
    assert_non_null(k);
    account_key_unref(k);
}

static void derived_secrets_repeat(void **state)
{
    char a[ACCOUNT_SECRET_LEN + 1], b[ACCOUNT_SECRET_LEN + 1], c[ACCOUNT_SECRET_LEN + 1];

    (void)state;
    account_secret_derive(a, STR("server"), STR("one"));
    account_secret_derive(b, STR("server"), STR("one"));
    account_secret_derive(c, STR("server"), STR("two"));
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    account_secret_derive(c, STR("other"), STR("one"));
    assert_string_not_equal(a, c);
    assert_int_equal(strlen(a), ACCOUNT_SECRET_LEN);
    assert_int_equal(strspn(a + 4, "0123456789abcdef"), ACCOUNT_SECRET_LEN - 4);
}

static void many_keys(void **state)
{
    struct accounts *a = *state;
    char secret[32];

    for (int i = 0; i < 3000; i++) {
        (void)snprintf(secret, sizeof secret, "e2b_%08x", i);
        (void)make(a, secret, i % 2 ? "odd" : "even", ACCOUNT_USER);
    }
    assert_int_equal(accounts_n_valid(a), 3000);
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(secret, sizeof secret, "e2b_%08x", i);
        assert_ptr_equal(accounts_find(a, str_of(secret)), accounts_at(a, (size_t)i));
    }
    assert_null(accounts_at(a, 3000));
}

static struct accounts *reload(struct store *s)
{
    const struct quota_limits none = {0};
    struct accounts *a = accounts_new(&none, NULL);
    struct err e = ERR_INIT;

    assert_non_null(a);
    if (accounts_load(a, s, &e) < 0)
        fail_msg("%s", err_text(&e));
    return a;
}

static int run_tx(struct store *s, struct store_tx *tx)
{
    int r = store_run(s, tx, NULL);

    store_tx_free(tx);
    return r;
}

static void keys_survive_in_the_store(void **state)
{
    struct store *s = fixture_open_with((struct store_opts){0});
    struct accounts *a = reload(s);
    const struct account_new args = {.secret = STR("e2b_" HEX40),
                                     .account = STR("alice"),
                                     .label = STR("laptop"),
                                     .limits = {-1, 4, 0}};
    struct account_key *k = accounts_prepare(a, &args, NULL);
    struct store_tx *tx = store_tx_new();

    (void)state;
    account_tx_create(tx, k, "system");
    assert_int_equal(accounts_settle(a, k, run_tx(s, tx)), 0);
    /* A second key of the same account. */
    k = accounts_prepare(a,
                         &(struct account_new){
                             .secret = STR("e2b_other"), .account = STR("alice"), .limits = no_own},
                         NULL);
    tx = store_tx_new();
    account_tx_create(tx, k, NULL);
    assert_int_equal(accounts_settle(a, k, run_tx(s, tx)), 0);
    accounts_free(a);

    a = reload(s);
    k = accounts_find(a, STR("e2b_" HEX40));
    assert_non_null(k);
    assert_string_equal(k->account->id, "alice");
    assert_string_equal(k->label, "laptop");
    assert_string_equal(k->hint, "2233");
    assert_int_equal(k->own.max_live, -1);
    assert_int_equal(k->own.max_creates, 4);
    assert_int_equal(k->own.max_rps, 0);
    tx = store_tx_new();
    account_tx_revoke(tx, k, "system");
    assert_int_equal(run_tx(s, tx), 0);
    tx = store_tx_new();
    account_tx_revoke(tx, k, "system");
    assert_int_equal(run_tx(s, tx), -ENOENT);
    accounts_free(a);

    a = reload(s);
    assert_null(accounts_find(a, STR("e2b_" HEX40)));
    assert_non_null(accounts_find(a, STR("e2b_other")));
    assert_int_equal(accounts_n_valid(a), 1);
    accounts_free(a);
    /* Two keys made, one ended: three events. */
    tx = store_tx_new();
    store_tx_add(tx, STORE_EVENT_COUNT);
    assert_int_equal(store_run(s, tx, NULL), 0);
    assert_int_equal(store_tx_row(tx, 0, 0).cols[0].i, 3);
    store_tx_free(tx);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tokens_that_are_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(aliases_need_32_digits_and_one_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(fixed_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(the_life_of_a_key, setup, teardown),
        cmocka_unit_test_setup_teardown(accounts_have_one_role, setup, teardown),
        cmocka_unit_test_setup_teardown(malformed_fields_are_refused, setup, teardown),
        cmocka_unit_test(derived_secrets_repeat),
        cmocka_unit_test_setup_teardown(many_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_survive_in_the_store, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
