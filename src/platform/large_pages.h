/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where no huge pages were set aside, the system may still back ordinary memory by them (transparent
 * huge pages, "madvise" or "always"): a heap of such memory for the buffers, which every packet needs.
 */
#pragma once

/* Makes the heap, of `mb` MB, of which only what is used is taken; without it, nothing is lost but
 * speed. To be called once, after EAL has started. */
void large_pages_create(unsigned mb);

/* The socket that mempools name to be in the heap, or SOCKET_ID_ANY where there is none. */
int large_pages_socket(void);
