/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a driver takes away by itself waits for those who may be reading it. */
#include "test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "platform/port.h"
#include "platform/unmap.h"

#include "fixture.h"

#define SIZE 4096
#define PATIENCE_MS 20000

/* What is waited for, and what was there meanwhile. */
struct reader {
	volatile uint8_t *memory;
	unsigned waits;
	unsigned seen;
	bool done;
};

static void read_once_more(const void *context) {
	struct reader *r = (struct reader *)(uintptr_t)context;

	if (r->memory != NULL)
		r->seen += *r->memory;
	__atomic_add_fetch(&r->waits, 1, __ATOMIC_RELEASE);
}

static volatile uint8_t *map_one(void) {
	volatile uint8_t *memory =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	*memory = 7;
	return memory;
}

static void unmap_it(void *context) {
	struct reader *r = context;

	munmap((void *)(uintptr_t)r->memory, SIZE);
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
}

/* As a driver does when the other end has gone. */
static void unmap_in_the_thread_of_interrupts(struct reader *r) {
	assert_int_equal(rte_eal_alarm_set(1, unmap_it, r), 0);
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void memory_is_there_until_the_wait_ends(void **state) {
	struct reader r = {.memory = map_one()};

	(void)state;
	unmap_waits(read_once_more, &r);
	unmap_in_the_thread_of_interrupts(&r);
	unmap_waits(NULL, NULL);
	assert_int_equal(r.waits, 1);
	assert_int_equal(r.seen, 7);
	assert_int_equal(msync((void *)(uintptr_t)r.memory, SIZE, MS_ASYNC), -1);
}

/* Whoever stops the workers would wait for himself. */
static void an_lcore_does_not_wait(void **state) {
	struct reader r = {.memory = map_one()};

	(void)state;
	unmap_waits(read_once_more, &r);
	assert_int_equal(munmap((void *)(uintptr_t)r.memory, SIZE), 0);
	unmap_waits(NULL, NULL);
	assert_int_equal(r.waits, 0);
}

static void nobody_waits_after_the_end(void **state) {
	struct reader r = {.memory = map_one()};

	(void)state;
	unmap_waits(read_once_more, &r);
	unmap_waits(NULL, NULL);
	unmap_in_the_thread_of_interrupts(&r);
	assert_int_equal(r.waits, 0);
}

static uint16_t memif_open(struct rte_mempool *pool, const char *role, const char *folder) {
	char device[128];
	uint16_t port;

	snprintf(device, sizeof(device), "net_memif_%s,role=%s,socket-abstract=no,socket=%s/s",
		 role, role, folder);
	assert_int_equal(port_plug(device, "test"), 0);
	assert_int_equal(port_open(device, "test", pool, 64, 1500, &port), 0);
	assert_int_equal(port_start(port, role), 0);
	return port;
}

/* The driver is loaded by EAL, and finds this munmap() all the same. */
static void the_driver_waits_too(void **state) {
	struct rte_mempool *pool = fixture_pool("memif", 1023, FIXTURE_ROOM);
	char folder[] = "/tmp/unmap-XXXXXX", path[64];
	struct reader r = {0};
	uint16_t server, client;

	(void)state;
	assert_non_null(mkdtemp(folder));
	server = memif_open(pool, "server", folder);
	client = memif_open(pool, "client", folder);
	assert_true(port_wait_link(client, PATIENCE_MS) && port_wait_link(server, PATIENCE_MS));
	unmap_waits(read_once_more, &r);
	port_close(client);
	for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
		if (__atomic_load_n(&r.waits, __ATOMIC_ACQUIRE) > 0)
			break;
		usleep(1000);
	}
	assert_true(__atomic_load_n(&r.waits, __ATOMIC_ACQUIRE) > 0);
	unmap_waits(NULL, NULL);
	port_close(server);
	snprintf(path, sizeof(path), "%s/s", folder);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
	fixture_pool_end(pool);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_there_until_the_wait_ends),
		cmocka_unit_test(an_lcore_does_not_wait),
		cmocka_unit_test(nobody_waits_after_the_end),
		cmocka_unit_test(the_driver_waits_too),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
