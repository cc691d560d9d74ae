/* SPDX-License-Identifier: MIT */
/* Routes that make every address of the internet local to a network namespace without interfaces:
 * what is sent anywhere stays inside, where a listener can be waiting for it. */
#pragma once

#include "base/err.h"

/* Sets up the namespace that this thread is in; safe to repeat. IPv6 is left out when the kernel
 * has none. */
int anyip_set_up(struct err *e);
