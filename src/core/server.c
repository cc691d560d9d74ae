/* SPDX-License-Identifier: MIT */
/* The table of servers: see server.h. */
#include "core/server.h"

#include "base/cleanup.h"

#define SERVER(name, has_data) {name, has_data, true},
#define HIDDEN(name, has_data) {name, has_data, false},
#define ALIAS(name, server)
static const struct server servers[] = {
#include "core/server.def"
};
#undef SERVER
#undef HIDDEN
#undef ALIAS

#define SERVER(name, has_data)
#define HIDDEN(name, has_data)
#define ALIAS(name, server) {name, server},
static const char *const aliases[][2] = {
#include "core/server.def"
};

const struct server *server_at(size_t i)
{
    return i < ARRAY_LEN(servers) ? &servers[i] : NULL;
}

const struct server *server_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_iis(name, aliases[i][0]))
            name = str_of(aliases[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        if (str_iis(name, servers[i].name))
            return &servers[i];
    return NULL;
}
