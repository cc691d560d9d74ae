/* SPDX-License-Identifier: MIT */
#include "api/schemas.h"

#include <errno.h>
#include <stdlib.h>

#include "api/route.h"
#include "base/map.h"
#include "base/mem.h"

enum { ARENA_MAX = 8 << 20, COUNT_MAX = 1024 };

struct schemas {
    struct arena arena;
    struct map by_name;
};

static int add_schema_rows(struct schemas *s, const struct route_schema *rows, struct err *e)
{
    for (; rows && rows->name; rows++) {
        struct json *doc = json_parse(&s->arena, str_of(rows->json), NULL, e);
        if (!doc)
            return err_ctx(e, -EINVAL, "schema %s", rows->name);
        int r = map_put(&s->by_name, str_of(rows->name), doc, NULL);
        if (r < 0)
            return err_sys(e, r, "schema %s", rows->name);
    }
    return 0;
}

struct schemas *schemas_new(struct err *e)
{
    struct schemas *s = mem_zalloc(1, sizeof *s);
    int r = s ? 0 : err_sys(e, -ENOMEM, "schemas");

    if (r < 0)
        return NULL;
    arena_init(&s->arena, ARENA_MAX);
    map_init(&s->by_name, COUNT_MAX);
    for (size_t i = 0; r == 0 && i < api_n_surfaces; i++)
        r = add_schema_rows(s, api_surfaces[i]->schemas, e);
    if (r == 0)
        return s;
    schemas_free(s);
    return NULL;
}

void schemas_free(struct schemas *s)
{
    if (!s)
        return;
    map_done(&s->by_name);
    arena_done(&s->arena);
    free(s);
}

struct json *schemas_get(const struct schemas *s, struct str name)
{
    return map_get(&s->by_name, name);
}
