/* SPDX-License-Identifier: MIT */
/* The API: from a request's head to its handler. The order is the same for every route:
 *
 *   route → key → requests a second → role → body → JSON → Idempotency-Key → handler
 *
 * and each step that fails answers in the shape of the surface that the path belongs to. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "net/http_server.h"

struct api;
struct core;
struct router;

/* Compiles the routes and the documentation for CORE, which must outlive the API. */
struct api *api_new(struct core *core, struct err *e);
void api_free(struct api *a);

/* The hooks of an http_server; the context is the struct api. */
http_handler api_handle;
/* The same for a listener that has the E2B control plane at its root. */
http_handler api_handle_e2b;
void api_on_error(struct http_req *h, int status, const char *reason, void *ctx);
void api_on_done(struct http_req *h, void *ctx);
/* The service stops: ends what would keep connections open for ever. */
void api_stop(struct api *a);
/* The server whose connections /metrics counts. */
void api_set_server(struct api *a, struct http_server *s);

/* The address of the service, for those who come by its local socket. */
void api_set_url(struct api *a, const char *url);

/* The setting local.servers has changed: TEXT as in core/own_server.h. 0, or -errno with E filled,
 * and they stay as they were. */
int api_set_own_servers(struct api *a, const char *text, struct err *e);

/* Appends the OpenAPI document, which is the same wherever the service runs. */
int api_write_openapi(struct buf *out);
/* The OpenAPI document, and the numbers of this moment as Prometheus text. */
struct str api_openapi(const struct api *a);
int api_metrics(struct api *a, struct buf *out);
