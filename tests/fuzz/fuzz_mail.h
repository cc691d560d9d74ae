/* SPDX-License-Identifier: MIT */
/* A store of mail of its own for each input. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "local/mail/store.h"

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void drop(struct mail_store *s, const char *dir)
{
    mail_store_free(s);
    (void)nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The store, in a directory whose name is written to DIR. */
static struct mail_store *fresh(char dir[64])
{
    struct err e = ERR_INIT;

    (void)snprintf(dir, 64, "%s/tidepool-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(dir))
        abort();
    struct mail_store *s = mail_store_new(dir, &e);
    if (!s)
        abort();
    return s;
}

static bool swallow(void *ctx, struct str bytes)
{
    *(size_t *)ctx += bytes.len;
    return true;
}
