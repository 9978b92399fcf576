/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto_bound.h"

#include <string.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>

#include "deck.h"
#include "middle.h"
#include "wire/docsis_mac.h"

/* As many as one round of the benchmark has in flight, so that caches are as warm. */
#define FRAMES 1024
#define MAX_ROUNDS 16384

static bool frame_prepare(struct instance *i, struct rte_crypto_op *op, uint16_t size,
			  unsigned modem) {
	const struct security_association *sa = &i->sg->modems[modem].security;
	uint16_t frame = (uint16_t)(DOCSIS_DOWN_HEADER_MAX + size + RTE_ETHER_CRC_LEN);
	struct rte_mbuf *m = rte_pktmbuf_alloc(i->packets);

	if (m == NULL)
		return false;
	memset(rte_pktmbuf_append(m, frame), 0x5a, frame);
	crypto_fill(op, m, DOCSIS_DOWN_HEADER_MAX, i->sessions[modem], sa->iv,
		    sa->cipher != CIPHER_NONE);
	return true;
}

static unsigned frames_prepare(struct instance *i, struct rte_crypto_op **ops,
			       const struct mix *mix) {
	struct random random = {.state = 1};
	struct deck deck;
	unsigned f;

	if (mix_deck(mix, &deck) != 0)
		return 0;
	for (f = 0; f < FRAMES; f++) {
		uint32_t size = mix->sizes[deck_draw(&deck, &random)];

		ops[f] = rte_crypto_op_alloc(i->crypto.ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		if (ops[f] == NULL)
			break;
		if (!frame_prepare(i, ops[f], (uint16_t)size, f % (unsigned)i->sg->modem_count)) {
			rte_crypto_op_free(ops[f]);
			break;
		}
	}
	deck_free(&deck);
	return f;
}

/* All frames once, in the pipeline's bursts. Returns the reference cycles it took. */
static uint64_t encrypt_all(struct instance *i, struct rte_crypto_op **ops) {
	struct rte_crypto_op *done[PIPELINE_BURST];
	uint64_t start = rte_rdtsc();
	unsigned given = 0, taken = 0;

	while (taken < FRAMES) {
		if (given < FRAMES)
			given += rte_cryptodev_enqueue_burst(
				i->crypto.device, 0, ops + given,
				(uint16_t)RTE_MIN(FRAMES - given, (unsigned)PIPELINE_BURST));
		taken += rte_cryptodev_dequeue_burst(i->crypto.device, 0, done, PIPELINE_BURST);
	}
	return rte_rdtsc() - start;
}

/* The middle half, as for the pipeline's batches. */
static double mean(uint64_t *rounds, unsigned count) {
	struct middle half = middle_half(rounds, count, sizeof(*rounds));
	uint64_t sum = 0;

	for (unsigned i = half.first; i < half.end; i++)
		sum += rounds[i];
	return count ? (double)sum / (half.end - half.first) / FRAMES : 0;
}

double crypto_bound(struct instance *i, const struct mix *mix, unsigned milliseconds) {
	static uint64_t rounds[MAX_ROUNDS];
	struct rte_crypto_op *ops[FRAMES];
	unsigned made = frames_prepare(i, ops, mix), count = 0;
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;

	while (made == FRAMES && count < MAX_ROUNDS && rte_rdtsc() < end) {
		rounds[count++] = encrypt_all(i, ops);
		for (unsigned f = 0; f < FRAMES; f++)
			ops[f]->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	}
	for (unsigned f = 0; f < made; f++) {
		rte_pktmbuf_free(ops[f]->sym->m_src);
		rte_crypto_op_free(ops[f]);
	}
	return mean(rounds, count);
}
