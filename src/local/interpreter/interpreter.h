/* SPDX-License-Identifier: MIT */
/* code-interpreter: runs code in contexts that keep their state, as clients of E2B's code
 * interpreter ask for it on port 49999. It is another name of tidepool-local.
 *
 *     code-interpreter             serves, and starts what a request needs
 *     code-interpreter --warm      opens its port only when the first context can run code
 *     code-interpreter --adopt     gives its own environment to the one that serves: what a sandbox
 *                                  does that was started before it had an owner
 *
 *     GET    /health                 "OK"
 *     POST   /execute                {code, context_id | language, env_vars}: events, a line each
 *                                    (interpreter/event.h), until the code has ended. Who leaves
 *                                    interrupts it
 *     GET    /contexts               those that exist, oldest first
 *     POST   /contexts               {language, cwd}: a new one
 *     POST   /contexts/ID/restart    the same with a new process
 *     DELETE /contexts/ID
 *
 * A context is a process of its language (interpreter/kernel.h) that a driver, a file of
 * local/interpreter/, makes out of the language's own program. Code of one context runs one after
 * another, that of several at the same time. Everything runs as who started the program. */
#pragma once

#include "base/str.h"

enum {
    INTERPRETER_PORT = 49999,
    INTERPRETER_BODY_MAX = 16 << 20,   /* bytes of a request */
    INTERPRETER_CONTEXTS_MAX = 32,     /* contexts at a time */
    INTERPRETER_QUEUE_MAX = 64,        /* executions of a context that wait or run */
    INTERPRETER_ENV_MAX = 256,         /* variables of an execution */
    INTERPRETER_CONNECTIONS_MAX = 512, /* at a time */
    INTERPRETER_KEEPALIVE_MS = 5000,   /* of silence */
    INTERPRETER_INTERRUPT_MS = 1000,   /* between two interrupts of the same code */
    INTERPRETER_INTERRUPTS_MAX = 30    /* after them the process is ended */
};

/* Where --adopt finds the one that serves: a name of the network namespace. */
#define INTERPRETER_ADOPT "unix:@code-interpreter"

/* The program; returns its exit status. */
int interpreter_main(int argc, char **argv);
