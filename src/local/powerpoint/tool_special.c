/* SPDX-License-Identifier: MIT */
/* Tools for links, masters and transitions. */
#include "base/cleanup.h"
#include "local/powerpoint/deck.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/tools.h"

/* ---- links ---- */

static void list_links(struct pp *p)
{
    struct json *all = pp_array(p);
    struct arena *a = &p->c->arena;
    int64_t i = 0;

    for (struct xml *x = shape_at(&p->slide, 0); x; x = shape_next(x), i++) {
        int64_t n_paragraph = 0;
        struct xml *para = xml_child(text_body(x), "a:p");
        for (; para; para = xml_next(para, "a:p"), n_paragraph++) {
            int64_t n_run = 0;
            for (struct xml *r = xml_child(para, "a:r"); r; r = xml_next(r, "a:r"), n_run++) {
                struct str url = text_link(p->deck, p->slide.part, r);
                struct json *row = pp_object(p);
                if (!url.p)
                    continue;
                pp_put_int(p, row, "shape_index", i);
                pp_put_int(p, row, "paragraph_index", n_paragraph);
                pp_put_int(p, row, "run_index", n_run);
                pp_put_str(p, row, "text",
                           arena_str(a, xml_text(p->slide.doc, xml_child(r, "a:t"))));
                pp_put_str(p, row, "url", url);
                pp_push(p, all, row);
            }
        }
    }
    p->is_unchanged = true;
    pp_text(p, "message", "Found %u hyperlinks on slide %lld", all ? all->n : 0,
            (long long)p->slide_index);
    pp_set(p, "hyperlinks", all);
}

static void add_special_link(struct pp *p, struct xml *body)
{
    struct str text = pp_arg_str(p, "text"), url = pp_arg_str(p, "url");
    struct xml *para = xml_child(body, "a:p");

    if (text.len == 0 || url.len == 0) {
        pp_error(p, "Both 'text' and 'url' are required for adding hyperlinks");
        return;
    }
    if (!para)
        para = text_add_paragraph(p->slide.doc, body, STR(""));
    text_set_link(p->deck, &p->slide, text_add_run(p->slide.doc, para, text), url);
    pp_text(p, "message", "Added hyperlink '" STR_FMT "' -> '" STR_FMT "' to shape %lld",
            STR_ARG(text), STR_ARG(url), (long long)p->shape_index);
    pp_text(p, "text", STR_FMT, STR_ARG(text));
    pp_text(p, "url", STR_FMT, STR_ARG(url));
}

static struct json *text_or_null(struct pp *p, struct str s)
{
    return s.p ? json_new_str(&p->c->arena, s) : json_new_null(&p->c->arena);
}

static void change_link(struct pp *p, struct xml *body, bool is_removed)
{
    int64_t at = json_int(pp_arg(p, "run_index"), 0);
    struct str url = pp_arg_str(p, "url");
    struct xml *run = at >= 0 ? xml_nth(xml_child(body, "a:p"), "a:r", (size_t)at) : NULL;

    if (!is_removed && url.len == 0) {
        pp_error(p, "URL is required for updating hyperlinks");
        return;
    }
    if (!run) {
        pp_error(p, "Run index %lld out of range", (long long)at);
        return;
    }
    struct str old = text_link(p->deck, p->slide.part, run), shown = old.p ? old : STR("None");
    struct str text = xml_text(p->slide.doc, xml_child(run, "a:t"));
    text = text.p ? text : STR("");
    text_set_link(p->deck, &p->slide, run, is_removed ? STR("") : url);
    if (is_removed) {
        pp_text(p, "message", "Removed hyperlink '" STR_FMT "' from text '" STR_FMT "'",
                STR_ARG(shown), STR_ARG(text));
        pp_set(p, "removed_url", text_or_null(p, old));
    } else {
        pp_text(p, "message", "Updated hyperlink from '" STR_FMT "' to '" STR_FMT "'",
                STR_ARG(shown), STR_ARG(url));
        pp_set(p, "old_url", text_or_null(p, old));
        pp_text(p, "new_url", STR_FMT, STR_ARG(url));
    }
    pp_text(p, "text", STR_FMT, STR_ARG(text));
}

void pp_manage_hyperlinks(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation");
    const struct json *index = pp_arg(p, "shape_index");

    if (str_is(operation, "list")) {
        list_links(p);
        return;
    }
    p->shape_index = json_int(index, -1);
    p->shape = p->shape_index >= 0 ? shape_at(&p->slide, (size_t)p->shape_index) : NULL;
    if (!p->shape) {
        if (index)
            pp_error(p, "Shape index %lld out of range", (long long)p->shape_index);
        else
            pp_error(p, "Shape index None out of range");
        return;
    }
    struct xml *body = text_need(p->slide.doc, p->shape);
    if (!body)
        pp_error(p, "Shape does not contain text");
    else if (str_is(operation, "add"))
        add_special_link(p, body);
    else if (str_is(operation, "update") || str_is(operation, "remove"))
        change_link(p, body, str_is(operation, "remove"));
    else
        pp_error(p, "Unsupported operation: " STR_FMT ". Use 'add', 'remove', 'list', or 'update'",
                 STR_ARG(operation));
}

/* ---- masters ---- */

static size_t n_placeholders(struct deck *d, struct part *part, struct slide *ret)
{
    size_t n = 0;

    *ret = (struct slide){0};
    if (deck_open(d, part, ret, NULL) < 0)
        return 0;
    for (struct xml *x = shape_at(ret, 0); x; x = shape_next(x))
        n += shape_ph(x) != NULL;
    return n;
}

static void list_masters(struct pp *p)
{
    struct json *all = pp_array(p);
    size_t n = deck_n_masters(p->deck);

    for (size_t i = 0; i < n; i++) {
        struct part *master = deck_master(p->deck, i);
        struct json *row = pp_object(p);
        pp_put_int(p, row, "index", (int64_t)i);
        pp_put_int(p, row, "layout_count", (int64_t)deck_n_layouts(p->deck, master));
        pp_put_str(p, row, "name", deck_part_name(p->deck, master));
        pp_push(p, all, row);
    }
    pp_text(p, "message", "Found %zu slide masters", n);
    pp_set(p, "masters", all);
    pp_int(p, "total_masters", (int64_t)n);
}

static void list_layouts(struct pp *p, struct part *master, int64_t index)
{
    size_t n = deck_n_layouts(p->deck, master);
    struct json *all = pp_array(p);
    struct slide s;

    for (size_t i = 0; i < n; i++) {
        struct part *layout = deck_layout(p->deck, master, i);
        struct json *row = pp_object(p);
        pp_put_int(p, row, "index", (int64_t)i);
        pp_put_str(p, row, "name", deck_part_name(p->deck, layout));
        pp_put_int(p, row, "placeholder_count", (int64_t)n_placeholders(p->deck, layout, &s));
        pp_push(p, all, row);
    }
    pp_text(p, "message", "Master %lld has %zu layouts", (long long)index, n);
    pp_int(p, "master_index", index);
    pp_set(p, "layouts", all);
}

static void tell_layout(struct pp *p, struct part *master, int64_t index)
{
    int64_t at = json_int(pp_arg(p, "layout_index"), -1);
    struct part *layout = at >= 0 && (uint64_t)at < deck_n_layouts(p->deck, master)
                              ? deck_layout(p->deck, master, (size_t)at)
                              : NULL;
    struct json *all = pp_array(p);
    struct slide s;

    if (!layout) {
        pp_error(p, "Layout index %lld out of range", (long long)at);
        return;
    }
    struct xml *x = n_placeholders(p->deck, layout, &s) > 0 ? shape_at(&s, 0) : NULL;
    for (; x; x = shape_next(x)) {
        struct json *row = pp_object(p);
        if (!shape_ph(x))
            continue;
        pp_put_int(p, row, "idx", shape_ph_idx(x));
        pp_put_str(p, row, "type", str_of(shape_ph_type(x)));
        pp_put_str(p, row, "name", shape_name(x));
        pp_push(p, all, row);
    }
    pp_text(p, "message", "Layout info for master %lld, layout %lld", (long long)index,
            (long long)at);
    pp_int(p, "master_index", index);
    pp_int(p, "layout_index", at);
    pp_text(p, "layout_name", STR_FMT, STR_ARG(deck_part_name(p->deck, layout)));
    pp_set(p, "placeholders", all);
}

void pp_manage_slide_masters(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation");
    int64_t index = json_int(pp_arg(p, "master_index"), 0);
    struct part *master = index >= 0 && (uint64_t)index < deck_n_masters(p->deck)
                              ? deck_master(p->deck, (size_t)index)
                              : NULL;

    if (str_is(operation, "list")) {
        list_masters(p);
    } else if (!master) {
        pp_error(p, "Master index %lld out of range", (long long)index);
    } else if (str_is(operation, "get_layouts")) {
        list_layouts(p, master, index);
    } else if (!str_is(operation, "get_info")) {
        pp_error(p, "Unsupported operation: " STR_FMT ". Use 'list', 'get_layouts', or 'get_info'",
                 STR_ARG(operation));
    } else if (pp_arg(p, "layout_index")) {
        tell_layout(p, master, index);
    } else {
        pp_text(p, "message", "Master %lld information", (long long)index);
        pp_int(p, "master_index", index);
        pp_int(p, "layout_count", (int64_t)deck_n_layouts(p->deck, master));
        pp_text(p, "name", STR_FMT, STR_ARG(deck_part_name(p->deck, master)));
    }
}

/* ---- transitions ---- */

/* Those that need no attributes. */
static const char *const transitions[] = {
    "blinds",    "checker", "circle",    "comb",  "cover", "cut",  "diamond",
    "dissolve",  "fade",    "newsflash", "plus",  "pull",  "push", "random",
    "randomBar", "split",   "strips",    "wedge", "wheel", "wipe", "zoom",
};

static struct xml *find_transition(const struct slide *s)
{
    for (struct xml *n = NULL; (n = xml_walk(s->doc->root, n, "p:transition"));) {
        if (!xml_above(n, "mc:Fallback"))
            return n;
    }
    return NULL;
}

static void remove_transition(const struct slide *s)
{
    struct xml *n = find_transition(s), *choice = xml_above(n, "mc:AlternateContent");

    if (n)
        xml_remove(choice ? choice : n);
}

static void tell_transition(struct pp *p)
{
    const struct xml *n = find_transition(&p->slide), *kind = xml_child(n, NULL);
    struct str speed = xml_get(n, "spd");
    int64_t ms = speed.p && str_is(speed, "slow")  ? 1000
                 : speed.p && str_is(speed, "med") ? 750
                                                   : 500;

    p->is_unchanged = true;
    pp_text(p, "message", "Transition info for slide %lld", (long long)p->slide_index);
    pp_int(p, "slide_index", p->slide_index);
    if (!n) {
        pp_set(p, "transition_type", json_new_null(&p->c->arena));
        return;
    }
    struct str name = kind ? kind->name->key : STR("none");
    if (str_chr(name, ':') >= 0)
        (void)str_cut(&name, ':');
    pp_text(p, "transition_type", STR_FMT, STR_ARG(name));
    pp_set(p, "duration",
           json_new_real(&p->c->arena, (double)xml_get_int(n, "p14:dur", ms) / 1000));
}

static void set_transition(struct pp *p)
{
    struct str type = pp_arg_str(p, "transition_type"), all = STR("");
    double seconds = pp_arg_real(p, "duration", 1);
    const char *kind = type.p ? NULL : "fade";
    struct slide *s = &p->slide;

    for (size_t i = 0; i < ARRAY_LEN(transitions); i++) {
        if (type.p && str_iis(type, transitions[i]))
            kind = transitions[i];
        all = arena_printf(&p->c->arena, STR_FMT "%s%s", STR_ARG(all), i > 0 ? ", " : "",
                           transitions[i]);
    }
    if (!kind || !(seconds >= 0 && seconds <= 60)) {
        if (kind)
            pp_error(p, "The duration must be 0 to 60 seconds");
        else
            pp_error(p, "Unsupported transition type: " STR_FMT ". Use one of: " STR_FMT,
                     STR_ARG(type), STR_ARG(all));
        return;
    }
    remove_transition(s);
    const char *speed = seconds >= 1 ? "slow" : seconds >= 0.75 ? "med" : "fast";
    /* The tree keeps pieces of it. */
    struct str text =
        arena_printf(s->doc->arena,
                     "<mc:AlternateContent><mc:Choice Requires=\"p14\"><p:transition spd=\"%s\" "
                     "p14:dur=\"%d\"><p:%s/></p:transition></mc:Choice><mc:Fallback><p:transition "
                     "spd=\"%s\"><p:%s/></p:transition></mc:Fallback></mc:AlternateContent>",
                     speed, (int)(seconds * 1000), kind, speed, kind);
    struct xml *behind = xml_child(s->doc->root, "p:timing");
    if (!behind)
        behind = xml_child(s->doc->root, "p:extLst");
    if (!text.p || !xml_add_text(s->doc, s->doc->root, behind, text.p)) {
        pp_error(p, "Failed to manage slide transitions: out of memory");
        return;
    }
    pp_text(p, "message", "Transition setting requested for slide %lld", (long long)p->slide_index);
    pp_int(p, "slide_index", p->slide_index);
    pp_text(p, "transition_type", "%s", kind);
    pp_set(p, "duration", json_new_real(&p->c->arena, seconds));
}

void pp_manage_slide_transitions(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation");

    if (str_is(operation, "get")) {
        tell_transition(p);
    } else if (str_is(operation, "set")) {
        set_transition(p);
    } else if (str_is(operation, "remove")) {
        remove_transition(&p->slide);
        pp_text(p, "message", "Transition removal requested for slide %lld",
                (long long)p->slide_index);
        pp_int(p, "slide_index", p->slide_index);
    } else {
        pp_error(p, "Unsupported operation: " STR_FMT ". Use 'set', 'remove', or 'get'",
                 STR_ARG(operation));
    }
}
