/* SPDX-License-Identifier: MIT */
/* Templates: what a sandbox is made from. There is one so far, built in; it answers to several
 * names, because clients ask for those unasked. */
#pragma once

#include <stdint.h>

#include "base/str.h"

struct template
{
    const char *name;
    const char *image;       /* what clients are told; nothing is downloaded */
    const char *description; /* one sentence */
    const char *user;        /* who commands run as when nobody says otherwise */
    uint16_t port;           /* of the main service */
};

extern const struct template template_default;

/* The template of that name or alias; "-vN" at the end is ignored when no name has it. NULL when
 * there is none. */
const struct template *template_find(struct str name);
/* The template whose image REFERENCE names ("default", "tidepool/base:latest"…), or NULL. */
const struct template *template_by_image(struct str reference);
