/* SPDX-License-Identifier: MIT */
/* The server "code-runner": one tool, a table of languages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/kit/path.h"
#include "local/kit/program.h"
#include "local/kit/servers.h"
#include "local/kit/shell_words.h"
#include "sys/io.h"

enum { TIMEOUT_MS = 120000, OUTPUT_MAX = 8 << 20 };

static const struct {
    const char *id, *command, *extension; /* NULL: the id */
} languages[] = {
    {"javascript", "node", "js"},
    {"php", "php", NULL},
    {"python", "python3 -u", "py"},
    {"perl", "perl", NULL},
    {"perl6", "perl6", NULL},
    {"ruby", "ruby", NULL},
    {"go", "go run", NULL},
    {"lua", "lua", NULL},
    {"groovy", "groovy", NULL},
    {"powershell", "powershell -ExecutionPolicy ByPass -File", "ps1"},
    {"bat", "cmd /c", NULL},
    {"shellscript", "bash", NULL},
    {"fsharp", "fsi", NULL},
    {"csharp", "scriptcs", NULL},
    {"vbscript", "cscript //Nologo", NULL},
    {"typescript", "ts-node", "ts"},
    {"coffeescript", "coffee", NULL},
    {"scala", "scala", NULL},
    {"swift", "swift", NULL},
    {"julia", "julia", NULL},
    {"crystal", "crystal", NULL},
    {"ocaml", "ocaml", NULL},
    {"r", "Rscript", NULL},
    {"applescript", "osascript", NULL},
    {"clojure", "clojure -M", "clj"},
    {"racket", "racket", NULL},
    {"scheme", "csi -script", NULL},
    {"ahk", "autohotkey", NULL},
    {"autoit", "autoit3", NULL},
    {"dart", "dart", NULL},
    {"haskell", "runhaskell", NULL},
    {"nim", "nim compile --verbosity:0 --hints:off --run", NULL},
    {"lisp", "sbcl --script", NULL},
    {"kit", "kitc --run", NULL},
    {"v", "v run", NULL},
    {"sass", "sass --style expanded", NULL},
    {"scss", "scss --style expanded", NULL},
};

static void run_temp_file(struct local_call *c, const char *command, const char *file)
{
    const char *why;
    size_t n;
    const char **words = words_split(&c->arena, str_of(command), &n, &why);
    struct run r = {
        .argv = words, .cwd = c->local->root, .timeout_ms = TIMEOUT_MS, .max_output = OUTPUT_MAX};

    if (!words || n + 1 >= WORDS_MAX) {
        local_fail(c, "Error: %s", why ? why : "too many words");
        return;
    }
    words[n] = file;
    int code = run_program(&r);
    if (code == -ENOENT)
        local_fail(c, "Error: spawn %s ENOENT: %s is not installed in this sandbox", words[0],
                   words[0]);
    else if (code < 0)
        local_fail(c, "Error: spawn %s: %s", words[0], strerror(-code));
    else if (r.is_timed_out)
        local_fail(c, "Error: the program did not end within %d seconds", TIMEOUT_MS / 1000);
    else if (r.status != 0)
        local_fail(c, "Error: Command failed: %s %s\n" STR_FMT, command, file,
                   STR_ARG(buf_str(&r.err)));
    else if (r.err.len > 0)
        local_fail(c, "Stderr: " STR_FMT, STR_ARG(buf_str(&r.err)));
    else
        local_text(c, buf_str(&r.out));
    run_done(&r);
}

static void run_code(struct local_call *c)
{
    struct str code = local_str(c, "code"), id = local_str(c, "languageId");
    char dir[] = "/tmp/mcp-code-runner-XXXXXX";
    size_t i = 0;

    while (i < ARRAY_LEN(languages) && !str_is(id, languages[i].id))
        i++;
    if (code.len == 0 || i == ARRAY_LEN(languages)) {
        if (code.len == 0)
            local_fail(c, "Code is required.");
        else
            local_fail(c, "Language '" STR_FMT "' is not supported.", STR_ARG(id));
        return;
    }
    if (!mkdtemp(dir)) {
        path_fail(c, -errno, "mkdtemp", dir);
        return;
    }
    const char *extension = languages[i].extension ? languages[i].extension : languages[i].id;
    const char *file = arena_printf(&c->arena, "%s/main.%s", dir, extension).p;
    int r = file ? path_write(c, file, code) : -ENOMEM;
    if (r < 0)
        path_fail(c, r, "open", file);
    else
        run_temp_file(c, languages[i].command, file);
    const char *const argv[] = {"rm", "-rf", dir, NULL};
    struct run clean = {.argv = argv, .cwd = "/", .timeout_ms = 10000, .max_output = 1024};
    if (file && (unlink(file) < 0 || rmdir(dir) < 0)) {
        (void)run_program(&clean); /* the program left more there */
        run_done(&clean);
    }
}

static const struct local_tool tools[] = {
    {"run-code", run_code},
};

const struct local_server code_runner_server = {"code-runner", tools, ARRAY_LEN(tools)};
