/* SPDX-License-Identifier: MIT */
/* The cell's name: see hostname.h. */
#include "envd/hostname.h"
#include "base/ascii.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_valid(char c)
{
    return ascii_is_alnum(c) || c == '.' || c == '-';
}

void hostname_clean(char ret[HOSTNAME_MAX], const char *name)
{
    size_t n = 0;

    for (; n < HOSTNAME_MAX - 1 && name[n]; n++)
        ret[n] = is_valid(name[n]) ? name[n] : '-';
    ret[n] = '\0';
}

int hostname_set(const char *name)
{
    char clean[HOSTNAME_MAX];

    hostname_clean(clean, name);
    return sethostname(clean, strlen(clean)) < 0 ? -errno : 0;
}
