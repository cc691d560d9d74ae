/* SPDX-License-Identifier: MIT */
/* DNS messages. See dns.h. */
#include "runtime/dns.h"

#include <errno.h>

#include "base/cleanup.h"

enum {
    HEADER = 12,
    LABEL_MAX = 63,
    CLASS_IN = 1,
    EDNS = 11,         /* bytes of such a record */
    POINTERS_MAX = 32, /* compression pointers followed for one name */
    RECORDS_MAX = 128, /* records looked at in one message */
    ALIASES_MAX = 8,
    TTL_MAX_S = 86400,
    FLAG_RESPONSE = 0x8000,
    FLAG_CUT = 0x0200,
    FLAG_WANTS_RECURSION = 0x0100,
    FLAG_HAS_RECURSION = 0x0080,
    OPCODE_MASK = 0x7800,
};

/* ---- reading ---- */

struct dns_reader {
    const uint8_t *p;
    size_t len, at;
    bool is_bad;
};

static uint16_t get_u16(struct dns_reader *r)
{
    if (r->is_bad || r->len - r->at < 2) {
        r->is_bad = true;
        return 0;
    }
    uint16_t v = (uint16_t)(r->p[r->at] << 8 | r->p[r->at + 1]);
    r->at += 2;
    return v;
}

static uint32_t get_u32(struct dns_reader *r)
{
    uint32_t high = get_u16(r);

    return high << 16 | get_u16(r);
}

static void skip(struct dns_reader *r, size_t n)
{
    if (r->is_bad || r->len - r->at < n)
        r->is_bad = true;
    else
        r->at += n;
}

/* Bytes that names may have; others would let a name mean two things as text. */
static bool is_name_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Appends one label; false when it does not fit or has bytes that no host name has. */
static bool add_label(char name[DNS_NAME_MAX], size_t *len, const uint8_t *p, size_t n)
{
    if (*len + n + 2 > DNS_NAME_MAX)
        return false;
    if (*len > 0)
        name[(*len)++] = '.';
    for (size_t i = 0; i < n; i++) {
        uint8_t c = p[i] >= 'A' && p[i] <= 'Z' ? (uint8_t)(p[i] + 32) : p[i];
        if (!is_name_byte(c))
            return false;
        name[(*len)++] = (char)c;
    }
    return true;
}

/* A name, perhaps compressed. Pointers must lead backwards, and only a limited number is followed.
 */
static void get_name(struct dns_reader *r, char name[DNS_NAME_MAX])
{
    size_t at = r->at, len = 0, end = 0;

    for (int pointers = 0; !r->is_bad;) {
        if (at >= r->len)
            break;
        uint8_t n = r->p[at];
        if (n == 0) {
            name[len] = '\0';
            r->at = end ? end : at + 1;
            return;
        }
        if ((n & 0xc0) == 0xc0) {
            if (at + 1 >= r->len || ++pointers > POINTERS_MAX)
                break;
            size_t to = (size_t)(n & 0x3f) << 8 | r->p[at + 1];
            end = end ? end : at + 2;
            if (to >= at)
                break;
            at = to;
            continue;
        }
        if (n > LABEL_MAX || r->len - at - 1 < n || !add_label(name, &len, r->p + at + 1, n))
            break;
        at += (size_t)n + 1;
    }
    r->is_bad = true;
    name[0] = '\0';
}

struct dns_record {
    char name[DNS_NAME_MAX];
    uint16_t type, class;
    uint32_t ttl_s;
    size_t data_at, data_len;
};

static bool get_record(struct dns_reader *r, struct dns_record *ret)
{
    get_name(r, ret->name);
    ret->type = get_u16(r);
    ret->class = get_u16(r);
    ret->ttl_s = get_u32(r);
    ret->data_len = get_u16(r);
    ret->data_at = r->at;
    skip(r, ret->data_len);
    return !r->is_bad;
}

static int read_edns(struct dns_query *q, struct dns_reader *r, unsigned n_records)
{
    for (unsigned i = 0; i < n_records; i++) {
        struct dns_record rec;
        if (i == RECORDS_MAX || !get_record(r, &rec))
            return DNS_FORMAT_ERROR;
        if (rec.type != DNS_TYPE_OPT)
            continue;
        q->has_edns = true;
        if (rec.class > DNS_UDP_MIN)
            q->udp_max = rec.class < DNS_UDP_MAX ? rec.class : DNS_UDP_MAX;
    }
    return DNS_OK;
}

int dns_read_query(struct dns_query *ret, const void *p, size_t len)
{
    struct dns_reader r = {.p = p, .len = len};
    uint16_t n[4];

    *ret = (struct dns_query){.udp_max = DNS_UDP_MIN};
    ret->id = get_u16(&r);
    uint16_t flags = get_u16(&r);
    for (size_t i = 0; i < ARRAY_LEN(n); i++)
        n[i] = get_u16(&r);
    if (r.is_bad || flags & FLAG_RESPONSE)
        return -EBADMSG;
    ret->wants_recursion = flags & FLAG_WANTS_RECURSION;
    if (flags & OPCODE_MASK)
        return DNS_NOT_IMPLEMENTED;
    if (n[0] != 1 || n[1] != 0 || n[2] != 0)
        return DNS_FORMAT_ERROR;
    get_name(&r, ret->name);
    ret->type = get_u16(&r);
    uint16_t class = get_u16(&r);
    if (r.is_bad || ret->type == 0) {
        ret->name[0] = '\0';
        return DNS_FORMAT_ERROR;
    }
    return class == CLASS_IN ? read_edns(ret, &r, n[3]) : DNS_NOT_IMPLEMENTED;
}

/* Takes the addresses of NAME out of the records at R, or follows its alias: then NAME changes and
 * true is returned, since records of the new name may stand before this one. */
static bool scan_records(struct dns_answer *a, const struct dns_query *q, struct dns_reader r,
                         unsigned n_records, char name[DNS_NAME_MAX])
{
    size_t size = q->type == DNS_TYPE_A ? 4 : 16;

    for (unsigned i = 0; i < n_records && i < RECORDS_MAX; i++) {
        struct dns_record rec;
        if (!get_record(&r, &rec))
            return false;
        if (rec.class != CLASS_IN || strcmp(rec.name, name) != 0)
            continue;
        a->ttl_s = rec.ttl_s < a->ttl_s ? rec.ttl_s : a->ttl_s;
        if (rec.type == DNS_TYPE_CNAME) {
            struct dns_reader alias = {
                .p = r.p, .len = rec.data_at + rec.data_len, .at = rec.data_at};
            get_name(&alias, name);
            return !alias.is_bad;
        }
        if (rec.type != q->type || rec.data_len != size || a->n_addrs == DNS_ADDRS_MAX)
            continue;
        struct netaddr *addr = &a->addrs[a->n_addrs++];
        const uint8_t *d = r.p + rec.data_at;
        if (size == 4)
            *addr = netaddr_v4((uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 |
                               (uint32_t)d[3]);
        else
            memcpy(addr->b, d, sizeof addr->b);
    }
    return false;
}

int dns_read_answer(struct dns_answer *ret, const struct dns_query *q, const void *p, size_t len)
{
    struct dns_reader r = {.p = p, .len = len};
    struct dns_answer a = {.ttl_s = TTL_MAX_S};
    char name[DNS_NAME_MAX];
    uint16_t id = get_u16(&r), flags = get_u16(&r), n_questions = get_u16(&r), n = get_u16(&r);

    skip(&r, 4);
    if (r.is_bad || id != q->id || !(flags & FLAG_RESPONSE) || flags & OPCODE_MASK)
        return -EBADMSG;
    if (n_questions != 1)
        return -EBADMSG;
    get_name(&r, name);
    uint16_t type = get_u16(&r), class = get_u16(&r);
    if (r.is_bad || type != q->type || class != CLASS_IN || strcmp(name, q->name) != 0)
        return -EBADMSG;
    a.rcode = flags & 0x0f;
    a.is_cut = flags & FLAG_CUT;
    for (int aliases = 0; scan_records(&a, q, r, n, name);)
        if (++aliases == ALIASES_MAX)
            break;
    *ret = a;
    return 0;
}

/* ---- writing ---- */

struct dns_writer {
    uint8_t *p;
    size_t len, cap;
    bool is_full;
};

static void put_dns_bytes(struct dns_writer *w, const void *p, size_t n)
{
    if (w->is_full || w->cap - w->len < n) {
        w->is_full = true;
        return;
    }
    memcpy(w->p + w->len, p, n);
    w->len += n;
}

static void put_u16(struct dns_writer *w, unsigned v)
{
    put_dns_bytes(w, (uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static void put_u32(struct dns_writer *w, uint32_t v)
{
    put_u16(w, v >> 16);
    put_u16(w, v & 0xffff);
}

static int put_name(struct dns_writer *w, struct str name)
{
    if (name.len >= DNS_NAME_MAX)
        return -EINVAL;
    while (name.len > 0) {
        struct str label = str_cut(&name, '.');
        if (label.len == 0 || label.len > LABEL_MAX || (name.p && name.len == 0))
            return -EINVAL;
        uint8_t len = (uint8_t)label.len;
        put_dns_bytes(w, &len, 1);
        put_dns_bytes(w, label.p, label.len);
    }
    put_dns_bytes(w, "", 1);
    return 0;
}

/* The root's name, the size that we take, nothing more. */
static void put_edns(struct dns_writer *w)
{
    put_dns_bytes(w, "", 1);
    put_u16(w, DNS_TYPE_OPT);
    put_u16(w, DNS_UDP_MAX);
    put_u32(w, 0);
    put_u16(w, 0);
}

int dns_write_query(uint8_t out[DNS_REPLY_MAX], uint16_t id, struct str name, uint16_t type)
{
    struct dns_writer w = {.p = out, .cap = DNS_REPLY_MAX};

    put_u16(&w, id);
    put_u16(&w, FLAG_WANTS_RECURSION);
    for (int i = 0; i < 4; i++)
        put_u16(&w, i == 0 || i == 3 ? 1 : 0);
    if (name.len == 0 || put_name(&w, name) < 0)
        return -EINVAL;
    put_u16(&w, type);
    put_u16(&w, CLASS_IN);
    put_edns(&w);
    return (int)w.len;
}

static void put_address(struct dns_writer *w, const struct dns_query *q, const struct dns_answer *a,
                        size_t i)
{
    size_t size = q->type == DNS_TYPE_A ? 4 : 16;

    put_u16(w, 0xc000 | HEADER); /* the name in the question */
    put_u16(w, q->type);
    put_u16(w, CLASS_IN);
    put_u32(w, a->ttl_s);
    put_u16(w, (unsigned)size);
    put_dns_bytes(w, a->addrs[i].b + 16 - size, size);
}

size_t dns_write_answer(uint8_t out[DNS_REPLY_MAX], const struct dns_query *q,
                        const struct dns_answer *a, size_t limit)
{
    bool has_question = q->name[0] != '\0' || q->type != 0;
    struct dns_writer w = {.p = out, .cap = limit < DNS_REPLY_MAX ? limit : DNS_REPLY_MAX};
    unsigned n = 0, flags = FLAG_RESPONSE | FLAG_HAS_RECURSION | (unsigned)a->rcode;

    w.cap -= q->has_edns ? EDNS : 0;
    flags |= q->wants_recursion ? FLAG_WANTS_RECURSION : 0;
    w.len = HEADER;
    if (has_question) {
        (void)put_name(&w, str_of(q->name));
        put_u16(&w, q->type);
        put_u16(&w, CLASS_IN);
    }
    bool takes_addrs = q->type == DNS_TYPE_A || q->type == DNS_TYPE_AAAA;
    for (size_t i = 0; takes_addrs && i < a->n_addrs; i++) {
        size_t before = w.len;
        put_address(&w, q, a, i);
        if (w.is_full) {
            flags |= FLAG_CUT;
            w.len = before;
            w.is_full = false;
            break;
        }
        n++;
    }
    w.cap += q->has_edns ? EDNS : 0;
    if (q->has_edns)
        put_edns(&w);
    struct dns_writer head = {.p = out, .cap = HEADER};
    const unsigned fields[] = {q->id, flags, has_question ? 1 : 0, n, 0, q->has_edns ? 1 : 0};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        put_u16(&head, fields[i]);
    return w.len;
}
