/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto_bound.h"

#include <string.h>

#include <rte_cycles.h>

#include "middle.h"
#include "pipeline.h"
#include "random/deck.h"
#include "wire/docsis_mac.h"

/* As many frames as the pipeline has in its caches when it calls the provider. Upstream these are
 * less than two CRYPTO_BURST, as reassembly has just copied them. */
#define FRAMES_DOWN BENCH_BATCH
#define FRAMES_UP 100
#define FRAMES_MAX FRAMES_DOWN
#define MAX_ROUNDS 65536

/* A measurement: frames that are prepared once, and processed in place in each round. Upstream their CRCs are
 * wrong. */
struct bound {
	struct server *server;
	const struct served_group *group; /* the server has no other */
	enum crypto_direction direction;
	struct crypto_queue *queue;
	unsigned frames; /* packets of the mix in a round */
	/* of these, passed to the provider: used elements of `list` and `keys` */
	unsigned count;
	struct crypto_frame list[FRAMES_MAX];
	struct crypto_key keys[FRAMES_MAX];
};

/* Bytes before the PDU. Upstream the MAC header is already removed. */
static uint16_t header_size(const struct bound *b) {
	return b->direction == CRYPTO_DOWNLINK ? DOCSIS_DOWN_HEADER_MAX : 0;
}

/* Adds a frame with the operations that the pipeline requests. */
static void frame_fill(struct bound *b, struct rte_mbuf *m, unsigned modem) {
	const struct security_association *sa = &b->group->sg->modems[modem].security;
	bool down = b->direction == CRYPTO_DOWNLINK;
	struct crypto_key *key = &b->keys[b->count];
	struct crypto_frame *f = &b->list[b->count++];

	*key = (struct crypto_key){
		.schedule = down ? b->group->crypto.schedules[modem]
				 : b->group->crypto.up_schedules[2 * modem],
		.cipher = (uint8_t)sa->cipher,
	};
	memcpy(key->iv, sa->iv, sizeof(key->iv));
	*f = (struct crypto_frame){
		.m = m,
		.key = key,
		.pdu = header_size(b),
		.clear = (uint16_t)(header_size(b) + DOCSIS_CLEAR_SIZE),
		.parts = sa->cipher == CIPHER_NONE ? 0 : CRYPTO_CIPHER,
	};
	if (down ? b->group->sg->crypto.generate_crc : b->group->sg->upstream.verify_crc)
		f->parts |= CRYPTO_CRC;
}

/* Adds a frame with a PDU of `size` bytes, to which the CRC is added. Returns false if no mbuf is free. */
static bool frame_prepare(struct bound *b, uint16_t size, unsigned modem) {
	bool down = b->direction == CRYPTO_DOWNLINK;
	uint16_t frame = (uint16_t)(header_size(b) + size + RTE_ETHER_CRC_LEN);
	struct rte_mbuf *m;

	if (!down && b->group->sg->modems[modem].security.cipher == CIPHER_NONE)
		return true; /* 0 cycles: the pipeline checks the CRC of clear frames itself */
	m = rte_pktmbuf_alloc(down ? b->server->pools.packets : b->server->pools.frames);
	if (m == NULL)
		return false;
	memset(rte_pktmbuf_append(m, frame), 0x5a, frame);
	frame_fill(b, m, modem);
	return true;
}

/* Frame f has the key of modem f modulo all. Returns false if mbufs or memory are short. */
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

/* Collects up to a burst; the frames stay in `list`. */
static void collect(struct bound *b) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures;

	crypto_collect(b->queue, good, failed, &failures);
}

/* Processes all frames once, in the pipeline's bursts. Frames that wait in the provider for others come out
 * with a later burst. Returns the elapsed reference cycles. */
static uint64_t process_all(struct bound *b) {
	uint64_t start = rte_rdtsc();

	for (unsigned given = 0; given < b->count;) {
		given += crypto_submit(
			b->queue, b->list + given,
			(uint16_t)RTE_MIN(b->count - given, (unsigned)PIPELINE_BURST));
		collect(b);
	}
	return rte_rdtsc() - start;
}

/* Reference cycles per packet: mean of the middle half, as for the pipeline's batches. -1 without rounds. */
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
	static struct bound b;
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;
	unsigned count = 0;
	bool ready;

	b = (struct bound){
		.server = s,
		.group = &s->groups[0],
		.direction = direction,
		.queue = crypto_queue_open(s->groups[0].crypto.provider, direction),
		.frames = direction == CRYPTO_DOWNLINK ? FRAMES_DOWN : FRAMES_UP,
	};
	if (b.queue == NULL)
		return -1;
	ready = frames_prepare(&b, mix);
	/* at least one round, even if the thread was descheduled until `end` */
	while (ready && count < MAX_ROUNDS && (count == 0 || rte_rdtsc() < end))
		rounds[count++] = process_all(&b);
	while (b.queue->pending > 0)
		collect(&b);
	for (unsigned f = 0; f < b.count; f++)
		rte_pktmbuf_free(b.list[f].m);
	crypto_queue_close(b.queue);
	return mean(rounds, count, b.frames);
}
