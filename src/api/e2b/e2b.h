/* SPDX-License-Identifier: MIT */
/* Handlers of the E2B surface, and what they share. Times, texts and statuses are E2B's; where the
 * documents of Agent-Sandbox say otherwise both are served (docs/E2B.md says which). */
#pragma once

#include "api/req.h"
#include "api/route.h"

struct root;
struct sandbox;
struct sandbox_args;

api_handler e2b_create_v1, e2b_create_v2, e2b_list_v1, e2b_list_v2, e2b_get, e2b_delete,
    e2b_timeout, e2b_refresh, e2b_pause, e2b_resume, e2b_connect, e2b_network, e2b_metrics,
    e2b_metrics_many, e2b_logs_v1, e2b_logs_v2, e2b_health;
api_handler e2b_templates, e2b_template_get, e2b_template_alias, e2b_teams;
api_handler e2b_build_request, e2b_build_start, e2b_build_status, e2b_build_logs, e2b_build_file,
    e2b_build_upload;
api_handler e2b_tags, e2b_tags_add, e2b_tags_remove, e2b_template_patch;
api_handler e2b_volume_create, e2b_volumes, e2b_volume, e2b_volume_delete;
api_handler e2b_volume_stat, e2b_volume_change, e2b_volume_remove, e2b_volume_list,
    e2b_volume_mkdir, e2b_volume_read, e2b_volume_write;
/* Refuses, with the reason, what is not served here. */
api_handler e2b_no_secrets;

/* The shape of errors: {"code":429,"message":"Rate limit exceeded"}. */
surface_shape e2b_shape;

/* E2B's default timeouts. */
enum { E2B_TIMEOUT_V1_S = 15, E2B_TIMEOUT_V2_S = 300 };

/* ---- show.c ---- */

/* The sandbox of parameter "id" (with "-CLIENT" behind it or not) that the caller may know of; else
 * answers and returns NULL. */
struct sandbox *e2b_find(struct api_req *r);
/* That there is none, in the words of the endpoint. */
void e2b_not_found(struct api_req *r);
/* What a refused or failed move of SB (NULL while there is none) means to a client. */
void e2b_fail(struct api_req *r, const struct sandbox *sb, int code, const struct err *e);
/* A sandbox as the API shows it. */
void e2b_put_sandbox(struct jw *w, const struct core *core, const struct sandbox *sb);
void e2b_reply_sandbox(struct api_req *r, int status, const struct sandbox *sb);
/* Thousandths of processors and bytes of memory that it can use at most. */
int64_t e2b_cpu_milli(const struct sandbox *sb);
int64_t e2b_memory_total(const struct sandbox *sb);

/* ---- snapshots.c, fork.c ---- */

api_handler e2b_snapshot, e2b_snapshots, e2b_template_delete, e2b_fork;
/* Whether the body asks for WHAT with memory, which nothing keeps: answered then, < 0. */
int e2b_refuse_memory(struct api_req *r, const char *what);
/* The snapshot that TEXT names ("name", "name:tag", an id) and the caller may know of, or NULL. */
struct root *e2b_snapshot_find(const struct api_req *r, struct str text);
/* Has A be a sandbox of it. */
void e2b_snapshot_apply(const struct root *root, struct sandbox_args *a);

/* ---- network.c ---- */

/* Reads the member "network" of a create: the ways out (allowOut, denyOut, whether there is
 * internet at all) and the ways in. 0, or -EINVAL after answering. */
int e2b_read_network(struct api_req *r, struct sandbox_args *a);
