/* SPDX-License-Identifier: MIT */
/* The servers that there are, for servers.c. */
#pragma once

#include "local/local.h"

extern const struct local_server excel_server;         /* excel/excel.c */
extern const struct local_server filesystem_server;    /* filesystem/filesystem.c */
extern const struct local_server memory_server;        /* memory/memory.c */
extern const struct local_server terminal_server;      /* terminal/terminal.c */
extern const struct local_server code_runner_server;   /* code/runner.c */
extern const struct local_server git_server;           /* git/git.c */
extern const struct local_server code_executor_server; /* code/executor.c */
extern const struct local_server commander_server;     /* commander/commander.c */
extern const struct local_server arxiv_server;         /* arxiv/server.c */
extern const struct local_server pdf_server;           /* pdf/server.c */
extern const struct local_server mail_server;          /* mail/mail.c */
extern const struct local_server workspace_server;     /* service/workspace_files.c */
extern const struct local_server word_server;          /* word/word.c */
extern const struct local_server powerpoint_server;    /* powerpoint/call.c */
