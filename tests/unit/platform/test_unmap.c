/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests unmap.h: munmap() by a driver waits until no worker reads the memory. */
#include "test_main.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_alarm.h>

#include "platform/unmap.h"

#include "fixture.h"

#define SIZE 4096

/* A reader of the memory, and what it read while munmap() waited. */
struct reader {
	volatile uint8_t *memory;
	unsigned wait_count;
	unsigned seen;
	bool done;
};

static void read_memory(const void *context) {
	struct reader *r = (struct reader *)(uintptr_t)context;

	r->seen += *r->memory;
	__atomic_add_fetch(&r->wait_count, 1, __ATOMIC_RELEASE);
}

static void unmap_memory(void *context) {
	struct reader *r = context;

	munmap((void *)(uintptr_t)r->memory, SIZE);
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
}

/* Unmaps in EAL's interrupt thread, as net_memif does when its peer ends. */
static void unmap_in_interrupt_thread(struct reader *r) {
	assert_int_equal(rte_eal_alarm_set(1, unmap_memory, r), 0);
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&r->wait_count, __ATOMIC_ACQUIRE) > 1) {
			print_error("munmap() called wait() a second time\n");
			_exit(1); /* the waiting thread would also block the program's end */
		}
		usleep(100);
	}
}

/* munmap() does not wait after unmap_set_wait(NULL), nor in an lcore, which would wait for itself. */
TEST(munmap_waits_for_readers) {
	static const struct {
		bool ended, lcore;
		unsigned wait_count;
	} cases[] = {{false, false, 1}, {true, false, 0}, {false, true, 0}};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct reader r = {.memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

		assert_ptr_not_equal(r.memory, MAP_FAILED);
		*r.memory = 7;
		unmap_set_wait(read_memory, &r);
		if (cases[i].ended)
			unmap_set_wait(NULL, NULL);
		if (cases[i].lcore)
			unmap_memory(&r);
		else
			unmap_in_interrupt_thread(&r);
		unmap_set_wait(NULL, NULL);
		assert_int_equal(r.wait_count, cases[i].wait_count);
		assert_int_equal(r.seen, 7 * cases[i].wait_count);
		assert_int_equal(msync((void *)(uintptr_t)r.memory, SIZE, MS_ASYNC), -1);
	}
}

/* Drivers that EAL loads at run time resolve munmap() to this one, not the C library's. */
TEST(drivers_resolve_munmap_to_this_one) {
	assert_ptr_equal(dlsym(RTLD_DEFAULT, "munmap"), munmap);
	assert_ptr_not_equal(dlsym(RTLD_NEXT, "munmap"), munmap);
}

ALL_TESTS(fixture_start, fixture_stop)
