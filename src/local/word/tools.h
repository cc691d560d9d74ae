/* SPDX-License-Identifier: MIT */
/* The functions of the tools in tools.def: tool_add_heading() and so on, each in the file of its
 * kind (document.c, content.c, tool_insert.c, tool_table.c, notes.c, comments.c, protect.c). */
#pragma once

#include "local/word/word.h"

#define WORD_TOOL(name, need, shape, failed) word_fn tool_##name;
#include "local/word/tools.def"
#undef WORD_TOOL
