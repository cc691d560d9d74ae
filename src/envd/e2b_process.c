/* SPDX-License-Identifier: MIT */
/* process.Process: see e2b.h. */
#include "envd/serve_impl.h"

struct empty {
    uint32_t has;
};
static const struct pjson_message empty = {sizeof(struct empty), 0, NULL};

static void list(struct connect_call *c)
{
    connect_reply_empty(c);
}

const struct connect_method e2b_process_methods[] = {
    {"/process.Process/List", CONNECT_UNARY, &empty, list, NULL},
    {NULL, CONNECT_UNARY, NULL, NULL, NULL},
};
