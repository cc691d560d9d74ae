/* SPDX-License-Identifier: MIT */
/* Names of folders on the wire of IMAP: modified UTF-7 (RFC 3501 §5.1.3). */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* UTF-8 as modified UTF-7. */
struct str utf7_encode(struct arena *a, struct str s);
/* The other way; what is no modified UTF-7 stays as it is. */
struct str utf7_decode(struct arena *a, struct str s);
