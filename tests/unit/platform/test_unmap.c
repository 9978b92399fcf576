/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a driver takes away by itself waits for those who may be reading it. */
#include "test_main.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_alarm.h>

#include "platform/unmap.h"

#include "fixture.h"

#define SIZE 4096

/* What is waited for, and what was there meanwhile. */
struct reader {
	volatile uint8_t *memory;
	unsigned waits;
	unsigned seen;
	bool done;
};

static void read_once_more(const void *context) {
	struct reader *r = (struct reader *)(uintptr_t)context;

	r->seen += *r->memory;
	__atomic_add_fetch(&r->waits, 1, __ATOMIC_RELEASE);
}

static void unmap_it(void *context) {
	struct reader *r = context;

	munmap((void *)(uintptr_t)r->memory, SIZE);
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
}

/* As a driver does when the other end has gone. */
static void unmap_in_the_thread_of_interrupts(struct reader *r) {
	assert_int_equal(rte_eal_alarm_set(1, unmap_it, r), 0);
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&r->waits, __ATOMIC_ACQUIRE) > 1) {
			print_error("a wait that is over begins again\n");
			_exit(1); /* its thread would hold up the end of the program, too */
		}
		usleep(100);
	}
}

/* Nobody waits after the end, nor does an lcore: whoever stops the workers would wait for himself. */
TEST(memory_is_there_until_the_wait_ends) {
	static const struct {
		bool ended, lcore;
		unsigned waits;
	} cases[] = {{false, false, 1}, {true, false, 0}, {false, true, 0}};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct reader r = {.memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

		assert_ptr_not_equal(r.memory, MAP_FAILED);
		*r.memory = 7;
		unmap_waits(read_once_more, &r);
		if (cases[i].ended)
			unmap_waits(NULL, NULL);
		if (cases[i].lcore)
			unmap_it(&r);
		else
			unmap_in_the_thread_of_interrupts(&r);
		unmap_waits(NULL, NULL);
		assert_int_equal(r.waits, cases[i].waits);
		assert_int_equal(r.seen, 7 * cases[i].waits);
		assert_int_equal(msync((void *)(uintptr_t)r.memory, SIZE, MS_ASYNC), -1);
	}
}

/* EAL loads drivers as the program runs: they find this munmap() before the C library's. */
TEST(drivers_find_it) {
	assert_ptr_equal(dlsym(RTLD_DEFAULT, "munmap"), munmap);
	assert_ptr_not_equal(dlsym(RTLD_NEXT, "munmap"), munmap);
}

ALL_TESTS(fixture_start, fixture_stop)
