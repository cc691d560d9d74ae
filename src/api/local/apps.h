/* SPDX-License-Identifier: MIT */
/* Servers of local sandboxes whose work is done by an app (src/apps): a local sandbox with such a
 * server has an instance of the app to itself, acquired when it is first needed. The instance's
 * owner is the local sandbox, by whose id it is found again after a restart, and with which it
 * ends. */
#pragma once

#include "api/local/local.h"

struct instance;
struct local_apps;

struct local_apps *local_apps_new(struct locals *l);
void local_apps_free(struct local_apps *a);

/* Whether the server of that name is an app, and the app is there. */
bool local_app_is(const struct locals *l, struct str name);

typedef void local_app_fn(void *ctx, struct instance *in, const struct err *e);
/* Releases the instances whose local sandbox has ended while nobody looked: before a restart, or in
 * a reset. */
void local_apps_sweep(struct locals *l);

/* MCP of SB's server NAME, for local_mcp(). */
void local_app_mcp(struct api_req *r, struct sandbox *sb, struct str name);
/* For reset_hooks.c: back to what the last initialize made, else to the beginning. */
void local_app_reset(struct locals *l, struct sandbox *sb, void (*done)(void *ctx, const char *why),
                     void *ctx);

struct local_apps *locals_apps(const struct locals *l);

/* ---- files of the workspace ---- */

/* TEXT is {"text" or "base64", "size"}, or with IS_FAILURE what is wrong. */
typedef void local_file_fn(void *ctx, struct str text, bool is_failure);
/* VERB is "read" or "write", ARGS {"path", "text" or "base64"}; A lives until FN is called. */
void local_file(struct locals *l, struct str id, const char *verb, const struct json *args,
                struct arena *a, local_file_fn *fn, void *ctx);
