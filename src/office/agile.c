/* SPDX-License-Identifier: MIT */
#include "office/agile.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "office/cfb.h"
#include "office/xml.h"
#include "sys/aes.h"
#include "sys/sha512.h"

enum { SALT = 16, SEGMENT = 4096, SIZE_LEN = 8, HEAD = 8 };

/* What a key is for (2.3.4.11 to 14). */
enum purpose { VERIFIER, VERIFIER_HASH, KEY_VALUE, HMAC_KEY, HMAC_VALUE };
static const char purposes[][9] = {
    "\xfe\xa7\xd2\x76\x3b\x4b\x9e\x79", "\xd7\xaa\x0f\x6d\x30\x61\x34\x4e",
    "\x14\x6e\x0b\xe7\xab\xac\xd0\xd6", "\x5f\xb2\xad\x01\x0c\xb9\xe1\xf6",
    "\xa0\x67\x7f\x02\xb2\x2c\x84\x33",
};

/* What the file says about its encryption. */
struct agile {
    uint8_t key_salt[SALT], password_salt[SALT];
    uint8_t verifier[SALT], verifier_hash[SHA512_LEN], key[AES_KEY_LEN]; /* encrypted */
    uint8_t hmac_key[SHA512_LEN], hmac[SHA512_LEN];                      /* encrypted */
    int64_t spins;
};

static struct str bytes_of(const void *p, size_t len)
{
    return str_n(p, len);
}

static struct str purpose(enum purpose p)
{
    return bytes_of(purposes[p], 8);
}

static void put_agile_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++, v >>= 8)
        p[i] = (uint8_t)v;
}

/* ---- keys ---- */

/* The password in UTF-16. */
static int widen(struct buf *out, struct str password)
{
    for (size_t i = 0; i < password.len;) {
        uint32_t c;
        size_t n = utf8_decode(password.p + i, password.len - i, &c);
        if (n == 0)
            return -EINVAL;
        i += n;
        uint32_t high = c >= 0x10000 ? 0xd800 + ((c - 0x10000) >> 10) : 0;
        uint32_t low = high ? 0xdc00 + ((c - 0x10000) & 0x3ff) : c;
        for (int k = high ? 0 : 1; k < 2; k++) {
            uint32_t unit = k == 0 ? high : low;
            (void)buf_add_char(out, (char)unit);
            (void)buf_add_char(out, (char)(unit >> 8));
        }
    }
    return out->error;
}

/* Slow on purpose, so that passwords cannot be tried by the million. */
static int spin(uint8_t hash[SHA512_LEN], const struct agile *g, struct str password)
{
    auto_buf struct buf wide = BUF_INIT(4 * AGILE_PASSWORD_MAX);
    uint8_t number[4];

    if (password.len > AGILE_PASSWORD_MAX || widen(&wide, password) < 0)
        return -EINVAL;
    sha512_of(hash, bytes_of(g->password_salt, SALT), buf_str(&wide));
    for (int64_t i = 0; i < g->spins; i++) {
        put_agile_u32(number, (uint32_t)i);
        sha512_of(hash, bytes_of(number, 4), bytes_of(hash, SHA512_LEN));
    }
    if (wide.len > 0)
        mem_wipe(wide.p, wide.len);
    return 0;
}

/* The cipher for what the password protects. */
static void password_cipher(struct aes *a, const uint8_t hash[SHA512_LEN], enum purpose p)
{
    uint8_t key[SHA512_LEN];

    sha512_of(key, bytes_of(hash, SHA512_LEN), purpose(p));
    aes_init(a, key);
    mem_wipe(key, sizeof key);
}

/* The first block's partner: of a purpose, or of the segment with that number. */
static void vector(uint8_t iv[AES_BLOCK], const struct agile *g, struct str what)
{
    uint8_t hash[SHA512_LEN];

    sha512_of(hash, bytes_of(g->key_salt, SALT), what);
    memcpy(iv, hash, AES_BLOCK);
}

typedef void crypt_fn(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                      uint8_t *out, size_t len);

/* En- or decrypts the content in its segments, in place. */
static void crypt_content(const struct agile *g, const struct aes *a, crypt_fn *fn, uint8_t *p,
                          size_t len)
{
    uint8_t iv[AES_BLOCK], number[4];

    for (size_t i = 0; i * SEGMENT < len; i++) {
        size_t n = len - i * SEGMENT;
        put_agile_u32(number, (uint32_t)i);
        vector(iv, g, bytes_of(number, 4));
        fn(a, iv, p + i * SEGMENT, p + i * SEGMENT, n < SEGMENT ? n : SEGMENT);
    }
}

/* ---- encrypting ---- */

/* Size, then the content in whole blocks. */
static int encrypt_content(struct buf *out, const struct agile *g, const struct aes *a,
                           struct str package)
{
    uint8_t size[SIZE_LEN] = {0};

    put_agile_u32(size, (uint32_t)package.len);
    (void)buf_add(out, size, sizeof size);
    (void)buf_add_str(out, package);
    while (buf_ok(out) && (out->len - SIZE_LEN) % AES_BLOCK != 0)
        (void)buf_add_char(out, 0);
    if (!buf_ok(out))
        return out->error;
    crypt_content(g, a, aes_cbc_encrypt, (uint8_t *)out->p + SIZE_LEN, out->len - SIZE_LEN);
    return 0;
}

static void seal(struct agile *g, const struct aes *a, struct str content)
{
    uint8_t iv[AES_BLOCK], key[SHA512_LEN], mac[SHA512_LEN];

    id_random(key, sizeof key);
    sha512_hmac(mac, bytes_of(key, sizeof key), content);
    vector(iv, g, purpose(HMAC_KEY));
    aes_cbc_encrypt(a, iv, key, g->hmac_key, sizeof key);
    vector(iv, g, purpose(HMAC_VALUE));
    aes_cbc_encrypt(a, iv, mac, g->hmac, sizeof mac);
}

/* Makes salts and a key, which is in *A then, and protects it by the password. */
static int make_keys(struct agile *g, struct aes *a, struct str password)
{
    uint8_t hash[SHA512_LEN], input[SALT], output[SHA512_LEN], key[AES_KEY_LEN];
    struct aes p = {0};

    id_random(g->key_salt, SALT);
    id_random(g->password_salt, SALT);
    id_random(input, sizeof input);
    id_random(key, sizeof key);
    int r = spin(hash, g, password);
    if (r < 0)
        return r;
    sha512_of(output, bytes_of(input, sizeof input), STR(""));
    password_cipher(&p, hash, VERIFIER);
    aes_cbc_encrypt(&p, g->password_salt, input, g->verifier, sizeof input);
    password_cipher(&p, hash, VERIFIER_HASH);
    aes_cbc_encrypt(&p, g->password_salt, output, g->verifier_hash, sizeof output);
    password_cipher(&p, hash, KEY_VALUE);
    aes_cbc_encrypt(&p, g->password_salt, key, g->key, sizeof key);
    aes_init(a, key);
    mem_wipe(key, sizeof key);
    mem_wipe(hash, sizeof hash);
    mem_wipe(&p, sizeof p);
    return 0;
}

static void add_base64(struct buf *b, const char *name, const uint8_t *p, size_t len)
{
    (void)buf_printf(b, " %s=\"", name);
    (void)enc_base64(b, bytes_of(p, len));
    (void)buf_add_char(b, '"');
}

#define CIPHER                                                                                     \
    " saltSize=\"16\" blockSize=\"16\" keyBits=\"256\" hashSize=\"64\" cipherAlgorithm=\"AES\""    \
    " cipherChaining=\"ChainingModeCBC\" hashAlgorithm=\"SHA512\""
#define MS "http://schemas.microsoft.com/office/2006/"

static void add_info(struct buf *b, const struct agile *g)
{
    (void)buf_add(b, "\4\0\4\0\x40\0\0\0", HEAD);
    (void)buf_add_lit(b, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\r\n"
                         "<encryption xmlns=\"" MS "encryption\" xmlns:p=\"" MS
                         "keyEncryptor/password\"><keyData" CIPHER);
    add_base64(b, "saltValue", g->key_salt, SALT);
    (void)buf_add_lit(b, "/><dataIntegrity");
    add_base64(b, "encryptedHmacKey", g->hmac_key, sizeof g->hmac_key);
    add_base64(b, "encryptedHmacValue", g->hmac, sizeof g->hmac);
    (void)buf_printf(b,
                     "/><keyEncryptors><keyEncryptor uri=\"" MS "keyEncryptor/password\">"
                     "<p:encryptedKey spinCount=\"%lld\"" CIPHER,
                     (long long)g->spins);
    add_base64(b, "saltValue", g->password_salt, SALT);
    add_base64(b, "encryptedVerifierHashInput", g->verifier, sizeof g->verifier);
    add_base64(b, "encryptedVerifierHashValue", g->verifier_hash, sizeof g->verifier_hash);
    add_base64(b, "encryptedKeyValue", g->key, sizeof g->key);
    (void)buf_add_lit(b, "/></keyEncryptor></keyEncryptors></encryption>");
}

/* A length and text in UTF-16, in whole words of 32 bits. */
static void add_utf16_text(struct buf *b, const char *text)
{
    size_t len = strlen(text) * 2;
    uint8_t n[4];

    put_agile_u32(n, (uint32_t)len);
    (void)buf_add(b, n, 4);
    for (size_t i = 0; i < len / 2; i++) {
        (void)buf_add_char(b, text[i]);
        (void)buf_add_char(b, 0);
    }
    for (; len % 4 != 0; len++)
        (void)buf_add_char(b, 0);
}

static void add_le32(struct buf *b, uint32_t v)
{
    uint8_t n[4];

    put_agile_u32(n, v);
    (void)buf_add(b, n, 4);
}

/* The streams that say which transform was applied to which stream (2.1); always the same. */
struct spaces {
    struct buf version, map, space, transform;
};

static void make_spaces(struct spaces *s)
{
    buf_init(&s->version, 1024);
    buf_init(&s->map, 1024);
    buf_init(&s->space, 1024);
    buf_init(&s->transform, 1024);
    add_utf16_text(&s->version, "Microsoft.Container.DataSpaces");
    for (int i = 0; i < 3; i++)
        add_le32(&s->version, 1);
    add_le32(&s->map, 8);
    add_le32(&s->map, 1);
    add_le32(&s->map, 0x68);
    add_le32(&s->map, 1);
    add_le32(&s->map, 0);
    add_utf16_text(&s->map, "EncryptedPackage");
    add_utf16_text(&s->map, "StrongEncryptionDataSpace");
    add_le32(&s->space, 8);
    add_le32(&s->space, 1);
    add_utf16_text(&s->space, "StrongEncryptionTransform");
    add_le32(&s->transform, 0x58);
    add_le32(&s->transform, 1);
    add_utf16_text(&s->transform, "{FF9A3F03-56EF-4613-BDD5-5A41C1D07246}");
    add_utf16_text(&s->transform, "Microsoft.Container.EncryptionTransform");
    for (int i = 0; i < 3; i++)
        add_le32(&s->transform, 1);
    for (int i = 0; i < 3; i++)
        add_le32(&s->transform, 0);
    add_le32(&s->transform, 4);
}

static int add_encrypted_file(struct buf *out, struct arena *a, struct str info, struct str content)
{
    struct spaces s;

    make_spaces(&s);
    const struct cfb_item items[] = {
        {"\6DataSpaces", -1, STR_NULL},
        {"Version", 0, buf_str(&s.version)},
        {"DataSpaceMap", 0, buf_str(&s.map)},
        {"DataSpaceInfo", 0, STR_NULL},
        {"StrongEncryptionDataSpace", 3, buf_str(&s.space)},
        {"TransformInfo", 0, STR_NULL},
        {"StrongEncryptionTransform", 5, STR_NULL},
        {"\6Primary", 6, buf_str(&s.transform)},
        {"EncryptionInfo", -1, info},
        {"EncryptedPackage", -1, content},
    };
    int r = cfb_write(out, a, items, ARRAY_LEN(items));
    buf_done(&s.version);
    buf_done(&s.map);
    buf_done(&s.space);
    buf_done(&s.transform);
    return r;
}

int agile_encrypt(struct buf *out, struct arena *a, struct str package, struct str password)
{
    struct agile g = {.spins = AGILE_SPINS};
    auto_buf struct buf info = BUF_INIT(1 << 16), content = BUF_INIT(out->max);
    struct aes cipher = {0};
    int r = make_keys(&g, &cipher, password);

    if (r == 0)
        r = encrypt_content(&content, &g, &cipher, package);
    if (r == 0) {
        seal(&g, &cipher, buf_str(&content));
        add_info(&info, &g);
        r = buf_ok(&info) ? add_encrypted_file(out, a, buf_str(&info), buf_str(&content))
                          : info.error;
    }
    mem_wipe(&cipher, sizeof cipher);
    return r;
}

/* ---- decrypting ---- */

static bool read_base64(const struct xml *n, const char *name, uint8_t *p, size_t len)
{
    auto_buf struct buf b = BUF_INIT(1024);

    if (enc_unbase64(&b, xml_get(n, name)) < 0 || b.len != len)
        return false;
    memcpy(p, b.p, len);
    return true;
}

/* The first element whose name, without its prefix, is NAME. */
static const struct xml *find_local_element(const struct xml_doc *d, const char *name)
{
    for (struct xml *n = NULL; (n = xml_walk(&d->top, n, NULL));) {
        struct str own = n->name->written;
        ptrdiff_t colon = str_chr(own, ':');
        if (str_is(colon < 0 ? own : str_skip(own, (size_t)colon + 1), name))
            return n;
    }
    return NULL;
}

static bool is_agile_encryptor(const struct xml *n)
{
    return str_is(xml_get(n, "cipherAlgorithm"), "AES") && xml_get_int(n, "keyBits", 0) == 256 &&
           str_is(xml_get(n, "cipherChaining"), "ChainingModeCBC") &&
           str_is(xml_get(n, "hashAlgorithm"), "SHA512") && xml_get_int(n, "saltSize", 0) == SALT;
}

static int read_encryption_info(struct agile *g, struct arena *a, struct str info)
{
    if (info.len < HEAD || memcmp(info.p, "\4\0\4\0", 4) != 0)
        return -ENOTSUP;
    struct xml_doc *d = xml_parse(a, str_skip(info, HEAD), NULL);
    if (!d)
        return -EBADMSG;
    const struct xml *data = find_local_element(d, "keyData"),
                     *key = find_local_element(d, "encryptedKey");
    const struct xml *integrity = find_local_element(d, "dataIntegrity");
    if (!is_agile_encryptor(data) || !is_agile_encryptor(key))
        return -ENOTSUP;
    g->spins = xml_get_int(key, "spinCount", -1);
    if (g->spins < 0 || g->spins > AGILE_SPINS_MAX)
        return -ENOTSUP;
    bool is_whole =
        read_base64(data, "saltValue", g->key_salt, SALT) &&
        read_base64(key, "saltValue", g->password_salt, SALT) &&
        read_base64(key, "encryptedVerifierHashInput", g->verifier, sizeof g->verifier) &&
        read_base64(key, "encryptedVerifierHashValue", g->verifier_hash, sizeof g->verifier_hash) &&
        read_base64(key, "encryptedKeyValue", g->key, sizeof g->key) &&
        read_base64(integrity, "encryptedHmacKey", g->hmac_key, sizeof g->hmac_key) &&
        read_base64(integrity, "encryptedHmacValue", g->hmac, sizeof g->hmac);
    return is_whole ? 0 : -EBADMSG;
}

/* The cipher of the content, when the password is right. */
static int open_keys(const struct agile *g, struct aes *a, struct str password)
{
    uint8_t hash[SHA512_LEN], input[SALT], output[SHA512_LEN], wanted[SHA512_LEN], key[AES_KEY_LEN];
    struct aes p = {0};
    int r = spin(hash, g, password);

    if (r < 0)
        return -EKEYREJECTED;
    password_cipher(&p, hash, VERIFIER);
    aes_cbc_decrypt(&p, g->password_salt, g->verifier, input, sizeof input);
    password_cipher(&p, hash, VERIFIER_HASH);
    aes_cbc_decrypt(&p, g->password_salt, g->verifier_hash, output, sizeof output);
    sha512_of(wanted, bytes_of(input, sizeof input), STR(""));
    if (!mem_eq_const(wanted, output, sizeof output))
        return -EKEYREJECTED;
    password_cipher(&p, hash, KEY_VALUE);
    aes_cbc_decrypt(&p, g->password_salt, g->key, key, sizeof key);
    aes_init(a, key);
    mem_wipe(key, sizeof key);
    mem_wipe(hash, sizeof hash);
    mem_wipe(&p, sizeof p);
    return 0;
}

static bool is_sealed(const struct agile *g, const struct aes *a, struct str content)
{
    uint8_t iv[AES_BLOCK], key[SHA512_LEN], mac[SHA512_LEN], wanted[SHA512_LEN];

    vector(iv, g, purpose(HMAC_KEY));
    aes_cbc_decrypt(a, iv, g->hmac_key, key, sizeof key);
    vector(iv, g, purpose(HMAC_VALUE));
    aes_cbc_decrypt(a, iv, g->hmac, mac, sizeof mac);
    sha512_hmac(wanted, bytes_of(key, sizeof key), content);
    return mem_eq_const(wanted, mac, sizeof mac);
}

static int decrypt_content(const struct agile *g, const struct aes *a, struct str content,
                           struct str *ret)
{
    uint64_t size = 0;

    if (content.len < SIZE_LEN || !is_sealed(g, a, content))
        return -EBADMSG;
    for (int i = SIZE_LEN - 1; i >= 0; i--)
        size = size << 8 | (uint8_t)content.p[i];
    size_t len = (content.len - SIZE_LEN) / AES_BLOCK * AES_BLOCK;
    if (size > len)
        return -EBADMSG;
    /* CONTENT is a copy of our own. */
    uint8_t *p = (uint8_t *)(uintptr_t)content.p + SIZE_LEN;
    crypt_content(g, a, aes_cbc_decrypt, p, len);
    *ret = str_n((const char *)p, (size_t)size);
    return 0;
}

int agile_decrypt(struct str *ret, struct arena *a, struct str file, struct str password)
{
    struct agile g = {0};
    struct aes cipher = {0};
    struct str info, content;

    if (!cfb_is(file) || cfb_stream(a, file, "EncryptionInfo", &info) < 0)
        return -EINVAL;
    int r = cfb_stream(a, file, "EncryptedPackage", &content);
    if (r < 0)
        return r == -ENOMEM ? r : -EBADMSG;
    r = read_encryption_info(&g, a, info);
    if (r == 0)
        r = open_keys(&g, &cipher, password);
    if (r == 0)
        r = decrypt_content(&g, &cipher, content, ret);
    mem_wipe(&cipher, sizeof cipher);
    return r;
}
