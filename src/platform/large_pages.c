/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/large_pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Maps one page again and again. Returns false if the system has no memory for it. */
static bool map_blank(char *start, size_t size) {
	int page = memfd_create(NAME, MFD_CLOEXEC);
	bool mapped = page >= 0 && ftruncate(page, (off_t)PAGE) == 0;

	for (size_t at = 0; at < size && mapped; at += PAGE)
		mapped = mmap(start + at, PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED | MAP_POPULATE, page, 0) != MAP_FAILED;
	if (page >= 0)
		close(page);
	return mapped;
}

/* Replaces the memory at `start` by `memory`. */
static bool replace(char *start, char *memory, size_t size) {
	if (mremap(memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, start) != MAP_FAILED)
		return true;
	munmap(memory, size);
	return false;
}

/*
 * Adds a piece of the heap. DPDK zeroes memory that it gets, and writes headers at both ends. The system zeroes
 * memory as well, on first use, which for half a gigabyte takes half a second. So DPDK gets one page many times,
 * and unused memory replaces these pages then.
 */
static int add_piece(char *start, size_t size) {
	size_t middle = size - 2 * PAGE;
	char *unused = size <= 2 * PAGE ? NULL : large_pages_map(middle);
	bool blank;
	int ret = -1;

	if (unused == NULL)
		return large_pages_add(start, size);
	blank = map_blank(start + PAGE, middle);
	if (blank)
		ret = large_pages_add(start, size);
	if (replace(start + PAGE, unused, middle))
		return blank ? ret : large_pages_add(start, size);
	if (ret == 0)
		rte_malloc_heap_memory_remove(NAME, start, size);
	return -1;
}

/* Adds the memory in pieces. Returns how many bytes were added. */
static size_t add_pieces(char *start, size_t size, size_t piece) {
	size_t done = 0;

	while (done < size) {
		/* the last piece is not smaller than the others */
		size_t left = size - done, next = left < 2 * piece ? left : piece;

		if (add_piece(start + done, next) != 0)
			break;
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
