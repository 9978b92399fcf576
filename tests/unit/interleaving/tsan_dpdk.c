/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports accesses of DPDK's uninstrumented libraries to ThreadSanitizer. Used only in
 * builds with -Db_sanitize=thread.
 *
 * - rte_malloc() allocates from libc: ThreadSanitizer tracks its allocations, and reports accesses
 *   that race with allocation or free.
 * - A hash counts as one variable: lookups read it, changes write it. The project reads no hash
 *   while another thread writes it.
 * - An rte_acl context, too: rte_acl_classify() reads it.
 * - A buffer that returns to its pool or is sent to a port changes its owner: later owners see all
 *   writes of the previous one. The rings of driver and pool order them by acquire and release.
 *
 * There are no suppressions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_mempool.h>
#include <sanitizer/tsan_interface.h>

/* The functions that the compiler inserts for accesses of one byte. */
void __tsan_read1(void *address);
void __tsan_write1(void *address);

static void report_read(const void *object) {
	if (object != NULL)
		__tsan_read1((void *)(uintptr_t)object);
}

static void report_write(const void *object) {
	if (object != NULL)
		__tsan_write1((void *)(uintptr_t)object);
}

#define WRAP(type, name, params)   \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params

/* Wraps a function; `access` reports its access before the call. */
#define WRAP_ACCESS(type, name, params, args, access) \
	WRAP(type, name, params) {                    \
		access;                               \
		return __real_##name args;            \
	}

static void *allocate(size_t size, unsigned align, bool zero) {
	size_t unit = RTE_MAX(align, (unsigned)RTE_CACHE_LINE_SIZE);
	void *memory = aligned_alloc(unit, RTE_ALIGN_CEIL(size, unit));

	if (memory != NULL && zero)
		memset(memory, 0, size);
	return memory;
}

#define WRAP_ALLOCATION(name, zero, params)         \
	WRAP(void *, name, params) {                \
		return allocate(size, align, zero); \
	}

WRAP_ALLOCATION(rte_malloc, false, (const char *type, size_t size, unsigned align))
WRAP_ALLOCATION(rte_zmalloc, true, (const char *type, size_t size, unsigned align))
WRAP_ALLOCATION(rte_malloc_socket, false,
		(const char *type, size_t size, unsigned align, int socket))
WRAP_ALLOCATION(rte_zmalloc_socket, true,
		(const char *type, size_t size, unsigned align, int socket))

/* DPDK also frees memory that its libraries allocated without these wrappers. */
WRAP(void, rte_free, (void *memory)) {
	if (memory != NULL && rte_mem_virt2memseg_list(memory) != NULL)
		__real_rte_free(memory);
	else
		free(memory);
}

WRAP(struct rte_hash *, rte_hash_create, (const struct rte_hash_parameters *p)) {
	struct rte_hash *h = __real_rte_hash_create(p);

	report_write(h);
	return h;
}

WRAP_ACCESS(void, rte_hash_free, (struct rte_hash * h), (h), report_write(h))
WRAP_ACCESS(void, rte_hash_reset, (struct rte_hash * h), (h), report_write(h))
WRAP_ACCESS(int, rte_hash_add_key_data, (const struct rte_hash *h, const void *key, void *data),
	    (h, key, data), report_write(h))
WRAP_ACCESS(int32_t, rte_hash_del_key, (const struct rte_hash *h, const void *key), (h, key),
	    report_write(h))
WRAP_ACCESS(int32_t, rte_hash_lookup, (const struct rte_hash *h, const void *key), (h, key),
	    report_read(h))
WRAP_ACCESS(int, rte_hash_lookup_data, (const struct rte_hash *h, const void *key, void **data),
	    (h, key, data), report_read(h))
WRAP_ACCESS(int, rte_hash_lookup_bulk_data,
	    (const struct rte_hash *h, const void **keys, uint32_t count, uint64_t *hits,
	     void *data[]),
	    (h, keys, count, hits, data), report_read(h))
WRAP_ACCESS(int32_t, rte_hash_iterate,
	    (const struct rte_hash *h, const void **key, void **data, uint32_t *next),
	    (h, key, data, next), report_read(h))
WRAP_ACCESS(int32_t, rte_hash_count, (const struct rte_hash *h), (h), report_read(h))
WRAP_ACCESS(int, rte_acl_build, (struct rte_acl_ctx * ctx, const struct rte_acl_config *config),
	    (ctx, config), report_write(ctx))
WRAP_ACCESS(void, rte_acl_free, (struct rte_acl_ctx * ctx), (ctx), report_write(ctx))
WRAP_ACCESS(int, rte_acl_classify,
	    (const struct rte_acl_ctx *ctx, const uint8_t **data, uint32_t *results, uint32_t count,
	     uint32_t categories),
	    (ctx, data, results, count, categories), report_read(ctx))

/* Buffers */

static rte_mempool_enqueue_t pool_enqueue[RTE_MEMPOOL_MAX_OPS_IDX];
static rte_mempool_dequeue_t pool_dequeue[RTE_MEMPOOL_MAX_OPS_IDX];

static int enqueue(struct rte_mempool *pool, void *const *objects, unsigned count) {
	for (unsigned i = 0; i < count; i++)
		__tsan_release(objects[i]);
	return pool_enqueue[pool->ops_index](pool, objects, count);
}

static int dequeue(struct rte_mempool *pool, void **objects, unsigned count) {
	int ret = pool_dequeue[pool->ops_index](pool, objects, count);

	for (unsigned i = 0; ret == 0 && i < count; i++)
		__tsan_acquire(objects[i]);
	return ret;
}

WRAP(int, rte_eal_init, (int argc, char **argv)) {
	int ret = __real_rte_eal_init(argc, argv);

	for (unsigned i = 0; ret >= 0 && i < rte_mempool_ops_table.num_ops; i++) {
		struct rte_mempool_ops *ops = &rte_mempool_ops_table.ops[i];

		pool_enqueue[i] = ops->enqueue;
		pool_dequeue[i] = ops->dequeue;
		ops->enqueue = enqueue;
		ops->dequeue = dequeue;
	}
	return ret;
}

/* All ports of the test have one driver. */
static eth_rx_burst_t driver_receive;
static eth_tx_burst_t driver_send;

static uint16_t receive(void *queue, struct rte_mbuf **packets, uint16_t count) {
	uint16_t received = driver_receive(queue, packets, count);

	for (uint16_t i = 0; i < received; i++) {
		__tsan_acquire(packets[i]);
		for (struct rte_mbuf *m = packets[i]->next; m != NULL; m = m->next)
			__tsan_acquire(m);
	}
	return received;
}

static uint16_t transmit(void *queue, struct rte_mbuf **packets, uint16_t count) {
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *m = packets[i];

		while (m != NULL) {
			struct rte_mbuf *next = m->next;

			__tsan_release(m);
			m = next;
		}
	}
	return driver_send(queue, packets, count);
}

WRAP(int, rte_eth_dev_start, (uint16_t port)) {
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[port];
	int ret = __real_rte_eth_dev_start(port);

	if (ret != 0 || ops->rx_pkt_burst == receive)
		return ret;
	RTE_VERIFY(driver_receive == NULL || driver_receive == ops->rx_pkt_burst);
	RTE_VERIFY(driver_send == NULL || driver_send == ops->tx_pkt_burst);
	driver_receive = ops->rx_pkt_burst;
	driver_send = ops->tx_pkt_burst;
	ops->rx_pkt_burst = receive;
	ops->tx_pkt_burst = transmit;
	return ret;
}
