/* SPDX-License-Identifier: MIT */
/* Making certificates: see tls_make.h. Keys are on the curve P-256. */
#include "net/tls_make.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "base/cleanup.h"

enum { SERIAL_LEN = 16, TEXT_MAX = 1024, DAY_S = 86400, CLOCKS_DIFFER_S = 3600 };

DEFINE_CLEANUP(X509 *, X509_free)
DEFINE_CLEANUP(EVP_PKEY *, EVP_PKEY_free)
DEFINE_CLEANUP(BIO *, BIO_free)

static int fail_certificate(struct err *e, const char *what)
{
    char text[160] = "unknown error";
    unsigned long code = ERR_get_error();

    if (code)
        ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    return err_set(e, -EINVAL, "%s: %s", what, text);
}

/* ---- text ---- */

static int append_bio(struct buf *out, BIO *b)
{
    char *p = NULL;
    long n = BIO_get_mem_data(b, &p);

    return n > 0 ? buf_add(out, p, (size_t)n) : -EINVAL;
}

static int write_tls_pair(struct tls_pair *ret, X509 *cert, EVP_PKEY *key, struct err *e)
{
    auto_(BIO_free) BIO *c = BIO_new(BIO_s_mem());
    auto_(BIO_free) BIO *k = BIO_new(BIO_s_secmem());

    if (!c || !k || PEM_write_bio_X509(c, cert) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) != 1)
        return fail_certificate(e, "write a certificate");
    if (append_bio(&ret->cert, c) < 0 || append_bio(&ret->key, k) < 0)
        return err_sys(e, -ENOMEM, "certificate");
    return 0;
}

static X509 *read_cert(struct str text)
{
    auto_(BIO_free) BIO *b = BIO_new_mem_buf(text.p, (int)text.len);

    return b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;
}

static EVP_PKEY *read_tls_key(struct str text)
{
    auto_(BIO_free) BIO *b = BIO_new_mem_buf(text.p, (int)text.len);

    return b ? PEM_read_bio_PrivateKey(b, NULL, NULL, NULL) : NULL;
}

/* ---- certificates ---- */

struct extension {
    int nid;
    const char *value;
};

struct tls_plan {
    const char *title; /* common name */
    int days;
    X509 *issuer; /* NULL: itself */
    EVP_PKEY *issuer_key;
    const struct extension *extensions; /* ends with nid 0 */
};

static bool set_serial(X509 *cert)
{
    unsigned char bytes[SERIAL_LEN];

    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
    BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool is_set = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return is_set;
}

static bool add_extension(X509 *cert, X509 *issuer, const struct extension *x)
{
    X509V3_CTX ctx;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, x->nid, x->value);
    bool is_added = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return is_added;
}

static bool fill_certificate(X509 *cert, EVP_PKEY *key, const struct tls_plan *p)
{
    X509_NAME *name = X509_get_subject_name(cert);
    X509 *issuer = p->issuer ? p->issuer : cert;

    bool ok = X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
              X509_gmtime_adj(X509_getm_notBefore(cert), -CLOCKS_DIFFER_S) &&
              X509_gmtime_adj(X509_getm_notAfter(cert), (long)p->days * DAY_S) &&
              X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)p->title,
                                         -1, -1, 0) == 1 &&
              X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
              X509_set_pubkey(cert, key) == 1;
    for (const struct extension *x = p->extensions; ok && x->nid; x++)
        ok = add_extension(cert, issuer, x);
    return ok && X509_sign(cert, p->issuer_key ? p->issuer_key : key, EVP_sha256()) > 0;
}

static int make_certificate(struct tls_pair *ret, const struct tls_plan *p, struct err *e)
{
    auto_(EVP_PKEY_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    auto_(X509_free) X509 *cert = X509_new();

    if (!key || !cert || !fill_certificate(cert, key, p))
        return fail_certificate(e, "create a certificate");
    return write_tls_pair(ret, cert, key, e);
}

int tls_make_ca(struct tls_pair *ret, const char *name, struct err *e)
{
    char title[65], allowed[TEXT_MAX];

    (void)snprintf(title, sizeof title, "Tidepool development (%s)", name);
    (void)snprintf(allowed, sizeof allowed,
                   "critical,permitted;DNS:%s,permitted;DNS:localhost,"
                   "permitted;IP:127.0.0.0/255.0.0.0,"
                   "permitted;IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF",
                   name);
    const struct extension extensions[] = {
        {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
        {NID_key_usage, "critical,keyCertSign,cRLSign"},
        {NID_subject_key_identifier, "hash"},
        {NID_name_constraints, allowed},
        {0},
    };
    const struct tls_plan p = {.title = title, .days = TLS_CA_DAYS, .extensions = extensions};
    return make_certificate(ret, &p, e);
}

/* True when CERT is one that may sign for NAME, or ERR_… says why not. */
static bool is_ca_for(X509 *cert, EVP_PKEY *key, const char *name)
{
    char title[65], own[65];

    (void)snprintf(title, sizeof title, "Tidepool development (%s)", name);
    return X509_check_ca(cert) == 1 && X509_check_private_key(cert, key) == 1 &&
           X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, own, sizeof own) >
               0 &&
           strcmp(title, own) == 0;
}

int tls_make_cert(struct tls_pair *ret, const struct tls_pair *ca, const char *name, struct err *e)
{
    auto_(X509_free) X509 *issuer = read_cert(buf_str(&ca->cert));
    auto_(EVP_PKEY_free) EVP_PKEY *issuer_key = read_tls_key(buf_str(&ca->key));
    char names[TEXT_MAX], title[65];

    if (!issuer || !issuer_key)
        return fail_certificate(e, "the authority");
    if (!is_ca_for(issuer, issuer_key, name))
        return err_set(e, -EINVAL, "the authority was not made for '%s'", name);
    (void)snprintf(title, sizeof title, "%s", name);
    (void)snprintf(names, sizeof names, "DNS:%s,DNS:*.%s,DNS:localhost,IP:127.0.0.1,IP:::1", name,
                   name);
    const struct extension extensions[] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, "serverAuth"},
        {NID_subject_key_identifier, "hash"},
        {NID_authority_key_identifier, "keyid"},
        {NID_subject_alt_name, names},
        {0},
    };
    const struct tls_plan p = {.title = title,
                               .days = TLS_CERT_DAYS,
                               .issuer = issuer,
                               .issuer_key = issuer_key,
                               .extensions = extensions};
    return make_certificate(ret, &p, e);
}

int tls_cert_left(struct str cert, int64_t *ret_s, struct err *e)
{
    auto_(X509_free) X509 *x = read_cert(cert);
    int days = 0, seconds = 0;

    if (!x)
        return fail_certificate(e, "the certificate");
    if (ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(x)) != 1)
        return fail_certificate(e, "the certificate's end");
    *ret_s = (int64_t)days * DAY_S + seconds;
    return 0;
}
