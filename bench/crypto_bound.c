/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto_bound.h"

#include <string.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>

#include "core/deck.h"
#include "middle.h"
#include "wire/docsis_mac.h"

/* As many as the benchmark has in flight, so that caches are as warm: a batch of the downstream, less
 * than two bursts of the upstream, whose frames have just been copied. */
#define FRAMES_DOWN 1024
#define FRAMES_UP 100
#define FRAMES_MAX FRAMES_DOWN
#define MAX_ROUNDS 65536

struct bound {
	struct server *server;
	const struct served_group *group; /* its only one */
	enum crypto_direction direction;
	uint16_t queue;
	unsigned frames;
	unsigned count; /* of the operations: frames that the crypto device sees */
	struct rte_crypto_op *ops[FRAMES_MAX];
};

/* What stands before the PDU where the crypto device is given it. */
static uint16_t header_size(const struct bound *b) {
	return b->direction == CRYPTO_DOWNLINK ? DOCSIS_DOWN_HEADER_MAX : 0;
}

static void op_fill(const struct bound *b, struct rte_crypto_op *op, struct rte_mbuf *m,
		    unsigned modem) {
	const struct security_association *sa = &b->group->sg->modems[modem].security;
	bool down = b->direction == CRYPTO_DOWNLINK;

	crypto_fill(op, m, header_size(b),
		    down ? b->group->sessions[modem] : b->group->up_sessions[2 * modem], sa->iv,
		    sa->cipher != CIPHER_NONE);
	if (!down && !b->group->sg->upstream.verify_crc)
		op->sym->auth.data.length = 0;
}

/* Returns false where buffers are short. */
static bool frame_prepare(struct bound *b, uint16_t size, unsigned modem) {
	bool down = b->direction == CRYPTO_DOWNLINK;
	uint16_t frame = (uint16_t)(header_size(b) + size + RTE_ETHER_CRC_LEN);
	struct rte_crypto_op *op;
	struct rte_mbuf *m;

	if (!down && b->group->sg->modems[modem].security.cipher == CIPHER_NONE)
		return true; /* passes the device by */
	op = rte_crypto_op_alloc(b->server->crypto.ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	if (op == NULL)
		return false;
	m = rte_pktmbuf_alloc(down ? b->server->pools.packets : b->server->pools.frames);
	if (m == NULL) {
		rte_crypto_op_free(op);
		return false;
	}
	memset(rte_pktmbuf_append(m, frame), 0x5a, frame);
	op_fill(b, op, m, modem);
	b->ops[b->count++] = op;
	return true;
}

static bool frames_prepare(struct bound *b, const struct mix *mix) {
	struct random random = {.state = 1};
	struct deck deck;
	unsigned f;

	if (mix_deck(mix, &deck) != 0)
		return false;
	for (f = 0; f < b->frames; f++) {
		uint32_t size = mix->sizes[deck_draw(&deck, &random)];

		if (!frame_prepare(b, (uint16_t)size, f % b->group->live.modems))
			break;
	}
	deck_free(&deck);
	return f == b->frames;
}

/* All frames once, in the pipeline's bursts. Returns the reference cycles it took. */
static uint64_t handle_all(struct bound *b) {
	struct rte_crypto_op *done[PIPELINE_BURST];
	uint64_t start = rte_rdtsc();
	unsigned given = 0, taken = 0;

	while (taken < b->count) {
		if (given < b->count)
			given += rte_cryptodev_enqueue_burst(
				b->server->crypto.device, b->queue, b->ops + given,
				(uint16_t)RTE_MIN(b->count - given, (unsigned)PIPELINE_BURST));
		taken += rte_cryptodev_dequeue_burst(b->server->crypto.device, b->queue, done,
						     PIPELINE_BURST);
	}
	return rte_rdtsc() - start;
}

/* The middle half, as for the pipeline's batches. */
static double mean(uint64_t *rounds, unsigned count, unsigned frames) {
	struct middle half = middle_half(rounds, count, sizeof(*rounds));
	uint64_t sum = 0;

	for (unsigned i = half.first; i < half.end; i++)
		sum += rounds[i];
	return count ? (double)sum / (half.end - half.first) / frames : -1;
}

double crypto_bound(struct server *s, enum crypto_direction direction, const struct mix *mix,
		    unsigned milliseconds) {
	static uint64_t rounds[MAX_ROUNDS];
	struct bound b = {
		.server = s,
		.group = &s->groups[0],
		.direction = direction,
		.queue = direction == CRYPTO_DOWNLINK ? 0 : s->groups[0].upstream->r.crypto_queue,
		.frames = direction == CRYPTO_DOWNLINK ? FRAMES_DOWN : FRAMES_UP,
	};
	bool ready = frames_prepare(&b, mix);
	unsigned count = 0;
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;

	while (ready && count < MAX_ROUNDS && rte_rdtsc() < end) {
		rounds[count++] = handle_all(&b);
		for (unsigned f = 0; f < b.count; f++)
			b.ops[f]->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	}
	for (unsigned f = 0; f < b.count; f++) {
		rte_pktmbuf_free(b.ops[f]->sym->m_src);
		rte_crypto_op_free(b.ops[f]);
	}
	return mean(rounds, count, b.frames);
}
