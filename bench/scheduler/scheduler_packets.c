/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_packets.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_ether.h>

#define MIX "imix"
#define MAX_SIZE 1514 /* bytes without CRC, as all sizes of a mix */

/* Sets `mix` to MIX. */
static void mix_set(struct mix *mix) {
	char error[160];

	if (mix_parse(MIX, MAX_SIZE, mix, error, sizeof(error)) != 0)
		abort(); /* cannot fail, as the mix is a constant */
}

double packets_mean(void) {
	struct mix mix;

	mix_set(&mix);
	return mix_mean(&mix) + RTE_ETHER_CRC_LEN;
}

/* Draws size and flow, writes them into the mbuf and appends it to the rotation. */
static void put(struct packets *p, struct rte_mbuf *m) {
	uint32_t size = p->mix.sizes[deck_draw(&p->deck, &p->random)] + RTE_ETHER_CRC_LEN;

	m->pkt_len = size;
	p->subject->mark(p->state, m, random_below(&p->random, p->flows));
	p->sizes[p->tail % PACKETS_WAITING] = (uint16_t)size;
	p->waiting[p->tail++ % PACKETS_WAITING] = m;
}

/* Mbufs of a new pool are contiguous, unlike those of a running system. */
static void shuffle(struct rte_mbuf **mbufs, unsigned n, struct random *random) {
	for (unsigned i = n - 1; i > 0; i--) {
		unsigned other = random_below(random, i + 1);
		struct rte_mbuf *m = mbufs[i];

		mbufs[i] = mbufs[other];
		mbufs[other] = m;
	}
}

struct packets *packets_create(struct rte_mempool *pool, const struct scheduler_subject *subject,
			       void *state, uint32_t flows, uint64_t seed) {
	struct packets *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		fprintf(stderr, "no memory for packets\n");
		return NULL;
	}
	*p = (struct packets){.pool = pool, .subject = subject, .state = state, .flows = flows};
	p->random.state = seed;
	mix_set(&p->mix);
	if (mix_deck(&p->mix, &p->deck) != 0 ||
	    rte_pktmbuf_alloc_bulk(pool, p->waiting, PACKETS_WAITING) != 0) {
		fprintf(stderr, "no memory for packets\n");
		deck_free(&p->deck);
		free(p);
		return NULL;
	}
	shuffle(p->waiting, PACKETS_WAITING, &p->random);
	for (unsigned i = 0; i < PACKETS_WAITING; i++)
		put(p, p->waiting[i]);
	return p;
}

void packets_free(struct packets *p) {
	if (p == NULL)
		return;
	while (p->head < p->tail)
		rte_pktmbuf_free(p->waiting[p->head++ % PACKETS_WAITING]);
	deck_free(&p->deck);
	free(p);
}

uint64_t packets_next(struct packets *p, struct rte_mbuf **out, unsigned n) {
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		bytes += p->sizes[p->head % PACKETS_WAITING];
		out[i] = p->waiting[p->head++ % PACKETS_WAITING];
	}
	return bytes;
}

uint64_t packets_recycle(struct packets *p, struct rte_mbuf **packets, unsigned n) {
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		bytes += packets[i]->pkt_len;
		if (p->tail - p->head < PACKETS_WAITING)
			put(p, packets[i]);
		else
			rte_pktmbuf_free(packets[i]);
	}
	return bytes;
}

int packets_fill(struct packets *p) {
	while (p->tail - p->head < PACKETS_WAITING) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);

		if (m == NULL)
			return -1;
		put(p, m);
	}
	return 0;
}
