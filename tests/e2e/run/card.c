/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program, gives ports of any driver what those of a card have: a port holds buffers of its
 * pool for what will come, and the packets that it sent last, until it is closed. A pool of which a buffer
 * is out when it is freed ends the program by abort(), and so does a port that is never closed.
 * CARD_FAILS="FUNCTION NUMBER" lets the calls of a function fail from that one on.
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
	unsigned received, last;
};

static struct card cards[PORTS];

static void *real(const char *name) {
	void *function = dlsym(RTLD_NEXT, name);

	if (function == NULL) {
		fprintf(stderr, "card: no %s\n", name);
		abort();
	}
	return function;
}

static void broken(const char *what) {
	fprintf(stderr, "card: %s\n", what);
	abort();
}

/* Whether this call is to fail. */
static bool fails(const char *name) {
	static int calls;
	const char *which = getenv("CARD_FAILS");
	size_t size = strlen(name);

	return which != NULL && strncmp(which, name, size) == 0 && which[size] == ' ' &&
	       calls++ >= atoi(which + size);
}

/* What the port sends stays with it as well. */
static uint16_t hold(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg) {
	struct card *c = arg;

	(void)port;
	(void)queue;
	for (uint16_t i = 0; i < n; i++) {
		for (struct rte_mbuf *m = pkts[i]; m != NULL; m = m->next)
			rte_mbuf_refcnt_update(m, 1);
		rte_pktmbuf_free(c->sent[c->last]);
		c->sent[c->last] = pkts[i];
		c->last = (c->last + 1) % RING;
	}
	return n;
}

int rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t places, unsigned int socket,
			   const struct rte_eth_rxconf *conf, struct rte_mempool *pool) {
	int (*setup)(uint16_t, uint16_t, uint16_t, unsigned int, const struct rte_eth_rxconf *,
		     struct rte_mempool *) = real("rte_eth_rx_queue_setup");
	struct card *c = &cards[port];
	int ret = fails("rte_eth_rx_queue_setup") ? -EIO
						  : setup(port, queue, places, socket, conf, pool);

	while (ret == 0 && c->received < RING)
		c->receive[c->received++] = rte_pktmbuf_alloc(pool);
	return ret;
}

int rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t places, unsigned int socket,
			   const struct rte_eth_txconf *conf) {
	int (*setup)(uint16_t, uint16_t, uint16_t, unsigned int, const struct rte_eth_txconf *) =
		real("rte_eth_tx_queue_setup");

	return fails("rte_eth_tx_queue_setup") ? -EIO : setup(port, queue, places, socket, conf);
}

int rte_eth_dev_start(uint16_t port) {
	int (*start)(uint16_t) = real("rte_eth_dev_start");

	if (fails("rte_eth_dev_start"))
		return -EIO;
	rte_eth_add_tx_callback(port, 0, hold, &cards[port]);
	return start(port);
}

int rte_eth_dev_close(uint16_t port) {
	int (*close)(uint16_t) = real("rte_eth_dev_close");
	struct card *c = &cards[port];

	for (unsigned i = 0; i < RING; i++) {
		rte_pktmbuf_free(c->receive[i]);
		rte_pktmbuf_free(c->sent[i]);
	}
	memset(c, 0, sizeof(*c));
	return close(port);
}

void rte_mempool_free(struct rte_mempool *pool) {
	void (*release)(struct rte_mempool *) = real("rte_mempool_free");
	unsigned out = pool == NULL ? 0 : rte_mempool_in_use_count(pool);

	if (out > 0)
		broken("a pool is freed, and buffers of it are out");
	release(pool);
}

int rte_cryptodev_start(uint8_t device) {
	int (*start)(uint8_t) = real("rte_cryptodev_start");

	return fails("rte_cryptodev_start") ? -EIO : start(device);
}

struct rte_mempool *rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
					     unsigned cache, unsigned area, int socket,
					     unsigned flags) {
	struct rte_mempool *(*create)(const char *, unsigned, unsigned, unsigned, unsigned, int,
				      unsigned) = real("rte_mempool_create_empty");

	if (fails("rte_mempool_create_empty")) {
		rte_errno = ENOMEM;
		return NULL;
	}
	return create(name, n, size, cache, area, socket, flags);
}

static __attribute__((destructor)) void at_exit(void) {
	for (unsigned p = 0; p < PORTS; p++) {
		if (cards[p].received > 0)
			broken("a port is open at the end");
	}
}
