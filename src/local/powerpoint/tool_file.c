/* SPDX-License-Identifier: MIT */
/* Tools for whole presentations. */
#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "local/powerpoint/deck.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/tools.h"

/* ---- how presentations are described ---- */

static size_t count_placeholders(struct deck *d, struct part *part)
{
    struct slide s;
    size_t n = 0;

    if (deck_open(d, part, &s, NULL) < 0)
        return 0;
    for (struct xml *x = shape_at(&s, 0); x; x = shape_next(x))
        n += shape_ph(x) != NULL;
    return n;
}

static struct json *layouts(struct pp *p, struct deck *d, struct part *master)
{
    struct json *all = pp_array(p);

    for (size_t i = 0; i < deck_n_layouts(d, master); i++) {
        struct part *layout = deck_layout(d, master, i);
        struct json *row = pp_object(p);
        pp_put_int(p, row, "index", (int64_t)i);
        pp_put_str(p, row, "name", deck_part_name(d, layout));
        pp_put_int(p, row, "placeholder_count", (int64_t)count_placeholders(d, layout));
        pp_push(p, all, row);
    }
    return all;
}

/* A time without its zone, which is always UTC. */
static struct json *told_time(struct pp *p, struct str text)
{
    char out[CLOCK_RFC3339_MAX];
    int64_t us;

    if (!text.p || clock_parse_rfc3339(text, &us) < 0)
        return json_new_null(&p->c->arena);
    clock_rfc3339(out, us);
    return json_new_str(&p->c->arena, str_n(out, 19));
}

static struct json *tell_properties(struct pp *p, struct deck *d)
{
    static const char *const rows[][2] = {
        {"title", "dc:title"},
        {"subject", "dc:subject"},
        {"author", "dc:creator"},
        {"keywords", "cp:keywords"},
        {"comments", "dc:description"},
        {"created", "dcterms:created"},
        {"last_modified_by", "cp:lastModifiedBy"},
        {"modified", "dcterms:modified"},
    };
    struct json *o = pp_object(p);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str value = deck_property(d, rows[i][1]);
        if (str_starts(str_of(rows[i][1]), STR("dcterms:")))
            pp_put(p, o, rows[i][0], told_time(p, value));
        else
            pp_put_str(p, o, rows[i][0], value.p ? value : STR(""));
    }
    return o;
}

/* ---- files ---- */

/* The content of the file that is meant by GIVEN; false and the answer is an error. */
static bool read_given_file(struct pp *p, struct str given, const char *failed, struct str *ret)
{
    const char *path = pp_path(p, given);

    if (!path)
        return false;
    int r = path_read(p->c, path, ret);
    if (r == 0)
        return true;
    if (failed && r == -ENOENT)
        pp_error(p, "File not found: " STR_FMT, STR_ARG(given));
    else
        pp_error(p, "%s: " STR_FMT, failed ? failed : "Failed to read",
                 STR_ARG(path_error(p->c, r, "open", path, NULL)));
    return false;
}

/* A template: at its path, or by its name in the folder "templates". STR_NULL: the answer is an
 * error. */
static struct str find_pp_template(struct pp *p, struct str given)
{
    struct str why = STR_NULL;
    struct stat st;
    const char *path = path_check(p->c, given.p ? given : STR(""), &why);

    if (path && stat(path, &st) == 0)
        return given;
    struct str name = given;
    while (name.p && str_chr(name, '/') >= 0)
        (void)str_cut(&name, '/');
    struct str other = arena_printf(&p->c->arena, "templates/" STR_FMT, STR_ARG(name));
    path = path_check(p->c, other, &why);
    if (name.len > 0 && path && stat(path, &st) == 0)
        return other;
    pp_error(p, "Template file not found: " STR_FMT ". Searched in ./templates", STR_ARG(given));
    return STR_NULL;
}

void pp_create_presentation(struct pp *p)
{
    struct deck *d = pp_open(p, pp_arg_str(p, "id"), STR_NULL);

    if (!d) {
        pp_error(p, "Failed to create presentation: %s", err_text(&p->err));
        return;
    }
    pp_text(p, "presentation_id", "%s", d->id);
    pp_text(p, "message", "Created new presentation with ID: %s", d->id);
    pp_int(p, "slide_count", (int64_t)deck_n_slides(d));
}

static bool is_pptx(struct str path)
{
    struct str end = path.len > 5 ? str_skip(path, path.len - 5) : path;

    return str_iis(end, ".pptx") || str_iis(end, ".potx");
}

void pp_create_presentation_from_template(struct pp *p)
{
    struct str path = find_pp_template(p, pp_arg_str(p, "template_path")), bytes;
    const char *failed = "Failed to create presentation from template";
    size_t n;

    if (!path.p)
        return;
    if (!is_pptx(path)) {
        pp_error(p, "%s: Template file must be a .pptx or .potx file", failed);
        return;
    }
    if (!read_given_file(p, path, failed, &bytes))
        return;
    struct deck *d = pp_open(p, pp_arg_str(p, "id"), bytes);
    if (!d) {
        pp_error(p, "%s: Failed to load template file '" STR_FMT "': %s", failed, STR_ARG(path),
                 err_text(&p->err));
        return;
    }
    /* What is saved is a presentation, whatever the template was. */
    package_set_type(&d->package, d->main,
                     "application/vnd.openxmlformats-officedocument.presentationml.presentation."
                     "main+xml");
    (void)deck_first_layout(d, 0, &n);
    pp_text(p, "presentation_id", "%s", d->id);
    pp_text(p, "message", "Created new presentation from template '" STR_FMT "' with ID: %s",
            STR_ARG(path), d->id);
    pp_text(p, "template_path", STR_FMT, STR_ARG(path));
    pp_int(p, "slide_count", (int64_t)deck_n_slides(d));
    pp_int(p, "layout_count", (int64_t)n);
}

void pp_open_presentation(struct pp *p)
{
    struct str path = pp_arg_str(p, "file_path"), bytes;

    if (!read_given_file(p, path, "Failed to open presentation", &bytes))
        return;
    struct deck *d = pp_open(p, pp_arg_str(p, "id"), bytes);
    if (!d) {
        pp_error(p, "Failed to open presentation: %s", err_text(&p->err));
        return;
    }
    pp_text(p, "presentation_id", "%s", d->id);
    pp_text(p, "message", "Opened presentation from " STR_FMT " with ID: %s", STR_ARG(path), d->id);
    pp_int(p, "slide_count", (int64_t)deck_n_slides(d));
}

void pp_save_presentation(struct pp *p)
{
    struct str given = pp_arg_str(p, "file_path"), why = STR_NULL;
    const char *path = path_check(p->c, given.p ? given : STR(""), &why);

    if (!path) {
        pp_error(p, "Failed to save presentation: " STR_FMT, STR_ARG(why));
        return;
    }
    if (package_save(&p->deck->package, path, &p->err) < 0) {
        pp_error(p, "Failed to save presentation: %s", err_text(&p->err));
        return;
    }
    pp_text(p, "message", "Presentation saved to " STR_FMT, STR_ARG(given));
    pp_text(p, "file_path", STR_FMT, STR_ARG(given));
}

void pp_get_presentation_info(struct pp *p)
{
    struct deck *d = p->deck;
    int64_t width, height;
    struct json *all = layouts(p, d, deck_master(d, 0));

    deck_size(d, &width, &height);
    pp_int(p, "slide_count", (int64_t)deck_n_slides(d));
    pp_int(p, "layout_count", all ? all->n : 0);
    pp_set(p, "slide_layouts", all);
    pp_set(p, "core_properties", tell_properties(p, d));
    pp_int(p, "slide_width", width);
    pp_int(p, "slide_height", height);
    pp_text(p, "presentation_id", "%s", d->id);
}

void pp_get_template_file_info(struct pp *p)
{
    struct str path = find_pp_template(p, pp_arg_str(p, "template_path")), bytes;

    if (!path.p || !read_given_file(p, path, "Failed to get template info", &bytes))
        return;
    struct deck *d = pp_peek(p, bytes);
    if (!d) {
        pp_error(p,
                 "Failed to get template info: Failed to read template info from '" STR_FMT "': %s",
                 STR_ARG(path), err_text(&p->err));
        return;
    }
    struct json *all = layouts(p, d, deck_master(d, 0));
    pp_text(p, "template_path", STR_FMT, STR_ARG(path));
    pp_int(p, "file_size_bytes", (int64_t)bytes.len);
    pp_int(p, "slide_count", (int64_t)deck_n_slides(d));
    pp_int(p, "layout_count", all ? all->n : 0);
    pp_set(p, "slide_layouts", all);
    pp_set(p, "core_properties", tell_properties(p, d));
    pp_close(d);
}

void pp_set_core_properties(struct pp *p)
{
    static const char *const rows[][2] = {
        {"title", "dc:title"},       {"subject", "dc:subject"},      {"author", "dc:creator"},
        {"keywords", "cp:keywords"}, {"comments", "dc:description"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str value = pp_arg_str(p, rows[i][0]);
        /* What Office programs take. */
        if (value.p && value.len > 255) {
            pp_error(p,
                     "Failed to set core properties: exceeded 255 char limit for property, got:"
                     "\n\n'" STR_FMT "'",
                     STR_ARG(value));
            return;
        }
        if (value.p && deck_set_property(p->deck, rows[i][1], value, &p->err) < 0) {
            pp_error(p, "Failed to set core properties: %s", err_text(&p->err));
            return;
        }
    }
    pp_text(p, "message", "Core properties updated successfully");
}

/* ---- the presentations in memory ---- */

static struct json *current_id(struct pp *p)
{
    struct deck *d = pp_current();

    return d ? json_new_str(&p->c->arena, str_of(d->id)) : json_new_null(&p->c->arena);
}

void pp_list_presentations(struct pp *p)
{
    struct json *all = pp_array(p);

    for (struct deck *d = pp_decks(); d; d = d->next) {
        struct json *row = pp_object(p);
        pp_put_str(p, row, "id", str_of(d->id));
        pp_put_int(p, row, "slide_count", (int64_t)deck_n_slides(d));
        pp_put(p, row, "is_current", json_new_bool(&p->c->arena, d == pp_current()));
        pp_push(p, all, row);
    }
    pp_set(p, "presentations", all);
    pp_set(p, "current_presentation_id", current_id(p));
    pp_int(p, "total_presentations", all ? all->n : 0);
}

void pp_switch_presentation(struct pp *p)
{
    struct str id = pp_arg_str(p, "presentation_id");
    struct deck *d = pp_find(id), *old = pp_current();

    if (!d) {
        struct str all = STR("");
        for (d = pp_decks(); d; d = d->next)
            all = arena_printf(&p->c->arena, STR_FMT "%s'%s'", STR_ARG(all), all.len ? ", " : "",
                               d->id);
        pp_error(p, "Presentation '" STR_FMT "' not found. Available presentations: [" STR_FMT "]",
                 STR_ARG(id), STR_ARG(all));
        return;
    }
    pp_text(p, "message", "Switched from presentation '%s' to '%s'", old ? old->id : "None", d->id);
    pp_set(p, "previous_presentation_id", current_id(p));
    pp_set_current(d);
    pp_set(p, "current_presentation_id", current_id(p));
}

void pp_get_server_info(struct pp *p)
{
    static const char *const features[] = {
        "Presentations: create, open, save, templates of files, properties",
        "Slides: add, describe, extract texts",
        "Texts: placeholders, bullet points, text boxes, formats, links",
        "Objects: pictures, shapes, connectors, tables, charts with their data",
        "Design: color schemes, themes, picture effects, transitions",
        "Slide templates: list, apply, whole presentations",
    };
    struct json *all = pp_array(p);
    int64_t n_decks = 0;

    for (size_t i = 0; i < ARRAY_LEN(features); i++)
        pp_push_str(p, all, str_of(features[i]));
    for (struct deck *d = pp_decks(); d; d = d->next)
        n_decks++;
    pp_text(p, "name", "PowerPoint MCP Server");
    pp_text(p, "version", "2.0.6");
    pp_int(p, "total_tools", (int64_t)pp_n_tools);
    pp_int(p, "loaded_presentations", n_decks);
    pp_set(p, "current_presentation", current_id(p));
    pp_set(p, "features", all);
}
