/* SPDX-License-Identifier: MIT */
/* The files of a volume: /volumecontent/{id}/path, /dir and /file. The token of the volume lets in,
 * no key is needed. What touches files runs on a worker, with a copy of everything it needs. */
#include "api/e2b/volume_content.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/body.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/sandbox_access.h"
#include "core/volume_files.h"

enum { JOB_MEMORY = 16 << 20, ANSWER_MAX = 16 << 20, UID_MAX = 65535, DEPTH_DEFAULT = 1 };

/* ---- who may ---- */

static struct volume *find_content_volume(struct api_req *r)
{
    struct str id = api_param(r, "id"), token = api_token(r->http);
    struct volume *v = volume_find(r->core->volumes, id);

    if (!token.p || !v || !sandbox_token_is(v->token, token)) {
        api_error(r, 401, "the token is not valid for this volume");
        return NULL;
    }
    return v;
}

/* ---- what is asked for ---- */

static int read_content_number(struct api_req *r, const char *name, int64_t max, int64_t *ret)
{
    struct str text = api_query(r, name);
    int64_t value;

    if (text.len == 0)
        return 0;
    if (str_to_i64(text, &value) < 0 || value < 0 || value > max) {
        api_error(r, 400, "invalid %s: must be a number from 0 to %lld", name, (long long)max);
        return -EINVAL;
    }
    *ret = value;
    return 0;
}

int e2b_read_meta(struct api_req *r, struct volume_meta *ret)
{
    *ret = (struct volume_meta){
        .uid = -1, .gid = -1, .mode = -1, .force = str_is(api_query(r, "force"), "true")};
    if (read_content_number(r, "uid", UID_MAX, &ret->uid) < 0 ||
        read_content_number(r, "gid", UID_MAX, &ret->gid) < 0 ||
        read_content_number(r, "mode", 07777, &ret->mode) < 0)
        return -EINVAL;
    return 0;
}

static int read_body_number(struct api_req *r, const char *name, int64_t max, int64_t *ret)
{
    int64_t value = -1;

    if (api_body_int(r, name, &value) < 0)
        return -EINVAL;
    if (api_body_member(r, name) && (value < 0 || value > max)) {
        api_error(r, 400, "invalid %s: must be a number from 0 to %lld", name, (long long)max);
        return -EINVAL;
    }
    *ret = value;
    return 0;
}

/* ---- jobs ---- */

struct volume_job *e2b_volume_job(struct api_req *r)
{
    const struct volume *v = find_content_volume(r);
    struct err e = ERR_INIT;

    if (!v)
        return NULL;
    struct volume_job *j = mem_zalloc(1, sizeof *j);
    if (!j) {
        api_fail(r, -ENOMEM, NULL);
        return NULL;
    }
    j->r = r;
    j->pool = volumes_pool(r->core->volumes);
    arena_init(&j->arena, JOB_MEMORY);
    buf_init(&j->list, ANSWER_MAX);
    (void)snprintf(j->account, sizeof j->account, "%s", v->account);
    j->path = volume_path_clean(&j->arena, api_query(r, "path"), &e);
    int code = j->path ? volume_way(v, &j->way, &e) : e.code;
    if (code < 0) {
        e2b_volume_fail(r, code, &e);
        e2b_volume_job_free(j);
        return NULL;
    }
    return j;
}

void e2b_volume_job_free(struct volume_job *j)
{
    arena_done(&j->arena);
    buf_done(&j->list);
    free(j);
}

void e2b_volume_fail(struct api_req *r, int code, const struct err *e)
{
    static const struct {
        int code, status;
    } rows[] = {{-ENOENT, 404}, {-EEXIST, 409}, {-E2BIG, 400}, {-ENOSPC, 507}};

    for (size_t i = 0; e->code && i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code) {
            api_error(r, rows[i].status, "%s", err_text(e));
            return;
        }
    e2b_fail(r, NULL, code, e);
}

static void run_content_job(struct work *w)
{
    struct volume_job *j = container_of(w, struct volume_job, work);
    auto_close int root = volume_way_open(&j->way, &j->e);

    if (root >= 0)
        (void)j->act(j, root, &j->e);
}

static void on_job_done(struct work *w)
{
    struct volume_job *j = container_of(w, struct volume_job, work);

    if (w->is_dropped)
        (void)err_set(&j->e, -ESHUTDOWN, "the service is stopping");
    if (j->e.code == 0) {
        j->answer(j);
        return;
    }
    e2b_volume_fail(j->r, j->e.code, &j->e);
    e2b_volume_job_free(j);
}

void e2b_volume_submit(struct volume_job *j)
{
    struct api_req *r = j->r;

    j->work =
        (struct work){.run = run_content_job, .done = on_job_done, .owner = str_of(j->account)};
    int code = work_submit(j->pool, r->core->loop, &j->work);

    if (code < 0) {
        api_fail(r, code, NULL);
        e2b_volume_job_free(j);
    }
}

/* ---- showing ---- */

static const char *content_type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG: return "file";
    case S_IFDIR: return "directory";
    case S_IFLNK: return "symlink";
    default: return "unknown";
    }
}

static void put_content_time(struct jw *w, const char *name, const struct timespec *at)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(text, at->tv_sec * INT64_C(1000000) + at->tv_nsec / 1000);
    jw_key(w, name);
    jw_cstr(w, text);
}

static void put_content_entry(struct jw *w, const struct volume_entry *entry)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"size", entry->st.st_size},
        {"mode", entry->st.st_mode & 07777},
        {"uid", entry->st.st_uid},
        {"gid", entry->st.st_gid},
    };
    const char *slash = strrchr(entry->path, '/');

    jw_object(w);
    jw_key(w, "name");
    jw_cstr(w, slash[1] ? slash + 1 : "/");
    jw_key(w, "type");
    jw_cstr(w, content_type_of(entry->st.st_mode));
    jw_key(w, "path");
    jw_cstr(w, entry->path);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        jw_key(w, numbers[i].name);
        jw_int(w, numbers[i].value);
    }
    put_content_time(w, "atime", &entry->st.st_atim);
    put_content_time(w, "mtime", &entry->st.st_mtim);
    put_content_time(w, "ctime", &entry->st.st_ctim);
    if (entry->target) {
        jw_key(w, "target");
        jw_cstr(w, entry->target);
    }
    jw_end(w);
}

void e2b_volume_show(struct volume_job *j, int status)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    put_content_entry(&w, &j->entry);
    api_reply_json(j->r, status, &body);
    e2b_volume_job_free(j);
}

static void answer_entry(struct volume_job *j)
{
    e2b_volume_show(j, 200);
}

static void answer_created(struct volume_job *j)
{
    e2b_volume_show(j, 201);
}

static void answer_removed(struct volume_job *j)
{
    api_reply(j->r, 204, NULL, STR_NULL);
    e2b_volume_job_free(j);
}

static void answer_list(struct volume_job *j)
{
    api_reply_json(j->r, 200, &j->list);
    e2b_volume_job_free(j);
}

/* ---- the endpoints ---- */

static int act_stat(struct volume_job *j, int root, struct err *e)
{
    return volume_stat(&j->arena, root, j->path, &j->entry, e);
}

static int act_change(struct volume_job *j, int root, struct err *e)
{
    int r = volume_change(root, j->path, &j->meta, e);

    return r < 0 ? r : act_stat(j, root, e);
}

static int act_remove(struct volume_job *j, int root, struct err *e)
{
    return volume_unlink(root, j->path, e);
}

/* Ten thousand entries as text take longer than others should wait for the loop. */
static int act_list(struct volume_job *j, int root, struct err *e)
{
    struct jw w = jw_to(&j->list);
    int r = volume_list(&j->arena, root, j->path, j->depth, &j->entries, e);

    if (r < 0)
        return r;
    jw_array(&w);
    for (size_t i = 0; i < j->entries.n; i++)
        put_content_entry(&w, &j->entries.items[i]);
    jw_end(&w);
    return buf_ok(&j->list) ? 0 : volume_refuse_list(e);
}

static int act_mkdir(struct volume_job *j, int root, struct err *e)
{
    int r = volume_mkdir(root, j->path, &j->meta, e);

    return r < 0 ? r : act_stat(j, root, e);
}

static void start_content_job(struct api_req *r, volume_act *act, volume_answer *answer)
{
    struct volume_job *j = e2b_volume_job(r);

    if (!j)
        return;
    j->act = act;
    j->answer = answer;
    e2b_volume_submit(j);
}

void e2b_volume_stat(struct api_req *r)
{
    start_content_job(r, act_stat, answer_entry);
}

void e2b_volume_remove(struct api_req *r)
{
    start_content_job(r, act_remove, answer_removed);
}

void e2b_volume_change(struct api_req *r)
{
    struct volume_meta meta = {.force = false};

    if (api_body_object(r) < 0 || read_body_number(r, "uid", UID_MAX, &meta.uid) < 0 ||
        read_body_number(r, "gid", UID_MAX, &meta.gid) < 0 ||
        read_body_number(r, "mode", 07777, &meta.mode) < 0)
        return;
    struct volume_job *j = e2b_volume_job(r);
    if (!j)
        return;
    j->meta = meta;
    j->act = act_change;
    j->answer = answer_entry;
    e2b_volume_submit(j);
}

void e2b_volume_list(struct api_req *r)
{
    int64_t depth = DEPTH_DEFAULT;

    if (read_content_number(r, "depth", VOLUME_DEPTH_MAX, &depth) < 0)
        return;
    struct volume_job *j = e2b_volume_job(r);
    if (!j)
        return;
    j->depth = depth > 0 ? (unsigned)depth : DEPTH_DEFAULT;
    j->act = act_list;
    j->answer = answer_list;
    e2b_volume_submit(j);
}

void e2b_volume_mkdir(struct api_req *r)
{
    struct volume_meta meta;

    if (e2b_read_meta(r, &meta) < 0)
        return;
    struct volume_job *j = e2b_volume_job(r);
    if (!j)
        return;
    j->meta = meta;
    j->act = act_mkdir;
    j->answer = answer_created;
    e2b_volume_submit(j);
}
