/* SPDX-License-Identifier: MIT */
#include "apps/engine/engine.h"

/* A new engine is a row. */
static const struct app_engine *const engines[] = {
    &app_engine_sqlite,
    &app_engine_pg,
};

const struct app_engine *app_engine_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(engines); i++) {
        if (str_is(name, engines[i]->name))
            return engines[i];
    }
    return NULL;
}

const struct app_engine *app_engine_at(size_t i)
{
    return i < ARRAY_LEN(engines) ? engines[i] : NULL;
}
