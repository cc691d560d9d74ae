/* SPDX-License-Identifier: MIT */
/* Faults under SQLite: a layer over its file system that fails the n-th write, sync or truncation,
 * has no space, or holds a sync back; and an allocator that fails the n-th time. Any thread. */
#pragma once

#include <stdbool.h>

/* Puts both under SQLite. Before anything else uses it. */
void faults_install(void);

/* The NTH call that changes a file from now (1 = the next) fails with EIO, once. 0 disarms. */
void faults_fail_io(int nth);
/* The NTH allocation inside SQLite fails, once. 0 disarms. */
void faults_fail_alloc(int nth);
/* True when the armed call was reached. */
bool faults_fired(void);

/* From now on no file can be written to, until false. */
void faults_set_full(bool is_full);

/* Makes the next sync wait; returns when it does. */
void faults_hold_sync(void);
void faults_wait_until_held(void);
void faults_release_sync(void);
