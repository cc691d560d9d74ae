/* SPDX-License-Identifier: MIT */
#include "local/memory/graph.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "local/kit/path.h"

enum {
    GRAPH_MAX = 100000,   /* entities, and relations */
    KEEP_BYTES = 1 << 20, /* of the file of a graph that stays */
    KEEP_ARENA = 64 << 20,
    /* A file that was written a moment before it was read may be written once more without another
     * time: the clock of files stands still for some milliseconds. */
    SETTLED_NS = 100000000
};

/* The graph that was read last; path[0] is 0 without one. */
static struct {
    char path[PATH_MAX];
    struct stat st;
    struct arena arena;
    struct memory_graph graph;
} kept = {.arena = {.max = KEEP_ARENA}};

static const char *const entity_keys[3] = {"name", "entityType", "observations"};
static const char *const relation_keys[3] = {"from", "to", "relationType"};

/* ---- reading ---- */

static void push_members(struct arena *a, struct json *array, const struct json *v,
                         const char *const keys[3])
{
    struct json *copy = json_new_object(a);

    for (size_t i = 0; copy && i < 3; i++) {
        const struct json *value = json_get(v, keys[i]);
        if (value)
            (void)json_set(a, copy, keys[i], value);
    }
    if (copy)
        (void)json_push(a, array, copy);
}

void memory_push_entity(struct arena *a, struct json *array, const struct json *v)
{
    push_members(a, array, v, entity_keys);
}

void memory_push_relation(struct arena *a, struct json *array, const struct json *v)
{
    push_members(a, array, v, relation_keys);
}

/* Lines that are no JSON, or neither of the two, are passed over. */
static int parse_graph(struct arena *a, struct str text, struct memory_graph *ret)
{
    ret->entities = json_new_array(a);
    ret->relations = json_new_array(a);
    if (!ret->entities || !ret->relations)
        return -ENOMEM;
    while (text.p) {
        const struct json *v = json_parse(a, str_cut(&text, '\n'), NULL, NULL);
        struct str type = json_str(json_get(v, "type"), STR(""));
        if (str_is(type, "entity") && ret->entities->n < GRAPH_MAX)
            memory_push_entity(a, ret->entities, v);
        else if (str_is(type, "relation") && ret->relations->n < GRAPH_MAX)
            memory_push_relation(a, ret->relations, v);
    }
    return 0;
}

int memory_load(struct local_call *c, const char *path, struct memory_graph *ret)
{
    struct str text = STR("");
    int r = path_read(c, path, &text);

    return r < 0 && r != -ENOENT ? r : parse_graph(&c->arena, text, ret);
}

/* ---- keeping ---- */

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           is_same_time(a->st_mtim, b->st_mtim) && is_same_time(a->st_ctim, b->st_ctim);
}

static bool is_graph_settled(const struct stat *st)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t s = (int64_t)now.tv_sec - (int64_t)st->st_ctim.tv_sec;
    return s > 1 || (s >= 0 && s * 1000000000 + now.tv_nsec - st->st_ctim.tv_nsec > SETTLED_NS);
}

void memory_forget(void)
{
    kept.path[0] = '\0';
    arena_done(&kept.arena);
}

/* Whether the file that ST describes was read whole and stays. */
static bool keep_graph_cached(struct local_call *c, const char *path, const struct stat *st)
{
    struct str text;
    struct stat after;

    memory_forget();
    if (st->st_size > KEEP_BYTES || !is_graph_settled(st) || strlen(path) >= sizeof kept.path ||
        path_read(c, path, &text) < 0 || stat(path, &after) < 0 || !is_same_file(st, &after) ||
        parse_graph(&kept.arena, text, &kept.graph) < 0)
        return false;
    kept.st = *st;
    (void)snprintf(kept.path, sizeof kept.path, "%s", path);
    return true;
}

int memory_look(struct local_call *c, const char *path, struct memory_graph *ret)
{
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return memory_load(c, path, ret);
    bool is_kept = strcmp(kept.path, path) == 0 && is_same_file(&kept.st, &st);
    if (!is_kept && !keep_graph_cached(c, path, &st))
        return memory_load(c, path, ret);
    *ret = kept.graph;
    return 0;
}
