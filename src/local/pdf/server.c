/* SPDX-License-Identifier: MIT */
/* The server "pdf-tools". Which of its tools a client sees depends on the benchmark. */
#include "base/cleanup.h"
#include "local/kit/servers.h"
#include "local/pdf/pdf.h"

static const struct local_tool tools[] = {
    {"pdf_tools_read_pdf", pdf_plain_read},
    {"pdf_tools_get_pdf_info", pdf_plain_info},
    {"pdf_tools_extract_pages", pdf_plain_extract},
    {"read_pdf_pages", pdf_read_pages},
    {"get_pdf_info", pdf_get_info},
    {"merge_pdfs", pdf_merge},
    {"extract_pdf_pages", pdf_extract},
    {"search_pdf_content", pdf_search},
    {"search_pdf_next_page", pdf_search_next},
    {"search_pdf_prev_page", pdf_search_prev},
    {"search_pdf_go_page", pdf_search_go},
    {"search_pdf_info", pdf_search_info},
};

const struct local_server pdf_server = {"pdf-tools", tools, ARRAY_LEN(tools)};
