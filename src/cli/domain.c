/* SPDX-License-Identifier: MIT */
/* Making the files of a domain: see domain.h. */
#include "cli/domain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/tls_make.h"
#include "sys/io.h"

enum {
    NAME_MAX_LEN = 200,
    LABEL_MAX = 63,
    PEM_MAX = 65536,
    RENEW_S = (TLS_CERT_DAYS + 1) * 86400, /* an authority must outlive what it signs */
};

static void pair_init(struct tls_pair *p)
{
    buf_init(&p->cert, PEM_MAX);
    buf_init(&p->key, PEM_MAX);
}

static void pair_done(struct tls_pair *p)
{
    if (p->key.p)
        mem_wipe(p->key.p, p->key.len);
    buf_done(&p->cert);
    buf_done(&p->key);
}

#define auto_pair __attribute__((cleanup(pair_done)))

static bool is_domain_label(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return s.len > 0 && s.len <= LABEL_MAX && s.p[0] != '-' && s.p[s.len - 1] != '-';
}

bool domain_is_valid(const char *name)
{
    struct str rest = str_of(name), label = STR("");
    unsigned n = 0;

    if (rest.len > NAME_MAX_LEN)
        return false;
    while (rest.p) {
        label = str_cut(&rest, '.');
        if (!is_domain_label(label))
            return false;
        n++;
    }
    /* A number at the end would make it an address. */
    return n >= 2 && !(label.p[0] >= '0' && label.p[0] <= '9');
}

static char *domain_path_of(const char *dir, const char *file)
{
    struct buf b auto_buf = BUF_INIT(4096);

    (void)buf_printf(&b, "%s/%s", dir, file);
    return buf_ok(&b) ? mem_strndup(b.p, b.len) : NULL;
}

static int fill_paths(struct domain_files *f, const char *dir, struct err *e)
{
    *f = (struct domain_files){
        .ca = domain_path_of(dir, "ca.pem"),
        .ca_key = domain_path_of(dir, "ca.key"),
        .cert = domain_path_of(dir, "cert.pem"),
        .key = domain_path_of(dir, "key.pem"),
    };
    return f->ca && f->ca_key && f->cert && f->key ? 0 : err_sys(e, -ENOMEM, "%s", dir);
}

void domain_files_done(struct domain_files *f)
{
    free(f->ca);
    free(f->ca_key);
    free(f->cert);
    free(f->key);
}

/* Keys are for their owner, certificates for everybody. */
static int write_domain_pair(const char *cert, const char *key, const struct tls_pair *p,
                             struct err *e)
{
    int r = io_write_file(key, buf_str(&p->key), 0600, e);

    if (r == 0)
        r = io_write_file(cert, buf_str(&p->cert), 0644, e);
    return r == 0 && chmod(cert, 0644) < 0 ? err_sys(e, -errno, "%s", cert) : r;
}

/* The authority that is there. 0, -ENOENT when there is none that can be used. */
static int read_ca(struct tls_pair *ca, const struct domain_files *f, struct err *e)
{
    struct err none = ERR_INIT;
    int64_t left_s = 0;
    int r = io_read_file(f->ca, &ca->cert, &none);

    if (r < 0)
        return r == -ENOENT ? -ENOENT : err_set(e, r, "%s", err_text(&none));
    /* Not to be replaced silently: clients trust it. */
    if (io_read_file(f->ca_key, &ca->key, e) < 0)
        return -EINVAL;
    r = tls_cert_left(buf_str(&ca->cert), &left_s, e);
    if (r < 0)
        return err_ctx(e, r, "%s", f->ca);
    return left_s > RENEW_S ? 0 : -ENOENT;
}

static int get_ca(struct tls_pair *ca, const struct domain_args *args, struct domain_files *f,
                  struct err *e)
{
    int r = args->is_new ? -ENOENT : read_ca(ca, f, e);

    f->is_old_ca = r == 0;
    if (r != -ENOENT)
        return r;
    pair_done(ca);
    pair_init(ca);
    r = tls_make_ca(ca, args->name, e);
    return r < 0 ? r : write_domain_pair(f->ca, f->ca_key, ca, e);
}

int domain_make(const struct domain_args *args, struct domain_files *ret, struct err *e)
{
    struct tls_pair ca auto_pair, own auto_pair;

    pair_init(&ca);
    pair_init(&own);
    int r = fill_paths(ret, args->dir, e);
    if (r == 0)
        r = io_mkdirs(args->dir, 0755, e);
    if (r == 0)
        r = get_ca(&ca, args, ret, e);
    if (r == 0)
        r = tls_make_cert(&own, &ca, args->name, e);
    if (r < 0)
        return err_ctx(e, r, "%s", args->dir);
    return write_domain_pair(ret->cert, ret->key, &own, e);
}
