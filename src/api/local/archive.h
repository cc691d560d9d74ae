/* SPDX-License-Identifier: MIT */
/* What the handlers about archives share. */
#pragma once

#include "api/local/local.h"
#include "api/local/signed.h"
#include "api/local/vault.h"

enum { EXECUTION_NAME_MAX = 64 };

/* "exec-NAME"; false when it is no name of an execution. */
bool archive_exec_file(struct str name, char out[VAULT_NAME_MAX]);

/* The id of SB, in R's arena. */
struct str archive_id(struct api_req *r, const struct sandbox *sb);
/* {"upload_url": …, "expires_in_minutes": 30}, or the same of "download_url". */
void archive_reply_url(struct api_req *r, enum signed_purpose purpose, struct str id,
                       struct str name);
/* Tells the client what an answer STATUS and TEXT of a transfer means that is no success. */
void archive_refuse(struct api_req *r, int status, struct str text);
/* Makes an archive by asking TARGET of the cell, and answers with its URL. */
void archive_make(struct api_req *r, struct sandbox *sb, struct str target);
