/* SPDX-License-Identifier: MIT */
/* Names of HTTP things and header lookups: see http.h. */
#include "net/http.h"

#include "base/cleanup.h"

static const char *const method_names[HTTP_METHOD_COUNT] = {
    [HTTP_GET] = "GET",         [HTTP_HEAD] = "HEAD",   [HTTP_POST] = "POST",
    [HTTP_PUT] = "PUT",         [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE",
    [HTTP_OPTIONS] = "OPTIONS", [HTTP_OTHER] = "OTHER",
};

const char *http_method_name(enum http_method m)
{
    return method_names[m];
}

static const struct {
    int status;
    const char *text;
} status_texts[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {511, "Network Authentication Required"},
};

const char *http_status_text(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(status_texts); i++)
        if (status_texts[i].status == status)
            return status_texts[i].text;
    return "";
}

struct str http_header_get(const struct http_headers *h, const char *name)
{
    struct str want = str_of(name);

    for (size_t i = 0; i < h->n; i++)
        if (str_ieq(h->items[i].name, want))
            return h->items[i].value;
    return STR_NULL;
}

bool http_header_has(const struct http_headers *h, const char *name, const char *token)
{
    struct str want = str_of(name), needle = str_of(token);

    for (size_t i = 0; i < h->n; i++) {
        if (!str_ieq(h->items[i].name, want))
            continue;
        for (struct str rest = h->items[i].value; rest.p;)
            if (str_ieq(str_trim(str_cut(&rest, ',')), needle))
                return true;
    }
    return false;
}
