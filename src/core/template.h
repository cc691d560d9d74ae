/* SPDX-License-Identifier: MIT */
/* Templates: what sandboxes are made from.
 *
 * A template is static (one name and its aliases) or dynamic (a pattern with the groups `name` and
 * `version`, which replace <name> and <version> in its image). All templates together are one list,
 * a JSON array that is replaced as a whole (core/templates.h); a list never changes, and lives as
 * long as somebody has a template of it. This file is about one such list: reading it and what
 * templates mean. Everything belongs to the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

struct regex;
struct sandbox_args;

enum {
    TEMPLATE_MAX = 256,            /* templates of a list */
    TEMPLATE_NAME_MAX = 63,        /* bytes of a name or alias */
    TEMPLATE_POOL_MAX = 64,        /* members of a pool */
    TEMPLATE_REQUIRES_MAX = 32,    /* entries of `requires`, and of `aliases` */
    TEMPLATE_PATTERN_MAX = 512,    /* bytes */
    TEMPLATE_TEXT_MAX = 4096,      /* bytes of any other text */
    TEMPLATE_LIST_BYTES = 1 << 20, /* of a list as JSON */
};

struct template_list;

/* Quantities as core/quantity.h reads them; "" where the template says nothing. */
struct template_resources {
    struct str cpu, memory, cpu_limit, memory_limit, disk;
};

struct template_pool {
    unsigned size;                  /* members that are kept ready */
    bool is_on_demand;              /* only while sandboxes of the template are asked for */
    uint16_t probe_port;            /* 0: ready as soon as it runs */
    struct str warmup;              /* the main process, as shell text; "" none */
    const struct json *warmup_args; /* the same for sh: ["-c", …], or NULL */
    struct str startup; /* shell text that is run when a sandbox is handed out; "" none */
    struct template_resources resources; /* while it waits */
};

struct template
{
    struct template_list *list; /* NULL: of the program itself, lives for ever */
    const char *name;
    const char *image;       /* what its root is made of; nothing is downloaded */
    const char *description; /* one sentence */
    const char *user;        /* who commands run as when nobody says otherwise */
    uint16_t port;           /* of the main service */
    bool is_dynamic;
    bool has_no_probe;                        /* do not wait for probe_port */
    const struct regex *by_name, *by_version; /* of a dynamic one: where its groups match */
    const struct json *aliases;               /* array of strings, or NULL; the same below */
    const struct json *args, *requires;
    const struct json *env, *metadata; /* objects of strings, or NULL */
    struct str cmd, workdir, shell;
    struct template_resources resources;
    struct template_pool pool;
    const struct json *doc; /* as it was saved */
};

/* The one that is always there, also when a list does without it. */
extern const struct template template_default;

/* Keeps T and its list alive / lets it go. NULL is allowed. */
const struct template *template_hold(const struct template *t);
void template_release(const struct template *t);

/* ---- lists ---- */

/* Reads TEXT, an array of template objects as JSON. NULL with E naming the field that is wrong
 * ("templates[2].pool.size: …"): -EINVAL, -E2BIG, -ENOMEM. The caller owns a reference. */
struct template_list *template_list_parse(struct str text, struct err *e);
void template_list_unref(struct template_list *l);
/* Number I, or NULL past the end. */
const struct template *template_list_at(const struct template_list *l, size_t i);
/* The template that NAME stands for: by name or alias; without "-vN" at its end; by pattern, in the
 * order of the list. NULL when there is none. */
const struct template *template_list_find(const struct template_list *l, struct str name);
/* NAME as it is shown: without "-vN" when that was ignored to find it; .p is NULL when there is no
 * such template. */
struct str template_list_id(const struct template_list *l, struct str name);

/* ---- one template ---- */

/* The image of T for a sandbox that asked for NAME, in A; .p is NULL without memory. */
struct str template_image(const struct template *t, struct str name, struct arena *a);
/* Fills what ARGS leaves open with what T says; environment and metadata are merged, and those of
 * ARGS win. What is made for that is in A. 0 or -ENOMEM. */
int template_merge(const struct template *t, struct sandbox_args *args, struct arena *a);
/* Whether this host has what T requires; else -ENOENT, and E says what is missing and how to
 * install it. */
int template_check(const struct template *t, struct err *e);
/* True when REFERENCE names the root that is made from this host ("default",
 * "tidepool/base:latest"…). */
bool template_is_host_image(struct str reference);
