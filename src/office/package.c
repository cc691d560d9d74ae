/* SPDX-License-Identifier: MIT */
/* Parts and content types. Relationships: rels.c. */
#include "office/package.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "office/package_internal.h"
#include "sys/io.h"

#define TYPES_NAME "[Content_Types].xml"

static void *fail_package(struct package *p, int error)
{
    if (p->error == 0)
        p->error = error;
    return NULL;
}

/* ---- parts ---- */

/* "/xl/workbook.xml" as the archive writes it. */
static struct str entry_name(struct str name)
{
    return str_starts(name, STR("/")) ? str_skip(name, 1) : name;
}

static struct part *add_package_part(struct package *p, struct str name, struct zip_entry *entry)
{
    struct part *t = arena_new(p->arena, struct part);
    void *grown = arena_grow(p->arena, p->parts, p->n_parts, &p->cap, sizeof *p->parts);

    if (!t || !grown)
        return fail_package(p, -ENOMEM);
    t->name = arena_str(p->arena, name);
    t->entry = entry;
    p->parts = grown;
    p->parts[p->n_parts++] = t;
    return t->name.p ? t : fail_package(p, -ENOMEM);
}

struct part *package_part(struct package *p, struct str name)
{
    for (size_t i = 0; i < p->n_parts; i++) {
        if (str_ieq(p->parts[i]->name, name))
            return p->parts[i];
    }
    struct zip_entry *entry = zip_find(&p->zip, entry_name(name));
    return entry ? add_package_part(p, name, entry) : NULL;
}

struct part *package_main(struct package *p)
{
    return rel_part_by_type(p, NULL, "officeDocument");
}

int part_bytes(struct package *p, struct part *part, struct str *ret, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(ZIP_ENTRY_MAX);

    if (!part->is_changed)
        return zip_data(&p->zip, part->entry, ret, e);
    int r = xml_write(part->doc, &b);
    *ret = r == 0 ? arena_str(p->arena, buf_str(&b)) : STR_NULL;
    if (r == 0 && !ret->p)
        r = -ENOMEM;
    return r < 0 ? err_sys(e, r, "'" STR_FMT "'", STR_ARG(part->name)) : 0;
}

void part_set_bytes(struct package *p, struct part *part, struct str bytes)
{
    part->doc = NULL;
    part->is_changed = false;
    part->entry = zip_put(&p->zip, entry_name(part->name), bytes);
    if (!part->entry)
        (void)fail_package(p, -ENOMEM);
}

struct xml_doc *part_xml(struct package *p, struct part *part, struct err *e)
{
    struct str bytes;

    if (part->doc)
        return part->doc;
    if (zip_data(&p->zip, part->entry, &bytes, e) < 0)
        return NULL;
    part->doc = xml_parse(p->arena, bytes, e);
    if (!part->doc)
        (void)err_ctx(e, e ? e->code : -EINVAL, "'" STR_FMT "'", STR_ARG(part->name));
    return part->doc;
}

struct xml_doc *part_edit(struct package *p, struct part *part, struct err *e)
{
    struct xml_doc *d = part_xml(p, part, e);

    part->is_changed = d != NULL;
    return d;
}

struct part *package_add(struct package *p, struct str name, const char *type, struct str bytes)
{
    struct zip_entry *entry = zip_put(&p->zip, entry_name(name), bytes);

    if (!entry)
        return fail_package(p, -ENOMEM);
    struct part *t = package_part(p, name);
    if (!t)
        return NULL;
    t->entry = entry;
    t->doc = NULL;
    t->is_changed = false;
    package_set_type(p, t, type);
    return t;
}

struct str package_free_name(struct package *p, const char *before, const char *behind)
{
    for (unsigned i = 1; i <= ZIP_ENTRIES_MAX; i++) {
        struct str name = arena_printf(p->arena, "%s%u%s", before, i, behind);
        if (!name.p || !zip_find(&p->zip, entry_name(name)))
            return name;
    }
    (void)fail_package(p, -E2BIG);
    return STR_NULL;
}

void package_remove(struct package *p, struct part *part)
{
    struct zip_entry *rels = zip_find(&p->zip, entry_name(rels_name(p, part)));

    if (rels)
        zip_remove(&p->zip, rels);
    zip_remove(&p->zip, part->entry);
    xml_remove(xml_find(p->types->root, "Override", "PartName", part->name));
    p->are_types_changed = true;
    for (size_t i = 0; i < p->n_parts; i++) {
        if (p->parts[i] == part)
            p->parts[i] = p->parts[--p->n_parts];
    }
}

/* ---- content types ---- */

static struct str extension_of(struct str name)
{
    for (size_t i = name.len; i > 0 && name.p[i - 1] != '/'; i--) {
        if (name.p[i - 1] == '.')
            return str_skip(name, i);
    }
    return STR("");
}

/* The child NAME whose attribute is VALUE, whatever the case of its letters. */
static struct xml *find_package_type(const struct package *p, const char *name, const char *attr,
                                     struct str value)
{
    struct xml *n = xml_child(p->types->root, name);

    while (n && !str_ieq(xml_get(n, attr), value))
        n = xml_next(n, name);
    return n;
}

struct str package_type(struct package *p, const struct part *part)
{
    struct xml *n = find_package_type(p, "Override", "PartName", part->name);

    if (!n)
        n = find_package_type(p, "Default", "Extension", extension_of(part->name));
    return xml_get(n, "ContentType");
}

void package_set_type(struct package *p, const struct part *part, const char *type)
{
    struct xml_doc *d = p->types;

    if (str_is(package_type(p, part), type))
        return;
    p->are_types_changed = true;
    struct str extension = extension_of(part->name);
    struct xml *n = find_package_type(p, "Override", "PartName", part->name);
    /* Pictures and the like have one type for each extension. */
    if (!n && strncmp(type, "application/vnd.openxml", 23) != 0 && extension.len > 0 &&
        !find_package_type(p, "Default", "Extension", extension)) {
        n = xml_add_before(d, d->root, "Default", xml_child(d->root, NULL));
        xml_set(d, n, "Extension", extension);
    } else if (!n) {
        n = xml_add(d, d->root, "Override");
        xml_set(d, n, "PartName", part->name);
    }
    xml_set(d, n, "ContentType", str_of(type));
}

/* ---- opening ---- */

static int read_types(struct package *p, struct err *e)
{
    struct zip_entry *entry = zip_find(&p->zip, STR(TYPES_NAME));
    struct str bytes;

    if (!entry)
        return err_set(e, -EINVAL, "There is no item named '" TYPES_NAME "' in the archive");
    int r = zip_data(&p->zip, entry, &bytes, e);
    if (r < 0)
        return r;
    p->types = xml_parse(p->arena, bytes, e);
    return p->types ? 0 : err_ctx(e, -EINVAL, "'" TYPES_NAME "'");
}

int package_new(struct package *p, struct arena *a, struct err *e)
{
    static const char types[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
        "<Default Extension=\"rels\" "
        "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
        "<Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>";

    *p = (struct package){.arena = a};
    zip_init(&p->zip, a);
    if (!zip_put(&p->zip, STR(TYPES_NAME), str_of(types)) ||
        !zip_put(&p->zip, STR("_rels/.rels"), str_of(rels_empty)))
        return err_set(e, -ENOMEM, "out of memory");
    return read_types(p, e);
}

int package_read(struct package *p, struct arena *a, struct str bytes, struct err *e)
{
    *p = (struct package){.arena = a};
    int r = zip_read(&p->zip, a, bytes, e);
    return r < 0 ? r : read_types(p, e);
}

int package_open(struct package *p, struct arena *a, const char *path, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(PACKAGE_MAX);
    int r = io_read_file(path, &b, e);

    if (r < 0)
        return r;
    struct str bytes = arena_str(a, buf_str(&b));
    return bytes.p ? package_read(p, a, bytes, e) : err_set(e, -ENOMEM, "out of memory");
}

/* ---- saving ---- */

/* Puts a document that changed into the archive. */
static int put_doc(struct package *p, struct str name, struct xml_doc *d, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(ZIP_ENTRY_MAX);
    int r = xml_write(d, &b);
    struct str bytes = r == 0 ? arena_str(p->arena, buf_str(&b)) : STR_NULL;

    if (r == 0 && (!bytes.p || !zip_put(&p->zip, entry_name(name), bytes)))
        r = -ENOMEM;
    return r < 0 ? err_sys(e, r, "'" STR_FMT "'", STR_ARG(name)) : 0;
}

static int put_package_part(struct package *p, struct part *t, struct err *e)
{
    int r = 0;

    if (t->is_changed)
        r = put_doc(p, t->name, t->doc, e);
    t->is_changed = false;
    if (r == 0 && t->are_rels_changed)
        r = put_doc(p, rels_name(p, t), t->rels, e);
    t->are_rels_changed = false;
    return r;
}

int package_write(struct package *p, struct buf *out, struct err *e)
{
    int r = p->error;

    if (r < 0)
        return err_sys(e, r, "the file could not be changed");
    for (size_t i = 0; r == 0 && i < p->n_parts; i++)
        r = put_package_part(p, p->parts[i], e);
    if (r == 0)
        r = put_package_part(p, &p->root, e);
    if (r == 0 && p->are_types_changed)
        r = put_doc(p, STR(TYPES_NAME), p->types, e);
    p->are_types_changed = false;
    return r < 0 ? r : zip_write(&p->zip, out, e);
}

/* The bytes as the file PATH, by way of a temporary one beside it. */
static int replace_file(const char *path, const char *temp, struct str data)
{
    struct stat st;
    bool is_new = stat(path, &st) < 0;

    if (!is_new && S_ISDIR(st.st_mode))
        return -EISDIR;
    int fd auto_close =
        io_open(temp, O_WRONLY | O_CREAT | O_EXCL, is_new ? 0666 : st.st_mode & 07777);
    if (fd < 0)
        return fd;
    int r = io_write_all(fd, data.p, data.len);
    if (r == 0 && !is_new)
        (void)fchmod(fd, st.st_mode & 07777);
    if (r == 0 && rename(temp, path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(temp);
    return r;
}

int package_save(struct package *p, const char *path, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(2 * (size_t)PACKAGE_MAX);
    int r = package_write(p, &b, e);

    if (r < 0)
        return r;
    struct str temp = arena_printf(p->arena, "%s.%d.%p.tmp", path, (int)getpid(), (void *)p);
    if (!temp.p)
        return err_set(e, -ENOMEM, "out of memory");
    r = replace_file(path, temp.p, buf_str(&b));
    return r < 0 ? err_sys(e, r, "'%s'", path) : 0;
}
