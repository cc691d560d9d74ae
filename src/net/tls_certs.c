/* SPDX-License-Identifier: MIT */
/* Certificates by name: see tls_certs.h.
 *
 * Streams are opened with one context that never changes; with each client's hello the context is
 * chosen that its answer is made of. Handshakes happen on several threads, so the set is held under
 * a lock for as long as it takes to take a reference. */
#include "net/tls_certs.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "net/tls.h"

/* What is in use, the one for everybody first. */
struct set {
    struct tls_ctx *items[TLS_CERTS_MAX + 1];
    size_t n;
};

struct tls_certs {
    struct tls_certs_files files;
    struct tls_ctx *front;
    pthread_mutex_t lock;
    struct set set; /* under the lock */
    uint64_t stamp; /* of the files that were read last */
};

/* ---- files ---- */

/* The names of a directory's certificates, without ".pem", in order. */
struct tls_certs_names {
    char *items[TLS_CERTS_MAX];
    size_t n;
};

static void names_done(struct tls_certs_names *l)
{
    while (l->n > 0)
        free(l->items[--l->n]);
}
DEFINE_CLEANUP_IN_PLACE(struct tls_certs_names, names_done)

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_cert_name(struct tls_certs_names *l, struct str file, struct err *e)
{
    if (!str_ends(file, STR(".pem")) || file.len == 4)
        return 0;
    if (l->n == TLS_CERTS_MAX)
        return err_set(e, -E2BIG, "more than %d certificates", TLS_CERTS_MAX);
    l->items[l->n] = mem_strndup(file.p, file.len - 4);
    if (!l->items[l->n])
        return err_sys(e, -ENOMEM, "certificates");
    l->n++;
    return 0;
}

static int list_names(struct tls_certs_names *l, const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;
    int r = 0;

    if (!d)
        return err_sys(e, -errno, "%s", dir);
    while (r == 0 && (entry = readdir(d)))
        r = add_cert_name(l, str_of(entry->d_name), e);
    (void)closedir(d);
    if (r == 0 && l->n > 1)
        qsort(l->items, l->n, sizeof l->items[0], by_name);
    return r < 0 ? err_ctx(e, r, "%s", dir) : 0;
}

/* ---- what changes when a file does ---- */

static void stamp_file(uint64_t *stamp, const char *path)
{
    struct stat st;

    *stamp = str_hash(str_of(path), *stamp);
    if (stat(path, &st) < 0)
        return;
    const uint64_t facts[] = {(uint64_t)st.st_ino, (uint64_t)st.st_size,
                              (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    *stamp = str_hash(str_n((const char *)facts, sizeof facts), *stamp);
}

/* Calls FN for each certificate and key, the ones for everybody first. 0, or what FN returned. */
static int each_pair(const struct tls_certs_files *f,
                     int (*fn)(void *ctx, const char *cert, const char *key, struct err *e),
                     void *ctx, struct err *e)
{
    struct tls_certs_names names auto_(names_done) = {.n = 0};
    int r = f->cert ? fn(ctx, f->cert, f->key, e) : 0;

    if (r == 0 && f->dir)
        r = list_names(&names, f->dir, e);
    for (size_t i = 0; r == 0 && i < names.n; i++) {
        struct buf cert auto_buf = BUF_INIT(4096), key auto_buf = BUF_INIT(4096);
        (void)buf_printf(&cert, "%s/%s.pem", f->dir, names.items[i]);
        (void)buf_printf(&key, "%s/%s.key", f->dir, names.items[i]);
        const char *a = buf_cstr(&cert), *b = buf_cstr(&key);
        r = a && b ? fn(ctx, a, b, e) : err_sys(e, -ENAMETOOLONG, "%s", f->dir);
    }
    return r;
}

static int stamp_pair(void *ctx, const char *cert, const char *key, struct err *e)
{
    (void)e;
    stamp_file(ctx, cert);
    stamp_file(ctx, key);
    return 0;
}

static uint64_t stamp_of(const struct tls_certs_files *f)
{
    uint64_t stamp = 0;

    (void)each_pair(f, stamp_pair, &stamp, NULL);
    return stamp;
}

/* ---- sets ---- */

static void set_done(struct set *s)
{
    while (s->n > 0)
        tls_ctx_free(s->items[--s->n]);
}

static int read_pair(void *ctx, const char *cert, const char *key, struct err *e)
{
    struct set *s = ctx;
    struct tls_ctx *t = tls_ctx_server(cert, key, e);

    if (!t)
        return -EINVAL;
    s->items[s->n++] = t;
    return 0;
}

static int read_set(const struct tls_certs_files *f, struct set *ret, struct err *e)
{
    int r;

    ret->n = 0;
    r = each_pair(f, read_pair, ret, e);
    if (r == 0 && ret->n == 0)
        r = err_set(e, -ENOENT, "%s: no certificate", f->dir ? f->dir : "TLS");
    if (r < 0)
        set_done(ret);
    return r;
}

/* On the thread of a handshake. */
static struct tls_ctx *choose_certificate(const char *name, void *arg)
{
    struct tls_certs *c = arg;
    size_t found = 0;

    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; name && i < c->set.n; i++)
        if (tls_ctx_is_for(c->set.items[i], name)) {
            found = i;
            break;
        }
    struct tls_ctx *t = tls_ctx_ref(c->set.items[found]);
    (void)pthread_mutex_unlock(&c->lock);
    return t;
}

struct tls_certs *tls_certs_new(const struct tls_certs_files *files, struct err *e)
{
    struct tls_certs *c = mem_zalloc(1, sizeof *c);

    if (!c) {
        (void)err_sys(e, -ENOMEM, "certificates");
        return NULL;
    }
    c->files = *files;
    c->stamp = stamp_of(files);
    if (read_set(files, &c->set, e) < 0) {
        free(c);
        return NULL;
    }
    (void)pthread_mutex_init(&c->lock, NULL);
    c->front = tls_ctx_ref(c->set.items[0]);
    tls_ctx_on_name(c->front, choose_certificate, c);
    return c;
}

void tls_certs_free(struct tls_certs *c)
{
    if (!c)
        return;
    set_done(&c->set);
    tls_ctx_free(c->front);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

struct tls_ctx *tls_certs_ctx(const struct tls_certs *c)
{
    return c->front;
}

int tls_certs_reload(struct tls_certs *c, struct err *e)
{
    struct set fresh, old;

    c->stamp = stamp_of(&c->files);
    int r = read_set(&c->files, &fresh, e);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&c->lock);
    old = c->set;
    c->set = fresh;
    (void)pthread_mutex_unlock(&c->lock);
    set_done(&old);
    return 0;
}

bool tls_certs_have_changed(const struct tls_certs *c)
{
    return stamp_of(&c->files) != c->stamp;
}
