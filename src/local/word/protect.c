/* SPDX-License-Identifier: MIT */
/* Documents with a password. */
#include <errno.h>
#include <unistd.h>

#include "local/word/tools.h"
#include "office/agile.h"
#include "office/cfb.h"

/* Reads the document of the call. False with what to say in *SAID. */
static bool read_document_file(struct word *w, struct str *bytes, struct str *said)
{
    w->name = word_docx(w->arena, word_arg(w, "filename"));
    w->path = word_path(w, w->name);
    if (!w->path)
        return false;
    int r = w->path[0] ? path_read(w->c, w->path, bytes) : -ENOENT;
    if (r == 0 && access(w->path, W_OK) == 0)
        return true;
    if (r == -ENOENT)
        *said = word_say(w, "Document " STR_FMT " does not exist", STR_ARG(w->name));
    else
        *said = word_say(w, "Cannot modify document: File " STR_FMT " is not writeable%s",
                         STR_ARG(w->name), r == 0 ? " (permission denied)" : "");
    return false;
}

static struct str failed(struct word *w, const char *why)
{
    return word_say(w, "%s " STR_FMT ": %s", w->tool->failed, STR_ARG(w->name), why);
}

struct str tool_protect_document(struct word *w)
{
    auto_buf struct buf out = BUF_INIT(LOCAL_FILE_MAX + (4 << 20));
    struct str bytes, said = STR_NULL, password = word_arg(w, "password");
    struct package package;
    int r;

    if (!read_document_file(w, &bytes, &said))
        return said;
    if (cfb_is(bytes))
        return failed(w, "it is encrypted already. Original file restored.");
    if (package_read(&package, w->arena, bytes, NULL) < 0)
        return failed(w, "Unsupported file format. Original file restored.");
    if (password.len == 0)
        return failed(w, "a password is needed. Original file restored.");
    r = agile_encrypt(&out, w->arena, bytes, password);
    if (r == 0)
        r = path_write(w->c, w->path, buf_str(&out));
    if (r == -EINVAL)
        return failed(w, "the password is too long. Original file restored.");
    if (r < 0)
        return failed(w, "it could not be written. Original file restored.");
    return word_say(w, "Document " STR_FMT " encrypted successfully with password.",
                    STR_ARG(w->name));
}

struct str tool_unprotect_document(struct word *w)
{
    struct str bytes, plain, said = STR_NULL;

    if (!read_document_file(w, &bytes, &said))
        return said;
    int r = agile_decrypt(&plain, w->arena, bytes, word_arg(w, "password"));
    if (r == -EKEYREJECTED)
        return failed(w, "Incorrect password.");
    if (r == -EINVAL)
        return failed(w, "File is not encrypted or is not a supported Office format.");
    if (r == -ENOTSUP)
        return failed(w, "its kind of encryption is not supported. Encrypted file restored.");
    if (r == 0)
        r = path_write(w->c, w->path, plain);
    if (r < 0)
        return failed(w, "the file is damaged or could not be written. Encrypted file restored.");
    return word_say(w, "Document " STR_FMT " decrypted successfully.", STR_ARG(w->name));
}
