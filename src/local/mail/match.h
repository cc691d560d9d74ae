/* SPDX-License-Identifier: MIT */
/* Finding text in messages, as IMAP's SEARCH and the tools do: without regard to case, in what a
 * person sees (encodings undone). */
#pragma once

#include "local/mail/mime.h"

/* True when TEXT contains PART; upper and lower case of Latin, Greek and Cyrillic are the same. */
bool match_text(struct str text, struct str part);
/* In the fields NAME of HEADER (NULL: in all of it). An empty PART: when the field is there. */
bool match_header(struct arena *a, struct str header, const char *name, struct str part);
/* In the texts of P and its parts, and in the names of attachments. */
bool match_body(struct arena *a, const struct mime_part *p, struct str part);
