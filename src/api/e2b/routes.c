/* SPDX-License-Identifier: MIT */
/* The E2B control surface: /e2b/v1. */
#include "api/fault.h"
#include "api/route.h"

static const char *const prefixes[] = {"/e2b/v1", NULL};

const struct surface surface_e2b = {
    .name = "e2b",
    .prefixes = prefixes,
    .is_guarded = true,
    .has_cors = true,
    .shape = api_fault_code_message,
    .error_schema = "Error",
};
