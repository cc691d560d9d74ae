/* SPDX-License-Identifier: MIT */
/* The server "powerpoint": presentations that are held in memory by an id until they are saved.
 *
 * A tool is a row of a table (tools.def): its name, what it needs (a presentation, a slide, a
 * shape, which call.c finds by the arguments) and a function over the primitives: deck.h for slides
 * and layouts, shape.h for what is on them, text.h for texts, and so on. Answers are objects that
 * are shown as JSON text; a failure is an answer with the member "error", as the original has it.
 * One call at a time: all of them share the table of presentations. */
#pragma once

#include "local/kit/path.h"
#include "office/package.h"

enum {
    PP_DECKS_MAX = 32,           /* presentations in memory */
    PP_DECK_BYTES = 256 << 20,   /* of memory for one of them */
    PP_TOTAL_BYTES = 768 << 20,  /* for all of them, when one more is opened */
    PP_COMPACT_BYTES = 48 << 20, /* above this much waste it is read again */
    PP_ID_MAX = 200,             /* bytes of an id */
    PP_SLIDES_MAX = 2000,        /* in a presentation that is changed */
    PP_SHAPES_MAX = 5000,        /* on a slide that is changed */
    PP_EMU_INCH = 914400,        /* English metric units */
    PP_EMU_POINT = 12700,
};

/* A presentation in memory. */
struct deck {
    struct deck *next;
    char *id;
    struct arena arena; /* all of it but ID */
    size_t fresh;       /* bytes of the arena when it was read */
    struct package package;
    struct part *main; /* ppt/presentation.xml */
};

struct slide {
    struct part *part;
    struct xml_doc *doc;
    struct xml *tree; /* p:spTree */
};

/* A call of a tool. */
struct pp {
    struct local_call *c;
    struct deck *deck;
    struct slide slide;
    struct xml *shape;
    int64_t slide_index, shape_index;
    bool is_unchanged;   /* the slide, though the tool may change it */
    struct json *answer; /* an object */
    struct err err;
};

enum {
    PP_DECK = 1,      /* needs a presentation */
    PP_SLIDE = 2 | 1, /* and "slide_index" in it */
    PP_SHAPE = 4 | 3, /* and "shape_index" on that */
    PP_BRIEF = 8,     /* says so in the words of the tools for special things */
    PP_READS = 16     /* leaves the slide as it is */
};

/* ---- call.c: the table of presentations, and answers ---- */

/* A new presentation under ID (empty: the next number), the current one from now on; one of that
 * id is replaced. BYTES, which are copied, are an office file; .p NULL: the default one. NULL with
 * p->err. */
struct deck *pp_open(struct pp *p, struct str id, struct str bytes);
/* The presentations, in the order in which they came. */
struct deck *pp_decks(void);
struct deck *pp_current(void);
void pp_set_current(struct deck *d);
struct deck *pp_find(struct str id);
/* Reads a presentation for one call only; pp_close() it. */
struct deck *pp_peek(struct pp *p, struct str bytes);
void pp_close(struct deck *d);

/* The answer becomes {"error": …}. */
void pp_error(struct pp *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool pp_failed(const struct pp *p);
/* Members of the answer. */
void pp_text(struct pp *p, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void pp_set(struct pp *p, const char *key, const struct json *value);
void pp_int(struct pp *p, const char *key, int64_t value);
void pp_bool(struct pp *p, const char *key, bool value);
/* The same of any object O; NULL is passed over. */
void pp_put(struct pp *p, struct json *o, const char *key, const struct json *value);
void pp_put_str(struct pp *p, struct json *o, const char *key, struct str value);
void pp_put_int(struct pp *p, struct json *o, const char *key, int64_t value);
struct json *pp_object(struct pp *p);
struct json *pp_array(struct pp *p);
void pp_push(struct pp *p, struct json *array, const struct json *value);
void pp_push_str(struct pp *p, struct json *array, struct str value);

/* ---- arguments ---- */

/* The argument; NULL when it is absent or null. */
const struct json *pp_arg(const struct pp *p, const char *name);
struct str pp_arg_str(const struct pp *p, const char *name); /* .p NULL when absent */
/* The layout that "layout_index" names, and its number; NULL when there is none, which is said. */
struct part *pp_asked_layout(struct pp *p, int64_t *ret_index);
double pp_arg_real(const struct pp *p, const char *name, double fallback);
/* A length in inches as EMU, within what a slide can hold. */
int64_t pp_emu(double inches);
/* A color [r, g, b] as "RRGGBB"; false when it is none. */
bool pp_rgb(const struct json *v, char ret[7]);
/* The file that the argument NAME means: its path, or NULL and the answer is an error. */
const char *pp_path(struct pp *p, struct str given);
