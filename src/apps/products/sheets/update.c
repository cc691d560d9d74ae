/* SPDX-License-Identifier: MIT */
#include "apps/products/sheets/update.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "apps/products/sheets/sheets_internal.h"

static const struct request *const tables[] = {
    requests_of_sheets, requests_of_lines,    requests_of_cells,
    requests_of_ranges, requests_of_features,
};

/* What the API knows besides. */
static const char *const not_done[] = {
    "addBanding",
    "addChart",
    "addDataSource",
    "addDimensionGroup",
    "addFilterView",
    "addNamedRange",
    "addProtectedRange",
    "addSlicer",
    "addTable",
    "autoFill",
    "cancelDataSourceRefresh",
    "createDeveloperMetadata",
    "cutPaste",
    "deleteBanding",
    "deleteDataSource",
    "deleteDeveloperMetadata",
    "deleteDimensionGroup",
    "deleteEmbeddedObject",
    "deleteFilterView",
    "deleteNamedRange",
    "deleteProtectedRange",
    "deleteRange",
    "deleteTable",
    "duplicateFilterView",
    "insertRange",
    "moveDimension",
    "randomizeRange",
    "refreshDataSource",
    "textToColumns",
    "updateBanding",
    "updateChartSpec",
    "updateConditionalFormatRule",
    "updateDataSource",
    "updateDeveloperMetadata",
    "updateDimensionGroup",
    "updateEmbeddedObjectBorder",
    "updateEmbeddedObjectPosition",
    "updateFilterView",
    "updateNamedRange",
    "updateProtectedRange",
    "updateSlicerSpec",
    "updateTable",
};

int sheets_fail(struct sheets *b, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    if (b->err->code)
        return -EINVAL;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(b->err, -EINVAL, "Invalid requests[%zu].%s: %s", b->request, b->name, text);
}

int sheets_no_memory(struct sheets *b)
{
    return err_set(b->err, -ENOMEM, "out of memory");
}

bool sheets_charge(struct sheets *b, uint64_t n)
{
    b->n_steps += n;
    if (b->n_steps <= SHEETS_MAX_STEPS)
        return true;
    (void)sheets_fail(b, "The requests take too long together; send fewer at once.");
    return false;
}

/* Most requests look at everything once. */
static bool charge_all(struct sheets *b)
{
    uint64_t n = 0;

    for (size_t i = 0; i < b->n_sheets; i++)
        n += b->sheets[i]->n_cells + b->sheets[i]->n_features;
    return sheets_charge(b, n);
}

static const struct request *find_request_row(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        for (const struct request *r = tables[i]; r->name; r++) {
            if (str_is(name, r->name))
                return r;
        }
    }
    return NULL;
}

static int refuse_request(const struct sheets *b, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(not_done); i++) {
        if (str_is(name, not_done[i]))
            return err_set(b->err, -EINVAL, "Invalid requests[%zu].%s: not supported here",
                           b->request, not_done[i]);
    }
    return err_set(b->err, -EINVAL,
                   "Invalid JSON payload received. Unknown name \"" STR_FMT
                   "\" at 'requests[%zu]': Cannot find field.",
                   STR_ARG(str_slice(name, 0, 64)), b->request);
}

static int run_sheets_request(struct sheets *b, const struct json *in, struct json *replies)
{
    if (!json_is(in, JSON_OBJECT) || in->n == 0)
        return err_set(b->err, -EINVAL, "Invalid requests[%zu]: No request set.", b->request);
    if (in->n > 1)
        return err_set(b->err, -EINVAL,
                       "Invalid value at 'requests[%zu]' (oneof), oneof field 'kind' is already "
                       "set. Cannot set '" STR_FMT "'",
                       b->request, STR_ARG(str_slice(in->members[1].key, 0, 64)));
    const struct request *r = find_request_row(in->members[0].key);
    if (!r)
        return refuse_request(b, in->members[0].key);
    b->name = r->name;
    b->reply = json_new_object(b->arena);
    if (!b->reply)
        return sheets_no_memory(b);
    if (!json_is(&in->members[0].value, JSON_OBJECT))
        return sheets_fail(b, "an object is expected");
    int done = charge_all(b) ? r->fn(b, &in->members[0].value) : -EINVAL;
    for (size_t i = 0; done == 0 && i < b->n_sheets; i++)
        sheets_compact(b->sheets[i]);
    if (done < 0)
        return b->err->code ? b->err->code : sheets_no_memory(b);
    return json_push(b->arena, replies, b->reply) < 0 ? sheets_no_memory(b) : 0;
}

int sheets_update(const struct sheets_args *args, struct buf *out, struct err *e)
{
    struct err none = ERR_INIT;
    struct sheets b = {.arena = args->arena, .numbers = args->numbers, .err = e ? e : &none};
    struct json *replies = json_new_array(args->arena);

    b.name = "";
    if (!replies)
        return sheets_no_memory(&b);
    if (!json_is(args->requests, JSON_ARRAY) || args->requests->n == 0)
        return err_set(b.err, -EINVAL, "Must specify at least one request.");
    if (args->requests->n > SHEETS_MAX_REQUESTS)
        return err_set(b.err, -EINVAL, "no more than %d requests at once", SHEETS_MAX_REQUESTS);
    int r = sheets_read(&b, args->state);
    for (; r == 0 && b.request < args->requests->n; b.request++)
        r = run_sheets_request(&b, json_at(args->requests, b.request), replies);
    if (r < 0)
        return r;
    struct jw w = jw_to(out);
    jw_object(&w);
    sheets_write(&w, &b);
    jw_key(&w, "replies");
    jw_value(&w, replies);
    jw_end(&w);
    return 0;
}
