/* SPDX-License-Identifier: MIT */
/* Progress of a transfer: see progress.h. */
#include "cli/progress.h"

#include <unistd.h>

#include "base/clock.h"
#include "cli/human.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "sys/io.h"

enum { EVERY_MS = 100, LINE_MAX_BYTES = 4096, LABEL_MIN = 8, WIDTH_DEFAULT = 80 };

static void put_progress_figures(const struct progress *p, int64_t now_ms, struct buf *out)
{
    int64_t took_ms = now_ms - p->start_ms;
    uint64_t rate = took_ms > 0 ? p->done * 1000 / (uint64_t)took_ms : 0;
    char bytes[HUMAN_MAX], total[HUMAN_MAX], per_second[HUMAN_MAX], left[HUMAN_MAX];

    human_bytes(bytes, p->done);
    human_bytes(per_second, rate);
    if (p->total < 0) {
        (void)buf_printf(out, "  %9s  %9s/s", bytes, per_second);
        return;
    }
    uint64_t all = (uint64_t)p->total > p->done ? (uint64_t)p->total : p->done;
    human_bytes(total, all);
    (void)buf_printf(out, "  %3u%%  %9s of %s  %9s/s",
                     all ? (unsigned)((double)p->done / (double)all * 100) : 100U, bytes, total,
                     per_second);
    if (p->done < all && rate == 0)
        return;
    human_clock(left, p->done < all ? (int64_t)((all - p->done) / rate) : took_ms / 1000);
    (void)buf_printf(out, p->done < all ? "  %s left" : "  in %s", left);
}

int progress_line(const struct progress *p, int64_t now_ms, size_t width, struct buf *out)
{
    struct buf figures auto_buf = BUF_INIT(LINE_MAX_BYTES);

    put_progress_figures(p, now_ms, &figures);
    size_t room = width > figures.len + LABEL_MIN ? width - figures.len : LABEL_MIN;
    (void)table_put_text(out, p->label, room);
    return table_put_text(out, buf_str(&figures), width > room ? width - room : 0);
}

static void show_progress(struct progress *p, const char *tail)
{
    struct buf line auto_buf = BUF_INIT(LINE_MAX_BYTES);
    size_t width = tty_width(STDERR_FILENO);

    p->shown_ms = clock_mono_ms();
    (void)buf_add_lit(&line, "\r\033[K");
    /* The last column stays free: writing there would wrap. */
    (void)progress_line(p, p->shown_ms, (width ? width : WIDTH_DEFAULT) - 1, &line);
    (void)buf_printf(&line, "%s", tail);
    (void)io_write_all(STDERR_FILENO, line.p, line.len);
}

void progress_start(struct progress *p, struct str label, int64_t total, bool is_quiet)
{
    *p = (struct progress){.label = label,
                           .total = total,
                           .start_ms = clock_mono_ms(),
                           .is_on = !is_quiet && isatty(STDERR_FILENO)};
    p->shown_ms = p->start_ms;
}

void progress_add(struct progress *p, uint64_t n)
{
    p->done += n;
    if (p->is_on && clock_mono_ms() - p->shown_ms >= EVERY_MS)
        show_progress(p, "");
}

void progress_end(struct progress *p)
{
    if (p->is_on)
        show_progress(p, "\n");
    p->is_on = false;
}
