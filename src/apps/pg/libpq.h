/* SPDX-License-Identifier: MIT */
/* libpq, loaded when the first app needs PostgreSQL: it brings a dozen libraries, of which a
 * service without such apps would keep three megabytes in memory. Its functions are called by their
 * own names. */
#pragma once

#include <libpq-fe.h>

#include "base/err.h"

/* clang-format off */
#define PQ_FUNCTIONS(X)                                                                            \
    X(PQbackendPID) X(PQcancel) X(PQhost)                                                          \
    X(PQclear) X(PQconnectdbParams) X(PQconsumeInput) X(PQerrorMessage) X(PQescapeLiteral)         \
        X(PQfinish) X(PQfname) X(PQfnumber) X(PQfreeCancel) X(PQfreemem) X(PQftype) X(PQgetCancel) \
            X(PQgetCopyData) X(PQgetResult) X(PQgetisnull) X(PQgetlength) X(PQgetvalue)            \
                X(PQisBusy) X(PQnfields) X(PQntuples) X(PQputCopyEnd) X(PQresultErrorField)        \
                    X(PQresultErrorMessage) X(PQresultStatus) X(PQsendQuery) X(PQsendQueryParams)  \
                        X(PQsetNoticeProcessor) X(PQsocket) X(PQstatus) X(PQtransactionStatus)
/* clang-format on */

struct pq {
#define PQ_MEMBER(name) __typeof__(&name) name;
    PQ_FUNCTIONS(PQ_MEMBER)
#undef PQ_MEMBER
};
extern struct pq pq;

/* Loads it, once; any thread. -EOPNOTSUPP when it is not there. */
int pq_load(struct err *e);

#ifndef PQ_OWN_NAMES
#define PQcancel             pq.PQcancel
#define PQbackendPID         pq.PQbackendPID
#define PQhost               pq.PQhost
#define PQclear              pq.PQclear
#define PQconnectdbParams    pq.PQconnectdbParams
#define PQconsumeInput       pq.PQconsumeInput
#define PQerrorMessage       pq.PQerrorMessage
#define PQescapeLiteral      pq.PQescapeLiteral
#define PQfinish             pq.PQfinish
#define PQfname              pq.PQfname
#define PQfnumber            pq.PQfnumber
#define PQfreeCancel         pq.PQfreeCancel
#define PQfreemem            pq.PQfreemem
#define PQftype              pq.PQftype
#define PQgetCancel          pq.PQgetCancel
#define PQgetCopyData        pq.PQgetCopyData
#define PQgetResult          pq.PQgetResult
#define PQgetisnull          pq.PQgetisnull
#define PQgetlength          pq.PQgetlength
#define PQgetvalue           pq.PQgetvalue
#define PQisBusy             pq.PQisBusy
#define PQnfields            pq.PQnfields
#define PQntuples            pq.PQntuples
#define PQputCopyEnd         pq.PQputCopyEnd
#define PQresultErrorField   pq.PQresultErrorField
#define PQresultErrorMessage pq.PQresultErrorMessage
#define PQresultStatus       pq.PQresultStatus
#define PQsendQuery          pq.PQsendQuery
#define PQsendQueryParams    pq.PQsendQueryParams
#define PQsetNoticeProcessor pq.PQsetNoticeProcessor
#define PQsocket             pq.PQsocket
#define PQstatus             pq.PQstatus
#define PQtransactionStatus  pq.PQtransactionStatus
#endif
