/* SPDX-License-Identifier: MIT */
/* Executions: programs that a client has uploaded, run beside the tools. Each has a directory below
 * the home:
 *
 *     .tidepool/executions/NAME/code     what was uploaded, and where it runs
 *     .tidepool/executions/NAME/log      what it prints, both of its outputs
 *     .tidepool/executions/NAME/status   "running", "completed" or "failed"
 *     .tidepool/executions/NAME/lock     locked while a process is at it
 *
 * The process is its own session and goes on when tidepool-local is started again. It installs what
 * packages.txt and requirements.txt name, where that is not there yet, then runs main.py, with
 * AGENT_WORKSPACE in its environment. */
#pragma once

#include "local/kit/daemon_request.h"

/* POST /_execute?name=N&max_bytes=N   body: tar.gz; 200 {}; 409 it runs
 * POST /_execution?name=N&cursor=N    200 {"status", "logs", "cursor"}; 404 there is none
 * POST /_artifacts?name=N             200, code as tar.gz */
void execution_row_start(struct request *q);
void execution_row_show(struct request *q);
void execution_row_pack(struct request *q);

/* The process: `tidepool-local --execute DIR ROOT`. Returns its exit status at once; the work goes
 * on in another. */
int execution_main(const char *dir, const char *root);
