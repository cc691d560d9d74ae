/* SPDX-License-Identifier: MIT */
/* What the handlers of builds, their files and their tags share. */
#pragma once

#include "api/e2b/e2b.h"

/* "[account/]alias[:tag]" in lower case; the tag is empty when there is none. */
void e2b_split_name(struct api_req *r, struct str text, struct str *ret_alias, struct str *ret_tag);
/* As e2b_fail(), but what an account has too much of is a 429. */
void e2b_build_fail(struct api_req *r, int code, const struct err *e);
/* Deletes the built template NAME, and answers; false when the account has none of this name. */
bool e2b_built_delete(struct api_req *r, struct str name);
