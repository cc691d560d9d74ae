/* SPDX-License-Identifier: MIT */
/* Where the files of an image are: a directory, or an archive that is looked through once. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "core/image_internal.h"
#include "runtime/kern.h"
#include "sys/io.h"

enum { BLOCK = 512, NAME_LEN = 100, PREFIX_LEN = 155, LINKS_MAX = 8, RESOLVE_IN_ROOT = 0x10 };

struct entry {
    uint64_t offset, size;
    char link[PATH_MAX]; /* "": a file */
};

/* ---- archives ---- */

static uint64_t read_octal(const char *p, size_t len)
{
    uint64_t v = 0;

    if ((unsigned char)p[0] & 0x80) { /* more than 8 GiB */
        for (size_t i = 1; i < len; i++)
            v = v << 8 | (unsigned char)p[i];
        return v;
    }
    for (size_t i = 0; i < len; i++)
        if (p[i] >= '0' && p[i] <= '7')
            v = v << 3 | (uint64_t)(p[i] - '0');
    return v;
}

static bool is_tar(const char *block)
{
    unsigned sum = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : (unsigned char)block[i];
    return read_octal(block + 148, 8) == sum;
}

/* PATH without dots; relative links are resolved against the directory of FROM. */
static int join_path(char out[PATH_MAX], const char *from, const char *path)
{
    char text[2 * PATH_MAX];
    const char *slash = strrchr(from, '/');
    size_t n = 0;

    (void)snprintf(text, sizeof text, "%.*s/%s", path[0] == '/' || !slash ? 0 : (int)(slash - from),
                   from, path);
    struct str rest = str_of(text);
    while (rest.p) {
        struct str part = str_cut(&rest, '/');
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            while (n > 0 && out[--n] != '/')
                ;
            continue;
        }
        if (n + part.len + 2 > PATH_MAX)
            return -ENAMETOOLONG;
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, part.p, part.len);
        n += part.len;
    }
    out[n] = '\0';
    return 0;
}

static int keep_entry(struct image_source *s, const char *block, uint64_t offset, uint64_t size)
{
    char name[NAME_LEN + PREFIX_LEN + 2], clean[PATH_MAX];
    bool has_prefix = memcmp(block + 257, "ustar\0", 6) == 0 && block[345];
    char type = block[156];

    (void)snprintf(name, sizeof name, "%.*s%s%.*s", has_prefix ? PREFIX_LEN : 0, block + 345,
                   has_prefix ? "/" : "", NAME_LEN, block);
    if (type != '0' && type != '\0' && type != '1' && type != '2')
        return 0;
    struct entry *e = mem_zalloc(1, sizeof *e);
    int r = e ? join_path(clean, "", name) : -ENOMEM;
    if (r == 0) {
        *e = (struct entry){.offset = offset, .size = size};
        char link[NAME_LEN + 1];
        (void)snprintf(link, sizeof link, "%.*s", NAME_LEN, block + 157);
        if (type == '1' || type == '2')
            r = join_path(e->link, type == '2' ? clean : "", link);
    }
    void *old = NULL;
    if (r == 0)
        r = map_put(&s->files, str_of(clean), e, &old);
    free(r < 0 ? e : old);
    return r;
}

static int look_through(struct image_source *s, struct err *e)
{
    char block[BLOCK];

    for (uint64_t at = 0; at + BLOCK <= s->size;) {
        if (pread(s->fd, block, BLOCK, (off_t)at) != BLOCK)
            return err_sys(e, -EIO, "read the archive");
        if (block[0] == '\0')
            return 0;
        if (!is_tar(block))
            return err_set(e, -EINVAL,
                           at == 0 ? "neither an OCI image layout nor a tar archive (one that is "
                                     "compressed as a whole has to be unpacked first)"
                                   : "the archive is damaged");
        uint64_t size = read_octal(block + 124, 12);
        if (size > s->size - at - BLOCK)
            return err_set(e, -EINVAL, "the archive is cut off");
        int r = keep_entry(s, block, at + BLOCK, size);
        if (r < 0)
            return err_sys(e, r, "archive");
        at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    }
    return 0;
}

/* ---- sources ---- */

int image_source_open(struct image_source *s, const char *path, struct err *e)
{
    struct stat st;

    *s = (struct image_source){.fd = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)};
    map_init(&s->files, IMAGE_FILES_MAX);
    if (s->fd < 0 || fstat(s->fd, &st) < 0)
        return err_sys(e, s->fd < 0 ? s->fd : -errno, "open '%s'", path);
    if (S_ISDIR(st.st_mode))
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "'%s' is neither a file nor a directory", path);
    s->is_archive = true;
    s->size = (uint64_t)st.st_size;
    int r = look_through(s, e);
    return r < 0 ? err_ctx(e, r, "'%s'", path) : 0;
}

void image_source_close(struct image_source *s)
{
    void *value;

    close_p(&s->fd);
    s->fd = -1;
    for (size_t i = 0; map_next(&s->files, &i, NULL, &value);)
        free(value);
    map_done(&s->files);
}

static int find_in_archive(const struct image_source *s, const char *name, struct image_file *ret)
{
    const struct entry *e = map_get(&s->files, str_of(name));

    for (int i = 0; e && e->link[0] && i < LINKS_MAX; i++)
        e = map_get(&s->files, str_of(e->link));
    if (!e || e->link[0])
        return -ENOENT;
    *ret = (struct image_file){.fd = s->fd, .offset = e->offset, .size = e->size};
    return 0;
}

int image_source_find(const struct image_source *s, const char *name, struct image_file *ret)
{
    const struct kern_open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                                      .resolve = RESOLVE_IN_ROOT | KERN_NO_MAGICLINKS};
    struct stat st;

    if (s->is_archive)
        return find_in_archive(s, name, ret);
    int fd = kern_openat2(s->fd, name, &how);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        (void)close(fd);
        return -EINVAL;
    }
    *ret = (struct image_file){.fd = fd, .is_own = true, .size = (uint64_t)st.st_size};
    return 0;
}

void image_file_close(struct image_file *f)
{
    if (f->is_own)
        (void)close(f->fd);
    f->is_own = false;
}

static bool has_digest(struct str text, struct str digest)
{
    unsigned char sum[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];

    digest_sha256(sum, text);
    enc_hex(hex, sum, sizeof sum);
    return str_is(image_digest(digest), hex);
}

struct json *image_source_json(const struct image_source *s, const char *name, struct str digest,
                               struct arena *a, struct err *e)
{
    struct image_file f = {.fd = -1};
    int r = image_source_find(s, name, &f);
    char *text = r == 0 && f.size <= IMAGE_JSON_MAX ? arena_alloc(a, f.size + 1) : NULL;

    if (r == 0 && f.size > IMAGE_JSON_MAX)
        r = -EFBIG;
    else if (r == 0 && !text)
        r = -ENOMEM;
    else if (r == 0 && pread(f.fd, text, f.size, (off_t)f.offset) != (ssize_t)f.size)
        r = -EIO;
    image_file_close(&f);
    if (r < 0) {
        (void)err_sys(e, r, "'%s'", name);
        return NULL;
    }
    struct str bytes = str_n(text, f.size);
    if (digest.len > 0 && !has_digest(bytes, digest)) {
        (void)err_set(e, -EBADMSG, "'%s' is corrupted: its digest does not match", name);
        return NULL;
    }
    struct json *doc = json_parse(a, bytes, NULL, e);
    if (!doc)
        (void)err_ctx(e, -EINVAL, "'%s'", name);
    return doc;
}
