/* SPDX-License-Identifier: MIT */
/* Between the files of the server "word".
 *
 * word.c opens the document that a call names, runs the tool and saves what it changed. A tool is a
 * function that gives the text of the answer: word_done() when the document is to be saved,
 * word_say() when it is not. The product answers failures as ordinary text, and so do tools. */
#pragma once

#include "local/kit/path.h"
#include "office/package.h"

enum {
    WORD_CELLS_MAX = 1 << 16, /* of a new table */
    WORD_ITEMS_MAX = 1 << 14, /* paragraphs that one call adds */
};

/* How a failure is reported. */
enum word_shape {
    WORD_TEXT,     /* as it is */
    WORD_BLOCK,    /* the same, with other words for a document that is not there */
    WORD_ERROR,    /* {"error": …} */
    WORD_COMMENTS, /* {"success": false, "error": …} */
    WORD_NOTES,    /* {"success": false, "message": …, "details": null} */
    WORD_VALID     /* {"valid": false, "message": …, "report": {}} */
};

enum word_need { WORD_NOTHING, WORD_READS, WORD_CHANGES };

struct word {
    struct local_call *c;
    struct arena *arena;
    const struct word_tool *tool;
    struct str name;  /* the argument "filename", with its extension */
    const char *path; /* where it is */
    const char *save_path;
    struct package package;
    struct part *part; /* the main one */
    struct xml_doc *doc;
    struct xml *body;
    struct part *styles_part; /* when they were asked for */
    struct xml_doc *styles;
    bool is_done; /* there is something to save */
};

typedef struct str word_fn(struct word *w);

struct word_tool {
    const char *name;
    word_fn *run;
    enum word_need need;
    enum word_shape shape;
    const char *failed; /* "Failed to add table": begin of a message on what was not foreseen */
};

/* ---- word.c ---- */

struct str word_say(struct word *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct str word_done(struct word *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A failure in words of the tool's own; "Failed to …: WHY". */
struct str word_refuse(struct word *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct str word_failed(struct word *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* V as text: two spaces, nothing but ASCII. */
struct str word_json(struct word *w, const struct json *v, enum json_style style);
/* NAME with ".docx" behind it. */
struct str word_docx(struct arena *a, struct str name);
/* The path of the file NAME; NULL with the call failed when it is outside the workspace. */
const char *word_path(struct word *w, struct str name);

/* ---- args.c: arguments as Python's programs show them ---- */

bool word_has(const struct word *w, const char *name); /* given, and not null */
struct str word_arg(const struct word *w, const char *name);
int64_t word_int(const struct word *w, const char *name, int64_t fallback);
double word_real(const struct word *w, const char *name);
struct str word_float(struct word *w, double d);               /* "12.0" */
struct str word_pystr(struct word *w, const struct json *v);   /* str(v) */
struct str word_short(struct word *w, struct str s, size_t n); /* with "..." behind N characters */
size_t word_chars(struct str s);                               /* characters, not bytes */
size_t word_byte_of(struct str s, size_t n);                   /* where the character N begins */
struct str word_lower(struct word *w, struct str s);
struct str word_strip(struct str s);

/* ---- text.c: paragraphs and runs ---- */

extern const char *const word_ppr_order[], *const word_rpr_order[];

size_t word_n_paragraphs(const struct word *w);
/* The paragraph of that number, not those in tables; NULL: there is none. */
struct xml *word_paragraph(const struct word *w, int64_t i);
struct str word_text(struct word *w, const struct xml *paragraph);
struct str word_run_text(struct word *w, const struct xml *run);
/* The next run in P, in links too; NULL: the first. */
struct xml *word_next_run(const struct xml *p, struct xml *run);
/* New at the end of the body, before its section's properties. STYLE is an id; empty: none. */
struct xml *word_add_paragraph(struct word *w, struct str text, struct str style);
/* Moves P to before or behind THERE. */
void word_move(struct xml *p, struct xml *there, bool is_before);
struct xml *word_add_run(struct word *w, struct xml *p, struct str text);
struct xml *word_ppr(struct word *w, struct xml *p);
struct xml *word_rpr(struct word *w, struct xml *run);
/* The property NAME ("w:jc"), made when there is none; VALUE .p NULL: without one. */
struct xml *word_prop(struct word *w, struct xml *properties, const char *name, struct str value,
                      const char *const order[]);
/* The first run from the character POS on; a run around it is cut in two. */
struct xml *word_split(struct word *w, struct xml *p, size_t pos);
/* How often OLD was replaced. */
unsigned word_replace(struct word *w, struct xml *p, struct str old, struct str new);

/* ---- style.c ---- */

/* The style of that name or id; TYPE "paragraph", "table", … or NULL. NULL: there is none. */
struct xml *word_style(struct word *w, struct str name, const char *type);
struct str word_style_id(struct word *w, struct str name);             /* .p NULL: there is none */
struct str word_style_of(struct word *w, const struct xml *paragraph); /* its name */
struct xml *word_add_style(struct word *w, const char *type, struct str id, struct str name);
bool word_is_like(struct word *w, const struct xml *paragraph, const char *begin);

struct word_font {
    const struct json *bold, *italic, *underline; /* NULL: as it is */
    struct str color, name;                       /* RRGGBB; empty: as it is */
    int64_t size;                                 /* points; 0: as it is */
};
struct word_font word_font_args(struct word *w);
void word_set_font(struct xml_doc *d, struct xml *rpr, const struct word_font *f);
/* RRGGBB of a name or of hexadecimal digits; .p NULL: neither. */
struct str word_color(struct word *w, struct str color);

/* ---- numbering.c ---- */

/* A list of its own: the id of its numbering. */
int64_t word_numbering(struct word *w, bool is_bullet);
void word_set_list(struct word *w, struct xml *p, int64_t id);

/* ---- blank.c: a new document ---- */

int word_blank(struct package *p, struct arena *a, struct str title, struct str author);
