/* SPDX-License-Identifier: MIT */
/* The HTTP side of the code interpreter: the routes of interpreter.h. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct interpreter_server;
struct loop;

struct interpreter_server_args {
    struct loop *loop;
    const char *address; /* as http_listen() takes it; a port of 0 is printed */
    const char *adopt;   /* where an environment is taken: POST of {NAME: value}; NULL: nowhere */
    bool is_warm;        /* listen when the first context is ready; else at once */
};

/* Serves; NULL with E filled. */
struct interpreter_server *interpreter_server_new(const struct interpreter_server_args *args,
                                                  struct err *e);
void interpreter_server_free(struct interpreter_server *s);
