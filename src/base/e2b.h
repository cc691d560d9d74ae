/* SPDX-License-Identifier: MIT */
/* What both programs say of the E2B protocol. */
#pragma once

/* The version of E2B's envd whose features are served: clients switch theirs on by it. */
#define E2B_ENVD_VERSION "0.6.4"
/* Where it listens inside a sandbox. */
#define E2B_ENVD_PORT 49983
