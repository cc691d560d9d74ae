/* SPDX-License-Identifier: MIT */
/* Connections: queries with a deadline. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "apps/pg.h"
#include "base/clock.h"

#define GRACE_MS 3000 /* after a cancel */

static void ignore(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

PGconn *pg_connect(const struct pg_server *s, const char *database, const char *role, struct err *e)
{
    const char *const keys[] = {"host", "dbname", "user", "connect_timeout", "application_name",
                                NULL};
    const char *const values[] = {s->dir, database, role, "10", "tidepool", NULL};
    PGconn *c = PQconnectdbParams(keys, values, 0);

    if (PQstatus(c) == CONNECTION_OK) {
        (void)PQsetNoticeProcessor(c, ignore, NULL);
        return c;
    }
    (void)err_set(e, -EIO, "connect: %s", c ? PQerrorMessage(c) : "out of memory");
    PQfinish(c);
    return NULL;
}

static void cancel(PGconn *c)
{
    char text[256];
    PGcancel *x = PQgetCancel(c);

    if (x)
        (void)PQcancel(x, text, sizeof text);
    PQfreeCancel(x);
}

/* Waits until a result can be had. */
static int wait_result(PGconn *c, int64_t *until_ms, bool *is_cancelled)
{
    while (PQisBusy(c)) {
        struct pollfd p = {.fd = PQsocket(c), .events = POLLIN};
        int64_t left = *until_ms - clock_mono_ms();
        if (left <= 0) {
            if (*is_cancelled)
                return -ETIME;
            cancel(c);
            *is_cancelled = true;
            *until_ms = clock_mono_ms() + GRACE_MS;
            continue;
        }
        if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
            return -errno;
        if (p.revents && !PQconsumeInput(c))
            return -EIO;
    }
    return 0;
}

/* Nothing can be copied to or from here. */
static void end_copy(PGconn *c, ExecStatusType status)
{
    char *line;

    if (status == PGRES_COPY_IN)
        (void)PQputCopyEnd(c, "COPY FROM STDIN is not supported here");
    for (int n = 0; status == PGRES_COPY_OUT && n >= 0;) {
        n = PQgetCopyData(c, &line, 0);
        if (n > 0)
            PQfreemem(line);
    }
}

/* The server's words as its clients show them: without the severity, and no line break behind. */
static int refuse(const PGresult *r, struct err *e)
{
    struct str text = str_of(PQresultErrorMessage(r));
    const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY);

    if (severity && str_starts(text, str_of(severity))) {
        text = str_skip(text, strlen(severity));
        while (text.len > 0 && (text.p[0] == ':' || text.p[0] == ' '))
            text = str_skip(text, 1);
    }
    while (text.len > 0 && text.p[text.len - 1] == '\n')
        text.len--;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    bool is_ours = state && strncmp(state, "57P", 3) == 0; /* shut down, not refused */
    return err_set(e, is_ours ? -EIO : -EINVAL, STR_FMT, STR_ARG(text));
}

int pg_run(PGconn *c, const struct pg_query *q, PGresult **ret, struct err *e)
{
    PGresult *last auto_(pg_clear) = NULL;
    int64_t until_ms = clock_mono_ms() + q->max_ms;
    bool is_cancelled = false;
    int is_sent = q->is_simple ? PQsendQuery(c, q->sql)
                               : PQsendQueryParams(c, q->sql, q->n, NULL, q->values, NULL, NULL, 0);

    if (!is_sent)
        return err_set(e, -EIO, "%s", PQerrorMessage(c));
    for (;;) {
        int r = wait_result(c, &until_ms, &is_cancelled);
        if (r < 0)
            return err_set(e, r, "no answer from PostgreSQL");
        PGresult *next = PQgetResult(c);
        if (!next)
            break;
        ExecStatusType status = PQresultStatus(next);
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT)
            end_copy(c, status);
        /* The first fault of several statements is the last result. */
        PQclear(last);
        last = next;
    }
    if (!last)
        return err_set(e, -EIO, "%s", PQerrorMessage(c));
    switch ((int)PQresultStatus(last)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY: break;
    case PGRES_COPY_OUT: return err_set(e, -EINVAL, "COPY TO STDOUT is not supported here");
    default: return refuse(last, e);
    }
    if (ret)
        *ret = take(last);
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): a query, what it takes and what it gives */
int pg_do_with(PGconn *c, const char *sql, const char *const *values, int n, PGresult **ret,
               struct err *e)
{
    const struct pg_query q = {.sql = sql, .values = values, .n = n, .max_ms = PG_ADMIN_MAX_MS};

    return pg_run(c, &q, ret, e);
}

int pg_do(PGconn *c, const char *sql, PGresult **ret, struct err *e)
{
    return pg_do_with(c, sql, NULL, 0, ret, e);
}
