/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded library: makes ports of any driver behave like those of a NIC. A port keeps buffers of its pool
 * for reception, and the packets that it sent last, until it is closed. The library aborts the program if a
 * pool is freed while buffers of it are in use, or if a port is never closed.
 * CARD_FAILS="FUNCTION NUMBER": calls of the function fail from that number on, counted from 0.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define PORTS 16
#define RING 256

struct card {
	struct rte_mbuf *receive[RING];
	struct rte_mbuf *sent[RING];
	unsigned received, next_sent;
};

static struct card cards[PORTS];

static void *next_symbol(const char *name) {
	void *function = dlsym(RTLD_NEXT, name);

	if (function == NULL) {
		fprintf(stderr, "card: function %s not found\n", name);
		abort();
	}
	return function;
}

static void abort_with(const char *what) {
	fprintf(stderr, "card: %s\n", what);
	abort();
}

/* Counts calls. True if this one must fail. */
static bool must_fail(const char *name) {
	static int calls;
	const char *which = getenv("CARD_FAILS");
	size_t size = strlen(name);

	return which != NULL && strncmp(which, name, size) == 0 && which[size] == ' ' &&
	       calls++ >= atoi(which + size);
}

/* Callback for sent packets: keeps a reference to the last RING of them. */
static uint16_t keep_sent(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n,
			  void *arg) {
	struct card *c = arg;

	(void)port;
	(void)queue;
	for (uint16_t i = 0; i < n; i++) {
		for (struct rte_mbuf *m = pkts[i]; m != NULL; m = m->next)
			rte_mbuf_refcnt_update(m, 1);
		rte_pktmbuf_free(c->sent[c->next_sent]);
		c->sent[c->next_sent] = pkts[i];
		c->next_sent = (c->next_sent + 1) % RING;
	}
	return n;
}

int rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors, unsigned int socket,
			   const struct rte_eth_rxconf *conf, struct rte_mempool *pool) {
	int (*setup)(uint16_t, uint16_t, uint16_t, unsigned int, const struct rte_eth_rxconf *,
		     struct rte_mempool *) = next_symbol("rte_eth_rx_queue_setup");
	struct card *c = &cards[port];
	int ret = must_fail("rte_eth_rx_queue_setup")
			  ? -EIO
			  : setup(port, queue, descriptors, socket, conf, pool);

	while (ret == 0 && c->received < RING)
		c->receive[c->received++] = rte_pktmbuf_alloc(pool);
	return ret;
}

int rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors, unsigned int socket,
			   const struct rte_eth_txconf *conf) {
	int (*setup)(uint16_t, uint16_t, uint16_t, unsigned int, const struct rte_eth_txconf *) =
		next_symbol("rte_eth_tx_queue_setup");

	return must_fail("rte_eth_tx_queue_setup") ? -EIO
						   : setup(port, queue, descriptors, socket, conf);
}

int rte_eth_dev_start(uint16_t port) {
	int (*start)(uint16_t) = next_symbol("rte_eth_dev_start");

	if (must_fail("rte_eth_dev_start"))
		return -EIO;
	rte_eth_add_tx_callback(port, 0, keep_sent, &cards[port]);
	return start(port);
}

int rte_eth_dev_close(uint16_t port) {
	int (*close)(uint16_t) = next_symbol("rte_eth_dev_close");
	struct card *c = &cards[port];

	for (unsigned i = 0; i < RING; i++) {
		rte_pktmbuf_free(c->receive[i]);
		rte_pktmbuf_free(c->sent[i]);
	}
	memset(c, 0, sizeof(*c));
	return close(port);
}

void rte_mempool_free(struct rte_mempool *pool) {
	void (*release)(struct rte_mempool *) = next_symbol("rte_mempool_free");
	unsigned in_use = pool == NULL ? 0 : rte_mempool_in_use_count(pool);

	if (in_use > 0)
		abort_with("a pool is freed while its buffers are in use");
	release(pool);
}

int rte_cryptodev_start(uint8_t device) {
	int (*start)(uint8_t) = next_symbol("rte_cryptodev_start");

	return must_fail("rte_cryptodev_start") ? -EIO : start(device);
}

struct rte_mempool *rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
					     unsigned cache, unsigned area, int socket,
					     unsigned flags) {
	struct rte_mempool *(*create)(const char *, unsigned, unsigned, unsigned, unsigned, int,
				      unsigned) = next_symbol("rte_mempool_create_empty");

	if (must_fail("rte_mempool_create_empty")) {
		rte_errno = ENOMEM;
		return NULL;
	}
	return create(name, n, size, cache, area, socket, flags);
}

static __attribute__((destructor)) void at_exit(void) {
	for (unsigned p = 0; p < PORTS; p++) {
		if (cards[p].received > 0)
			abort_with("a port is open at exit");
	}
}
