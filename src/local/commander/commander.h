/* SPDX-License-Identifier: MIT */
/* Between the files of the server "desktop-commander". */
#pragma once

#include "local/kit/path.h"

/* ---- commander.c: settings and figures ---- */

/* GIVEN as an absolute path in one of the allowed directories; fails the call when it is NULL. */
const char *commander_path(struct local_call *c, struct str given);
/* The same with the reason in *WHY. */
const char *commander_check(struct local_call *c, struct str given, struct str *why);
/* "Error: " and what path_error() says. */
void commander_fail(struct local_call *c, int code, const char *what, const char *path);
/* False when one of COMMAND's programs is on the list of those that are not allowed. */
bool commander_may_run(struct local_call *c, struct str command);

/* ---- files.c ---- */

void commander_read_file(struct local_call *c);
void commander_read_multiple_files(struct local_call *c);
void commander_write_file(struct local_call *c);
void commander_create_directory(struct local_call *c);
void commander_list_directory(struct local_call *c);
void commander_move_file(struct local_call *c);
void commander_get_file_info(struct local_call *c);
/* ---- search.c ---- */
void commander_search_files(struct local_call *c);
void commander_search_code(struct local_call *c);
/* ---- edit.c ---- */
void commander_edit_block(struct local_call *c);
/* ---- process.c ---- */
void commander_start_process(struct local_call *c);
void commander_read_process_output(struct local_call *c);
void commander_interact_with_process(struct local_call *c);
void commander_force_terminate(struct local_call *c);
void commander_list_sessions(struct local_call *c);
void commander_list_processes(struct local_call *c);
void commander_kill_process(struct local_call *c);
