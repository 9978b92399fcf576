/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/large_pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#define NAME "large_pages"
#define PAGE ((size_t)2 << 20)

static int heap_socket = SOCKET_ID_ANY;

/* Only memory aligned to a huge page at both ends can be backed by huge pages. */
void *large_pages_map(size_t size) {
	char *all = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start;

	if (all == MAP_FAILED)
		return NULL;
	start = RTE_PTR_ALIGN_CEIL(all, PAGE);
	if (madvise(start, size, MADV_HUGEPAGE) == 0)
		return start;
	munmap(all, size + PAGE);
	return NULL;
}

/* IOVA as VA: only software uses these addresses. */
static int large_pages_add(char *start, size_t size) {
	unsigned pages = (unsigned)(size / PAGE);
	rte_iova_t *addresses = calloc(pages, sizeof(*addresses));
	int ret = -1;

	for (unsigned i = 0; addresses != NULL && i < pages; i++)
		addresses[i] = (uintptr_t)start + i * PAGE;
	if (addresses != NULL)
		ret = rte_malloc_heap_memory_add(NAME, start, size, addresses, pages, PAGE);
	free(addresses);
	return ret;
}

/* DPDK has zeroed the memory and written headers at both ends. The memory between them reads as zeros also
 * after the system takes it back. */
static void trim(char *start, size_t size) {
	if (size > 2 * PAGE)
		madvise(start + PAGE, size - 2 * PAGE, MADV_DONTNEED);
}

/* Adds the memory in pieces. Returns how many bytes were added. */
static size_t add_pieces(char *start, size_t size, size_t piece) {
	size_t done = 0;

	while (done < size) {
		/* the last piece is not smaller than the others */
		size_t left = size - done, next = left < 2 * piece ? left : piece;

		if (large_pages_add(start + done, next) != 0)
			break;
		trim(start + done, next);
		done += next;
	}
	return done;
}

void large_pages_create(unsigned mb, unsigned piece_mb) {
	size_t size = RTE_ALIGN_CEIL((size_t)mb << 20, PAGE);
	size_t piece = RTE_ALIGN_CEIL((size_t)piece_mb << 20, PAGE), done = 0;
	char *start = large_pages_map(size);

	if (start == NULL)
		return;
	if (rte_malloc_heap_create(NAME) == 0)
		done = add_pieces(start, size, piece == 0 ? size : piece);
	if (done < size)
		munmap(start + done, size - done);
	if (done > 0)
		heap_socket = rte_malloc_heap_get_socket(NAME);
}

int large_pages_socket(void) {
	return heap_socket;
}
