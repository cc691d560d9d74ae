/* SPDX-License-Identifier: MIT */
/* The verbs, one object for each row of verbs.def. */
#pragma once

#include "cli/cli.h"

#define VERB(name) extern const struct cli_verb verb_##name;
#include "cli/verbs.def"
#undef VERB
