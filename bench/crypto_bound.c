/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto_bound.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_security.h>

#include "deck.h"
#include "wire/docsis_mac.h"

/* As many as one round of the benchmark has in flight, so that caches are as warm. */
#define FRAMES 1024
#define MAX_ROUNDS 16384

static bool frame_prepare(struct instance *i, struct rte_crypto_op *op, uint16_t size,
			  unsigned modem) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(i->packets);
	uint16_t pdu = (uint16_t)(size + RTE_ETHER_CRC_LEN);
	uint8_t *data;

	if (m == NULL)
		return false;
	data = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(DOCSIS_DOWN_HEADER_MAX + pdu));
	memset(data, 0x5a, DOCSIS_DOWN_HEADER_MAX + pdu);
	rte_security_attach_session(op, i->sessions[modem]);
	op->sym->m_src = m;
	op->sym->m_dst = NULL;
	op->sym->auth.data.offset = DOCSIS_DOWN_HEADER_MAX;
	op->sym->auth.data.length = size;
	op->sym->cipher.data.offset = DOCSIS_DOWN_HEADER_MAX + DOCSIS_CLEAR_SIZE;
	op->sym->cipher.data.length = (uint32_t)pdu - DOCSIS_CLEAR_SIZE;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, DOCSIS_IV_OFFSET),
	       i->sg->modems[modem].security.iv, DOCSIS_IV_SIZE);
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
			given += rte_cryptodev_enqueue_burst(i->crypto.device, 0, ops + given,
							     PIPELINE_BURST);
		taken += rte_cryptodev_dequeue_burst(i->crypto.device, 0, done, PIPELINE_BURST);
	}
	return rte_rdtsc() - start;
}

static int by_value(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The middle half, as for the pipeline's batches. */
static double middle_half(uint64_t *rounds, unsigned count) {
	uint64_t sum = 0;

	qsort(rounds, count, sizeof(*rounds), by_value);
	for (unsigned i = count / 4; i < count - count / 4; i++)
		sum += rounds[i];
	return count ? (double)sum / (double)(count - count / 4 * 2) / FRAMES : 0;
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
	return middle_half(rounds, count);
}
