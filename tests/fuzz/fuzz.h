/* SPDX-License-Identifier: MIT */
/* What every fuzz target defines. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Must accept any bytes, leak nothing and return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
