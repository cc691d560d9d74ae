/* SPDX-License-Identifier: MIT */
/* JSON objects: what SQLite has no function for. */
#include "apps/functions/functions.h"

/* True when NAME is in LIST, "a, b,c"; "*all" is every name. */
static bool is_member_listed(struct str list, struct str name)
{
    while (list.p) {
        struct str one = str_trim(str_cut(&list, ','));
        if (str_eq(one, name) || str_is(one, "*all"))
            return true;
    }
    return false;
}

/* The members of IN[LAST] that are listed and in none of the objects before. */
static void pick_members(struct jw *w, struct str list, const struct json *const *in, int last)
{
    for (size_t i = 0; i < in[last]->n; i++) {
        const struct json_member *m = &in[last]->members[i];
        bool is_new = is_member_listed(list, m->key);
        for (int k = 0; is_new && k < last; k++)
            is_new = !json_get_str(in[k], m->key);
        if (!is_new)
            continue;
        jw_key_str(w, m->key);
        jw_value(w, &m->value);
    }
}

#define PICK_MAX 8 /* objects */

/* json_pick(names, object, …): the members of the objects whose names are in "a, b,c"; of two of
 * the same name the first one. A NULL has none. */
static void fn_json_pick(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    const struct json *in[PICK_MAX];
    struct jw w = jw_to(&b);
    int n_in = 0;

    arena_init(&arena, 8 * (size_t)APPDB_RESULT_MAX);
    jw_object(&w);
    for (int k = 1; k < n && n_in < PICK_MAX; k++) {
        if (sqlite3_value_type(v[k]) == SQLITE_NULL)
            continue;
        in[n_in] = json_parse(&arena, fn_text(v[k]), NULL, NULL);
        if (!json_is(in[n_in], JSON_OBJECT)) {
            sqlite3_result_error(x, "json_pick: not an object", -1);
            return;
        }
        pick_members(&w, fn_text(v[0]), in, n_in++);
    }
    jw_end(&w);
    fn_give_json(x, &b);
}

const struct sql_function functions_json[] = {
    {"json_pick", -1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_json_pick},
    {NULL, 0, 0, NULL},
};
