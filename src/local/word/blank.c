/* SPDX-License-Identifier: MIT */
/* A new document: the styles that everybody expects in one, two kinds of lists, a page. */
#include <time.h>

#include "base/cleanup.h"
#include "local/word/word.h"

#define W_NS       "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define HEAD       "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define TYPE(name) "application/vnd.openxmlformats-officedocument.wordprocessingml." name "+xml"

/* ---- styles ---- */

/* "Calibri" and sizes in half points; C is a colour. */
#define FONT(size, c)                                                                              \
    "<w:rFonts w:ascii=\"Calibri\" w:hAnsi=\"Calibri\" w:cs=\"Calibri\"/><w:b/><w:color "          \
    "w:val=\"" c "\"/><w:sz w:val=\"" size "\"/>"
#define BEFORE(n) "<w:keepNext/><w:keepLines/><w:spacing w:before=\"" n "\" w:after=\"0\"/>"
#define LIST(id, level)                                                                            \
    "<w:numPr><w:ilvl w:val=\"" level "\"/><w:numId w:val=\"" id "\"/></w:numPr>"                  \
    "<w:contextualSpacing/>"
#define INDENT(n) "<w:spacing w:after=\"120\"/><w:ind w:left=\"" n "\"/><w:contextualSpacing/>"

/* TYPE is the first letter of paragraph, character, table, numbering; of the four that stand for
 * "no style" in capitals. */
static const struct {
    char type;
    const char *id, *name, *base, *next, *ppr, *rpr;
} styles[] = {
    {'P', "Normal", "Normal", "", "", "", ""},
    {'C', "DefaultParagraphFont", "Default Paragraph Font", "", "", "", ""},
    {'T', "TableNormal", "Normal Table", "", "", "", ""},
    {'N', "NoList", "No List", "", "", "", ""},
    {'p', "Header", "header", "Normal", "", "<w:spacing w:after=\"0\"/>", ""},
    {'p', "Footer", "footer", "Normal", "", "<w:spacing w:after=\"0\"/>", ""},
    {'p', "Heading1", "heading 1", "Normal", "Normal", BEFORE("480"), FONT("28", "365F91")},
    {'p', "Heading2", "heading 2", "Normal", "Normal", BEFORE("200"), FONT("26", "4F81BD")},
    {'p', "Heading3", "heading 3", "Normal", "Normal", BEFORE("200"), FONT("22", "4F81BD")},
    {'p', "Heading4", "heading 4", "Normal", "Normal", BEFORE("200"),
     "<w:b/><w:i/><w:color w:val=\"4F81BD\"/>"},
    {'p', "Heading5", "heading 5", "Normal", "Normal", BEFORE("200"),
     "<w:color w:val=\"243F60\"/>"},
    {'p', "Heading6", "heading 6", "Normal", "Normal", BEFORE("200"),
     "<w:i/><w:color w:val=\"243F60\"/>"},
    {'p', "Heading7", "heading 7", "Normal", "Normal", BEFORE("200"),
     "<w:i/><w:color w:val=\"404040\"/>"},
    {'p', "Heading8", "heading 8", "Normal", "Normal", BEFORE("200"),
     "<w:color w:val=\"4F81BD\"/><w:sz w:val=\"20\"/>"},
    {'p', "Heading9", "heading 9", "Normal", "Normal", BEFORE("200"),
     "<w:i/><w:color w:val=\"404040\"/><w:sz w:val=\"20\"/>"},
    {'p', "Title", "Title", "Normal", "Normal",
     "<w:pBdr><w:bottom w:val=\"single\" w:sz=\"8\" w:space=\"4\" w:color=\"4F81BD\"/></w:pBdr>"
     "<w:spacing w:after=\"300\"/><w:contextualSpacing/>",
     "<w:rFonts w:ascii=\"Calibri\" w:hAnsi=\"Calibri\" w:cs=\"Calibri\"/>"
     "<w:color w:val=\"17365D\"/><w:sz w:val=\"52\"/>"},
    {'p', "Subtitle", "Subtitle", "Normal", "Normal", "",
     "<w:i/><w:color w:val=\"4F81BD\"/><w:sz w:val=\"24\"/>"},
    {'p', "NoSpacing", "No Spacing", "", "",
     "<w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/>", ""},
    {'p', "BodyText", "Body Text", "Normal", "", "<w:spacing w:after=\"120\"/>", ""},
    {'p', "BodyText2", "Body Text 2", "Normal", "",
     "<w:spacing w:after=\"120\" w:line=\"480\" w:lineRule=\"auto\"/>", ""},
    {'p', "BodyText3", "Body Text 3", "Normal", "", "<w:spacing w:after=\"120\"/>",
     "<w:sz w:val=\"16\"/>"},
    {'p', "ListParagraph", "List Paragraph", "Normal", "",
     "<w:ind w:left=\"720\"/><w:contextualSpacing/>", ""},
    {'p', "List", "List", "Normal", "",
     "<w:ind w:left=\"360\" w:hanging=\"360\"/><w:contextualSpacing/>", ""},
    {'p', "List2", "List 2", "Normal", "",
     "<w:ind w:left=\"720\" w:hanging=\"360\"/><w:contextualSpacing/>", ""},
    {'p', "List3", "List 3", "Normal", "",
     "<w:ind w:left=\"1080\" w:hanging=\"360\"/><w:contextualSpacing/>", ""},
    {'p', "ListBullet", "List Bullet", "Normal", "", LIST("1", "0"), ""},
    {'p', "ListBullet2", "List Bullet 2", "Normal", "", LIST("1", "1"), ""},
    {'p', "ListBullet3", "List Bullet 3", "Normal", "", LIST("1", "2"), ""},
    {'p', "ListNumber", "List Number", "Normal", "", LIST("2", "0"), ""},
    {'p', "ListNumber2", "List Number 2", "Normal", "", LIST("2", "1"), ""},
    {'p', "ListNumber3", "List Number 3", "Normal", "", LIST("2", "2"), ""},
    {'p', "ListContinue", "List Continue", "Normal", "", INDENT("360"), ""},
    {'p', "ListContinue2", "List Continue 2", "Normal", "", INDENT("720"), ""},
    {'p', "ListContinue3", "List Continue 3", "Normal", "", INDENT("1080"), ""},
    {'p', "MacroText", "macro", "", "", "<w:spacing w:after=\"0\"/>",
     "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\"/><w:sz w:val=\"20\"/>"},
    {'p', "Quote", "Quote", "Normal", "Normal", "", "<w:i/><w:color w:val=\"000000\"/>"},
    {'p', "IntenseQuote", "Intense Quote", "Normal", "Normal",
     "<w:pBdr><w:bottom w:val=\"single\" w:sz=\"4\" w:space=\"4\" w:color=\"4F81BD\"/></w:pBdr>"
     "<w:spacing w:before=\"200\" w:after=\"280\"/><w:ind w:left=\"936\" w:right=\"936\"/>",
     "<w:b/><w:i/><w:color w:val=\"4F81BD\"/>"},
    {'p', "Caption", "caption", "Normal", "Normal",
     "<w:spacing w:line=\"240\" w:lineRule=\"auto\"/>",
     "<w:b/><w:color w:val=\"4F81BD\"/><w:sz w:val=\"18\"/>"},
    {'p', "TOCHeading", "TOC Heading", "Heading1", "Normal", "<w:outlineLvl w:val=\"9\"/>", ""},
    {'c', "Strong", "Strong", "DefaultParagraphFont", "", "", "<w:b/>"},
    {'c', "Emphasis", "Emphasis", "DefaultParagraphFont", "", "", "<w:i/>"},
    {'c', "SubtleEmphasis", "Subtle Emphasis", "DefaultParagraphFont", "", "",
     "<w:i/><w:color w:val=\"808080\"/>"},
    {'c', "IntenseEmphasis", "Intense Emphasis", "DefaultParagraphFont", "", "",
     "<w:b/><w:i/><w:color w:val=\"4F81BD\"/>"},
    {'c', "BookTitle", "Book Title", "DefaultParagraphFont", "", "", "<w:b/><w:smallCaps/>"},
};

#define LINE(side) "<w:" side " w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"auto\"/>"
/* Styles of tables, whose properties are neither of paragraphs nor of runs. */
static const char table_styles[] =
    "<w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/>"
    "<w:basedOn w:val=\"TableNormal\"/><w:uiPriority w:val=\"59\"/>"
    "<w:pPr><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr><w:tblPr>"
    "<w:tblBorders>" LINE("top") LINE("left") LINE("bottom") LINE("right") LINE("insideH")
        LINE("insideV") "</w:tblBorders></w:tblPr></w:style></w:styles>";

static const char *const types[] = {
    ['p'] = "paragraph", ['c'] = "character", ['t'] = "table", ['n'] = "numbering"};

static void add_style(struct buf *b, size_t i)
{
    bool is_default = styles[i].type < 'a';
    int type = is_default ? styles[i].type - 'A' + 'a' : styles[i].type;

    (void)buf_printf(b, "<w:style w:type=\"%s\"%s w:styleId=\"%s\"><w:name w:val=\"%s\"/>",
                     types[type], is_default ? " w:default=\"1\"" : "", styles[i].id,
                     styles[i].name);
    if (styles[i].base[0])
        (void)buf_printf(b, "<w:basedOn w:val=\"%s\"/>", styles[i].base);
    if (styles[i].next[0])
        (void)buf_printf(b, "<w:next w:val=\"%s\"/>", styles[i].next);
    (void)buf_add_str(b, type == 'c' || type == 't' || type == 'n'
                             ? STR("<w:uiPriority w:val=\"1\"/>")
                             : STR("<w:qFormat/>"));
    (void)buf_add_lit(b, "<w:pPr>");
    (void)buf_add_str(b, str_of(styles[i].ppr));
    if (strncmp(styles[i].id, "Heading", 7) == 0)
        (void)buf_printf(b, "<w:outlineLvl w:val=\"%c\"/>", styles[i].id[7] - 1);
    (void)buf_add_lit(b, "</w:pPr><w:rPr>");
    (void)buf_add_str(b, str_of(styles[i].rpr));
    (void)buf_add_lit(b, "</w:rPr>");
    if (type == 't')
        (void)buf_add_lit(b, "<w:tblPr><w:tblInd w:w=\"0\" w:type=\"dxa\"/><w:tblCellMar>"
                             "<w:top w:w=\"0\" w:type=\"dxa\"/><w:left w:w=\"108\" w:type=\"dxa\"/>"
                             "<w:bottom w:w=\"0\" w:type=\"dxa\"/>"
                             "<w:right w:w=\"108\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr>");
    (void)buf_add_lit(b, "</w:style>");
}

static void add_styles(struct buf *b)
{
    (void)buf_add_lit(
        b, HEAD "<w:styles xmlns:w=\"" W_NS "\"><w:docDefaults><w:rPrDefault><w:rPr>"
                "<w:rFonts w:ascii=\"Cambria\" w:hAnsi=\"Cambria\" w:eastAsia=\"Cambria\" "
                "w:cs=\"Times New Roman\"/><w:sz w:val=\"22\"/><w:szCs w:val=\"22\"/>"
                "<w:lang w:val=\"en-US\" w:eastAsia=\"en-US\" w:bidi=\"ar-SA\"/></w:rPr>"
                "</w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after=\"200\" w:line=\"276\" "
                "w:lineRule=\"auto\"/></w:pPr></w:pPrDefault></w:docDefaults>");
    for (size_t i = 0; i < ARRAY_LEN(styles); i++)
        add_style(b, i);
    (void)buf_add_str(b, str_of(table_styles));
}

/* ---- lists: number 1 with bullets, number 2 with numbers ---- */

enum { LEVELS = 9, INDENT_STEP = 360 };

static void add_numbering(struct buf *b)
{
    (void)buf_add_lit(b, HEAD "<w:numbering xmlns:w=\"" W_NS "\">");
    for (int kind = 0; kind < 2; kind++) {
        (void)buf_printf(b,
                         "<w:abstractNum w:abstractNumId=\"%d\">"
                         "<w:multiLevelType w:val=\"hybridMultilevel\"/>",
                         kind);
        for (int i = 0; i < LEVELS; i++) {
            (void)buf_printf(b,
                             "<w:lvl w:ilvl=\"%d\"><w:start w:val=\"1\"/><w:numFmt w:val=\"%s\"/>",
                             i, kind == 0 ? "bullet" : "decimal");
            if (kind == 0)
                (void)buf_add_lit(b, "<w:lvlText w:val=\"•\"/>");
            else
                (void)buf_printf(b, "<w:lvlText w:val=\"%%%d.\"/>", i + 1);
            (void)buf_printf(b,
                             "<w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"%d\" "
                             "w:hanging=\"%d\"/></w:pPr></w:lvl>",
                             (i + 1) * INDENT_STEP, INDENT_STEP);
        }
        (void)buf_add_lit(b, "</w:abstractNum>");
    }
    (void)buf_add_lit(b, "<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>"
                         "<w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/></w:num>"
                         "</w:numbering>");
}

/* ---- the rest ---- */

static const char document[] =
    HEAD "<w:document xmlns:w=\"" W_NS "\" "
         "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" "
         "xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" "
         "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" "
         "xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><w:body>"
         "<w:sectPr><w:pgSz w:w=\"12240\" w:h=\"15840\"/><w:pgMar w:top=\"1440\" w:right=\"1800\" "
         "w:bottom=\"1440\" w:left=\"1800\" w:header=\"720\" w:footer=\"720\" w:gutter=\"0\"/>"
         "<w:cols w:space=\"720\"/></w:sectPr></w:body></w:document>";

static const char settings[] =
    HEAD "<w:settings xmlns:w=\"" W_NS "\"><w:zoom w:percent=\"100\"/>"
         "<w:defaultTabStop w:val=\"720\"/><w:characterSpacingControl w:val=\"doNotCompress\"/>"
         "<w:compat><w:compatSetting w:name=\"compatibilityMode\" "
         "w:uri=\"http://schemas.microsoft.com/office/word\" w:val=\"15\"/></w:compat>"
         "</w:settings>";

static const char core[] = HEAD
    "<cp:coreProperties "
    "xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" "
    "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\" "
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><dc:title/><dc:creator/>"
    "<cp:revision>1</cp:revision><dcterms:created xsi:type=\"dcterms:W3CDTF\"/>"
    "<dcterms:modified xsi:type=\"dcterms:W3CDTF\"/></cp:coreProperties>";

static int add_core(struct package *p, struct str title, struct str author)
{
    struct part *part =
        package_add(p, STR("/docProps/core.xml"),
                    "application/vnd.openxmlformats-package.core-properties+xml", str_of(core));
    struct xml_doc *d = part ? part_edit(p, part, NULL) : NULL;
    char now[32];
    time_t t = time(NULL);
    struct tm tm;

    if (!d)
        return -1;
    (void)strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    xml_set_text(d, xml_child(d->root, "dc:title"), title);
    xml_set_text(d, xml_child(d->root, "dc:creator"), author);
    xml_set_text(d, xml_child(d->root, "dcterms:created"), str_of(now));
    xml_set_text(d, xml_child(d->root, "dcterms:modified"), str_of(now));
    (void)rel_add(p, NULL, "core-properties", part);
    return 0;
}

/* Adds a part that the document points to. */
static void add_document_part(struct package *p, struct part *main, const char *kind,
                              struct str bytes)
{
    struct str name = arena_printf(p->arena, "/word/%s.xml", kind);
    struct str type = arena_printf(p->arena, TYPE("%s"), kind);
    struct part *part = name.p && type.p ? package_add(p, name, type.p, bytes) : NULL;

    if (part)
        (void)rel_add(p, main, kind, part);
}

int word_blank(struct package *p, struct arena *a, struct str title, struct str author)
{
    auto_buf struct buf style = BUF_INIT(1 << 17), numbering = BUF_INIT(1 << 17);
    int r = package_new(p, a, NULL);

    add_styles(&style);
    add_numbering(&numbering);
    if (r < 0 || !buf_ok(&style) || !buf_ok(&numbering))
        return r < 0 ? r : -1;
    struct part *main =
        package_add(p, STR("/word/document.xml"), TYPE("document.main"), str_of(document));
    if (!main)
        return -1;
    (void)rel_add(p, NULL, "officeDocument", main);
    add_document_part(p, main, "styles", arena_str(a, buf_str(&style)));
    add_document_part(p, main, "numbering", arena_str(a, buf_str(&numbering)));
    add_document_part(p, main, "settings", str_of(settings));
    return add_core(p, title, author);
}
