/* SPDX-License-Identifier: MIT */
/* Packets with descriptors over a SOCK_SEQPACKET unix socket: how the engine and the spawner talk.
 * A packet is one message: u32 kind, u32 tag, then the fields of its kind (runtime/wire.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/wire.h"

enum { PACKET_MAX = 32768, PACKET_FDS = 60 };

struct packet {
    uint32_t kind, tag;
    struct wire_reader body; /* points into data */
    int fds[PACKET_FDS];     /* taken ones are set to -1; packet_done() closes the others */
    size_t n_fds;
    size_t len;
    char data[PACKET_MAX];
};

/* Begins a message in B (cleared first). */
void packet_begin(struct buf *b, uint32_t kind, uint32_t tag);
/* Sends B with descriptors; they stay the caller's. 0 or -errno (-EAGAIN: the peer is slow). */
int packet_send(int sock, const struct buf *b, const int *fds, size_t n_fds);
/* Receives one packet: 1, 0 at the end of the connection, -EAGAIN, or another -errno. */
int packet_receive(int sock, struct packet *p);
/* The I-th descriptor, now the caller's, or -1. */
int packet_take_fd(struct packet *p, size_t i);
void packet_done(struct packet *p);

/* A listening / connected SOCK_SEQPACKET or SOCK_STREAM socket at PATH, below DIRFD; works for
 * paths longer than sun_path. Descriptor or -errno. */
int packet_listen_at(int dirfd, const char *path, int type);
int packet_connect_at(int dirfd, const char *path, int type);
