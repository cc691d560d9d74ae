/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over every file of a corpus folder, one TAP line each. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "sys/io.h"

enum { INPUT_LIMIT = 1 << 20 };

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
    struct dirent **files;
    int n = argc == 2 ? scandir(argv[1], &files, NULL, by_name) : -1;
    int run = 0;

    if (n < 0) {
        (void)printf("Bail out! no corpus folder\n");
        return 1;
    }
    for (int i = 0; i < n; i++) {
        struct buf path auto_buf = BUF_INIT(4096), data auto_buf = BUF_INIT(INPUT_LIMIT);
        (void)buf_printf(&path, "%s/%s", argv[1], files[i]->d_name);
        if (files[i]->d_name[0] != '.' && io_read_file(buf_cstr(&path), &data, NULL) == 0) {
            (void)LLVMFuzzerTestOneInput((const uint8_t *)data.p, data.len);
            (void)printf("ok %d - %s\n", ++run, files[i]->d_name);
        }
        free(files[i]);
    }
    free(files);
    (void)printf("1..%d\n", run);
    return run == 0;
}
