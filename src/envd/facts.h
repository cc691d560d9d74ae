/* SPDX-License-Identifier: MIT */
/* What a cell says of itself in files: its name in /etc/hostname and /etc/hosts (sudo, Java and
 * others look it up), and in /run/e2b what E2B's sandboxes say, for programs that got no
 * environment. */
#pragma once

struct facts {
    const char *hostname;                 /* as uname(2) has it */
    const char *sandbox_id, *template_id; /* NULL: not known yet */
};

/* Writes them all, below ROOT ("" for /). Everything in a cell is the cell's own: what cannot be
 * written, because it is no regular file or there is no such directory, is left alone. */
void facts_write(const char *root, const struct facts *f);
/* Opens the files, so that the next facts_write() finds them open. Only while nothing has run in
 * the cell that could have touched them: what is right already is not written then. */
void facts_keep(void);
