/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where no huge pages were set aside, the system may still back ordinary memory by them (transparent
 * huge pages, "madvise" or "always"): a heap of such memory for the buffers, which every packet needs.
 */
#pragma once

#include <stddef.h>

/*
 * Memory of `size` bytes for one owner, who may unmap it; it reads as zeros. Returns NULL where the system has no such
 * pages.
 */
void *large_pages_map(size_t size);

/*
 * Makes the heap, of `mb` MB in pieces of `piece_mb` (0: in one). The system gives each piece once, as DPDK
 * fills it with zeros, and gets back what is not used before it gives the next. Nothing that is taken from
 * the heap may be larger than a piece. Without the heap, nothing is lost but speed. To be called once, after
 * EAL has started; not where cards are, which would not learn of this memory.
 */
void large_pages_create(unsigned mb, unsigned piece_mb);

/* The socket that mempools name to be in the heap, or SOCKET_ID_ANY where there is none. */
int large_pages_socket(void);
