/* SPDX-License-Identifier: MIT */
/* Settings: every row of the table from every source, precedence, types, ranges, messages. */
#include "../check.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/log.h"
#include "core/config.h"
#include "sys/io.h"

static char dir[64], file[96];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/tidepool-test-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(file, sizeof file, "%s/tidepool.yaml", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(file);
    return rmdir(dir);
}

/* One load: a flag "key=value", variables, and a file's text; each may be NULL. */
struct sources {
    const char *flag;
    const char *env[4];
    const char *text;
};

static int load(struct config *c, const struct sources *s, struct err *e)
{
    struct config_flag flags[3] = {{config_find(STR("state")), dir}};
    struct config_args args = {.flags = flags, .n_flags = 1, .home = "/srv/me"};
    struct str flag = str_of(s->flag);

    args.env = (char *const *)(uintptr_t)s->env;
    args.no_search = true;
    if (s->text) {
        assert_int_equal(io_write_file(file, str_of(s->text), 0600, NULL), 0);
        flags[args.n_flags++] = (struct config_flag){config_find(STR("config")), file};
    }
    if (s->flag) {
        struct str key = str_cut(&flag, '=');
        flags[args.n_flags++] = (struct config_flag){config_find(key), flag.p};
        assert_non_null(flags[args.n_flags - 1].option);
    }
    return config_load(c, &args, e);
}

static const char *source(const struct config *c, const char *key)
{
    return c->sources[config_find(str_of(key)) - config_options];
}

/* ---- the table itself ---- */

static void the_table_is_regular(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        char name[128];
        int n = snprintf(name, sizeof name, "TIDEPOOL_%s", o->key);
        for (int k = 0; k < n; k++)
            name[k] = name[k] == '.' ? '_' : (char)toupper((unsigned char)name[k]);
        assert_string_equal(o->env, name);
        assert_non_null(o->help);
        assert_ptr_equal(config_find(str_of(o->key)), o);
        assert_true(o->def || o->sample || strcmp(o->key, "state") == 0 || o->not_in_file);
        assert_true(!o->is_secret || !o->flag);
        assert_int_equal(o->type == CONFIG_ENUM, o->choices != NULL);
        assert_true(!o->flag || o->arg);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(config_options[k].key, o->key);
            if (o->flag && config_options[k].flag)
                assert_string_not_equal(config_options[k].flag, o->flag);
            if (o->foreign && config_options[k].foreign)
                assert_string_not_equal(config_options[k].foreign, o->foreign);
        }
    }
    for (int i = 0; i < LOG_LEVEL_COUNT; i++)
        assert_string_equal(config_log_levels[i], log_level_name((enum log_level)i));
    assert_null(config_find(STR("tls")));
    assert_null(config_find(STR("")));
}

static void defaults_are_those_of_the_manual(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(load(&c, &(struct sources){0}, &e), 0);
    assert_string_equal(c.listen, "127.0.0.1:10000");
    assert_string_equal(c.state, dir);
    assert_string_equal(source(&c, "state"), "flag --state");
    assert_null(c.config);
    assert_int_equal(c.log_level, LOG_INFO);
    assert_null(c.system_token);
    assert_int_equal(c.api_tokens.n, 0);
    assert_null(c.tls.cert);
    assert_int_equal(c.limits.max_body, 64 << 20);
    assert_int_equal(c.timeouts.idle, 640000);
    assert_true(c.quota.enabled);
    assert_int_equal(c.quota.max_creates, 0);
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        if (strcmp(config_options[i].key, "state") != 0)
            assert_string_equal(c.sources[i], "default");
}

static void the_state_directory_depends_on_the_user(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;
    struct config_args args = {.no_search = true, .home = "/srv/me"};

    (void)state;
    assert_int_equal(config_load(&c, &args, &e), 0);
    assert_string_equal(c.state, geteuid() ? "/srv/me/.local/state/tidepool" : "/var/lib/tidepool");
    assert_string_equal(source(&c, "state"), "default");
    config_done(&c);
    if (geteuid() == 0)
        return;
    args.home = NULL;
    assert_int_equal(config_load(&c, &args, &e), -EINVAL);
}

/* ---- every row, from every source ---- */

/* A value that O takes but that is not its default, and how it prints. */
static void good_value(const struct config_option *o, struct buf *text, struct buf *shown)
{
    static const char *const fixed[CONFIG_TYPE_COUNT] = {
        [CONFIG_STRING] = "another-value-of-it", [CONFIG_PATH] = "/other/path",
        [CONFIG_ADDRESS] = "10.0.0.1:80",        [CONFIG_BOOL] = "false",
        [CONFIG_LIST] = "first,second",          [CONFIG_MAP] = "{\"a\":{\"command\":\"b\"}}",
    };
    const char *unit = o->type == CONFIG_DURATION ? "ms" : o->type == CONFIG_SIZE ? "B" : "";
    const char *value = fixed[o->type]; /* or the last choice */

    for (size_t i = 0; o->choices && o->choices[i]; i++)
        value = o->choices[i];
    if (value) {
        (void)buf_add_str(text, str_of(value));
        (void)buf_add_str(shown, str_of(o->is_secret ? "set" : value));
        return;
    }
    (void)buf_printf(text, "%" PRId64 "%s", o->min + 1, unit);
    (void)buf_printf(shown, "%s", buf_cstr(text));
}

static void add_row(struct buf *out, const char *key, const char *value)
{
    struct str rest = str_of(key);
    struct str head = str_cut(&rest, '.');

    if (rest.p)
        (void)buf_printf(out, STR_FMT ":\n  " STR_FMT ": %s\n", STR_ARG(head), STR_ARG(rest),
                         value);
    else
        (void)buf_printf(out, "%s: %s\n", key, value);
}

static void add_yaml(struct buf *out, const struct config_option *o, const char *value)
{
    char list[64];

    (void)snprintf(list, sizeof list, "[%s]", value);
    add_row(out, o->key, o->type == CONFIG_LIST ? list : value);
    if (strcmp(o->key, "tls.cert") == 0)
        (void)buf_add_lit(out, "  key: /k\n");
    if (strcmp(o->key, "tls.key") == 0)
        (void)buf_add_lit(out, "  cert: /c\n");
}

/* Loads S and compares what the option became. */
static void check_loaded(const struct config_option *o, const struct sources *s, const char *shown,
                         const char *from)
{
    struct config c auto_(config_done) = {0};
    struct buf out auto_buf = BUF_INIT(4096);
    struct err e = ERR_INIT;

    if (load(&c, s, &e) < 0)
        fail_msg("%s: %s", o->key, e.text);
    assert_int_equal(config_print(&out, &c, o), 0);
    assert_string_equal(buf_cstr(&out), shown);
    assert_true(str_starts(str_of(source(&c, o->key)), str_of(from)));
}

static void every_row_is_read_from_every_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        struct buf text auto_buf = BUF_INIT(256), shown auto_buf = BUF_INIT(256),
                        line auto_buf = BUF_INIT(512);
        /* Makes either half of TLS complete. */
        const char *pair = strcmp(o->key, "tls.cert") == 0  ? "TIDEPOOL_TLS_KEY=/k"
                           : strcmp(o->key, "tls.key") == 0 ? "TIDEPOOL_TLS_CERT=/c"
                                                            : "X=";
        if (o->not_in_file || strcmp(o->key, "state") == 0)
            continue;
        good_value(o, &text, &shown);
        add_yaml(&line, o, buf_cstr(&text));
        check_loaded(o, &(struct sources){.text = buf_cstr(&line)}, buf_cstr(&shown), "file /tmp/");
        buf_clear(&line);
        (void)buf_printf(&line, "%s=%s", o->env, buf_cstr(&text));
        check_loaded(o, &(struct sources){.env = {buf_cstr(&line), pair}}, buf_cstr(&shown),
                     "environment TIDEPOOL_");
        buf_clear(&line);
        if (o->foreign) {
            (void)buf_printf(&line, "%s=%s", o->foreign, buf_cstr(&text));
            check_loaded(o, &(struct sources){.env = {buf_cstr(&line)}}, buf_cstr(&shown),
                         "environment ");
        }
        buf_clear(&line);
        if (o->flag) {
            (void)buf_printf(&line, "%s=%s", o->key, buf_cstr(&text));
            check_loaded(o, &(struct sources){.flag = buf_cstr(&line), .env = {pair}},
                         buf_cstr(&shown), "flag --");
        }
    }
}

/* A value of the wrong type, in a file and as text. */
static const struct {
    const char *file, *text;
} wrong[CONFIG_TYPE_COUNT] = {
    [CONFIG_STRING] = {"[1]", "a\x01z"},     [CONFIG_PATH] = {"12", "a\x7f"},
    [CONFIG_ADDRESS] = {"true", "nowhere"},  [CONFIG_INT] = {"'12'", "12x"},
    [CONFIG_BOOL] = {"'maybe'", "maybe"},    [CONFIG_DURATION] = {"30", "30"},
    [CONFIG_SIZE] = {"12parsec", "1.5MiB"},  [CONFIG_ENUM] = {"7", "loud"},
    [CONFIG_LIST] = {"{a: b}", "ok-item,x"}, [CONFIG_MAP] = {"{a: {}}", "[]"},
};

static void every_row_refuses_the_wrong_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        struct buf text auto_buf = BUF_INIT(512);
        struct config c;
        struct err e = ERR_INIT;
        if (o->not_in_file || strcmp(o->key, "state") == 0)
            continue;
        (void)buf_printf(&text, "# first line\n");
        add_row(&text, o->key, wrong[o->type].file);
        assert_int_equal(load(&c, &(struct sources){.text = buf_cstr(&text)}, &e), -EINVAL);
        assert_non_null(
            strstr(e.text, strchr(o->key, '.') ? "tidepool.yaml:3: " : "tidepool.yaml:2: "));
        assert_non_null(strstr(e.text, o->key));
        buf_clear(&text);
        (void)buf_printf(&text, "%s=%s", o->env, wrong[o->type].text);
        assert_int_equal(load(&c, &(struct sources){.env = {buf_cstr(&text)}}, &e), -EINVAL);
        assert_true(str_starts(str_of(e.text), STR("environment TIDEPOOL_")));
    }
}

static int load_number(const struct config_option *o, int64_t v, struct config *c, struct err *e)
{
    char text[128];

    (void)snprintf(text, sizeof text, "%s=%" PRId64 "%s", o->env, v,
                   o->type == CONFIG_DURATION ? "ms" : "");
    return load(c, &(struct sources){.env = {text}}, e);
}

static void ranges_hold_at_the_limit_and_one_past_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        struct err e = ERR_INIT;
        struct config c;
        if (o->type != CONFIG_INT && o->type != CONFIG_DURATION && o->type != CONFIG_SIZE)
            continue;
        assert_true(o->min < o->max);
        assert_int_equal(load_number(o, o->min, &c, &e), 0);
        assert_int_equal(*(int64_t *)(void *)((char *)&c + o->offset), o->min);
        config_done(&c);
        assert_int_equal(load_number(o, o->max, &c, &e), 0);
        assert_int_equal(*(int64_t *)(void *)((char *)&c + o->offset), o->max);
        config_done(&c);
        assert_int_equal(load_number(o, o->max + 1, &c, &e), -EINVAL);
        assert_non_null(strstr(e.text, "out of range: must be from "));
        assert_int_equal(load_number(o, o->min - 1, &c, &e), -EINVAL);
    }
}

/* ---- values ---- */

static const struct {
    const char *key, *text;
    const char *shown; /* NULL: refused */
} values[] = {
    {"listen", "0.0.0.0:80", "0.0.0.0:80"},
    {"listen", ":10000", "0.0.0.0:10000"},
    {"listen", "localhost:0", "localhost:0"},
    {"listen", "unix:/run/t.sock", "unix:/run/t.sock"},
    {"listen", "127.0.0.1:65535", "127.0.0.1:65535"},
    {"listen", "127.0.0.1:65536", NULL},
    {"listen", "127.0.0.1", NULL},
    {"listen", "127.0.0.1:", NULL},
    {"listen", "127.0.0.1:http", NULL},
    {"listen", "[::1]:80", "[::1]:80"},
    {"listen", "::1:80", NULL},
    {"listen", "[]:80", NULL},
    {"listen", "a b:80", NULL},
    {"listen", "unix:", NULL},
    {"log_level", "WARN", "warn"},
    {"log_level", "warning", NULL},
    {"quota.enabled", "Yes", "true"},
    {"quota.enabled", "0", "false"},
    {"quota.enabled", "off", "false"},
    {"timeouts.idle", "90s", "90s"},
    {"timeouts.idle", "120s", "2m"},
    {"timeouts.idle", "1500ms", "1500ms"},
    {"timeouts.idle", "24h", "1d"},
    {"timeouts.idle", "2 m", "2m"},
    {"timeouts.idle", "m", NULL},
    {"timeouts.idle", "-1s", NULL},
    {"timeouts.idle", "1.5s", NULL},
    {"timeouts.idle", "1 week", NULL},
    {"timeouts.idle", "99999999999999999999s", NULL},
    {"timeouts.idle", "9223372036854775807d", NULL},
    {"timeouts.shutdown", "0", "0ms"},
    {"limits.max_body", "1MB", "1000000B"},
    {"limits.max_body", "2048", "2KiB"},
    {"limits.max_body", "3GiB", "3GiB"},
    {"limits.max_body", "99999999999TiB", NULL},
    {"limits.max_body", "1Mb", NULL},
    {"io_threads", "-1", NULL},
    {"io_threads", "99999999999999999999", NULL},
    {"io_threads", "-99999999999999999999", NULL},
    {"tls.cert", "~/c.pem", "/srv/me/c.pem"},
    {"tls.cert", "c.pem", "c.pem"},
    {"domain", "\xff", NULL},
    {"system_token", "12345", "set"},
    {"system_token", "1234", NULL},
    {"api_tokens", " first , ,second,", "set"},
    {"api_tokens", "first,1234", NULL},
    {"api_tokens", ",", ""},
};

static void values_are_read_and_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const struct config_option *o = config_find(str_of(values[i].key));
        struct config c auto_(config_done) = {0};
        struct buf out auto_buf = BUF_INIT(256);
        struct err e = ERR_INIT;
        char text[160];
        (void)snprintf(text, sizeof text, "%s=%s", o->env, values[i].text);
        const struct sources s = {.env = {text, o->offset == offsetof(struct config, tls.cert)
                                                    ? "TIDEPOOL_TLS_KEY=/k"
                                                    : NULL}};
        int r = load(&c, &s, &e);
        if ((r == 0) != (values[i].shown != NULL))
            fail_msg("%s: %s", text, r ? e.text : "was accepted");
        if (r < 0)
            continue;
        assert_int_equal(config_print(&out, &c, o), 0);
        assert_string_equal(out.len ? buf_cstr(&out) : "", values[i].shown);
    }
}

static void lists_keep_their_items(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(
        load(&c, &(struct sources){.env = {"API_TOKENS_RAW=first, second,,third"}}, &e), 0);
    assert_int_equal(c.api_tokens.n, 3);
    assert_string_equal(c.api_tokens.items[1], "second");
    config_done(&c);
    assert_int_equal(
        load(&c, &(struct sources){.text = "api_tokens:\n  - first\n  - 'has,comma'"}, &e), 0);
    assert_int_equal(c.api_tokens.n, 2);
    assert_string_equal(c.api_tokens.items[1], "has,comma");
}

static void a_list_has_a_maximum(void **state)
{
    struct buf text auto_buf = BUF_INIT(65536);
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;

    (void)state;
    (void)buf_add_lit(&text, "API_TOKENS_RAW=");
    for (int i = 0; i < 1000; i++)
        (void)buf_printf(&text, "token-%d,", i);
    assert_int_equal(load(&c, &(struct sources){.env = {buf_cstr(&text)}}, &e), 0);
    assert_int_equal(c.api_tokens.n, 1000);
    config_done(&c);
    (void)buf_add_lit(&text, "one-more");
    assert_int_equal(load(&c, &(struct sources){.env = {buf_cstr(&text)}}, &e), -EINVAL);
    assert_non_null(strstr(e.text, "more than 1000 items"));
}

static void secrets_do_not_get_into_messages(void **state)
{
    static const struct sources rows[] = {
        {.env = {"TIDEPOOL_API_TOKENS=good-one,psst"}},
        {.env = {"SYSTEM_TOKEN=psst"}},
        {.text = "system_token: psst"},
        {.text = "system_token: [psst]"},
        {.text = "api_tokens: [good-one, psst]"},
        {.text = "api_tokens: [good-one, {psst: psst}]"},
    };
    struct config c;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = ERR_INIT;
        assert_int_equal(load(&c, &rows[i], &e), -EINVAL);
        assert_null(strstr(e.text, "psst"));
    }
}

static void json_has_plain_numbers_and_no_secrets(void **state)
{
    struct config c auto_(config_done) = {0};
    struct buf out auto_buf = BUF_INIT(65536);
    struct jw w = jw_to(&out);
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(load(&c, &(struct sources){.env = {"SYSTEM_TOKEN=psst-psst"}}, &e), 0);
    jw_object(&w);
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        jw_key(&w, config_options[i].key);
        config_write_json(&w, &c, &config_options[i]);
    }
    jw_end(&w);
    assert_non_null(buf_cstr(&out));
    assert_null(strstr(buf_cstr(&out), "psst"));
    assert_non_null(strstr(buf_cstr(&out), "\"system_token\":\"set\",\"api_tokens\":null"));
    assert_non_null(strstr(buf_cstr(&out), "\"timeouts.head\":10000"));
    assert_non_null(strstr(buf_cstr(&out), "\"limits.max_body\":67108864"));
    assert_non_null(strstr(buf_cstr(&out), "\"quota.enabled\":true"));
    assert_non_null(strstr(buf_cstr(&out), "\"log_level\":\"info\""));
}

/* ---- precedence ---- */

static void stronger_sources_go_before_weaker(void **state)
{
    struct sources s = {.flag = "domain=flag",
                        .env = {"E2B_DOMAIN=foreign", "TIDEPOOL_DOMAIN=own"},
                        .text = "domain: file"};
    const char *const expected[] = {"flag", "own", "foreign", "file", "localhost"};
    const char *const from[] = {"flag --domain", "environment TIDEPOOL_DOMAIN",
                                "environment E2B_DOMAIN", NULL, "default"};

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct config c auto_(config_done) = {0};
        struct err e = ERR_INIT;
        char in_file[128];
        assert_int_equal(load(&c, &s, &e), 0);
        assert_string_equal(c.domain, expected[i]);
        (void)snprintf(in_file, sizeof in_file, "file %s:1", file);
        assert_string_equal(source(&c, "domain"), from[i] ? from[i] : in_file);
        /* Take the strongest away. */
        if (i == 0)
            s.flag = NULL;
        else if (i == 1)
            s.env[1] = NULL;
        else if (i == 2)
            s.env[0] = NULL;
        else
            s.text = NULL;
    }
}

static void of_repeated_flags_the_last_counts(void **state)
{
    const struct config_option *o = config_find(STR("domain"));
    const struct config_flag flags[] = {{o, "one"}, {o, "two"}};
    const struct config_args args = {.flags = flags, .n_flags = 2, .home = "/", .no_search = true};
    struct config c auto_(config_done) = {0};

    (void)state;
    assert_int_equal(config_load(&c, &args, NULL), 0);
    assert_string_equal(c.domain, "two");
}

static void empty_and_overruled_variables_do_not_count(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(load(&c, &(struct sources){.env = {"TIDEPOOL_LISTEN=", "SERVER_ADDR="}}, &e),
                     0);
    assert_string_equal(source(&c, "listen"), "default");
    config_done(&c);
    /* Somebody else's LOG_LEVEL is an error unless ours is there. */
    assert_int_equal(load(&c, &(struct sources){.env = {"LOG_LEVEL=trace"}}, &e), -EINVAL);
    assert_string_equal(e.text, "environment LOG_LEVEL: expected one of debug, info, warn, error, "
                                "got 'trace'");
    assert_int_equal(
        load(&c, &(struct sources){.env = {"LOG_LEVEL=trace", "TIDEPOOL_LOG_LEVEL=debug"}}, &e), 0);
    config_done(&c);
    /* A mistake in the file is one even when a flag overrules it. */
    assert_int_equal(load(&c, &(struct sources){.flag = "listen=:1", .text = "listen: 5"}, &e),
                     -EINVAL);
}

/* ---- the file ---- */

static const struct {
    const char *text, *error; /* behind the path */
} mistakes[] = {
    {"listen: :1\nlissten: x\n", ":2: unknown key 'lissten' (did you mean 'listen'?)"},
    {"tls:\n  crt: x\n", ":2: unknown key 'tls.crt' (did you mean 'tls.cert'?)"},
    {"cert: x\n", ":1: unknown key 'cert'"},
    {"\n\nzzzzzzzz: 1\n", ":3: unknown key 'zzzzzzzz'"},
    {"config: /x\n", ":1: cannot be set in a file: 'config'"},
    {"tls: 5\n", ":1: unknown key 'tls'"},
    {"tls:\n  cert:\n    deep: 1\n", ":2: tls.cert: expected a path, got object"},
    {"tls.cert: /x\ntls.key: /y\n", NULL}, /* the dotted form is a key as well */
    {"tls:\n", NULL},
    {"tls: {}\n", NULL},
    {"", NULL},
    {"# nothing\n", NULL},
    {"- listen\n", ":1: expected a mapping of keys to values, got array"},
    {"listen\n", ":1: expected a mapping of keys to values, got string"},
    {"listen:\n", ":1: listen: expected an address, got null"},
    {"domain: ''\n", ":1: domain: is empty"},
    {"domain: \"a\\0b\"\n", ":1: domain: contains a control character"},
    {"io_threads: 65\n", ":1: io_threads: out of range: must be from 0 to 64"},
    {"timeouts:\n  head: 5\n",
     ":2: timeouts.head: expected a duration with its unit such as 250ms, 30s, 5m, 2h or 7d, "
     "got '5'"},
    {"timeouts:\n  head: 2h\n", ":2: timeouts.head: out of range: must be from 100ms to 1h"},
    {"limits:\n  max_head: 1KiB\n", ":2: limits.max_head: out of range: must be from 4KiB to 1MiB"},
    {"quota:\n  enabled: yes\n", ":2: quota.enabled: expected true or false, got string"},
    {"api_tokens: [good-one, 5]\n", ":1: api_tokens: item 2: expected a string, got integer"},
    {"domain: a\ndomain: b\n", ":2: duplicate key 'domain'"},
    {"domain: [a\n", ":2: "},
};

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        struct config c auto_(config_done) = {0};
        struct err e = ERR_INIT;
        int r = load(&c, &(struct sources){.text = mistakes[i].text}, &e);
        if (!mistakes[i].error) {
            if (r < 0)
                fail_msg("%s", e.text);
            continue;
        }
        assert_int_equal(r, -EINVAL);
        assert_true(str_starts(str_of(e.text), str_of(file)));
        if (!str_starts(str_of(e.text + strlen(file)), str_of(mistakes[i].error)))
            fail_msg("%s\n%s", mistakes[i].text, e.text);
    }
}

static void half_of_tls_is_an_error(void **state)
{
    struct config c;
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(load(&c, &(struct sources){.text = "tls:\n  cert: /c\n"}, &e), -EINVAL);
    assert_non_null(strstr(e.text, "tidepool.yaml:2: tls.cert needs tls.key as well"));
    assert_int_equal(load(&c, &(struct sources){.env = {"TIDEPOOL_TLS_KEY=/k"}}, &e), -EINVAL);
    assert_string_equal(e.text, "environment TIDEPOOL_TLS_KEY: tls.key needs tls.cert as well");
}

static void relative_paths_are_beside_the_file(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;
    char path[128];

    (void)state;
    assert_int_equal(load(&c, &(struct sources){.text = "tls: {cert: c.pem, key: ~/k.pem}"}, &e),
                     0);
    (void)snprintf(path, sizeof path, "%s/c.pem", dir);
    assert_string_equal(c.tls.cert, path);
    assert_string_equal(c.tls.key, "/srv/me/k.pem");
    assert_string_equal(c.config, file);
}

static void the_file_of_the_state_directory_is_found(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;
    const struct config_flag flags[] = {{config_find(STR("state")), dir}};
    const struct config_args args = {.flags = flags, .n_flags = 1, .home = "/"};

    (void)state;
    assert_int_equal(io_write_file(file, STR("domain: found\n"), 0600, NULL), 0);
    assert_int_equal(config_load(&c, &args, &e), 0);
    assert_string_equal(c.domain, "found");
    assert_string_equal(c.config, file);
}

static void a_named_file_must_exist(void **state)
{
    const struct config_flag flags[] = {{config_find(STR("config")), "/nonexistent/x.yaml"}};
    struct config c = {.n_notes = 5};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(
        config_load(&c, &(struct config_args){.flags = flags, .n_flags = 1, .home = "/"}, &e),
        -ENOENT);
    assert_non_null(strstr(e.text, "/nonexistent/x.yaml"));
    /* A failed load leaves nothing behind. */
    assert_int_equal(c.n_notes, 0);
    assert_null(c.listen);
    config_done(&c);
}

static void a_huge_file_is_refused(void **state)
{
    struct buf text auto_buf = BUF_INIT(2 << 20);
    struct config c;
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(buf_reserve(&text, (1 << 20) + 1), 0);
    memset(text.p, '#', (1 << 20) + 1);
    text.len = (1 << 20) + 1;
    assert_int_equal(load(&c, &(struct sources){.text = buf_cstr(&text)}, &e), -ENOBUFS);
}

/* ---- notes ---- */

static void ignored_variables_are_mentioned(void **state)
{
    struct config c auto_(config_done) = {0};
    struct err e = ERR_INIT;
    const struct sources s = {.env = {"ENV_NAME=x", "RATE_LIMIT_BURST=1", "TIDEPOOL_LISTN=y"}};

    (void)state;
    assert_int_equal(load(&c, &s, &e), 0);
    assert_int_equal(c.n_notes, 3);
    assert_string_equal(c.notes[0].name, "ENV_NAME");
    assert_string_equal(c.notes[0].text,
                        "is ignored: nothing depends on the name of the environment");
    assert_string_equal(c.notes[1].name, "RATE_LIMIT_BURST");
    assert_string_equal(c.notes[2].text, "is not a setting (did you mean TIDEPOOL_LISTEN?)");
    config_done(&c);
    assert_int_equal(load(&c, &(struct sources){.env = {"RATE_LIMIT_MAX_SANDBOX=9", "PATH=/"}}, &e),
                     0);
    assert_int_equal(c.quota.max_live, 9);
    assert_int_equal(c.n_notes, 0);
}

static void notes_have_a_maximum(void **state)
{
    struct config c auto_(config_done) = {0};
    char names[80][32];
    char *env[81] = {0};

    (void)state;
    for (int i = 0; i < 80; i++) {
        (void)snprintf(names[i], sizeof names[i], "TIDEPOOL_X%d=1", i);
        env[i] = names[i];
    }
    assert_int_equal(
        config_load(&c, &(struct config_args){.env = env, .home = "/", .no_search = true}, NULL),
        0);
    assert_int_equal(c.n_notes, 64);
}

/* ---- the example ---- */

/* Removes the '#' of settings ("#key:", "#  key:") and leaves prose ("# Prose"). */
static void uncomment(struct buf *out, struct str text)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        bool is_setting = line.len > 1 && line.p[0] == '#' &&
                          (line.p[1] != ' ' || (line.len > 2 && line.p[2] == ' '));
        (void)buf_add_str(out, str_skip(line, is_setting));
        (void)buf_add_char(out, '\n');
    }
}

static void the_example_is_valid_and_complete(void **state)
{
    struct config c auto_(config_done) = {0};
    struct buf example auto_buf = BUF_INIT(65536), text auto_buf = BUF_INIT(65536);
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(config_example(&example), 0);
    assert_int_equal(load(&c, &(struct sources){.text = buf_cstr(&example)}, &e), 0);
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++)
        assert_null(strstr(c.sources[i], "file "));
    config_done(&c);
    uncomment(&text, buf_str(&example));
    if (load(&c, &(struct sources){.text = buf_cstr(&text)}, &e) < 0)
        fail_msg("%s\n%s", e.text, buf_cstr(&text));
    for (size_t i = 0; i < CONFIG_N_OPTIONS; i++) {
        const struct config_option *o = &config_options[i];
        struct buf shown auto_buf = BUF_INIT(256);
        if (o->not_in_file || strcmp(o->key, "state") == 0)
            continue;
        assert_true(str_starts(str_of(c.sources[i]), STR("file ")));
        if (!o->def)
            continue;
        assert_int_equal(config_print(&shown, &c, o), 0);
        assert_string_equal(buf_cstr(&shown), o->def);
    }
}

#ifdef TIDEPOOL_FAULT
static void each_failure_is_survived(enum fault_kind kind, int code)
{
    const struct config_flag flags[] = {{config_find(STR("config")), file},
                                        {config_find(STR("listen")), ":1"}};
    char *env[] = {(char[]){"E2B_DOMAIN=a.example"},
                   (char[]){"TIDEPOOL_API_TOKENS=one-one,two-two"}, (char[]){"ENV_NAME=x"},
                   (char[]){"TIDEPOOL_LISTN=x"}, NULL};
    const struct config_args args = {.flags = flags, .n_flags = 2, .env = env, .home = "/"};
    bool fired = true;

    assert_int_equal(io_write_file(file,
                                   STR("tls: {cert: c.pem, key: k.pem}\nsystem_token: abcdef\n"
                                       "timeouts:\n  head: 5s\n"),
                                   0600, NULL),
                     0);
    for (unsigned n = 1; fired; n++) {
        struct config c;
        struct err e = ERR_INIT;
        fault_arm(kind, n);
        int r = config_load(&c, &args, &e);
        fired = fault_fired(kind);
        fault_arm(kind, 0);
        if (r != (fired ? code : 0))
            fail_msg("fault %u: %d %s", n, r, e.text);
        if (r == 0)
            assert_string_equal(c.listen, "0.0.0.0:1");
        config_done(&c);
    }
}

static void failing_memory_and_files_are_errors(void **state)
{
    (void)state;
    each_failure_is_survived(FAULT_ALLOC, -ENOMEM);
    each_failure_is_survived(FAULT_IO, -EIO);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_regular),
        cmocka_unit_test(defaults_are_those_of_the_manual),
        cmocka_unit_test(the_state_directory_depends_on_the_user),
        cmocka_unit_test(every_row_is_read_from_every_source),
        cmocka_unit_test(every_row_refuses_the_wrong_type),
        cmocka_unit_test(ranges_hold_at_the_limit_and_one_past_it),
        cmocka_unit_test(values_are_read_and_shown),
        cmocka_unit_test(lists_keep_their_items),
        cmocka_unit_test(a_list_has_a_maximum),
        cmocka_unit_test(secrets_do_not_get_into_messages),
        cmocka_unit_test(json_has_plain_numbers_and_no_secrets),
        cmocka_unit_test(stronger_sources_go_before_weaker),
        cmocka_unit_test(of_repeated_flags_the_last_counts),
        cmocka_unit_test(empty_and_overruled_variables_do_not_count),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(half_of_tls_is_an_error),
        cmocka_unit_test(relative_paths_are_beside_the_file),
        cmocka_unit_test(the_file_of_the_state_directory_is_found),
        cmocka_unit_test(a_named_file_must_exist),
        cmocka_unit_test(a_huge_file_is_refused),
        cmocka_unit_test(ignored_variables_are_mentioned),
        cmocka_unit_test(notes_have_a_maximum),
        cmocka_unit_test(the_example_is_valid_and_complete),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(failing_memory_and_files_are_errors),
#endif
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
