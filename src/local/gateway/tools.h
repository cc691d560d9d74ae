/* SPDX-License-Identifier: MIT */
/* What clients see of the tools of local servers, out of local/SERVER.json (tools/embed-tools). */
#pragma once

#include <stddef.h>

struct gateway_tool_text {
    const char *name, *description;
    const char *input, *annotations; /* JSON; the latter may be NULL */
};

struct gateway_server_text {
    const char *name;
    const struct gateway_tool_text *tools;
    size_t n_tools;
};

/* Ends with a row of zeroes. */
extern const struct gateway_server_text gateway_server_texts[];
