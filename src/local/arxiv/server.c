/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "local/arxiv/arxiv.h"
#include "local/kit/servers.h"

static const struct local_tool tools[] = {
    {"search_papers", arxiv_search},
    {"download_paper", arxiv_download},
    {"list_papers", arxiv_list},
    {"read_paper", arxiv_read},
};

const struct local_server arxiv_server = {"arxiv", tools, ARRAY_LEN(tools)};
