/* SPDX-License-Identifier: MIT */
/* A program that uses one library a little, for its size and the time it takes to start. `run`
 * compiles it in several ways: which library is a macro. */
#include <stdio.h>
#if defined(WITH_ZLIB)
#include <zlib.h>
#elif defined(WITH_LIBDEFLATE)
#include <libdeflate.h>
#elif defined(WITH_SHA)
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/aes.h>
#include <openssl/sha.h>
#elif defined(WITH_EVP)
#include <openssl/evp.h>
#elif defined(WITH_EXPAT)
#include <expat.h>
#elif defined(WITH_LIBARCHIVE)
#include <archive.h>
#elif defined(WITH_LIBICAL)
#include <libical/ical.h>
#elif defined(WITH_GMIME)
#include <gmime/gmime.h>
#elif defined(WITH_LIBZIP)
#include <zip.h>
#elif defined(WITH_ISAL)
#include <isa-l.h>
#endif

int main(void)
{
    unsigned char out[64] = {0};
#if defined(WITH_ZLIB)
    z_stream z = {0};
    (void)inflateInit2(&z, 31);
    (void)inflateEnd(&z);
    out[0] = (unsigned char)crc32(0, out, sizeof out);
#elif defined(WITH_LIBDEFLATE)
    size_t n = 0;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    (void)libdeflate_deflate_decompress(d, out, 8, out + 32, 32, &n);
    libdeflate_free_decompressor(d);
#elif defined(WITH_SHA)
    SHA512_CTX c;
    AES_KEY key;
    unsigned char iv[16] = {0};
    (void)SHA512_Init(&c);
    (void)SHA512_Final(out, &c);
    (void)AES_set_encrypt_key(out, 256, &key);
    AES_cbc_encrypt(out, out, 32, &key, iv, 1);
#elif defined(WITH_EVP)
    (void)EVP_Digest("", 0, out, NULL, EVP_sha512(), NULL);
#elif defined(WITH_EXPAT)
    XML_Parser p = XML_ParserCreateNS("UTF-8", ' ');
    out[0] = (unsigned char)XML_Parse(p, "<a/>", 4, 1);
    XML_ParserFree(p);
#elif defined(WITH_LIBARCHIVE)
    struct archive *a = archive_read_new();
    (void)archive_read_support_format_tar(a);
    (void)archive_read_free(a);
#elif defined(WITH_LIBICAL)
    out[0] = (unsigned char)icalrecurrencetype_from_string("FREQ=DAILY").freq;
#elif defined(WITH_GMIME)
    g_mime_init();
#elif defined(WITH_LIBZIP)
    zip_error_t e;
    zip_source_free(zip_source_buffer_create(out, sizeof out, 0, &e));
#elif defined(WITH_ISAL)
    struct inflate_state z;
    isal_inflate_init(&z);
    out[0] = (unsigned char)crc32_gzip_refl(0, out, sizeof out);
#endif
    return out[0] == 1 && out[1] == 2 && out[2] == 3;
}
