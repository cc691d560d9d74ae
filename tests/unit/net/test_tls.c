/* SPDX-License-Identifier: MIT */
/* TLS streams and the HTTP server behind TLS, with certificates made here. */
#include "http_world.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "net/tls.h"

/* ---- certificates ---- */

struct identity {
    char cert[64], key[64]; /* files */
};

static struct identity localhost, other;
static char dir[] = "/tmp/test_tls.XXXXXX";

static void add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

    assert_non_null(x);
    assert_int_equal(X509_add_ext(cert, x, -1), 1);
    X509_EXTENSION_free(x);
}

static X509 *make_cert(EVP_PKEY *key, const char *name, const char *alt_names)
{
    X509 *cert = X509_new();

    assert_non_null(cert);
    (void)X509_set_version(cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    (void)X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                     (const unsigned char *)name, -1, -1, 0);
    (void)X509_set_issuer_name(cert, X509_get_subject_name(cert));
    (void)X509_set_pubkey(cert, key);
    add_extension(cert, NID_subject_alt_name, alt_names);
    add_extension(cert, NID_basic_constraints, "critical,CA:TRUE");
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    return cert;
}

static void make_identity(struct identity *id, const char *name, const char *alt_names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = make_cert(key, name, alt_names);

    (void)snprintf(id->cert, sizeof id->cert, "%s/%s.crt", dir, name);
    (void)snprintf(id->key, sizeof id->key, "%s/%s.key", dir, name);
    FILE *f = fopen(id->cert, "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_X509(f, cert), 1);
    (void)fclose(f);
    f = fopen(id->key, "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
    (void)fclose(f);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static int make_identities(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    make_identity(&localhost, "localhost", "DNS:localhost,IP:127.0.0.1");
    make_identity(&other, "other.example", "DNS:other.example");
    return 0;
}

static int remove_identities(void **state)
{
    (void)state;
    (void)unlink(localhost.cert);
    (void)unlink(localhost.key);
    (void)unlink(other.cert);
    (void)unlink(other.key);
    (void)rmdir(dir);
    return 0;
}

/* ---- a client that is a stream ---- */

struct client {
    struct stream *stream; /* NULL once closed */
    struct buf in;
    bool is_eof;
    int reason;
};

static struct client client;
static struct tls_ctx *server_ctx;

static ssize_t client_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    (void)s;
    (void)ctx;
    (void)buf_add(&client.in, p, len);
    return (ssize_t)len;
}

static void client_eof(struct stream *s, void *ctx)
{
    (void)ctx;
    client.is_eof = true;
    stream_close(s);
}

static void client_close(struct stream *s, void *ctx, int reason)
{
    (void)s;
    (void)ctx;
    client.stream = NULL;
    client.reason = reason;
}

static const struct stream_ops client_ops = {
    .on_data = client_data, .on_eof = client_eof, .on_close = client_close};

static void spin(void)
{
    for (int i = 0; i < 10; i++)
        turn();
}

static int setup_tls(void **state)
{
    (void)world_setup(state);
    server_ctx = tls_ctx_server(localhost.cert, localhost.key, NULL);
    assert_non_null(server_ctx);
    world.opts.tls = server_ctx;
    restart_server();
    client = (struct client){.reason = 0};
    buf_init(&client.in, 16 << 20);
    return 0;
}

static int teardown_tls(void **state)
{
    if (client.stream)
        stream_close(client.stream);
    spin();
    buf_done(&client.in);
    (void)world_teardown(state);
    tls_ctx_free(server_ctx);
    return 0;
}

static void dial(const char *ca_file, const char *name)
{
    struct tls_ctx *ctx = tls_ctx_client(ca_file, NULL);
    int fds[2];

    assert_non_null(ctx);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    http_server_adopt(world.server, fds[0]);
    const struct stream_opts opts = {
        .loop = world.loop, .ops = &client_ops, .tls = ctx, .is_client = true, .sni = name};
    client.stream = stream_new(fds[1], &opts, NULL);
    assert_non_null(client.stream);
    tls_ctx_free(ctx);
    spin();
}

static void ask(const char *text)
{
    if (client.stream)
        (void)stream_write(client.stream, text, strlen(text));
    spin();
}

/* ---- tests ---- */

static void answer_if_tls(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_reply(r, 200, "text/plain", r->is_tls ? STR("safe") : STR("open"));
}

static void requests_over_tls(void **state)
{
    (void)state;
    world.handler = answer_if_tls;
    dial(localhost.cert, "localhost");
    assert_true(stream_is_ready(client.stream) && stream_is_tls(client.stream));
    for (int i = 0; i < 10; i++) {
        ask(GET("/"));
        assert_str(body_of(buf_str(&client.in)), "safe");
        buf_clear(&client.in);
    }
}

static void an_address_can_be_verified(void **state)
{
    (void)state;
    world.handler = answer_if_tls;
    dial(localhost.cert, "127.0.0.1");
    ask(GET("/"));
    assert_str(body_of(buf_str(&client.in)), "safe");
}

static void a_request_may_be_written_before_the_handshake(void **state)
{
    struct tls_ctx *ctx = tls_ctx_client(localhost.cert, NULL);
    int fds[2];

    (void)state;
    world.handler = answer_if_tls;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    http_server_adopt(world.server, fds[0]);
    const struct stream_opts opts = {
        .loop = world.loop, .ops = &client_ops, .tls = ctx, .is_client = true, .sni = "localhost"};
    client.stream = stream_new(fds[1], &opts, NULL);
    ask(GET("/"));
    assert_str(body_of(buf_str(&client.in)), "safe");
    tls_ctx_free(ctx);
}

static void large_bodies_over_tls(void **state)
{
    static char large[1 << 20];

    (void)state;
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (char)('a' + i % 26);
    world.handler = echo_body;
    dial(localhost.cert, "localhost");
    ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n");
    (void)stream_write(client.stream, large, sizeof large);
    for (int i = 0; i < 50 && client.in.len < sizeof large; i++)
        spin();
    struct str body = body_of(buf_str(&client.in));
    assert_int_equal(body.len, sizeof large);
    assert_memory_equal(body.p, large, sizeof large);
}

static void a_closing_server_says_goodbye(void **state)
{
    (void)state;
    world.handler = answer_if_tls;
    dial(localhost.cert, "localhost");
    ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_str(body_of(buf_str(&client.in)), "safe");
    assert_true(client.is_eof);
    assert_null(client.stream);
    assert_int_equal(client.reason, 0);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

static void a_cut_connection_is_not_an_end(void **state)
{
    (void)state;
    world.handler = hold;
    dial(localhost.cert, "localhost");
    ask(GET("/"));
    http_abort(take(world.held));
    spin();
    assert_false(client.is_eof);
    assert_true(client.reason < 0);
}

static void another_name_is_refused(void **state)
{
    (void)state;
    world.handler = answer_if_tls;
    dial(localhost.cert, "other.example");
    assert_null(client.stream);
    assert_int_equal(client.reason, -EPROTO);
    assert_int_equal(world.n_handled, 0);
}

static void an_unknown_authority_is_refused(void **state)
{
    (void)state;
    dial(other.cert, "localhost");
    assert_null(client.stream);
    assert_int_equal(client.reason, -EPROTO);
}

static void a_client_must_know_whom_it_asks(void **state)
{
    struct tls_ctx *ctx = tls_ctx_client(localhost.cert, NULL);
    struct err e = ERR_INIT;
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    const struct stream_opts opts = {
        .loop = world.loop, .ops = &client_ops, .tls = ctx, .is_client = true};
    assert_null(stream_new(fds[0], &opts, &e));
    (void)close(fds[1]);
    tls_ctx_free(ctx);
}

static struct tls_ctx *choose(const char *name, void *arg)
{
    return name && strcmp(name, "other.example") == 0 ? tls_ctx_ref(arg) : NULL;
}

static void the_certificate_follows_the_name(void **state)
{
    struct tls_ctx *second = tls_ctx_server(other.cert, other.key, NULL);

    (void)state;
    assert_non_null(second);
    tls_ctx_on_name(server_ctx, choose, second);
    world.handler = answer_if_tls;
    dial(other.cert, "other.example");
    ask(GET("/"));
    assert_str(body_of(buf_str(&client.in)), "safe");
    stream_close(client.stream);
    buf_clear(&client.in);
    dial(localhost.cert, "localhost");
    ask(GET("/"));
    assert_str(body_of(buf_str(&client.in)), "safe");
    tls_ctx_free(second);
}

static void plain_text_on_a_tls_port_is_dropped(void **state)
{
    (void)state;
    connect_client(0);
    say(0, GET("/"));
    assert_true(hear(0));
    assert_int_equal(world.n_handled, 0);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

static void a_slow_handshake_is_cut_off(void **state)
{
    (void)state;
    connect_client(0);
    pass_ms(10001);
    assert_true(hear(0));
    dial(localhost.cert, "localhost");
    pass_ms(10001); /* over, and no request yet: now it is idle */
    assert_non_null(client.stream);
    pass_ms(75001);
    spin();
    assert_null(client.stream);
}

static void bad_files_are_named(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    assert_null(tls_ctx_server("/nonexistent.crt", localhost.key, &e));
    assert_non_null(strstr(err_text(&e), "/nonexistent.crt"));
    assert_null(tls_ctx_server(localhost.cert, other.key, &e));
    assert_non_null(strstr(err_text(&e), other.key));
    assert_null(tls_ctx_client("/nonexistent.pem", &e));
}

#define TLS_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_tls, teardown_tls)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TLS_TEST(requests_over_tls),
        TLS_TEST(an_address_can_be_verified),
        TLS_TEST(a_request_may_be_written_before_the_handshake),
        TLS_TEST(large_bodies_over_tls),
        TLS_TEST(a_closing_server_says_goodbye),
        TLS_TEST(a_cut_connection_is_not_an_end),
        TLS_TEST(another_name_is_refused),
        TLS_TEST(an_unknown_authority_is_refused),
        TLS_TEST(a_client_must_know_whom_it_asks),
        TLS_TEST(the_certificate_follows_the_name),
        TLS_TEST(plain_text_on_a_tls_port_is_dropped),
        TLS_TEST(a_slow_handshake_is_cut_off),
        TLS_TEST(bad_files_are_named),
    };

    return cmocka_run_group_tests(tests, make_identities, remove_identities);
}
