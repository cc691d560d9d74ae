/* SPDX-License-Identifier: MIT */
/* The Klavis surface's shape of errors. */
#pragma once

struct api_fault;
struct buf;

int klavis_shape(struct buf *out, const struct api_fault *f);
