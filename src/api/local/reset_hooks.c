/* SPDX-License-Identifier: MIT */
/* Servers of local sandboxes that keep something outside the cell, be it what they began with.
 */
#include <stddef.h>

#include "api/local/apps.h"
#include "api/local/reset.h"
#include "api/local/state.h"

const struct reset_hook reset_hooks[] = {
    {"google_cloud", local_app_reset},
    {"poste_email_toolathlon", local_state_reset_mail},
};
const size_t reset_n_hooks = sizeof reset_hooks / sizeof reset_hooks[0];
