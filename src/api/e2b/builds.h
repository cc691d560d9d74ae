/* SPDX-License-Identifier: MIT */
/* What the handlers of builds, their files and their tags share. */
#pragma once

#include "api/e2b/e2b.h"

/* "[account/]alias[:tag]" in lower case; the tag is empty when there is none. */
void e2b_split_name(struct api_req *r, struct str text, struct str *ret_alias, struct str *ret_tag);
/* Deletes the built template NAME, and answers; false when the account has none of this name. */
bool e2b_built_delete(struct api_req *r, struct str name);
