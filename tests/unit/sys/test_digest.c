/* SPDX-License-Identifier: MIT */
/* Digests against the examples of their standards, and at every length beside OpenSSL's EVP. */
#include "../check.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/enc.h"
#include "sys/digest.h"

static void known_answers(void **state)
{
    unsigned char out[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];

    (void)state;
    digest_sha1(out, STR("abc"));
    enc_hex(hex, out, DIGEST_SHA1_LEN);
    assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    digest_sha1(out, STR_NULL);
    enc_hex(hex, out, DIGEST_SHA1_LEN);
    assert_string_equal(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    digest_sha256(out, STR("abc"));
    enc_hex(hex, out, DIGEST_SHA256_LEN);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    /* RFC 4231, case 2 */
    digest_hmac_sha256(out, STR("Jefe"), STR("what do ya want for nothing?"));
    enc_hex(hex, out, DIGEST_SHA256_LEN);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void every_length_agrees_with_openssl(void **state)
{
    unsigned char data[300], ours[DIGEST_SHA256_LEN], theirs[DIGEST_SHA256_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 167 + 13);
    for (size_t len = 0; len <= sizeof data; len++) {
        struct str all = str_n((char *)data, len);
        struct str parts[] = {str_slice(all, 0, len / 3), str_skip(all, len / 3)};
        digest_sha1(ours, all);
        assert_int_equal(EVP_Digest(data, len, theirs, NULL, EVP_sha1(), NULL), 1);
        assert_memory_equal(ours, theirs, DIGEST_SHA1_LEN);
        assert_int_equal(EVP_Digest(data, len, theirs, NULL, EVP_sha256(), NULL), 1);
        digest_sha256(ours, all);
        assert_memory_equal(ours, theirs, DIGEST_SHA256_LEN);
        digest_sha256_parts(ours, parts, 2);
        assert_memory_equal(ours, theirs, DIGEST_SHA256_LEN);
        digest_hmac_sha256(ours, all, STR("message"));
        assert_non_null(
            HMAC(EVP_sha256(), data, (int)len, (const unsigned char *)"message", 7, theirs, NULL));
        assert_memory_equal(ours, theirs, DIGEST_SHA256_LEN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_length_agrees_with_openssl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
