/* SPDX-License-Identifier: MIT */
#define PQ_OWN_NAMES
#include "apps/pg/libpq.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

struct pq pq;

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define PQ_ROW(name) {#name, offsetof(struct pq, name)},
    PQ_FUNCTIONS(PQ_ROW)
#undef PQ_ROW
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load_libpq(void)
{
    void *lib = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; lib && i < ARRAY_LEN(functions); i++) {
        void *fn = dlsym(lib, functions[i].name);
        if (!fn)
            return;
        memcpy((char *)&pq + functions[i].at, &fn, sizeof fn);
    }
    is_loaded = lib != NULL;
}

int pq_load(struct err *e)
{
    (void)pthread_once(&once, load_libpq);
    return is_loaded ? 0 : err_set(e, -EOPNOTSUPP, "libpq is not installed (package libpq5)");
}
