/* SPDX-License-Identifier: MIT */
/* Quantities as Kubernetes writes them: "500m" and "0.5" of a processor, "512Mi", "2G" or "1e9"
 * bytes. */
#pragma once

#include <stdint.h>

#include "base/str.h"

/* The number that TEXT stands for, in thousandths, rounded up. 0; -EINVAL when it is no quantity or
 * negative; -ERANGE when it does not fit. */
int quantity_milli(struct str text, uint64_t *ret);
/* The same in whole units, rounded up. */
int quantity_units(struct str text, uint64_t *ret);
