/* SPDX-License-Identifier: MIT */
/* The inside an upper layer's home: `root/u` and `root/w` are upper and work directory of the
 * overlay at /, `usr/u` and `usr/w` those of /usr (templates with a layer of its own there). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The name of a cell's Ith lower layer in the spawner's /l: one letter or digit. */
char layout_layer_name(uint32_t i);
/* Creates the directories below FD, owned by UID. 0 or -errno. */
int layout_upper(int fd, uint32_t uid, bool has_usr);
