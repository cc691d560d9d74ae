/* SPDX-License-Identifier: MIT */
/* Descendants of a process: see proc_tree.h. */
#include "envd/proc_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "sys/io.h"

/* As many as a cell may have; a fork bomb dies in several passes. */
enum { TREE_MAX = 4096, PASSES = 4 };

struct proc_node {
    pid_t pid, parent, session;
    bool is_marked;
};

/* "PID (name, which may hold anything) S PARENT GROUP SESSION …" */
static bool read_stat(pid_t pid, struct proc_node *ret)
{
    char path[32], text[512];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    auto_close int fd = io_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : io_read(fd, text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *rest = strrchr(text, ')');
    int parent, session;
    char state;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
    if (!rest || sscanf(rest + 1, " %c %d %*d %d", &state, &parent, &session) != 3)
        return false;
    *ret = (struct proc_node){.pid = pid, .parent = parent, .session = session};
    return state != 'Z';
}

static size_t read_all_nodes(struct proc_node *nodes, size_t max)
{
    auto_closedir DIR *dir = opendir("/proc");
    size_t n = 0;

    for (struct dirent *d; dir && n < max && (d = readdir(dir));) {
        uint64_t pid;
        if (str_to_u64(str_of(d->d_name), &pid) < 0 || pid <= 1 || pid > INT32_MAX)
            continue;
        if (read_stat((pid_t)pid, &nodes[n]))
            n++;
    }
    return n;
}

static bool is_child_of_marked(const struct proc_node *nodes, size_t n, const struct proc_node *it)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i].is_marked && nodes[i].pid == it->parent)
            return true;
    return false;
}

/* Marks what belongs to PID. Returns how many. */
static size_t mark_family(struct proc_node *nodes, size_t n, pid_t pid)
{
    size_t n_marked = 0;
    bool has_changed = true;

    for (size_t i = 0; i < n; i++) {
        nodes[i].is_marked = nodes[i].pid == pid || nodes[i].session == pid;
        n_marked += nodes[i].is_marked;
    }
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < n; i++) {
            if (nodes[i].is_marked || !is_child_of_marked(nodes, n, &nodes[i]))
                continue;
            nodes[i].is_marked = has_changed = true;
            n_marked++;
        }
    }
    return n_marked;
}

void proc_tree_kill(pid_t pid)
{
    auto_free struct proc_node *nodes = mem_zalloc(TREE_MAX, sizeof *nodes);

    for (int pass = 0; nodes && pass < PASSES; pass++) {
        size_t n = read_all_nodes(nodes, TREE_MAX);
        if (mark_family(nodes, n, pid) == 0)
            break;
        for (size_t i = 0; i < n; i++)
            if (nodes[i].is_marked)
                (void)kill(nodes[i].pid, SIGKILL);
    }
    (void)kill(-pid, SIGKILL);
    (void)kill(pid, SIGKILL);
}

unsigned proc_tree_count(void)
{
    auto_free struct proc_node *nodes = mem_zalloc(TREE_MAX, sizeof *nodes);

    return nodes ? (unsigned)read_all_nodes(nodes, TREE_MAX) + 1 : 0;
}
