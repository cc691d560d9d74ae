/* SPDX-License-Identifier: MIT */
/* Handlers of the native surface, and its envelope. */
#pragma once

#include "api/req.h"
#include "api/route.h"

api_handler native_backup, native_events_stream;
api_handler native_events, native_keys_list, native_keys_create, native_keys_revoke;
api_replay native_keys_replay;
api_handler native_audit_list, native_audit_verify;
api_handler native_apps_list, native_apps_get, native_apps_create;
api_handler native_sandbox_create, native_sandbox_list, native_sandbox_get, native_sandbox_delete,
    native_sandbox_change, native_sandbox_pause, native_sandbox_resume, native_sandbox_metrics,
    native_terminal_run;
api_handler native_files_list, native_files_upload, native_files_download, native_files_delete,
    native_logs, native_terminal_ws;
api_handler native_config_templates, native_config_save_templates, native_config_blueprint,
    native_config_save_blueprint, native_config_history, native_config_revision,
    native_config_restore;
api_handler native_images, native_image, native_image_import, native_image_imports,
    native_image_imported, native_image_delete, native_image_gc;
api_handler native_pool_list, native_pool_members, native_pool_drain;
/* Of the paths that are shared with the Klavis surface. */
api_handler native_router, native_router_slash;

struct sandbox;

/* {"code":"0","data": … the caller's value … }: begins it, and ends it. */
struct jw native_begin(struct buf *out);
void native_end(struct jw *w);
/* {"code":"0","data":"text"} */
void native_reply_text(struct api_req *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A key as the API shows it, with the token itself unless that is NULL. */
void native_put_key(struct jw *w, const struct account_key *k, const char *secret);
struct instances;
/* App NAME as a line of the list; what is wrong with it when it cannot be loaded. */
void native_put_app_line(struct jw *w, struct instances *set, const char *name);
struct store_row;
struct chain_report;
/* An event of the audit chain: a row of STORE_EVENT_PAGE. */
void native_put_audit(struct jw *w, const struct store_row *row);
/* What a walk through the chain found. */
void native_put_chain(struct jw *w, const struct chain_report *rep);
/* A sandbox as the API shows it. */
void native_put_sandbox(struct jw *w, const struct sandbox *sb);
/* The same of one that waits in a pool. */
void native_put_member(struct jw *w, const struct sandbox *sb);
/* The sandbox that parameter "name" names and the caller may know of; else answers 404 and returns
 * NULL. */
struct sandbox *native_find_sandbox(struct api_req *r);
/* What a refused or failed move of a sandbox means to a client. */
void native_sandbox_fail(struct api_req *r, int code, const struct err *e);
