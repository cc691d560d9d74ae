/* SPDX-License-Identifier: MIT */
/* What a sandbox is made with, as a surface asks for it; and the limits on that. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

enum {
    SANDBOX_ID_LEN = 32, /* hex digits */
    SANDBOX_NAME_MAX = 50,
    SANDBOX_TIMEOUT_DEFAULT_S = 1800,
    SANDBOX_TIMEOUT_MAX_S = 86400,
    SANDBOX_WOKEN_S = 300,       /* what is woken by use lasts at least that long, as with E2B */
    SANDBOX_MAX = 4096,          /* in the installation */
    SANDBOX_ENV_MAX = 256,       /* entries of envVars, and of metadata */
    SANDBOX_SPEC_MAX = 256 << 10 /* bytes of everything that describes one sandbox */
};

/* What a sandbox is to be. Empty strings and zeroes mean the default; values may point anywhere,
 * they are copied. */
struct sandbox_args {
    struct str name;
    bool has_name; /* an empty name is a mistake when it was given */
    struct str template_name, image;
    struct str root;                   /* id of a root (core/root.h); empty: the template's own */
    const struct json *env, *metadata; /* objects of strings, or NULL */
    int64_t timeout_s;                 /* <0: never */
    int64_t idle_timeout_s;            /* <=0: none */
    bool auto_pause, auto_resume;
    bool forgets_memory; /* an automatic pause ends the processes, files stay */
    bool is_insecure;    /* see core/sandbox_access.h */
    bool is_private;
    struct str mask_host;
    struct str workdir, cmd, app;
    struct str user;         /* who commands run as when nobody says otherwise */
    const struct json *args; /* array of strings, or NULL */
    struct str cpu, memory, cpu_limit, memory_limit, disk; /* quantities */
    int64_t pids, port;
    bool is_offline;            /* nothing outside is reached but what `network` allows */
    const struct json *network; /* {"allowOut": […], "denyOut": […]} of rules, see
                                   runtime/netpolicy.h; or NULL */
    const struct json *volumes; /* [{"name": …, "path": …}], see sandbox_volume.h; or NULL */
    const struct json *extra;   /* what a surface wants to be kept with it, an object, or NULL */
};

bool sandbox_name_is_valid(struct str name);
/* True for words that other surfaces have the path /sandbox/WORD for. */
bool sandbox_name_is_reserved(struct str name);
