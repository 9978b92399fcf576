/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of packets per DSID, which stays empty while packets arrive in order. */
#include "proof/resequencer.h"

#include <stdlib.h>
#include <string.h>

struct buffered_packet {
	struct arrived packet;
	bool used;
};

int resequencers_create(struct resequencers *r, uint32_t count, uint64_t tsc_hz, deliver_fn deliver,
			void *ctx) {
	*r = (struct resequencers){
		.all = calloc(count + 1, sizeof(*r->all)),
		.gaps = calloc(count + 1, sizeof(*r->gaps)),
		.count = count,
		.timeout = tsc_hz * RESEQUENCER_TIMER_MS / 1000,
		.deliver = deliver,
		.ctx = ctx,
	};
	if (r->all != NULL && r->gaps != NULL)
		return 0;
	resequencers_free(r);
	return -1;
}

void resequencers_free(struct resequencers *r) {
	for (uint32_t i = 0; r->all != NULL && i < r->count; i++)
		free(r->all[i].ring);
	free(r->all);
	free(r->gaps);
	*r = (struct resequencers){0};
}

void resequencers_restart(struct resequencers *r) {
	for (uint32_t i = 0; i < r->count; i++) {
		r->all[i] = (struct resequencer){.ring = r->all[i].ring};
	}
	r->resequenced = r->given_up = r->counted_late = 0;
	r->deepest = 0;
}

static struct buffered_packet *slot(struct resequencer *q, uint16_t number) {
	return &q->ring[number % RESEQUENCER_DEPTH];
}

static void remember(struct resequencer *q, uint16_t number, bool used) {
	uint64_t bit = 1ull << number % 64;
	uint64_t *word = &q->used[number % RESEQUENCER_DEPTH / 64];

	*word = used ? *word | bit : *word & ~bit;
}

static bool was_used(const struct resequencer *q, uint16_t number) {
	uint16_t behind = (uint16_t)(q->next - number);

	/* A number before the window is too old to be late: the CMTS has used it again. */
	return behind > RESEQUENCER_DEPTH ||
	       (q->used[number % RESEQUENCER_DEPTH / 64] >> number % 64 & 1);
}

/* Advances past the next number, which was received or is given up. */
static void resequencer_advance(struct resequencers *r, struct resequencer *q, bool received) {
	remember(q, q->next++, received);
	q->passed++;
	r->given_up += !received;
}

static void resequencer_deliver(struct resequencers *r, const struct arrived *packet,
				uint64_t now) {
	if (packet->valid)
		r->deliver(r->ctx, packet, now);
}

static void timer_start(struct resequencers *r, struct resequencer *q, uint64_t now) {
	q->since = now;
	q->gap_index = r->gap_count;
	r->gaps[r->gap_count++] = (uint32_t)(q - r->all);
}

static void timer_stop(struct resequencers *r, struct resequencer *q) {
	uint32_t last = r->gaps[--r->gap_count];

	r->gaps[q->gap_index] = last;
	r->all[last].gap_index = q->gap_index;
}

/* Delivers the packets that are next in order. The timer of a gap after them starts now. */
static void deliver_next(struct resequencers *r, struct resequencer *q, uint64_t now) {
	while (q->buffered > 0 && slot(q, q->next)->used) {
		struct buffered_packet *h = slot(q, q->next);

		h->used = false;
		q->buffered--;
		resequencer_advance(r, q, true);
		resequencer_deliver(r, &h->packet, now);
	}
	q->since = now;
	if (q->buffered == 0)
		timer_stop(r, q);
}

/* Gives up the missing numbers before the first buffered packet. */
static void skip_gap(struct resequencers *r, struct resequencer *q, uint64_t now) {
	while (!slot(q, q->next)->used)
		resequencer_advance(r, q, false);
	deliver_next(r, q, now);
}

/* Moves the window until `number` lies in it. */
static void resequencer_move(struct resequencers *r, struct resequencer *q, uint16_t number,
			     uint64_t now) {
	while (q->buffered > 0 && (uint16_t)(number - q->next) >= RESEQUENCER_DEPTH)
		skip_gap(r, q, now);
	while ((uint16_t)(number - q->next) >= RESEQUENCER_DEPTH)
		resequencer_advance(r, q, false);
}

static enum resequencer_verdict resequencer_buffer(struct resequencers *r, struct resequencer *q,
						   uint16_t number, const struct arrived *packet,
						   uint64_t now) {
	struct buffered_packet *h;
	uint16_t span;

	if (q->ring == NULL && (q->ring = calloc(RESEQUENCER_DEPTH, sizeof(*q->ring))) == NULL) {
		while (q->next != number)
			resequencer_advance(r, q, false);
		resequencer_advance(r, q, true);
		resequencer_deliver(r, packet, now);
		return RESEQUENCER_ACCEPTED;
	}
	h = slot(q, number);
	if (h->used && h->packet.valid) {
		if (!packet->valid)
			return RESEQUENCER_ACCEPTED;
		if (h->packet.counted || packet->counted)
			return RESEQUENCER_DUPLICATE;
		return h->packet.sequence == packet->sequence ? RESEQUENCER_DUPLICATE
							      : RESEQUENCER_CONFLICT;
	}
	span = (uint16_t)(number - q->next + 1);
	if (span > r->deepest)
		r->deepest = span;
	if (q->buffered == 0)
		timer_start(r, q, now);
	if (!h->used)
		q->buffered++;
	r->resequenced += packet->valid;
	*h = (struct buffered_packet){.packet = *packet, .used = true};
	return RESEQUENCER_ACCEPTED;
}

static bool resequencer_start(struct resequencer *q, uint16_t number,
			      const struct arrived *packet) {
	if (!packet->valid || packet->counted)
		return false;
	q->started = true;
	q->next = number;
	if (packet->sequence < RESEQUENCER_DEPTH)
		q->next = (uint16_t)(number - packet->sequence);
	return true;
}

static enum resequencer_verdict deliver_late(struct resequencers *r, struct resequencer *q,
					     uint16_t number, const struct arrived *packet,
					     uint64_t now) {
	if (!packet->valid)
		return RESEQUENCER_ACCEPTED;
	if (packet->counted && (uint16_t)(q->next - number) > q->passed)
		return RESEQUENCER_EARLIER;
	if (was_used(q, number))
		return RESEQUENCER_USED;
	r->counted_late += packet->counted;
	remember(q, number, true);
	resequencer_deliver(r, packet, now);
	return RESEQUENCER_ACCEPTED;
}

enum resequencer_verdict resequencers_put(struct resequencers *r, uint32_t index, uint16_t number,
					  const struct arrived *packet, uint64_t now) {
	struct resequencer *q = &r->all[index];

	if (!q->started && !resequencer_start(q, number, packet))
		return RESEQUENCER_ACCEPTED;
	if ((int16_t)(number - q->next) < 0)
		return deliver_late(r, q, number, packet, now);
	if (number != q->next)
		resequencer_move(r, q, number, now);
	if (number != q->next)
		return resequencer_buffer(r, q, number, packet, now);
	resequencer_advance(r, q, true);
	resequencer_deliver(r, packet, now);
	if (q->buffered > 0)
		deliver_next(r, q, now);
	return RESEQUENCER_ACCEPTED;
}

void resequencers_expire(struct resequencers *r, uint64_t now) {
	for (uint32_t i = r->gap_count; i > 0; i--) {
		struct resequencer *q = &r->all[r->gaps[i - 1]];

		if (now - q->since > r->timeout)
			skip_gap(r, q, now);
	}
}

void resequencers_begin(struct resequencers *r, uint32_t index, uint64_t now) {
	struct resequencer *q = &r->all[index];

	while (q->buffered > 0)
		skip_gap(r, q, now);
	free(q->ring);
	*q = (struct resequencer){0};
}

void resequencers_flush(struct resequencers *r, uint64_t now) {
	while (r->gap_count > 0)
		skip_gap(r, &r->all[r->gaps[0]], now);
}
