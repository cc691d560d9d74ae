/* SPDX-License-Identifier: MIT */
/* The MCP surface's shape of errors. */
#pragma once

struct api_fault;
struct buf;

int mcp_shape(struct buf *out, const struct api_fault *f);
