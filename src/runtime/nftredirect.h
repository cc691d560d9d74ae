/* SPDX-License-Identifier: MIT */
/* Steering of TCP connections where the kernel has no sk_lookup: nftables rules that redirect every
 * connection whose destination is not loopback to a port of the same network namespace. Slower to
 * set up, and connections are tracked; nft(8) is not needed. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "runtime/netaddr.h"

/* Sets up the namespace that this thread is in; replaces what an earlier call did there. */
int nftredirect_set_up(uint16_t port, struct err *e);
/* Where the accepted connection FD was really going; 0 or -errno. */
int nftredirect_target(int fd, struct netaddr *ret_addr, uint16_t *ret_port);
