/* SPDX-License-Identifier: MIT */
/* TLS by OpenSSL: see tls.h and stream_tls.h.
 *
 * Sockets are read and written through a BIO of our own, because OpenSSL's raises SIGPIPE. */
#include "net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/stream_tls.h"

struct context {
    struct tls_ctx base;
    atomic_uint n_refs;
    SSL_CTX *ssl;
    struct tls_ctx *(*on_name)(const char *name, void *arg);
    void *on_name_arg;
};

struct tls_session {
    SSL *ssl;
    int fd;
    bool is_broken;  /* OpenSSL allows nothing but freeing after a fatal error */
    bool has_looked; /* of a server: at the first byte */
};

static struct context *context_of(struct tls_ctx *t)
{
    return (struct context *)(void *)t;
}

/* Fills E with the oldest error of OpenSSL's queue. */
static int fail_tls(struct err *e, const char *what)
{
    char text[160] = "unknown error";
    unsigned long code = ERR_get_error();

    if (code)
        ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    return err_set(e, -EPROTO, "%s: %s", what, text);
}

/* ---- the socket ---- */

static int bio_result(BIO *b, ssize_t n, int retry)
{
    BIO_clear_retry_flags(b);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(b, retry | BIO_FLAGS_SHOULD_RETRY);
    return (int)n;
}

static int bio_fd(BIO *b)
{
    return (int)(intptr_t)BIO_get_data(b);
}

static int bio_write(BIO *b, const char *p, int n)
{
    return bio_result(b, send(bio_fd(b), p, (size_t)n, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *b, char *p, int n)
{
    ssize_t r = recv(bio_fd(b), p, (size_t)n, 0);

    if (r == 0)
        BIO_set_flags(b, BIO_FLAGS_IN_EOF);
    return bio_result(b, r, BIO_FLAGS_READ);
}

static long bio_ctrl(BIO *b, int cmd, long num, void *p)
{
    (void)num;
    (void)p;
    if (cmd == BIO_CTRL_EOF)
        return BIO_test_flags(b, BIO_FLAGS_IN_EOF) != 0;
    return cmd == BIO_CTRL_FLUSH;
}

static BIO_METHOD *socket_method;

static void make_socket_method(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");

    if (!m)
        return;
    (void)BIO_meth_set_write(m, bio_write);
    (void)BIO_meth_set_read(m, bio_read);
    (void)BIO_meth_set_ctrl(m, bio_ctrl);
    socket_method = m;
}

static BIO *socket_bio(int fd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, make_socket_method);
    BIO *b = socket_method ? BIO_new(socket_method) : NULL;
    if (!b)
        return NULL;
    BIO_set_data(b, (void *)(intptr_t)fd);
    BIO_set_init(b, 1);
    return b;
}

/* ---- sessions ---- */

static void session_free(void *session)
{
    struct tls_session *s = session;

    SSL_free(s->ssl);
    free(s);
}

/* The peer must prove to be NAME: a host name or an address. */
static int set_peer_name(SSL *ssl, const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];

    if (!name)
        return -1;
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 ? 0 : -1;
    return SSL_set_tlsext_host_name(ssl, name) == 1 && SSL_set1_host(ssl, name) == 1 ? 0 : -1;
}

static void *session_open(struct tls_ctx *t, int fd, bool is_client, const char *sni, struct err *e)
{
    struct tls_session *s = mem_zalloc(1, sizeof *s);
    BIO *bio = socket_bio(fd);

    if (s)
        s->ssl = SSL_new(context_of(t)->ssl);
    if (!s || !s->ssl || !bio) {
        (void)fail_tls(e, "TLS session");
        BIO_free_all(bio);
        if (s)
            session_free(s);
        return NULL;
    }
    SSL_set_bio(s->ssl, bio, bio);
    s->fd = fd;
    if (!is_client) {
        SSL_set_accept_state(s->ssl);
        return s;
    }
    SSL_set_connect_state(s->ssl);
    s->has_looked = true;
    if (set_peer_name(s->ssl, sni) < 0) {
        (void)fail_tls(e, "name of the TLS server");
        session_free(s);
        return NULL;
    }
    return s;
}

/* What a call that returned N <= 0 means. */
static ssize_t tls_result_of(struct tls_session *s, int n, uint32_t *ret_wants)
{
    int saved = errno;

    switch (SSL_get_error(s->ssl, n)) {
    case SSL_ERROR_WANT_READ: *ret_wants = EPOLLIN; return -EAGAIN;
    case SSL_ERROR_WANT_WRITE: *ret_wants = EPOLLOUT; return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_SYSCALL: s->is_broken = true; return saved ? -saved : -ECONNRESET;
    default:
        /* Bad records, refused certificates, and an end without close_notify. */
        s->is_broken = true;
        return -EPROTO;
    }
}

/* What a client sees that speaks HTTP without TLS: its words would only end in a broken connection.
 */
static void answer_plainly(int fd)
{
    static const char answer[] =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
        "Content-Length: 64\r\nConnection: close\r\n\r\n"
        "This port requires HTTPS: retry with 'https://' in the address.\n";
    char dropped[4096];
    ssize_t n = 1;

    /* What is not read would reset the connection before the answer is there. */
    for (int i = 0; n > 0 && i < 16; i++)
        n = recv(fd, dropped, sizeof dropped, MSG_DONTWAIT);
    (void)send(fd, answer, sizeof answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
}

/* No record of TLS begins with a capital letter; every method of HTTP does. */
static bool is_plain_http(struct tls_session *s)
{
    char c;

    if (s->has_looked || recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
        return false;
    s->has_looked = true;
    if (c < 'A' || c > 'Z')
        return false;
    answer_plainly(s->fd);
    s->is_broken = true;
    return true;
}

static ssize_t session_read(void *session, void *p, size_t n, uint32_t *ret_wants)
{
    struct tls_session *s = session;

    if (is_plain_http(s))
        return -EPROTO;
    ERR_clear_error();
    errno = 0;
    int r = SSL_read(s->ssl, p, n > INT32_MAX ? INT32_MAX : (int)n);
    return r > 0 ? r : tls_result_of(s, r, ret_wants);
}

static ssize_t session_write(void *session, const void *p, size_t n, uint32_t *ret_wants)
{
    struct tls_session *s = session;

    ERR_clear_error();
    errno = 0;
    int r = SSL_write(s->ssl, p, n > INT32_MAX ? INT32_MAX : (int)n);
    if (r > 0)
        return r;
    ssize_t failure = tls_result_of(s, r, ret_wants);
    return failure == 0 ? -EPIPE : failure;
}

static bool session_has_pending(void *session)
{
    return SSL_pending(((struct tls_session *)session)->ssl) > 0;
}

static bool session_is_ready(void *session)
{
    return SSL_is_init_finished(((struct tls_session *)session)->ssl);
}

static void session_shutdown(void *session)
{
    struct tls_session *s = session;

    ERR_clear_error();
    if (!s->is_broken && SSL_is_init_finished(s->ssl))
        (void)SSL_shutdown(s->ssl);
}

static const struct tls_ops ops = {
    .open = session_open,
    .read = session_read,
    .write = session_write,
    .has_pending = session_has_pending,
    .is_ready = session_is_ready,
    .shutdown = session_shutdown,
    .free = session_free,
};

/* ---- contexts ---- */

static struct context *new_context(const SSL_METHOD *method, struct err *e)
{
    struct context *t = mem_zalloc(1, sizeof *t);

    if (!t) {
        (void)err_sys(e, -ENOMEM, "TLS");
        return NULL;
    }
    t->base.ops = &ops;
    t->n_refs = 1;
    t->ssl = SSL_CTX_new(method);
    if (!t->ssl || SSL_CTX_set_min_proto_version(t->ssl, TLS1_2_VERSION) != 1) {
        (void)fail_tls(e, "TLS");
        tls_ctx_free(&t->base);
        return NULL;
    }
    /* Idle connections hold no buffers; a queue that moved in memory may be written on. */
    (void)SSL_CTX_set_mode(t->ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_options(t->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    return t;
}

/* The one protocol that is spoken here. The signature is OpenSSL's.
 * NOLINTNEXTLINE(readability-function-size) */
static int on_protocols(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                        const unsigned char *in, unsigned in_len, void *arg)
{
    static const unsigned char own[] = "\x08http/1.1";

    (void)ssl;
    (void)arg;
    return SSL_select_next_proto((unsigned char **)(uintptr_t)out, out_len, own, sizeof own - 1, in,
                                 in_len) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

struct tls_ctx *tls_ctx_server(const char *cert_file, const char *key_file, struct err *e)
{
    struct context *t = new_context(TLS_server_method(), e);
    const char *bad = NULL;

    if (!t)
        return NULL;
    if (SSL_CTX_use_certificate_chain_file(t->ssl, cert_file) != 1)
        bad = cert_file;
    else if (SSL_CTX_use_PrivateKey_file(t->ssl, key_file, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(t->ssl) != 1)
        bad = key_file;
    if (bad) {
        (void)fail_tls(e, bad);
        tls_ctx_free(&t->base);
        return NULL;
    }
    (void)SSL_CTX_set_num_tickets(t->ssl, 1);
    SSL_CTX_set_alpn_select_cb(t->ssl, on_protocols, NULL);
    return &t->base;
}

struct tls_ctx *tls_ctx_client(const char *ca_file, struct err *e)
{
    struct context *t = new_context(TLS_client_method(), e);

    if (!t)
        return NULL;
    int ok = ca_file ? SSL_CTX_load_verify_file(t->ssl, ca_file)
                     : SSL_CTX_set_default_verify_paths(t->ssl);
    if (ok != 1) {
        (void)fail_tls(e, ca_file ? ca_file : "the system's certificates");
        tls_ctx_free(&t->base);
        return NULL;
    }
    SSL_CTX_set_verify(t->ssl, SSL_VERIFY_PEER, NULL);
    return &t->base;
}

struct tls_ctx *tls_ctx_ref(struct tls_ctx *t)
{
    (void)atomic_fetch_add(&context_of(t)->n_refs, 1);
    return t;
}

void tls_ctx_free(struct tls_ctx *t)
{
    if (!t || atomic_fetch_sub(&context_of(t)->n_refs, 1) > 1)
        return;
    SSL_CTX_free(context_of(t)->ssl);
    free(context_of(t));
}

bool tls_ctx_is_for(const struct tls_ctx *t, const char *name)
{
    const struct context *c = (const struct context *)(const void *)t;
    X509 *cert = SSL_CTX_get0_certificate(c->ssl);

    return cert && X509_check_host(cert, name, 0, 0, NULL) == 1;
}

static int on_server_name(SSL *ssl, int *alert, void *arg)
{
    const struct context *t = arg;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    struct tls_ctx *other = t->on_name(name, t->on_name_arg);

    (void)alert;
    if (other)
        (void)SSL_set_SSL_CTX(ssl, context_of(other)->ssl);
    tls_ctx_free(other);
    return SSL_TLSEXT_ERR_OK;
}

void tls_ctx_on_name(struct tls_ctx *t, struct tls_ctx *(*fn)(const char *name, void *arg),
                     void *arg)
{
    struct context *c = context_of(t);

    c->on_name = fn;
    c->on_name_arg = arg;
    (void)SSL_CTX_set_tlsext_servername_callback(c->ssl, on_server_name);
    (void)SSL_CTX_set_tlsext_servername_arg(c->ssl, c);
}
