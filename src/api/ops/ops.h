/* SPDX-License-Identifier: MIT */
/* Handlers of the operations surface. */
#pragma once

#include "api/route.h"

api_handler ops_health, ops_health_post, ops_metrics, ops_openapi;
