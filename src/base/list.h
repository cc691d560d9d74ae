/* SPDX-License-Identifier: MIT */
/* Intrusive doubly linked ring. A head is a node that no object contains; a detached node points
 * at itself, so list_del() is safe to call twice. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct list {
    struct list *prev, *next;
};

#define LIST_INIT(name)                                                                            \
    {                                                                                              \
        &(name), &(name)                                                                           \
    }

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_is_empty(const struct list *l)
{
    return l->next == l;
}

/* Puts N behind POS: list_add(head, n) is first, list_add(head->prev, n) is last. */
static inline void list_add(struct list *pos, struct list *n)
{
    n->prev = pos;
    n->next = pos->next;
    pos->next->prev = n;
    pos->next = n;
}

static inline void list_append(struct list *head, struct list *n)
{
    list_add(head->prev, n);
}

static inline void list_del(struct list *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
    list_init(n);
}

/* Takes the first node off, or returns NULL. */
static inline struct list *list_pop(struct list *head)
{
    struct list *n = head->next;

    if (n == head)
        return NULL;
    list_del(n);
    return n;
}

#define list_entry(node, type, member) container_of(node, type, member)

/* The current node may be removed meanwhile. */
#define list_each(it, head)                                                                        \
    for (struct list *it = (head)->next, *it##_next = it->next; it != (head);                      \
         it = it##_next, it##_next = it->next)
