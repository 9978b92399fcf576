/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of DPDK that fail. */
#define ALLOW_EXPERIMENTAL_API /* some of them are, in DPDK 22.11 */
#include "faults_wrap.h"

#include <errno.h>

#include <rte_acl.h>
#include <rte_crypto.h>
#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_hash.h>
#include <rte_kvargs.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_security.h>

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
WRAP(void *, rte_cryptodev_sym_session_create,
     (uint8_t id, struct rte_crypto_sym_xform *xforms, struct rte_mempool *pool),
     (id, xforms, pool), NULL)
WRAP(void *, rte_security_session_create,
     (void *context, struct rte_security_session_conf *conf, struct rte_mempool *pool),
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

/* rte_crypto_op_bulk_alloc() is inline: where it is to fail, its pool is empty. */
__typeof__(rte_crypto_op_pool_create) __real_rte_crypto_op_pool_create,
	__wrap_rte_crypto_op_pool_create;
struct rte_mempool *__wrap_rte_crypto_op_pool_create(const char *name, enum rte_crypto_op_type type,
						     unsigned n, unsigned cache,
						     uint16_t private_size, int socket) {
	struct rte_mempool *pool;
	void *op;

	if (faults_fail("rte_crypto_op_pool_create"))
		return NULL;
	pool = __real_rte_crypto_op_pool_create(name, type, n, cache, private_size, socket);
	if (pool != NULL && faults_fail("rte_crypto_op_bulk_alloc")) {
		while (rte_mempool_get(pool, &op) == 0)
			;
	}
	return pool;
}

WRAP(struct rte_mempool *, rte_pktmbuf_pool_create,
     (const char *name, unsigned n, unsigned cache, uint16_t private_size, uint16_t room,
      int socket),
     (name, n, cache, private_size, room, socket), NULL)
WRAP(int, rte_mempool_populate_default, (struct rte_mempool * pool), (pool), -ENOMEM)
WRAP(int, rte_mempool_populate_iova,
     (struct rte_mempool * pool, char *at, rte_iova_t iova, size_t size,
      rte_mempool_memchunk_free_cb_t *free, void *opaque),
     (pool, at, iova, size, free, opaque), -ENOMEM)
WRAP(int, rte_mempool_set_ops_byname, (struct rte_mempool * pool, const char *name, void *config),
     (pool, name, config), -EINVAL)
WRAP(struct rte_ring *, rte_ring_create_elem,
     (const char *name, unsigned size, unsigned count, int socket, unsigned flags),
     (name, size, count, socket, flags), NULL)
WRAP(struct rte_acl_ctx *, rte_acl_create, (const struct rte_acl_param *p), (p), NULL)
WRAP(int, rte_acl_add_rules, (struct rte_acl_ctx * c, const struct rte_acl_rule *rules, uint32_t n),
     (c, rules, n), -ENOMEM)
WRAP(int, rte_acl_build, (struct rte_acl_ctx * c, const struct rte_acl_config *config), (c, config),
     -ENOMEM)
WRAP(int, rte_malloc_heap_memory_add,
     (const char *heap, void *at, size_t size, rte_iova_t addresses[], unsigned pages, size_t page),
     (heap, at, size, addresses, pages, page), -1)
WRAP(void *, rte_cryptodev_get_sec_ctx, (uint8_t id), (id), NULL)
WRAP(const struct rte_security_capability *, rte_security_capability_get,
     (void *context, struct rte_security_capability_idx *which), (context, which), NULL)
WRAP(const struct rte_cryptodev_symmetric_capability *, rte_cryptodev_sym_capability_get,
     (uint8_t id, const struct rte_cryptodev_sym_capability_idx *which), (id, which), NULL)
WRAP(struct rte_kvargs *, rte_kvargs_parse, (const char *text, const char *const keys[]),
     (text, keys), NULL)
WRAP(int, rte_eth_dev_set_mtu, (uint16_t id, uint16_t mtu), (id, mtu), -EIO)
WRAP(int, rte_eth_dev_adjust_nb_rx_tx_desc, (uint16_t id, uint16_t *rx, uint16_t *tx), (id, rx, tx),
     -EINVAL)
WRAP(int, rte_eth_dev_conf_get, (uint16_t id, struct rte_eth_conf *conf), (id, conf), -EIO)
WRAP(int, rte_eth_macaddr_get, (uint16_t id, struct rte_ether_addr *mac), (id, mac), -EIO)
WRAP(int, rte_eth_promiscuous_enable, (uint16_t id), (id), -EIO)
WRAP(int, rte_eth_dev_callback_register,
     (uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn run, void *argument),
     (id, event, run, argument), -ENOMEM)
WRAP(const struct rte_eth_rxtx_callback *, rte_eth_add_rx_callback,
     (uint16_t id, uint16_t queue, rte_rx_callback_fn run, void *argument),
     (id, queue, run, argument), NULL)
WRAP(int, rte_eth_dev_rx_intr_ctl_q, (uint16_t id, uint16_t queue, int epoll, int what, void *data),
     (id, queue, epoll, what, data), -EIO)

/* Cards of tests have one of their own, which fails as well (steering_bench.c). */
__typeof__(rte_eth_dev_start) __real_rte_eth_dev_start, __wrap_rte_eth_dev_start;
__attribute__((weak)) int __wrap_rte_eth_dev_start(uint16_t id) {
	return faults_fail("rte_eth_dev_start") ? -EIO : __real_rte_eth_dev_start(id);
}
