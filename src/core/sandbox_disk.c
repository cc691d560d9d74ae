/* SPDX-License-Identifier: MIT */
/* The disks of sandboxes: see sandbox_disk.h. */
#include "core/sandbox_disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "core/config.h"
#include "core/core.h"
#include "core/limits.h"
#include "core/quantity.h"
#include "core/sandbox_internal.h"

/* ---- what they are kept in ---- */

static uint64_t size_of_host(const char *state)
{
    struct statvfs fs;

    return statvfs(state, &fs) == 0 ? fs.f_blocks * fs.f_frsize : 0;
}

void sandboxes_choose_disk(struct sandboxes *set, const char *state)
{
    const struct config *config = set->core->config;
    struct err *lack = &set->lacks[SANDBOX_LIMIT_DISK];
    struct disk_spec image = {.kind = DISK_IMAGE, .bytes = (uint64_t)config->cells.disk};

    set->host_disk = size_of_host(state);
    switch ((enum config_disk)config->cells.disk_kind) {
    case CONFIG_DISK_AUTO:
        set->disk = image;
        if (disk_can(&image, state, lack))
            return;
        set->disk = (struct disk_spec){.kind = DISK_DIR};
        (void)err_ctx(lack, lack->code, "this host cannot limit disk");
        return;
    case CONFIG_DISK_IMAGE: set->disk = image; return;
    case CONFIG_DISK_TMPFS:
        set->disk = (struct disk_spec){DISK_TMPFS, (uint64_t)config->cells.disk};
        return;
    case CONFIG_DISK_DIR: set->disk = (struct disk_spec){.kind = DISK_DIR}; return;
    }
}

/* ---- sizes ---- */

static int bad_disk(struct str text, const char *why, struct err *e)
{
    return err_set(e, -EINVAL, "invalid disk \"" STR_FMT "\": %s", STR_ARG(str_slice(text, 0, 60)),
                   why);
}

/* The least size there is that has BYTES. What the operator names, as what a sandbox gets that asks
 * for none or as the most that it may ask for, are sizes as well. */
static uint64_t round_up(const struct sandboxes *set, uint64_t bytes)
{
    const uint64_t named[] = {set->disk.bytes, (uint64_t)set->core->config->quota.sandbox_disk};
    uint64_t size = disk_round(bytes);

    if (size == 0)
        size = bytes;
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        if (bytes <= named[i] && named[i] < size)
            size = named[i];
    return size;
}

/* In the largest unit that it is a multiple of. */
static struct str write_size(struct arena *a, uint64_t bytes)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    size_t i = 0;

    while (bytes > 0 && i < ARRAY_LEN(units) - 1 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    return arena_printf(a, "%" PRIu64 "%s", bytes, units[i]);
}

int sandbox_fill_disk(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    struct disk_spec *disk = &sb->cell_spec.disk;
    uint64_t bytes;

    *disk = sb->set->disk;
    if (a->disk.len == 0) {
        sb->spec.disk = write_size(&sb->arena, disk->bytes);
        return sb->spec.disk.p ? 0 : -ENOMEM;
    }
    if (quantity_units(a->disk, &bytes) < 0)
        return bad_disk(a->disk, "not a quantity such as 512Mi or 2Gi", e);
    if (bytes > 0 && bytes < DISK_MIN_BYTES)
        return bad_disk(a->disk, "the minimum is 16Mi", e);
    disk->bytes = bytes > 0 ? round_up(sb->set, bytes) : 0;
    sb->spec.disk =
        disk->bytes == bytes ? arena_str(&sb->arena, a->disk) : write_size(&sb->arena, disk->bytes);
    return sb->spec.disk.p ? 0 : -ENOMEM;
}

int sandbox_check_disk(const struct sandboxes *set, const struct sandbox_args *a,
                       const struct account *account, struct err *e)
{
    uint64_t bytes, most = (uint64_t)limits_max(set->core->limits, account, LIMIT_SANDBOX_DISK);
    char why[100];

    if (a->disk.len == 0 || quantity_units(a->disk, &bytes) < 0)
        return 0;
    if (set->host_disk > 0 && bytes > set->host_disk) {
        (void)snprintf(why, sizeof why, "the disk of this host has %" PRIu64 "Mi",
                       set->host_disk >> 20);
        return bad_disk(a->disk, why, e);
    }
    if (most == 0 || (bytes > 0 && (bytes <= most || bytes <= set->disk.bytes)))
        return 0;
    limits_note_refusal(set->core->limits, LIMIT_SANDBOX_DISK);
    (void)snprintf(why, sizeof why, "%s, at most %" PRIu64 "Mi",
                   bytes == 0 ? "only operator keys may ask for no limit" : "too much", most >> 20);
    return bad_disk(a->disk, why, e);
}

/* ---- what an account is promised ---- */

int sandbox_take_disk(struct sandbox *sb, struct err *e)
{
    struct limits *l = sb->set->core->limits;
    struct account *account = sb->key->account;
    int r = limits_take(l, account, LIMIT_ACCOUNT_DISK, (int64_t)sb->cell_spec.disk.bytes, e);

    if (r == 0)
        sb->disk_tally = limits_tally(l, account, LIMIT_ACCOUNT_DISK);
    return r;
}

void sandbox_count_disk(struct sandbox *sb, struct account *account)
{
    sb->disk_tally = limits_tally(sb->set->core->limits, account, LIMIT_ACCOUNT_DISK);
    tally_add(sb->disk_tally, (int64_t)sb->cell_spec.disk.bytes);
}

void sandbox_give_disk(struct sandbox *sb)
{
    if (sb->disk_tally)
        tally_give(take(sb->disk_tally), (int64_t)sb->cell_spec.disk.bytes);
}
