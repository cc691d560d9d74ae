/* SPDX-License-Identifier: MIT */
/* Connections: queries with a deadline. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "apps/db/deadline.h"
#include "apps/pg/pg.h"
#include "base/clock.h"

enum {
    GRACE_MS = 3000, /* after a cancel */
    LOOK_MS = 100    /* between two looks at whether all is to end */
};

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

static void cancel_query(PGconn *c)
{
    char text[256];
    PGcancel *x = PQgetCancel(c);

    if (x)
        (void)PQcancel(x, text, sizeof text);
    PQfreeCancel(x);
}

/* A session that does not hear of a cancel (PL/pgSQL can catch it) would go on without us. */
static void terminate(PGconn *c)
{
    const struct pg_server s = {.dir = PQhost(c)};
    char text[16];
    const char *const values[] = {text};
    PGconn *admin auto_(pg_finish) = pg_connect(&s, "postgres", PG_ADMIN, NULL);

    (void)snprintf(text, sizeof text, "%d", PQbackendPID(c));
    if (admin && PQsendQueryParams(admin, "SELECT pg_terminate_backend($1::int)", 1, NULL, values,
                                   NULL, NULL, 0))
        PQclear(PQgetResult(admin));
}

/* How long a query may still take. */
struct wait {
    int64_t until_ms;
    int64_t grace_until_ms; /* 0: not cancelled yet */
};

/* 0 while there is time; else the query is cancelled, and -ETIME after a while. */
static int look_at_pg_time(PGconn *c, struct wait *w)
{
    if (w->grace_until_ms == 0 && deadline_passed(w->until_ms)) {
        cancel_query(c);
        w->grace_until_ms = clock_mono_ms() + GRACE_MS;
    }
    if (w->grace_until_ms == 0 || clock_mono_ms() <= w->grace_until_ms)
        return 0;
    terminate(c);
    return -ETIME;
}

/* Waits a moment for more of the answer. */
static int wait_input(PGconn *c, struct wait *w)
{
    struct pollfd p = {.fd = PQsocket(c), .events = POLLIN};
    int r = look_at_pg_time(c, w);

    if (r < 0)
        return r;
    int64_t left = w->grace_until_ms ? LOOK_MS : deadline_left(w->until_ms) + 1;
    if (poll(&p, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) < 0 && errno != EINTR)
        return -errno;
    return p.revents && !PQconsumeInput(c) ? -EIO : 0;
}

/* Waits until a result can be had. */
static int wait_result(PGconn *c, struct wait *w)
{
    int r = 0;

    while (r == 0 && PQisBusy(c))
        r = wait_input(c, w);
    return r;
}

/* Nothing can be copied to or from here. What the server sends is read and forgotten. */
static int end_copy(PGconn *c, ExecStatusType status, struct wait *w)
{
    char *line;
    int n = 0, r = 0;

    if (status == PGRES_COPY_IN)
        (void)PQputCopyEnd(c, "COPY FROM STDIN is not supported here");
    if (status != PGRES_COPY_OUT)
        return 0;
    while (r == 0 && (n = PQgetCopyData(c, &line, 1)) >= 0) {
        if (n > 0)
            PQfreemem(line);
        r = n > 0 ? look_at_pg_time(c, w) : wait_input(c, w);
    }
    return r;
}

/* The server's words as its clients show them: without the severity, and no line break behind. */
static int err_from_result(const PGresult *r, struct err *e)
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
    struct wait wait = {.until_ms = clock_mono_ms() + q->max_ms};

    if (deadline_passed(wait.until_ms))
        return err_set(e, -ETIME, "takes too long");
    int is_sent = q->is_simple ? PQsendQuery(c, q->sql)
                               : PQsendQueryParams(c, q->sql, q->n, NULL, q->values, NULL, NULL, 0);

    if (!is_sent)
        return err_set(e, -EIO, "%s", PQerrorMessage(c));
    for (;;) {
        int r = wait_result(c, &wait);
        if (r < 0)
            return err_set(e, r, "no answer from PostgreSQL");
        PGresult *next = PQgetResult(c);
        if (!next)
            break;
        ExecStatusType status = PQresultStatus(next);
        r = end_copy(c, status, &wait);
        if (r < 0) {
            PQclear(next);
            return err_set(e, r, "no answer from PostgreSQL");
        }
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
    default: return err_from_result(last, e);
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
