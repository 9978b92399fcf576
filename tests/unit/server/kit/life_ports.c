/* SPDX-License-Identifier: BSD-3-Clause */
/* The wires of a life_bench. */
#include <stdio.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "platform/port.h"

#include "life_bench.h"

#include "test.h"

#define DEPTH 1024

const struct life_card *life_card;

static void pair_open(const char *side, unsigned p, struct rte_mempool *pool, uint16_t pair[2]) {
	char name[32];

	snprintf(name, sizeof(name), "life_%s%u", side, p);
	if (life_card != NULL && p == LIFE_SHARED) {
		life_card->pair(name, pool, DEPTH, pair);
		return;
	}
	assert_int_equal(port_pair(name, pool, DEPTH, pair), 0);
	assert_int_equal(rte_eth_dev_stop(pair[0]), 0);
}

void life_ports_open(struct life_bench *b) {
	for (unsigned p = 0; p < LIFE_PAIRS; p++) {
		uint16_t pair[2];

		pair_open("net", p, b->pool, pair);
		b->network[p] = pair[1];
		pair_open("rphy", p, b->pool, pair);
		b->rphy[p] = pair[1];
	}
}

static void ring_end(const char *side, unsigned pair, unsigned end) {
	char name[48];

	snprintf(name, sizeof(name), "life_%s%u", side, pair);
	if (life_card != NULL && pair == LIFE_SHARED) {
		life_card->end(name);
		return;
	}
	snprintf(name, sizeof(name), "life_%s%u_%u", side, pair, end);
	rte_ring_free(rte_ring_lookup(name));
	snprintf(name, sizeof(name), "net_ring_life_%s%u_%u", side, pair, end);
	port_unplug(name);
}

void life_ports_close(struct life_bench *b) {
	for (unsigned p = 0; p < LIFE_PAIRS; p++) {
		port_close(b->network[p]);
		port_close(b->rphy[p]);
		for (unsigned end = 0; end < 2; end++) {
			ring_end("net", p, end);
			ring_end("rphy", p, end);
		}
	}
}

static void end_plug(const char *side, unsigned pair) {
	struct rte_ring *rings[2];
	char name[48];
	uint16_t id;

	if (life_card != NULL && pair == LIFE_SHARED)
		return;
	for (unsigned end = 0; end < 2; end++) {
		snprintf(name, sizeof(name), "life_%s%u_%u", side, pair, end);
		rings[end] = rte_ring_lookup(name);
		assert_non_null(rings[end]);
	}
	snprintf(name, sizeof(name), "net_ring_life_%s%u_0", side, pair);
	if (rte_eth_dev_get_port_by_name(name, &id) == 0)
		return;
	snprintf(name, sizeof(name), "life_%s%u_0", side, pair);
	assert_true(rte_eth_from_rings(name, &rings[0], 1, &rings[1], 1, 0) >= 0);
}

void life_bench_plug(unsigned pair) {
	end_plug("net", pair);
	end_plug("rphy", pair);
}
