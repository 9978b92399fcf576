/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* for DPDK 22.11 */
#include "faults.h"

#include "test.h"

#include <errno.h>

#include <rte_acl.h>
#include <rte_crypto.h>
#include <rte_cryptodev.h>
#include <rte_ethdev.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_security.h>

#define SLOTS (1u << 18) /* of the table of allocations; a power of two */

static long remaining = -1; /* calls before the one that fails; negative: none fails */
static long call_count;
static bool counting;
static const char *failed;
static bool stays_short;

bool faults_call_fails(const char *function) {
	if (!counting)
		return false;
	call_count++;
	if (failed != NULL)
		return stays_short && strstr(function, "alloc") != NULL;
	if (remaining < 0 || remaining-- > 0)
		return false;
	failed = function;
	return true;
}

void faults_begin(long n, bool out_of_memory) {
	remaining = n;
	call_count = 0;
	failed = NULL;
	counting = true;
	stays_short = out_of_memory;
}

const char *faults_end(long *calls) {
	counting = false;
	if (calls != NULL)
		*calls = call_count;
	return failed;
}

/* Hash table of live allocations by address, with open addressing. */
static void *allocations[SLOTS];
static size_t allocation_count;

static size_t hash_slot(const void *p) {
	return (size_t)(((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 46) & (SLOTS - 1);
}

static void *record_allocation(void *p) {
	size_t slot = hash_slot(p);

	if (p == NULL)
		return NULL;
	while (allocations[slot] != NULL)
		slot = (slot + 1) & (SLOTS - 1);
	allocations[slot] = p;
	allocation_count++;
	assert_true(allocation_count < SLOTS / 2);
	return p;
}

/* Frees a slot and moves later entries of its probe sequence up, to keep sequences short. */
static void free_slot(size_t slot) {
	for (size_t next = (slot + 1) & (SLOTS - 1); allocations[next] != NULL;
	     next = (next + 1) & (SLOTS - 1)) {
		size_t from = hash_slot(allocations[next]);

		if (((next - from) & (SLOTS - 1)) < ((next - slot) & (SLOTS - 1)))
			continue;
		allocations[slot] = allocations[next];
		slot = next;
	}
	allocations[slot] = NULL;
}

/* Ignores memory that the C library allocated without a wrapped call. */
static void record_free(void *p) {
	size_t slot = hash_slot(p);

	while (p != NULL && allocations[slot] != p && allocations[slot] != NULL)
		slot = (slot + 1) & (SLOTS - 1);
	if (p == NULL || allocations[slot] != p)
		return;
	free_slot(slot);
	allocation_count--;
}

size_t faults_allocations(void) {
	return allocation_count;
}

/* Wraps a call that returns `none` on failure. */
#define WRAP(type, function, params, args, none)                                       \
	type __real_##function params;                                                 \
	type __wrap_##function params;                                                 \
	type __wrap_##function params {                                                \
		return faults_call_fails(#function) ? (none) : __real_##function args; \
	}

/* Wraps a call that allocates memory, and records the allocation. */
#define WRAP_MEMORY(type, function, params, args)                                                \
	__typeof__(function) __real_##function, __wrap_##function;                               \
	type __wrap_##function params {                                                          \
		return faults_call_fails(#function) ? NULL                                       \
						    : record_allocation(__real_##function args); \
	}

WRAP_MEMORY(void *, malloc, (size_t size), (size))
WRAP_MEMORY(void *, calloc, (size_t count, size_t size), (count, size))
WRAP_MEMORY(void *, aligned_alloc, (size_t align, size_t size), (align, size))
WRAP_MEMORY(char *, strdup, (const char *text), (text))

__typeof__(free) __real_free, __wrap_free;
void __wrap_free(void *p) {
	record_free(p);
	__real_free(p);
}

__typeof__(reallocarray) __real_reallocarray, __wrap_reallocarray;
void *__wrap_reallocarray(void *p, size_t count, size_t size) {
	if (faults_call_fails("reallocarray"))
		return NULL;
	record_free(p);
	return record_allocation(__real_reallocarray(p, count, size));
}

__typeof__(realloc) __wrap_realloc;
void *__wrap_realloc(void *p, size_t size) {
	return __wrap_reallocarray(p, 1, size);
}

WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode) {
	return faults_call_fails("open64") ? -1 : __real_open64(path, flags, mode);
}

/* Nonzero while a change is applied: then the capacity of hashes is reserved already. */
static unsigned applying;

#define STEP(function)                            \
	bool __real_##function(void *change);     \
	bool __wrap_##function(void *change);     \
	bool __wrap_##function(void *change) {    \
		bool done;                        \
                                                  \
		applying++;                       \
		done = __real_##function(change); \
		applying--;                       \
		return done;                      \
	}

STEP(ds_change_upper)
STEP(us_change_apply)
STEP(us_change_flushed)
STEP(share_change_add)
STEP(share_change_remove)
STEP(share_group_remove)

__typeof__(rte_hash_add_key_data) __real_rte_hash_add_key_data, __wrap_rte_hash_add_key_data;
int __wrap_rte_hash_add_key_data(const struct rte_hash *h, const void *key, void *data) {
	if (applying == 0 && faults_call_fails("rte_hash_add_key_data"))
		return -ENOSPC;
	return __real_rte_hash_add_key_data(h, key, data);
}

WRAP(void *, rte_zmalloc, (const char *name, size_t size, unsigned align), (name, size, align),
     NULL)
WRAP(void *, rte_zmalloc_socket, (const char *name, size_t size, unsigned align, int socket),
     (name, size, align, socket), NULL)
WRAP(struct rte_hash *, rte_hash_create, (const struct rte_hash_parameters *p), (p), NULL)
WRAP(struct rte_ring *, rte_ring_create,
     (const char *name, unsigned count, int socket, unsigned flags), (name, count, socket, flags),
     NULL)
WRAP(void *, rte_cryptodev_sym_session_create,
     (uint8_t id, struct rte_crypto_sym_xform *xforms, struct rte_mempool *pool),
     (id, xforms, pool), NULL)
WRAP(void *, rte_security_session_create,
     (void *context, struct rte_security_session_conf *conf, struct rte_mempool *pool),
     (context, conf, pool), NULL)
WRAP(int, rte_eth_dev_configure,
     (uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf), (id, rx, tx, conf),
     -EIO)
WRAP(int, rte_eth_rx_queue_setup,
     (uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
      const struct rte_eth_rxconf *conf, struct rte_mempool *pool),
     (id, queue, size, socket, conf, pool), -EIO)
WRAP(int, rte_eth_tx_queue_setup,
     (uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
      const struct rte_eth_txconf *conf),
     (id, queue, size, socket, conf), -EIO)

/* rte_crypto_op_bulk_alloc() is inline: it fails because its pool is emptied. */
__typeof__(rte_crypto_op_pool_create) __real_rte_crypto_op_pool_create,
	__wrap_rte_crypto_op_pool_create;
struct rte_mempool *__wrap_rte_crypto_op_pool_create(const char *name, enum rte_crypto_op_type type,
						     unsigned n, unsigned cache,
						     uint16_t private_size, int socket) {
	struct rte_mempool *pool;
	void *op;

	if (faults_call_fails("rte_crypto_op_pool_create"))
		return NULL;
	pool = __real_rte_crypto_op_pool_create(name, type, n, cache, private_size, socket);
	if (pool != NULL && faults_call_fails("rte_crypto_op_bulk_alloc")) {
		while (rte_mempool_get(pool, &op) == 0)
			;
	}
	return pool;
}

WRAP(struct rte_ring *, rte_ring_create_elem,
     (const char *name, unsigned size, unsigned count, int socket, unsigned flags),
     (name, size, count, socket, flags), NULL)
WRAP(struct rte_acl_ctx *, rte_acl_create, (const struct rte_acl_param *p), (p), NULL)
WRAP(int, rte_acl_add_rules, (struct rte_acl_ctx * c, const struct rte_acl_rule *rules, uint32_t n),
     (c, rules, n), -ENOMEM)
WRAP(int, rte_acl_build, (struct rte_acl_ctx * c, const struct rte_acl_config *config), (c, config),
     -ENOMEM)
WRAP(int, rte_eth_dev_set_mtu, (uint16_t id, uint16_t mtu), (id, mtu), -EIO)
WRAP(int, rte_eth_dev_adjust_nb_rx_tx_desc, (uint16_t id, uint16_t *rx, uint16_t *tx), (id, rx, tx),
     -EINVAL)
WRAP(int, rte_eth_dev_conf_get, (uint16_t id, struct rte_eth_conf *conf), (id, conf), -EIO)
WRAP(int, rte_eth_macaddr_get, (uint16_t id, struct rte_ether_addr *mac), (id, mac), -EIO)
WRAP(int, rte_eth_promiscuous_enable, (uint16_t id), (id), -EIO)
WRAP(int, rte_eth_dev_callback_register,
     (uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn run, void *argument),
     (id, event, run, argument), -ENOMEM)

/* Weak: steering_kit.c overrides it with a wrapper that can fail as well. */
__typeof__(rte_eth_dev_start) __real_rte_eth_dev_start, __wrap_rte_eth_dev_start;
__attribute__((weak)) int __wrap_rte_eth_dev_start(uint16_t id) {
	return faults_call_fails("rte_eth_dev_start") ? -EIO : __real_rte_eth_dev_start(id);
}
