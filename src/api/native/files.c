/* SPDX-License-Identifier: MIT */
/* /api/v1/sandbox/files: list, upload, download and delete. The work is done inside the sandbox,
 * where no path can lead out of it; bodies pass through as streams. */
#include <string.h>

#include "api/native/forward.h"
#include "api/native/native.h"
#include "base/enc.h"
#include "core/sandbox.h"

enum { TARGET_MAX = 64 << 10 };

/* An absolute path without ".", "..", and empty segments; what a relative one is below, the sandbox
 * knows. .p is NULL when memory ran out. */
static struct str clean_path(struct arena *a, struct str path)
{
    char *out = arena_alloc(a, path.len + 2);
    size_t len = 0;

    if (!out)
        return STR_NULL;
    path = str_trim(path);
    if (path.len > 0 && path.p[0] != '/')
        return path;
    while (path.p) {
        struct str s = str_cut(&path, '/');
        if (str_is(s, "..")) {
            while (len > 0 && out[--len] != '/')
                ;
        } else if (s.len > 0 && !str_is(s, ".")) {
            out[len++] = '/';
            memcpy(out + len, s.p, s.len);
            len += s.len;
        }
    }
    if (len == 0)
        out[len++] = '/';
    return str_n(out, len);
}

/* "ROUTE?path=…", with parameter FLAG of the request behind it unless that is NULL. .p is NULL when
 * memory ran out. */
static struct str file_target_of(struct api_req *r, const char *route, struct str path,
                                 const char *flag)
{
    struct buf out auto_buf = BUF_INIT(TARGET_MAX);
    struct str value = flag ? api_query(r, flag) : STR_NULL;

    /* A form may say where its files go, when the address does not. */
    (void)buf_printf(&out, "%s?path=", route);
    if (api_query(r, "path").len > 0 || strcmp(route, "/fs/upload") != 0)
        (void)enc_percent(&out, path);
    if (value.len > 0) {
        (void)buf_printf(&out, "&%s=", flag);
        (void)enc_percent(&out, value);
    }
    return buf_ok(&out) ? arena_str(r->arena, buf_str(&out)) : STR_NULL;
}

struct file_action {
    const char *route, *flag;
    bool needs_path; /* other than "/" */
    bool has_envelope;
};

static void run_file_action(struct api_req *r, const struct file_action *a)
{
    struct sandbox *sb = native_find_sandbox(r);

    if (!sb)
        return;
    struct str path = clean_path(r->arena, api_query(r, "path"));
    if (a->needs_path && str_is(path, "/")) {
        api_error(r, 400, "path is required");
        return;
    }
    struct str target = path.p ? file_target_of(r, a->route, path, a->flag) : STR_NULL;
    native_forward_own(r, sb, target, a->has_envelope);
}

void native_files_list(struct api_req *r)
{
    run_file_action(r, &(const struct file_action){"/fs/list", NULL, false, true});
}

void native_files_upload(struct api_req *r)
{
    run_file_action(r, &(const struct file_action){"/fs/upload", NULL, false, true});
}

void native_files_download(struct api_req *r)
{
    run_file_action(r, &(const struct file_action){"/fs/download", "archive", true, false});
}

void native_files_delete(struct api_req *r)
{
    run_file_action(r, &(const struct file_action){"/fs/entry", "recursive", true, true});
}
