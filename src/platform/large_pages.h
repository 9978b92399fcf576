/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap on transparent huge pages ("madvise" or "always"), for buffers where no huge pages are
 * reserved. */
#pragma once

#include <stddef.h>

/* Maps `size` bytes of zeros for one owner, who may unmap them. Returns NULL if the system has no
 * such pages. */
void *large_pages_map(size_t size);

/*
 * Creates the heap: `mb` MB in pieces of `piece_mb` (0: one piece). The system allocates its pages when they
 * are used. An allocation from the heap cannot exceed a piece. Without the heap only speed is lost. Call it once
 * after EAL has started; not with PCI NICs, which cannot access this memory.
 */
void large_pages_create(unsigned mb, unsigned piece_mb);

/* The socket ID that places a mempool in the heap; SOCKET_ID_ANY without one. */
int large_pages_socket(void);
