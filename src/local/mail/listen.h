/* SPDX-License-Identifier: MIT */
/* The listeners for IMAP and SMTP: a thread for each connection, of which there is a limited
 * number. */
#pragma once

#include "base/err.h"
#include "loop/loop.h"

struct mail_store;
struct mail_listener;

enum {
    MAIL_CONNECTIONS_MAX = 64, /* of a listener */
    MAIL_SILENCE_S = 1800      /* after that a connection is closed */
};

/* Accepts on LISTEN_FD, which is taken over; lives as long as the process. */
struct mail_listener *mail_listen_imap(struct loop *loop, struct mail_store *store, int listen_fd,
                                       struct err *e);
struct mail_listener *mail_listen_smtp(struct loop *loop, struct mail_store *store, int listen_fd,
                                       struct err *e);
