/* SPDX-License-Identifier: MIT */
/* Files of the workspace for servers whose work is done in the daemon: no tools of an agent's. The
 * failures are worded as Python's open() does. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "local/kit/path.h"
#include "local/kit/servers.h"

enum { FILE_MAX = 8 << 20 }; /* what the daemon takes as an argument */

static void fail_workspace_file(struct local_call *c, int code)
{
    struct str path = local_str(c, "path");

    if (code == -EFBIG)
        local_fail(c, "'" STR_FMT "' is larger than %d MB", STR_ARG(path), FILE_MAX >> 20);
    else
        local_fail(c, "[Errno %d] %s: '" STR_FMT "'", -code, strerror(-code), STR_ARG(path));
}

/* Why there is no path: it leads out of the workspace, or its folder is not there. */
static int code_of(struct str why)
{
    return str_starts(why, STR("Access denied")) ? -EACCES : -ENOENT;
}

/* {"text" or "base64", "size"} */
static void read_workspace_file(struct local_call *c)
{
    struct str why = STR_NULL, data;
    const char *path = path_check(c, local_str(c, "path"), &why);
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX), coded = BUF_INIT(LOCAL_ANSWER_MAX);
    struct jw w = jw_to(&out);
    int r = path ? path_read(c, path, &data) : code_of(why);

    if (r == 0 && data.len > FILE_MAX)
        r = -EFBIG;
    if (r < 0) {
        fail_workspace_file(c, r);
        return;
    }
    bool is_text = str_is_utf8(data) && (data.len == 0 || !memchr(data.p, 0, data.len));
    if (!is_text)
        (void)enc_base64(&coded, data);
    jw_object(&w);
    jw_key(&w, is_text ? "text" : "base64");
    jw_str(&w, is_text ? data : buf_str(&coded));
    jw_key(&w, "size");
    jw_int(&w, (int64_t)data.len);
    jw_end(&w);
    local_text(c, buf_str(&out));
}

static void write_workspace_file(struct local_call *c)
{
    struct str why = STR_NULL, data = local_str(c, "text"), coded = local_str(c, "base64");
    const char *path = path_check(c, local_str(c, "path"), &why);
    auto_buf struct buf b = BUF_INIT(LOCAL_BODY_MAX);
    int r = path ? 0 : code_of(why);

    if (r == 0 && coded.len > 0) {
        r = enc_unbase64(&b, coded);
        data = buf_str(&b);
    }
    if (r == 0)
        r = path_write(c, path, data);
    if (r < 0)
        fail_workspace_file(c, r);
    else
        local_text(c, STR("{}"));
}

static const struct local_tool tools[] = {{"read", read_workspace_file},
                                          {"write", write_workspace_file}};

const struct local_server workspace_server = {"workspace", tools, ARRAY_LEN(tools)};
