/* SPDX-License-Identifier: MIT */
/* The root that the first process of a cell was born in. Unmounting waits for all processors of the
 * machine, which can take as long as a third of a cell's birth: a second thread does that, while
 * the first one goes on. Nothing of the cell's may run before it is done. */
#pragma once

/* Unmounts what is stacked on the current directory, the new root; right after pivot_root(). */
int oldroot_leave(void);
/* Waits until that is done: 0 or -errno. */
int oldroot_wait(void);
