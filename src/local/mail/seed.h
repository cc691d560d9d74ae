/* SPDX-License-Identifier: MIT */
/* The requests "/_mail_import" and "/_mail_export": see seed.c. */
#pragma once

#include "local/kit/daemon_request.h"

void mail_import(struct request *q);
void mail_export(struct request *q);
