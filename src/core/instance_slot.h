/* SPDX-License-Identifier: MIT */
/* How many slots and leases an account has, of those that it may have (limits.h). Slots stay when
 * their lease is over; an account that has as many as it may gets room by giving up idle ones. */
#pragma once

#include "base/err.h"

struct account;
struct instance;
struct instances;

/* Counts a new slot against ACCOUNT, which gives up an idle one when it has its maximum; it is
 * counted until instance_free(). -EDQUOT, -ENOBUFS with E filled / the same after a restart. */
int instance_take_slot(struct instance *in, struct account *account, struct err *e);
void instance_add_slot(struct instance *in);
/* Whether ACCOUNT can have N more leases: -EDQUOT it has its maximum, -EAGAIN the service has. */
int instances_check_room(struct instances *set, struct account *account, size_t n, struct err *e);
/* Counts its lease, until instance_end_own(); the same. */
int instance_take_lease(struct instance *in, struct account *account, struct err *e);
void instance_add_lease(struct instance *in);
