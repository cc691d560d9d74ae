/* SPDX-License-Identifier: MIT */
/* AES and SHA-512 against the examples of their standards. */
#include "../check.h"

#include <string.h>

#include "base/enc.h"
#include "sys/aes.h"
#include "sys/sha512.h"

static void is_hex(const uint8_t *got, size_t len, const char *wanted)
{
    char text[2 * SHA512_LEN + 1];

    enc_hex(text, got, len);
    assert_string_equal(text, wanted);
}

/* FIPS 180-4, and a message of every length around a block. */
static void sha512_is_right(void **state)
{
    char text[300];
    uint8_t out[SHA512_LEN], again[SHA512_LEN];

    (void)state;
    sha512_of(out, STR("ab"), STR("c"));
    is_hex(out, sizeof out,
           "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
           "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
    sha512_of(out, STR(""), STR(""));
    is_hex(out, sizeof out,
           "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
           "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
    memset(text, 'x', sizeof text);
    for (size_t len = 0; len < sizeof text; len++) {
        sha512_of(out, str_n(text, len), STR(""));
        sha512_of(again, str_n(text, len / 3), str_n(text, len - len / 3));
        assert_memory_equal(out, again, sizeof out);
    }
}

/* RFC 4231, cases 2 and 6: a short key, and one longer than a block. */
static void hmac_is_right(void **state)
{
    uint8_t out[SHA512_LEN];
    char key[131];

    (void)state;
    sha512_hmac(out, STR("Jefe"), STR("what do ya want for nothing?"));
    is_hex(out, sizeof out,
           "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
           "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737");
    memset(key, 0xaa, sizeof key);
    sha512_hmac(out, str_n(key, sizeof key),
                STR("Test Using Larger Than Block-Size Key - Hash Key First"));
    is_hex(out, sizeof out,
           "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
           "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598");
}

/* NIST SP 800-38A, F.2.5: two blocks. */
static void aes_is_right(void **state)
{
    uint8_t key[AES_KEY_LEN], iv[AES_BLOCK], data[2 * AES_BLOCK], out[2 * AES_BLOCK];
    struct aes a;

    (void)state;
    assert_int_equal(
        enc_unhex(key, sizeof key,
                  STR("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")),
        0);
    for (int i = 0; i < AES_BLOCK; i++)
        iv[i] = (uint8_t)i;
    assert_int_equal(
        enc_unhex(data, sizeof data,
                  STR("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")),
        0);
    aes_init(&a, key);
    aes_cbc_encrypt(&a, iv, data, out, sizeof data);
    is_hex(out, sizeof out, "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d");
    aes_cbc_decrypt(&a, iv, out, out, sizeof out);
    assert_memory_equal(out, data, sizeof data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha512_is_right),
        cmocka_unit_test(hmac_is_right),
        cmocka_unit_test(aes_is_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
