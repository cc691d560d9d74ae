/* SPDX-License-Identifier: MIT */
/* Templates: what a sandbox is made from. There is one so far, built in; it answers to several
 * names, because clients ask for those unasked. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct template
{
    const char *name;
    const char *image;       /* what clients see; nothing is downloaded */
    const char *description; /* one sentence */
    const char *user;        /* who commands run as when nobody says otherwise */
    uint16_t port;           /* of the main service */
};

extern const struct template template_default;

/* The template of that name or alias; "-vN" at the end is ignored when no name has it. NULL when
 * there is none. */
const struct template *template_find(struct str name);
/* The name that NAME stands for: itself, or itself without "-vN"; .p is NULL when there is no such
 * template. */
struct str template_id(struct str name);
/* All names that templates have: number I, or NULL past the end. */
const char *template_name_at(size_t i);
/* The template whose image REFERENCE names ("default", "tidepool/base:latest"…), or NULL. */
const struct template *template_by_image(struct str reference);
