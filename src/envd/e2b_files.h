/* SPDX-License-Identifier: MIT */
/* What the files of /files of the E2B protocol share. Internal header of src/envd. */
#pragma once

#include "envd/e2b.h"
#include "envd/rest.h"
#include "net/http_server.h"

/* A query parameter, decoded and with a NUL behind; .p is NULL when absent. */
struct str e2b_query(struct http_req *r, const char *name);
/* Lets R pass when it carries the token, or a signature for OPERATION, or when there is no token.
 * False: answered. */
bool e2b_files_is_allowed(struct serve *s, struct http_req *r, const char *operation);
/* The user NAME (empty: the default one) in *RET. False: answered. */
bool e2b_files_user(struct serve *s, struct http_req *r, struct str name, struct user *ret);
/* PATH as U means it. NULL: answered. */
const char *e2b_files_path(struct serve *s, struct http_req *r, struct str path,
                           const struct user *u);

/* Opens PATH for writing, from nothing, in the directory DIR_FD; it belongs to U then. Never
 * blocks. Descriptor; or -errno with E filled in the protocol's words. */
int e2b_files_create(int dir_fd, const char *path, const struct user *u, struct err *e);
/* The status of an error of e2b_files_create() or of writing: 507, 400 or 500. */
int e2b_files_status(int code);
/* Writes {"name","path","type":"file"}, and metadata when PATH has any. */
void e2b_files_put(struct jw *w, struct arena *a, const char *path);
