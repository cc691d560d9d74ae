/* SPDX-License-Identifier: MIT */
/* Ids in the formats of the products. A format is text with parts in braces:
 *
 *     {seq:10000}   the next number of its kind, from 10000 on
 *     {hex:16}      random hex digits             {digits:18}  random decimal digits, no leading 0
 *     {upper:9}     random A–Z and 0–9            {base62:22}  random letters and digits
 *     {uuid}        a random UUID (version 4)
 *
 * "C{upper:10}" makes Slack's channels, "{seq:10001}" Jira's issues. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct appdb;

/* -EINVAL with E filled when FORMAT is malformed. */
int id_check(struct str format, struct err *e);
/* Appends the next id of KIND. */
int id_next(struct appdb *db, struct str kind, struct str format, struct buf *out, struct err *e);
