/* SPDX-License-Identifier: BSD-3-Clause */
#include "faults.h"

#include "test.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_security.h>

#define SLOTS (1u << 18) /* pieces of memory, a power of two */

static long until = -1; /* calls before the one that fails; below 0: none does */
static long counted;
static bool counts;
static const char *failed;

static bool fails(const char *function) {
	if (!counts)
		return false;
	counted++;
	if (until < 0 || until-- > 0)
		return false;
	failed = function;
	return true;
}

void faults_begin(long n) {
	until = n;
	counted = 0;
	failed = NULL;
	counts = true;
}

const char *faults_end(void) {
	counts = false;
	until = -1;
	return failed;
}

long faults_counted(void) {
	return counted;
}

/* The pieces of memory that are held, by address: open addressing. */
static void *pieces[SLOTS];
static struct faults_memory memory;
static char gone; /* stands where one was */

static size_t slot_of(const void *p) {
	return (size_t)(((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 46) & (SLOTS - 1);
}

static void *noted(void *p) {
	size_t slot = slot_of(p);

	if (p == NULL)
		return NULL;
	while (pieces[slot] != NULL && pieces[slot] != &gone)
		slot = (slot + 1) & (SLOTS - 1);
	pieces[slot] = p;
	memory.pieces++;
	memory.bytes += malloc_usable_size(p);
	assert_true(memory.pieces < SLOTS / 2);
	return p;
}

/* What the C library allocated by itself is not known here. */
static void forgotten(void *p) {
	size_t slot = slot_of(p);

	while (p != NULL && pieces[slot] != p && pieces[slot] != NULL)
		slot = (slot + 1) & (SLOTS - 1);
	if (p == NULL || pieces[slot] != p)
		return;
	pieces[slot] = &gone;
	memory.pieces--;
	memory.bytes -= malloc_usable_size(p);
}

struct faults_memory faults_memory(void) {
	return memory;
}

/* A wrapped call that returns `none` where it fails; what it allocates is `note`d. */
#define WRAP(type, function, params, args, none)                           \
	type __real_##function params;                                     \
	type __wrap_##function params;                                     \
	type __wrap_##function params {                                    \
		return fails(#function) ? (none) : __real_##function args; \
	}
#define WRAP_MEMORY(function, params, args)                                     \
	void *__real_##function params;                                         \
	void *__wrap_##function params;                                         \
	void *__wrap_##function params {                                        \
		return fails(#function) ? NULL : noted(__real_##function args); \
	}

WRAP_MEMORY(malloc, (size_t size), (size))
WRAP_MEMORY(calloc, (size_t count, size_t size), (count, size))
WRAP_MEMORY(aligned_alloc, (size_t align, size_t size), (align, size))

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text) {
	return fails("strdup") ? NULL : noted(__real_strdup(text));
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p) {
	forgotten(p);
	__real_free(p);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size) {
	if (fails("realloc"))
		return NULL;
	forgotten(p);
	return noted(__real_realloc(p, size));
}

void *__real_reallocarray(void *p, size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size) {
	if (fails("reallocarray"))
		return NULL;
	forgotten(p);
	return noted(__real_reallocarray(p, count, size));
}

WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL)
WRAP(FILE *, fmemopen, (void *text, size_t size, const char *mode), (text, size, mode), NULL)
WRAP(int, eventfd, (unsigned value, int flags), (value, flags), -1)
WRAP(int, epoll_create1, (int flags), (flags), -1)
WRAP(void *, rte_malloc, (const char *name, size_t size, unsigned align), (name, size, align), NULL)
WRAP(void *, rte_zmalloc, (const char *name, size_t size, unsigned align), (name, size, align),
     NULL)
WRAP(void *, rte_malloc_socket, (const char *name, size_t size, unsigned align, int socket),
     (name, size, align, socket), NULL)
WRAP(void *, rte_zmalloc_socket, (const char *name, size_t size, unsigned align, int socket),
     (name, size, align, socket), NULL)
WRAP(struct rte_hash *, rte_hash_create, (const struct rte_hash_parameters *p), (p), NULL)
WRAP(struct rte_ring *, rte_ring_create,
     (const char *name, unsigned count, int socket, unsigned flags), (name, count, socket, flags),
     NULL)
WRAP(struct rte_mempool *, rte_mempool_create_empty,
     (const char *name, unsigned n, unsigned size, unsigned cache, unsigned private_size,
      int socket, unsigned flags),
     (name, n, size, cache, private_size, socket, flags), NULL)
WRAP(struct rte_mempool *, rte_cryptodev_sym_session_pool_create,
     (const char *name, uint32_t n, uint32_t size, uint32_t cache, uint16_t private_size,
      int socket),
     (name, n, size, cache, private_size, socket), NULL)
WRAP(struct rte_mempool *, rte_crypto_op_pool_create,
     (const char *name, enum rte_crypto_op_type type, unsigned n, unsigned cache,
      uint16_t private_size, int socket),
     (name, type, n, cache, private_size, socket), NULL)
WRAP(void *, rte_cryptodev_sym_session_create,
     (uint8_t id, struct rte_crypto_sym_xform *xforms, struct rte_mempool *pool),
     (id, xforms, pool), NULL)
WRAP(void *, rte_security_session_create,
     (struct rte_security_ctx * context, struct rte_security_session_conf *conf,
      struct rte_mempool *pool),
     (context, conf, pool), NULL)
WRAP(int, rte_cryptodev_configure, (uint8_t id, struct rte_cryptodev_config *config), (id, config),
     -EIO)
WRAP(int, rte_cryptodev_queue_pair_setup,
     (uint8_t id, uint16_t pair, const struct rte_cryptodev_qp_conf *conf, int socket),
     (id, pair, conf, socket), -EIO)
WRAP(int, rte_cryptodev_start, (uint8_t id), (id), -EIO)
WRAP(int, rte_dev_probe, (const char *text), (text), -ENODEV)
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
WRAP(int, rte_eth_dev_start, (uint16_t id), (id), -EIO)

/* Once a change takes effect its keys are put into tables that have space for them: that was seen to before. */
static unsigned taking;

#define STEP(function)                            \
	bool __real_##function(void *change);     \
	bool __wrap_##function(void *change);     \
	bool __wrap_##function(void *change) {    \
		bool done;                        \
                                                  \
		taking++;                         \
		done = __real_##function(change); \
		taking--;                         \
		return done;                      \
	}

STEP(ds_change_upper)
STEP(us_change_take)
STEP(us_change_passed)
STEP(share_change_come)
STEP(share_change_go)
STEP(share_forget)

int __real_rte_hash_add_key_data(const struct rte_hash *h, const void *key, void *data);
int __wrap_rte_hash_add_key_data(const struct rte_hash *h, const void *key, void *data);
int __wrap_rte_hash_add_key_data(const struct rte_hash *h, const void *key, void *data) {
	if (taking == 0 && fails("rte_hash_add_key_data"))
		return -ENOSPC;
	return __real_rte_hash_add_key_data(h, key, data);
}

long faults_step(long calls, long about) {
	const char *wish = getenv("VCMTS_FAULTS");

	if (wish != NULL && strcmp(wish, "all") == 0)
		return 1;
	return calls / about > 1 ? calls / about : 1;
}
