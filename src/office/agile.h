/* SPDX-License-Identifier: MIT */
/* Office files with a password: "agile" encryption (MS-OFFCRYPTO 2.3.4.10) with AES-256 and
 * SHA-512, as Office has written it since 2013. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { AGILE_SPINS = 100000, AGILE_SPINS_MAX = 1000000, AGILE_PASSWORD_MAX = 255 };

/* Appends PACKAGE (a ZIP archive) encrypted. 0, -EINVAL (password), -ENOMEM, -ENOBUFS. */
int agile_encrypt(struct buf *out, struct arena *a, struct str package, struct str password);
/* The package in FILE, in A. 0; -EINVAL it is not encrypted, -EKEYREJECTED wrong password, -ENOTSUP
 * another kind of encryption, -EBADMSG damaged, -ENOMEM. */
int agile_decrypt(struct str *ret, struct arena *a, struct str file, struct str password);
