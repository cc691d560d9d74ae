/* SPDX-License-Identifier: MIT */
/* Plain commands: see plain.h. */
#include "envd/plain.h"

#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/str.h"

enum { WORDS_MAX = 64, COMMAND_MAX = 4096 };

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
/* Without a meaning to a shell anywhere / also where a command begins. */
#define ARGUMENT_BYTES LETTERS "./-+,:=@%"
#define NAME_BYTES     LETTERS "./-+"

/* What bash or dash do themselves, and what they take as part of their language. */
static const char *const own[] = {
    ".",       "alias",    "bg",      "bind",      "break",    "builtin", "caller",   "case",
    "cd",      "chdir",    "command", "compgen",   "complete", "compopt", "continue", "coproc",
    "declare", "dirs",     "disown",  "do",        "done",     "elif",    "else",     "enable",
    "esac",    "eval",     "exec",    "exit",      "export",   "fc",      "fg",       "fi",
    "for",     "function", "getopts", "hash",      "help",     "history", "if",       "in",
    "jobs",    "kill",     "let",     "local",     "logout",   "mapfile", "popd",     "printf",
    "pushd",   "pwd",      "read",    "readarray", "readonly", "return",  "select",   "set",
    "shift",   "shopt",    "source",  "suspend",   "test",     "then",    "time",     "times",
    "trap",    "type",     "typeset", "ulimit",    "umask",    "unalias", "unset",    "until",
    "wait",    "while",
};

static bool is_shell_word(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(own[i], name) == 0)
            return true;
    return false;
}

/* Some of a shell's own commands are programs as well, which do the same when asked for no more
 * than this. */
static bool is_same_program(char *const *words)
{
    if (strcmp(words[0], "true") == 0 || strcmp(words[0], "false") == 0)
        return !words[1];
    for (size_t i = 1; strcmp(words[0], "echo") == 0 && words[i]; i++)
        if (words[i][0] == '-')
            return false;
    return true;
}

/* Cuts the next word out of *TEXT; NULL when there is none or it is not plain. */
static char *cut_word(char **text, const char *bytes)
{
    char *word = *text;
    size_t len = strspn(word, bytes);

    if (len == 0 || (word[len] && !ascii_is_blank(word[len])))
        return NULL;
    *text = word + len;
    if (**text)
        *(*text)++ = '\0';
    *text += strspn(*text, " \t");
    return word;
}

char **plain_words(struct arena *a, const char *command)
{
    size_t n = 0;
    bool is_short = strlen(command) <= COMMAND_MAX;
    char **words = is_short ? arena_zalloc(a, WORDS_MAX + 1, sizeof *words) : NULL;
    char *rest = words ? arena_strdup(a, command) : NULL;

    if (!rest)
        return NULL;
    rest += strspn(rest, " \t");
    while (*rest) {
        if (n == WORDS_MAX)
            return NULL;
        words[n] = cut_word(&rest, n ? ARGUMENT_BYTES : NAME_BYTES);
        if (!words[n++])
            return NULL;
    }
    return n > 0 && !is_shell_word(words[0]) && is_same_program(words) ? words : NULL;
}
