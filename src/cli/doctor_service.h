/* SPDX-License-Identifier: MIT */
/* A service for the checks of `tidepool doctor` that need a sandbox: the one that runs on the state
 * directory, else one of its own, on a directory beside it that goes again. Sandboxes are made
 * through its API, exactly as anybody makes one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "core/config.h"

struct client;

struct doctor_service {
    struct config config; /* as given, but for the place of an own service */
    char dir[4096];       /* state of that; "": the service was there already */
    char listen[4200];
    pid_t pid;
    struct client *client;
    struct arena arena; /* of all answers */
};

/* Finds the service of C's state directory, or starts one; 0 or -errno with E filled, and
 * doctor_service_close() is still due. Nothing interrupts this process until then. */
int doctor_service_open(struct doctor_service *s, const struct config *c, struct err *e);
/* Stops an own one with all that it left. */
void doctor_service_close(struct doctor_service *s);

/* Makes a sandbox; MEMBERS is JSON text ("" or "\"pids\":32") of what it asks for. Its name, or
 * NULL with E filled. */
const char *doctor_create(struct doctor_service *s, const char *members, struct err *e);
/* Ends it, and looks whether it is gone. */
int doctor_remove(struct doctor_service *s, const char *name, struct err *e);

struct doctor_ran {
    int64_t took_us;     /* with the way there and back */
    int64_t status;      /* exit status, 128 and more for signals; -1: it did not end in time */
    struct str out, err; /* in the arena */
};
/* A command line for the sandbox SANDBOX. */
struct doctor_command {
    const char *sandbox, *text;
    const char *user; /* NULL: the default one */
};
int doctor_run(struct doctor_service *s, const struct doctor_command *c, struct doctor_ran *ret,
               struct err *e);
