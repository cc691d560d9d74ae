/* SPDX-License-Identifier: MIT */
/* PDF files of documents, made by LibreOffice where it is installed. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/kit/program.h"
#include "local/word/tools.h"
#include "sys/io.h"

enum { TIMEOUT_MS = 60000, OUTPUT_MAX = 64 << 10 };

/* LibreOffice's own files can be used by one process at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Runs COMMAND on the document, into the folder TO. 0, or -1 with an error added to ERRORS. */
static int convert_to_pdf(struct word *w, const char *command, const char *to, struct buf *errors)
{
    struct str profile = arena_printf(
        w->arena, "-env:UserInstallation=file:///tmp/tidepool-office-%u", (unsigned)getuid());
    const char *argv[] = {command, profile.p, "--headless", "--convert-to", "pdf", "--outdir",
                          to,      w->path,   NULL};
    struct run run = {.argv = argv, .cwd = to, .timeout_ms = TIMEOUT_MS, .max_output = OUTPUT_MAX};

    (void)pthread_mutex_lock(&lock);
    int r = profile.p ? run_program(&run) : -ENOMEM;
    (void)pthread_mutex_unlock(&lock);
    bool is_ok = r == 0 && run.status == 0 && !run.is_timed_out;
    if (!is_ok && errors->len > 0)
        (void)buf_add_lit(errors, "; ");
    if (r < 0)
        (void)buf_printf(errors, "%s error: [Errno %d] No such file or directory: '%s'", command,
                         -r, command);
    else if (run.is_timed_out)
        (void)buf_printf(errors, "%s error: timed out after %d seconds", command,
                         TIMEOUT_MS / 1000);
    else if (!is_ok)
        (void)buf_printf(errors, "%s error: " STR_FMT, command, STR_ARG(buf_str(&run.err)));
    run_done(&run);
    return is_ok ? 0 : -1;
}

/* The name of the PDF file of PATH in the folder DIR. */
static struct str made_in(struct word *w, const char *dir, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct str base = str_of(slash ? slash + 1 : path);

    return word_say(w, "%s/" STR_FMT ".pdf", dir, STR_ARG(str_slice(base, 0, base.len - 5)));
}

static struct str failure(struct word *w, const struct buf *errors)
{
    return word_say(w,
                    "Failed to convert document to PDF using LibreOffice or docx2pdf.\n"
                    "LibreOffice errors: " STR_FMT "\n"
                    "docx2pdf error: docx2pdf is not implemented for linux as it requires "
                    "Microsoft Word to be installed\n"
                    "To convert documents to PDF, please install either:\n"
                    "1. LibreOffice (recommended for Linux/macOS)\n"
                    "2. Microsoft Word (required for docx2pdf on Windows/macOS)",
                    STR_ARG(buf_str(errors)));
}

/* In a folder of its own beside the target, so that no other file is touched. */
static struct str make_pdf(struct word *w, const char *target)
{
    static const char *const commands[] = {"libreoffice", "soffice"};
    auto_buf struct buf errors = BUF_INIT(OUTPUT_MAX * 4);
    struct str dir = word_say(w, "%s.XXXXXX", target);
    int r = -1;

    char *made = dir.p ? mkdtemp((char *)(uintptr_t)dir.p) : NULL;
    if (!made)
        return word_failed(w, "cannot make a folder beside %s", target);
    for (size_t i = 0; i < ARRAY_LEN(commands) && r < 0; i++)
        r = convert_to_pdf(w, commands[i], made, &errors);
    struct str file = made_in(w, made, w->path);
    if (r == 0 && (!file.p || rename(file.p, target) < 0)) {
        (void)buf_printf(&errors, "no PDF file was made");
        r = -1;
    }
    if (file.p)
        (void)unlink(file.p);
    (void)rmdir(made);
    return r < 0 ? failure(w, &errors)
                 : word_say(w, "Document successfully converted to PDF: %s", target);
}

struct str tool_convert_to_pdf(struct word *w)
{
    struct str out = word_arg(w, "output_filename");
    struct stat st;

    w->name = word_docx(w->arena, word_arg(w, "filename"));
    w->path = word_path(w, w->name);
    if (!w->path)
        return STR_NULL;
    if (stat(w->path, &st) < 0 || !S_ISREG(st.st_mode))
        return word_say(w, "Document " STR_FMT " does not exist", STR_ARG(w->name));
    if (out.len == 0)
        out = word_say(w, STR_FMT ".pdf", STR_ARG(str_slice(w->name, 0, w->name.len - 5)));
    else if (out.len < 4 || !str_iis(str_skip(out, out.len - 4), ".pdf"))
        out = word_say(w, STR_FMT ".pdf", STR_ARG(out));
    const char *target = word_path(w, out);
    if (!target)
        return STR_NULL;
    if (!target[0])
        return word_say(w, "Cannot create PDF: the directory of " STR_FMT " does not exist",
                        STR_ARG(out));
    return make_pdf(w, target);
}
