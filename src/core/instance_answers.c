/* SPDX-License-Identifier: MIT */
#include "core/instance_answers.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"

struct kept {
    struct app_answer answer;
    char text[];
};

void answers_init(struct answers *a, size_t max, size_t max_bytes)
{
    *a = (struct answers){.max_bytes = max_bytes};
    map_init(&a->by_call, max);
}

void answers_clear(struct answers *a)
{
    size_t max = a->by_call.max;
    void *value;

    for (size_t i = 0; map_next(&a->by_call, &i, NULL, &value);)
        free(value);
    map_done(&a->by_call);
    map_init(&a->by_call, max);
    a->n_bytes = 0;
}

/* The tool and its arguments, as they were sent. */
static struct str answer_key_of(struct instance_op *op)
{
    auto_buf struct buf b = BUF_INIT(ANSWERS_MAX_KEY);

    (void)buf_add_str(&b, op->name);
    (void)buf_add_char(&b, ' ');
    (void)json_write(&b, op->args, JSON_COMPACT);
    return buf_ok(&b) ? arena_str(op->arena, buf_str(&b)) : STR_NULL;
}

bool answers_find(const struct answers *a, struct instance_op *op)
{
    op->key = answer_key_of(op);
    const struct kept *k = op->key.p ? map_get(&a->by_call, op->key) : NULL;
    if (!k)
        return false;
    /* A copy: it may go while somebody else still writes the answer. */
    struct str text = arena_str(op->arena, k->answer.text);
    if (!text.p)
        return false;
    op->answer = k->answer;
    op->answer.text = text;
    return true;
}

void answers_keep(struct answers *a, const struct instance_op *op)
{
    struct str text = op->answer.text;

    if (!op->key.p || text.len > ANSWERS_MAX_TEXT || map_get(&a->by_call, op->key))
        return;
    if (a->by_call.n == a->by_call.max || a->n_bytes + text.len > a->max_bytes)
        answers_clear(a);
    struct kept *k = mem_alloc(sizeof *k + text.len + 1);
    if (!k)
        return;
    k->answer = op->answer;
    memcpy(k->text, text.p, text.len);
    k->text[text.len] = '\0';
    k->answer.text = str_n(k->text, text.len);
    if (map_put(&a->by_call, op->key, k, NULL) < 0)
        free(k);
    else
        a->n_bytes += text.len;
}
