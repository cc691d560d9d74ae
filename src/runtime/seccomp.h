/* SPDX-License-Identifier: MIT */
/* The system call filter of a cell, generated as classic BPF from the table in seccomp.c. The table
 * denies: what reaches the host's kernel beyond what namespaces cover, what our reviews have not
 * seen (numbers past the last reviewed one) and foreign instruction sets. Everything else is
 * allowed without running the filter (kernel ≥ 5.11 remembers constant answers). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <linux/filter.h>

enum { SECCOMP_MAX = 640 };

struct seccomp_program {
    struct sock_filter code[SECCOMP_MAX];
    unsigned short len;
};

/* Generates the program. 0, or -ENOBUFS when the table outgrew SECCOMP_MAX. */
int seccomp_build(struct seccomp_program *p);
/* Puts the program on the calling process for good: it needs no_new_privs or CAP_SYS_ADMIN in its
 * user namespace. 0 or -errno. */
int seccomp_load(struct seccomp_program *p);
