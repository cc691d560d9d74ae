/* SPDX-License-Identifier: MIT */
/* The list of surfaces. */
#include "api/route.h"
#include "base/cleanup.h"

const struct surface *const api_surfaces[] = {&surface_ops,    &surface_native, &surface_e2b,
                                              &surface_klavis, &surface_mcp,    &surface_traffic};
const size_t api_n_surfaces = ARRAY_LEN(api_surfaces);
