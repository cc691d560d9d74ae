/* SPDX-License-Identifier: MIT */
/* Steering of TCP connections. See sklookup.h. */
#include "runtime/sklookup.h"

#include <errno.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

static int bpf(int cmd, union bpf_attr *attr)
{
    long r = syscall(SYS_bpf, cmd, attr, sizeof *attr);

    return r < 0 ? -errno : (int)r;
}

/* ---- the program ---- */

#define CTX(field) ((int16_t)offsetof(struct bpf_sk_lookup, field))

/* Instructions, with the names of the assembler in the kernel's documentation. */
#define LOAD(reg, at)                                                                              \
    {                                                                                              \
        .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (reg), .src_reg = BPF_REG_6, .off = (at)     \
    }
#define MOVE(to, from)                                                                             \
    {                                                                                              \
        .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from)                    \
    }
#define SET(reg, value)                                                                            \
    {                                                                                              \
        .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value)                      \
    }
#define MATH(op, reg, value)                                                                       \
    {                                                                                              \
        .code = BPF_ALU64 | (op) | BPF_K, .dst_reg = (reg), .imm = (value)                         \
    }
#define TO_HOST_ORDER(reg)                                                                         \
    {                                                                                              \
        .code = BPF_ALU | BPF_END | BPF_TO_BE, .dst_reg = (reg), .imm = 32                         \
    }
#define JUMP(op, reg, value, to)                                                                   \
    {                                                                                              \
        .code = BPF_JMP | (op) | BPF_K, .dst_reg = (reg), .off = (to), .imm = (value)              \
    }
#define GO(to)                                                                                     \
    {                                                                                              \
        .code = BPF_JMP | BPF_JA, .off = (to)                                                      \
    }
#define LOAD_MAP(reg, fd)                                                                          \
    {.code = BPF_LD | BPF_DW | BPF_IMM,                                                            \
     .dst_reg = (reg),                                                                             \
     .src_reg = BPF_PSEUDO_MAP_FD,                                                                 \
     .imm = (fd)},                                                                                 \
    {                                                                                              \
        .code = 0                                                                                  \
    }
#define CALL(function)                                                                             \
    {                                                                                              \
        .code = BPF_JMP | BPF_CALL, .imm = (function)                                              \
    }
#define EXIT                                                                                       \
    {                                                                                              \
        .code = BPF_JMP | BPF_EXIT                                                                 \
    }

/* Where jumps lead: places in the array below. */
enum { AT_LOOPBACK = 10, AT_V6 = 13, AT_ASSIGN = 24, AT_PASS = 40, AT_DROP = 42 };
#define FROM(here, to) ((int16_t)((to) - (here)-1))

static int load_program(int map_fd)
{
    const struct bpf_insn program[] = {
        /* 0 */ MOVE(BPF_REG_6, BPF_REG_1),
        /* 1 */ LOAD(BPF_REG_2, CTX(protocol)),
        /* 2 */ JUMP(BPF_JNE, BPF_REG_2, IPPROTO_TCP, FROM(2, AT_PASS)),
        /* 3 */ LOAD(BPF_REG_4, CTX(local_port)),
        /* 4 */ LOAD(BPF_REG_3, CTX(family)),
        /* 5 */ JUMP(BPF_JNE, BPF_REG_3, AF_INET, FROM(5, AT_V6)),
        /* 6 */ LOAD(BPF_REG_2, CTX(local_ip4)),
        /* 7 */ TO_HOST_ORDER(BPF_REG_2),
        /* 8: the DNS server */ JUMP(BPF_JNE, BPF_REG_2, INADDR_LOOPBACK, FROM(8, AT_LOOPBACK)),
        /* 9 */ JUMP(BPF_JEQ, BPF_REG_4, SKLOOKUP_DNS_PORT, FROM(9, AT_ASSIGN)),
        /* 10: all but 127.0.0.0/8 */ MATH(BPF_RSH, BPF_REG_2, 24),
        /* 11 */ JUMP(BPF_JEQ, BPF_REG_2, IN_LOOPBACKNET, FROM(11, AT_PASS)),
        /* 12 */ GO(FROM(12, AT_ASSIGN)),
        /* 13: all but ::1 */ LOAD(BPF_REG_2, CTX(local_ip6[0])),
        /* 14 */ JUMP(BPF_JNE, BPF_REG_2, 0, FROM(14, AT_ASSIGN)),
        /* 15 */ LOAD(BPF_REG_2, CTX(local_ip6[1])),
        /* 16 */ JUMP(BPF_JNE, BPF_REG_2, 0, FROM(16, AT_ASSIGN)),
        /* 17 */ LOAD(BPF_REG_2, CTX(local_ip6[2])),
        /* 18 */ JUMP(BPF_JNE, BPF_REG_2, 0, FROM(18, AT_ASSIGN)),
        /* 19 */ LOAD(BPF_REG_2, CTX(local_ip6[3])),
        /* 20 */ TO_HOST_ORDER(BPF_REG_2),
        /* 21 */ JUMP(BPF_JNE, BPF_REG_2, 1, FROM(21, AT_ASSIGN)),
        /* 22: the DNS server */ JUMP(BPF_JEQ, BPF_REG_4, SKLOOKUP_DNS_PORT, FROM(22, AT_ASSIGN)),
        /* 23 */ GO(FROM(23, AT_PASS)),
        /* 24: the key 0 */ {.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4},
        /* 25: two places long */ LOAD_MAP(BPF_REG_1, map_fd),
        /* 27 */ MOVE(BPF_REG_2, BPF_REG_10),
        /* 28 */ MATH(BPF_ADD, BPF_REG_2, -4),
        /* 29 */ CALL(BPF_FUNC_map_lookup_elem),
        /* 30 */ JUMP(BPF_JEQ, BPF_REG_0, 0, FROM(30, AT_DROP)),
        /* 31 */ MOVE(BPF_REG_7, BPF_REG_0),
        /* 32 */ MOVE(BPF_REG_1, BPF_REG_6),
        /* 33 */ MOVE(BPF_REG_2, BPF_REG_7),
        /* 34 */ SET(BPF_REG_3, 0),
        /* 35 */ CALL(BPF_FUNC_sk_assign),
        /* 36 */ MOVE(BPF_REG_8, BPF_REG_0),
        /* 37 */ MOVE(BPF_REG_1, BPF_REG_7),
        /* 38 */ CALL(BPF_FUNC_sk_release),
        /* 39 */ JUMP(BPF_JNE, BPF_REG_8, 0, FROM(39, AT_DROP)),
        /* 40 */ SET(BPF_REG_0, SK_PASS),
        /* 41 */ EXIT,
        /* 42 */ SET(BPF_REG_0, SK_DROP),
        /* 43 */ EXIT,
    };
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SK_LOOKUP};

    attr.expected_attach_type = BPF_SK_LOOKUP;
    attr.insns = (uint64_t)(uintptr_t)program;
    attr.insn_cnt = (uint32_t)ARRAY_LEN(program);
    attr.license = (uint64_t)(uintptr_t) "MIT";
    memcpy(attr.prog_name, "tidepool_egress", sizeof "tidepool_egress");
    return bpf(BPF_PROG_LOAD, &attr);
}

/* ---- the map and the link ---- */

static int make_map(void)
{
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_SOCKMAP};

    attr.key_size = sizeof(uint32_t);
    attr.value_size = sizeof(uint64_t);
    attr.max_entries = 1;
    return bpf(BPF_MAP_CREATE, &attr);
}

static int put_listener(int map, int listen_fd)
{
    uint32_t key = 0;
    uint64_t value = (uint64_t)listen_fd;
    union bpf_attr attr = {.map_type = 0};

    attr.map_fd = (uint32_t)map;
    attr.key = (uint64_t)(uintptr_t)&key;
    attr.value = (uint64_t)(uintptr_t)&value;
    return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/* A program and its map, kept ones or new; both are the caller's. */
static int get_program(struct sklookup_stock *s, int *ret_map, struct err *e)
{
    if (s->n > 0) {
        *ret_map = s->kept[--s->n].map;
        return s->kept[s->n].program;
    }
    auto_close int map = make_map();
    if (map < 0)
        return err_sys(e, map, "socket map");
    int program = load_program(map);
    if (program < 0)
        return err_sys(e, program, "program of type sk_lookup");
    *ret_map = take_fd(map);
    return program;
}

int sklookup_attach(struct sklookup_stock *s, int netns_fd, int listen_fd, struct err *e)
{
    union bpf_attr attr = {.map_type = 0};
    auto_close int map = -1;
    auto_close int program = get_program(s, &map, e);

    if (program < 0)
        return program;
    int r = put_listener(map, listen_fd);
    if (r < 0)
        return err_sys(e, r, "socket map");
    attr.link_create.prog_fd = (uint32_t)program;
    attr.link_create.target_fd = (uint32_t)netns_fd;
    attr.link_create.attach_type = BPF_SK_LOOKUP;
    /* The link keeps the program, the program the map, the map the listener. */
    int link = bpf(BPF_LINK_CREATE, &attr);
    return link < 0 ? err_sys(e, link, "attach sk_lookup") : link;
}

/* ---- used programs ---- */

static int get_info(int fd, void *info, uint32_t len)
{
    union bpf_attr attr = {.map_type = 0};

    attr.info.bpf_fd = (uint32_t)fd;
    attr.info.info_len = len;
    attr.info.info = (uint64_t)(uintptr_t)info;
    return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static int open_by_id(int cmd, uint32_t id)
{
    union bpf_attr attr = {.map_type = 0};

    attr.prog_id = id;
    return bpf(cmd, &attr);
}

/* Of many cells every descriptor counts: only the link is held, and the rest asked for when it is
 * needed again. A host that does not let us ask loads a new one each time. */
static void keep_program(struct sklookup_stock *s, int link)
{
    struct bpf_link_info of_link = {0};
    struct bpf_prog_info of_program = {0};
    uint32_t map_id = 0;

    if (s->n == SKLOOKUP_KEPT || get_info(link, &of_link, sizeof of_link) < 0)
        return;
    auto_close int program = open_by_id(BPF_PROG_GET_FD_BY_ID, of_link.prog_id);
    of_program.nr_map_ids = 1;
    of_program.map_ids = (uint64_t)(uintptr_t)&map_id;
    if (program < 0 || get_info(program, &of_program, sizeof of_program) < 0)
        return;
    int map = open_by_id(BPF_MAP_GET_FD_BY_ID, map_id);
    if (map < 0)
        return;
    s->kept[s->n].map = map;
    s->kept[s->n++].program = take_fd(program);
}

void sklookup_detach(struct sklookup_stock *s, int fd)
{
    if (fd < 0)
        return;
    keep_program(s, fd);
    (void)close(fd);
}

void sklookup_done(struct sklookup_stock *s)
{
    while (s->n > 0) {
        (void)close(s->kept[--s->n].program);
        (void)close(s->kept[s->n].map);
    }
}
