/* SPDX-License-Identifier: MIT */
/* The main process of a cell, its log, and those who follow it. */
#pragma once

#include "base/json.h"
#include "envd/log_lines.h"
#include "envd/proc.h"

struct http_req;
struct serve;

struct log {
    struct lines lines;
    struct proc_watch watch; /* of the main process; .proc NULL: there is none */
    struct list followers;
};

void log_init(struct log *log);
/* Starts the main process that a claim asks for by cmd and args, and makes the directory that it
 * names. 0, also when it asks for none; -errno with E filled. A is used until it returns. */
int log_start_main(struct serve *s, struct arena *a, const struct json *body, struct err *e);
/* GET /log. */
void log_get(struct serve *s, struct http_req *r);
