/* SPDX-License-Identifier: MIT */
/* Certificates of the service: see serve_tls.h. */
#include "cli/serve_tls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/tls_certs.h"

enum { LOOK_MS = 2000 };

struct serve_tls {
    struct loop *loop;
    struct tls_certs *certs;
    struct loop_timer timer;
};

void serve_tls_reload(struct serve_tls *t)
{
    struct err e = ERR_INIT;

    if (!t)
        log_info("nothing to reload");
    else if (tls_certs_reload(t->certs, &e) < 0)
        log_error("certificates kept unchanged", LOG_S("error", err_text(&e)));
    else
        log_info("certificates reloaded");
}

static void on_tls_look(struct loop_timer *timer)
{
    struct serve_tls *t = container_of(timer, struct serve_tls, timer);

    if (tls_certs_have_changed(t->certs))
        serve_tls_reload(t);
    (void)loop_timer_start(t->loop, timer, LOOK_MS, on_tls_look);
}

int serve_tls_open(struct serve_tls **ret, struct loop *loop, const struct config *c, struct err *e)
{
    const struct tls_certs_files files = {c->tls.cert, c->tls.key, c->tls.dir};

    if (!files.cert && !files.dir)
        return 0;
    struct serve_tls *t = mem_zalloc(1, sizeof *t);
    if (!t)
        return err_sys(e, -ENOMEM, "certificates");
    t->loop = loop;
    t->certs = tls_certs_new(&files, e);
    if (!t->certs || loop_timer_start(loop, &t->timer, LOOK_MS, on_tls_look) < 0) {
        serve_tls_close(t);
        return -EINVAL;
    }
    *ret = t;
    return 0;
}

struct tls_ctx *serve_tls_ctx(const struct serve_tls *t)
{
    return t ? tls_certs_ctx(t->certs) : NULL;
}

void serve_tls_close(struct serve_tls *t)
{
    if (!t)
        return;
    loop_timer_stop(&t->timer);
    tls_certs_free(t->certs);
    free(t);
}
