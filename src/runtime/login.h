/* SPDX-License-Identifier: MIT */
/* The files that a login shell reads in the default template. They are short because every command
 * reads them, start nothing, and change nothing in the environment but PATH: the first process of a
 * cell counts on that (envd/login.h). */
#pragma once

#define LOGIN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/* What a user with LOGIN_USER_PROFILE has before it, below the home directory. */
#define LOGIN_USER_DIR "/.local/bin"

#define LOGIN_PROFILE                                                                              \
    "export PATH=\"" LOGIN_PATH "\"\n"                                                             \
    "[ -w /root ] && PS1='# ' || PS1='$ '\n"                                                       \
    "[ -n \"$BASH\" ] && [ -r /etc/bash.bashrc ] && . /etc/bash.bashrc\n"                          \
    "for f in /etc/profile.d/*.sh; do [ -r \"$f\" ] && . \"$f\"; done; unset f\n"
/* clang-format off */
#define LOGIN_BASHRC                                                                               \
    "[ -z \"$PS1\" ] && return\nPS1='\\u@\\h:\\w\\$ '\nshopt -s checkwinsize\n"
/* clang-format on */
#define LOGIN_USER_BASHRC "[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc\n"
#define LOGIN_USER_PROFILE                                                                         \
    "[ -n \"$BASH\" ] && [ -r ~/.bashrc ] && . ~/.bashrc\n"                                        \
    "PATH=\"$HOME" LOGIN_USER_DIR ":$PATH\"\n"
