/* SPDX-License-Identifier: MIT */
/* What a cell reads in the kernel's files about the machine, as text made from facts about the
 * cell: its limits, its use, its processors, its age. Nothing here looks at the system. */
#pragma once

#include <sched.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* The files whose content is made when somebody reads them. */
enum view_kind {
    VIEW_MEMINFO,
    VIEW_CPUINFO,
    VIEW_STAT,
    VIEW_LOADAVG,
    VIEW_UPTIME,
    VIEW_ONLINE, /* /sys/devices/system/cpu/online, and `present`, which is the same file */
    VIEW_CPUS,   /* the directory of these: it lists the processors, and has no text */
    VIEW_KINDS,
};

/* Parts of a cell's memory, as its control group counts them. */
enum view_memory {
    VIEW_MEM_ANON,
    VIEW_MEM_FILE,
    VIEW_MEM_SHMEM,
    VIEW_MEM_MAPPED,
    VIEW_MEM_DIRTY,
    VIEW_MEM_WRITEBACK,
    VIEW_MEM_ACTIVE_ANON,
    VIEW_MEM_INACTIVE_ANON,
    VIEW_MEM_ACTIVE_FILE,
    VIEW_MEM_INACTIVE_FILE,
    VIEW_MEM_UNEVICTABLE,
    VIEW_MEM_SLAB_RECLAIMABLE, /* these four only where version 2 counts them */
    VIEW_MEM_SLAB_UNRECLAIMABLE,
    VIEW_MEM_KERNEL_STACK,
    VIEW_MEM_PAGE_TABLES,
    VIEW_MEM_PARTS,
};

enum { VIEW_LOADS = 3 };

struct view_facts {
    cpu_set_t cpus;                     /* its processors, by the machine's numbers */
    uint64_t memory_total, memory_used; /* bytes */
    uint64_t memory[VIEW_MEM_PARTS];    /* bytes */
    uint64_t user_us, system_us;        /* processor time so far */
    int64_t up_us;                      /* since its start */
    int64_t boot_s;                     /* when that was, since 1970 */
    double load[VIEW_LOADS];            /* over 1, 5 and 15 minutes */
    uint32_t n_procs;
    struct str cpuinfo; /* the machine's own */
};

/* Appends the text of KIND. */
void view_text(struct buf *b, enum view_kind kind, const struct view_facts *f);

/* Appends SET as the kernel writes lists of processors: "0-2,5". */
void view_text_list(struct buf *b, const cpu_set_t *set);
/* Appends SET as a mask in hexadecimal, of words of 32 bits: "1,00000003". */
void view_text_mask(struct buf *b, const cpu_set_t *set);

/* Moves load averages on by PASSED_US in which BUSY_US of processor time were used: what the
 * kernel's would be if as many processes had been running all that time. */
void view_text_load(double load[VIEW_LOADS], uint64_t busy_us, uint64_t passed_us);
