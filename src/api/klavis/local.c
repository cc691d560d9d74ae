/* SPDX-License-Identifier: MIT */
/* Local sandboxes. There are none yet: requests are read as they have to be, then refused. */
#include "api/klavis/klavis.h"

void klavis_local_acquire(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    (void)klavis_input_body(&in, "AcquireLocalSandboxRequest", NULL, true);
    if (!klavis_input_refuse(&in))
        api_error(r, 503, "Local sandboxes are not available on this installation");
}

void klavis_local_list(struct api_req *r)
{
    api_reply(r, 200, "application/json", STR("{\"local_sandboxes\":[],\"total_count\":0}"));
}

void klavis_local_none(struct api_req *r)
{
    api_error(r, 404, "Local sandbox " STR_FMT " not found",
              STR_ARG(str_slice(api_param(r, "local_sandbox_id"), 0, 100)));
}
