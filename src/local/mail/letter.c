/* SPDX-License-Identifier: MIT */
/* Messages as tools and dumps show them, and the way back. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "local/mail/date.h"
#include "local/mail/mail.h"

/* ---- reading ---- */

static struct str decoded(struct arena *a, struct str header, const char *name)
{
    struct str value = mime_field(a, header, name);

    return value.p ? str_trim(mime_words(a, value)) : STR("");
}

/* The first text and the first HTML that are no attachments, and the attachments. */
static void read_letter_parts(struct arena *a, const struct mime_part *p, struct letter *l)
{
    for (size_t i = 0; p->is_multipart && i < p->n_parts; i++)
        read_letter_parts(a, &p->parts[i], l);
    if (p->is_multipart)
        return;
    struct str name = mime_filename(a, p);
    if (mime_is_attachment(a, p) && name.len > 0) {
        if (l->n_files < MAIL_ATTACHMENTS_MAX)
            l->files[l->n_files++] = (struct letter_file){
                name, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(p->type), STR_ARG(p->subtype)),
                p};
        return;
    }
    if (!str_iis(p->type, "text"))
        return;
    if (str_iis(p->subtype, "html")) {
        if (l->html.len == 0)
            l->html = mime_text(a, p);
    } else if (l->text.len == 0) {
        l->text = mime_text(a, p);
    }
}

int letter_load(struct arena *a, struct mail_account *account, const struct mail_message *m,
                struct letter *ret)
{
    struct str raw;
    int r = mail_read(account, m->file, a, &raw);
    struct mime_part *top = r == 0 ? mime_parse(a, raw) : NULL;

    if (!top)
        return r < 0 ? r : -ENOMEM;
    *ret = (struct letter){.m = *m, .top = top};
    ret->subject = decoded(a, top->header, "Subject");
    ret->from = decoded(a, top->header, "From");
    ret->to = decoded(a, top->header, "To");
    ret->cc = decoded(a, top->header, "Cc");
    ret->bcc = decoded(a, top->header, "Bcc");
    ret->date = decoded(a, top->header, "Date");
    ret->message_id = decoded(a, top->header, "Message-ID");
    ret->text = ret->html = STR("");
    read_letter_parts(a, top, ret);
    return 0;
}

bool letter_find(struct local_call *c, const struct mail_user *u, const struct mail_folder *f,
                 struct str id, struct mail_message *ret)
{
    uint64_t k;
    size_t n = 0;

    if (str_to_u64(str_trim(id), &k) < 0 || k == 0)
        return false;
    const struct mail_message *all = mail_messages(u->account, f->id, &c->arena, &n);
    if (!all || k > n)
        return false;
    *ret = all[k - 1];
    return true;
}

bool letter_open(struct local_call *c, const struct mail_user *u, struct letter *ret,
                 struct str *why)
{
    struct str id = local_str(c, "email_id");
    struct mail_folder f;
    struct mail_message m;
    uint64_t k;

    if (!mail_user_folder(c, u, local_str(c, "folder"), &f, why))
        return false;
    if (!letter_find(c, u, &f, id, &m) || letter_load(&c->arena, u->account, &m, ret) < 0) {
        *why = arena_printf(&c->arena, "No email content found for email " STR_FMT, STR_ARG(id));
        return false;
    }
    (void)str_to_u64(str_trim(id), &k);
    ret->id = (uint32_t)k;
    ret->folder = f.name;
    return true;
}

/* ---- JSON ---- */

static void put_letter_member(struct jw *w, const char *key, struct str value, bool is_optional)
{
    jw_key(w, key);
    if (is_optional && value.len == 0)
        jw_null(w);
    else
        jw_str(w, value);
}

static void put_files(struct jw *w, struct arena *a, const struct letter *l)
{
    jw_array(w);
    for (size_t i = 0; i < l->n_files; i++) {
        auto_buf struct buf b = BUF_INIT((size_t)2 * MAIL_MESSAGE_MAX);
        struct str bytes = mime_bytes(a, l->files[i].part);
        (void)enc_base64(&b, bytes);
        jw_object(w);
        put_letter_member(w, "filename", l->files[i].name, false);
        put_letter_member(w, "content_type", l->files[i].type, false);
        jw_key(w, "size");
        jw_int(w, (int64_t)bytes.len);
        put_letter_member(w, "content", buf_str(&b), true);
        jw_end(w);
    }
    jw_end(w);
}

void letter_json(struct jw *w, struct arena *a, const struct letter *l)
{
    jw_object(w);
    put_letter_member(w, "email_id", arena_printf(a, "%u", l->id), false);
    put_letter_member(w, "subject", l->subject, false);
    put_letter_member(w, "from_addr", l->from, false);
    put_letter_member(w, "to_addr", l->to, false);
    put_letter_member(w, "cc_addr", l->cc, true);
    put_letter_member(w, "bcc_addr", l->bcc, true);
    put_letter_member(w, "date", l->date, true);
    put_letter_member(w, "message_id", l->message_id, true);
    put_letter_member(w, "body_text", l->text, false);
    put_letter_member(w, "body_html", l->html, true);
    jw_key(w, "is_read");
    jw_bool(w, l->m.flags & MAIL_SEEN);
    jw_key(w, "is_important");
    jw_bool(w, l->m.flags & MAIL_FLAGGED);
    put_letter_member(w, "folder", l->folder, false);
    jw_key(w, "attachments");
    put_files(w, a, l);
    jw_end(w);
}

/* ---- from JSON ---- */

static struct str letter_text_of(const struct json *v, const char *key)
{
    return json_str(json_get(v, key), STR(""));
}

/* The content; only a size was given: that many spaces. */
static struct str file_bytes(struct arena *a, const struct json *v)
{
    struct str content = letter_text_of(v, "content");
    int64_t size = json_int(json_get(v, "size"), 0);

    if (content.len > 0)
        return mime_unbase64(a, content);
    if (size <= 0 || size > MAIL_MESSAGE_MAX / 2)
        return STR("");
    char *p = arena_alloc(a, (size_t)size);
    if (p)
        memset(p, ' ', (size_t)size);
    return p ? str_n(p, (size_t)size) : STR("");
}

static size_t read_letter_files(struct arena *a, const struct json *v, struct mime_attachment *out)
{
    const struct json *files = json_get(v, "attachments");
    size_t n = 0;

    for (size_t i = 0; json_is(files, JSON_ARRAY) && i < files->n && n < MAIL_ATTACHMENTS_MAX;
         i++) {
        const struct json *f = json_at(files, i);
        out[n++] = (struct mime_attachment){letter_text_of(f, "filename"),
                                            letter_text_of(f, "content_type"), file_bytes(a, f)};
    }
    return n;
}

int letter_add(struct arena *a, struct mail_account *account, uint32_t folder, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(MAIL_MESSAGE_MAX);
    struct mime_attachment *files = arena_zalloc(a, MAIL_ATTACHMENTS_MAX, sizeof *files);
    int64_t now_s = clock_real_us() / 1000000;
    struct mail_date date = {now_s, 0};
    struct str given = str_trim(letter_text_of(v, "date"));
    char text[MAIL_DATE_MAX];

    if (!files)
        return -ENOMEM;
    /* What was written as a header stays as it is; the other forms become one. */
    bool is_known = given.len > 0 && mail_date_parse(given, now_s, &date) == 0;
    bool is_header = is_known && str_chr(given, ',') >= 0;
    mail_date_header(text, date.s);
    struct mime_new m = {
        .from = letter_text_of(v, "from_addr"),
        .to = letter_text_of(v, "to_addr"),
        .cc = letter_text_of(v, "cc_addr"),
        .bcc = letter_text_of(v, "bcc_addr"),
        .subject = letter_text_of(v, "subject"),
        .date = given.len > 0 && (is_header || !is_known) ? given : str_of(text),
        .message_id = letter_text_of(v, "message_id"),
        .text = letter_text_of(v, "body_text"),
        .html = letter_text_of(v, "body_html"),
        .attachments = files,
        .n_attachments = read_letter_files(a, v, files),
    };
    m.has_html = m.html.len > 0;
    mime_write(&b, &m);
    const struct mail_message as = {
        .date_s = date.s,
        .flags = (json_bool(json_get(v, "is_read"), false) ? MAIL_SEEN : 0U) |
                 (json_bool(json_get(v, "is_important"), false) ? MAIL_FLAGGED : 0U)};
    if (!buf_ok(&b))
        return -EFBIG;
    return mail_add(account, folder, buf_str(&b), &as, NULL);
}

/* The number of a letter; 0: none. */
static uint64_t letter_number_of(const struct json *v)
{
    uint64_t n;

    return str_to_u64(letter_text_of(v, "email_id"), &n) == 0 ? n : 0;
}

/* Merge sort, so that those of one number stay in their order. */
static void merge_letters(struct json *items, struct json *spare, size_t n)
{
    size_t half = n / 2, a = 0, b = half, k = 0;

    if (n < 2)
        return;
    merge_letters(items, spare, half);
    merge_letters(items + half, spare, n - half);
    while (a < half || b < n) {
        bool is_left =
            b == n || (a < half && letter_number_of(&items[a]) <= letter_number_of(&items[b]));
        spare[k++] = items[is_left ? a++ : b++];
    }
    memcpy(items, spare, n * sizeof *items);
}

void letter_sort(struct json *letters)
{
    struct json *spare = letters && letters->n > 1 ? malloc(letters->n * sizeof *spare) : NULL;

    if (spare)
        merge_letters(letters->items, spare, letters->n);
    free(spare);
}
