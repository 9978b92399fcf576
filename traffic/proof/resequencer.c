/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of packets per DSID, which stays empty while packets arrive in order. */
#include "proof/resequencer.h"

#include <stdlib.h>
#include <string.h>

struct held_packet {
	struct arrived packet;
	bool used;
};

int resequencers_create(struct resequencers *r, uint32_t count, uint64_t tsc_hz, deliver_fn deliver,
			void *ctx) {
	*r = (struct resequencers){
		.all = calloc(count + 1, sizeof(*r->all)),
		.waiting = calloc(count + 1, sizeof(*r->waiting)),
		.count = count,
		.timeout = tsc_hz * RESEQUENCER_WAIT_MS / 1000,
		.deliver = deliver,
		.ctx = ctx,
	};
	if (r->all != NULL && r->waiting != NULL)
		return 0;
	resequencers_free(r);
	return -1;
}

void resequencers_free(struct resequencers *r) {
	for (uint32_t i = 0; r->all != NULL && i < r->count; i++)
		free(r->all[i].ring);
	free(r->all);
	free(r->waiting);
	*r = (struct resequencers){0};
}

void resequencers_restart(struct resequencers *r) {
	for (uint32_t i = 0; i < r->count; i++) {
		r->all[i] = (struct resequencer){.ring = r->all[i].ring};
	}
	r->resequenced = r->given_up = r->counted_late = 0;
	r->deepest = 0;
}

static struct held_packet *slot(struct resequencer *q, uint16_t number) {
	return &q->ring[number % RESEQUENCER_DEPTH];
}

static void remember(struct resequencer *q, uint16_t number, bool used) {
	uint64_t bit = 1ull << number % 64;
	uint64_t *word = &q->used[number % RESEQUENCER_DEPTH / 64];

	*word = used ? *word | bit : *word & ~bit;
}

static bool was_used(const struct resequencer *q, uint16_t number) {
	uint16_t behind = (uint16_t)(q->next - number);

	/* What is behind the window would be older than any modem waits: a number used again. */
	return behind > RESEQUENCER_DEPTH ||
	       (q->used[number % RESEQUENCER_DEPTH / 64] >> number % 64 & 1);
}

/* Advances past the next number, which was received or is given up. */
static void resequencer_advance(struct resequencers *r, struct resequencer *q, bool came) {
	remember(q, q->next++, came);
	q->passed++;
	r->given_up += !came;
}

static void resequencer_deliver(struct resequencers *r, const struct arrived *packet,
				uint64_t now) {
	if (packet->valid)
		r->deliver(r->ctx, packet, now);
}

static void wait_begin(struct resequencers *r, struct resequencer *q, uint64_t now) {
	q->since = now;
	q->waiting_at = r->waiting_count;
	r->waiting[r->waiting_count++] = (uint32_t)(q - r->all);
}

static void wait_end(struct resequencers *r, struct resequencer *q) {
	uint32_t last = r->waiting[--r->waiting_count];

	r->waiting[q->waiting_at] = last;
	r->all[last].waiting_at = q->waiting_at;
}

/* Delivers what is next in order and there. A gap behind it is waited for from now on. */
static void run_on(struct resequencers *r, struct resequencer *q, uint64_t now) {
	while (q->held > 0 && slot(q, q->next)->used) {
		struct held_packet *h = slot(q, q->next);

		h->used = false;
		q->held--;
		resequencer_advance(r, q, true);
		resequencer_deliver(r, &h->packet, now);
	}
	q->since = now;
	if (q->held == 0)
		wait_end(r, q);
}

/* Gives up the gap in front of the first packet that is held. */
static void give_up_gap(struct resequencers *r, struct resequencer *q, uint64_t now) {
	while (!slot(q, q->next)->used)
		resequencer_advance(r, q, false);
	run_on(r, q, now);
}

/* Moves the window until `number` lies in it. */
static void resequencer_make_room(struct resequencers *r, struct resequencer *q, uint16_t number,
				  uint64_t now) {
	while (q->held > 0 && (uint16_t)(number - q->next) >= RESEQUENCER_DEPTH)
		give_up_gap(r, q, now);
	while ((uint16_t)(number - q->next) >= RESEQUENCER_DEPTH)
		resequencer_advance(r, q, false);
}

static enum resequencer_verdict resequencer_hold(struct resequencers *r, struct resequencer *q,
						 uint16_t number, const struct arrived *packet,
						 uint64_t now) {
	struct held_packet *h;
	uint16_t span;

	if (q->ring == NULL && (q->ring = calloc(RESEQUENCER_DEPTH, sizeof(*q->ring))) == NULL) {
		while (q->next != number)
			resequencer_advance(r, q, false);
		resequencer_advance(r, q, true);
		resequencer_deliver(r, packet, now);
		return RESEQUENCER_TAKEN;
	}
	h = slot(q, number);
	if (h->used && h->packet.valid) {
		if (!packet->valid)
			return RESEQUENCER_TAKEN;
		if (h->packet.counted || packet->counted)
			return RESEQUENCER_DUPLICATE;
		return h->packet.sequence == packet->sequence ? RESEQUENCER_DUPLICATE
							      : RESEQUENCER_CONFLICT;
	}
	span = (uint16_t)(number - q->next + 1);
	if (span > r->deepest)
		r->deepest = span;
	if (q->held == 0)
		wait_begin(r, q, now);
	if (!h->used)
		q->held++;
	r->resequenced += packet->valid;
	*h = (struct held_packet){.packet = *packet, .used = true};
	return RESEQUENCER_TAKEN;
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

static enum resequencer_verdict take_late(struct resequencers *r, struct resequencer *q,
					  uint16_t number, const struct arrived *packet,
					  uint64_t now) {
	if (!packet->valid)
		return RESEQUENCER_TAKEN;
	if (packet->counted && (uint16_t)(q->next - number) > q->passed)
		return RESEQUENCER_EARLIER;
	if (was_used(q, number))
		return RESEQUENCER_USED;
	r->counted_late += packet->counted;
	remember(q, number, true);
	resequencer_deliver(r, packet, now);
	return RESEQUENCER_TAKEN;
}

enum resequencer_verdict resequencers_take(struct resequencers *r, uint32_t index, uint16_t number,
					   const struct arrived *packet, uint64_t now) {
	struct resequencer *q = &r->all[index];

	if (!q->started && !resequencer_start(q, number, packet))
		return RESEQUENCER_TAKEN;
	if ((int16_t)(number - q->next) < 0)
		return take_late(r, q, number, packet, now);
	if (number != q->next)
		resequencer_make_room(r, q, number, now);
	if (number != q->next)
		return resequencer_hold(r, q, number, packet, now);
	resequencer_advance(r, q, true);
	resequencer_deliver(r, packet, now);
	if (q->held > 0)
		run_on(r, q, now);
	return RESEQUENCER_TAKEN;
}

void resequencers_expire(struct resequencers *r, uint64_t now) {
	for (uint32_t i = r->waiting_count; i > 0; i--) {
		struct resequencer *q = &r->all[r->waiting[i - 1]];

		if (now - q->since > r->timeout)
			give_up_gap(r, q, now);
	}
}

void resequencers_begin(struct resequencers *r, uint32_t index, uint64_t now) {
	struct resequencer *q = &r->all[index];

	while (q->held > 0)
		give_up_gap(r, q, now);
	free(q->ring);
	*q = (struct resequencer){0};
}

void resequencers_flush(struct resequencers *r, uint64_t now) {
	while (r->waiting_count > 0)
		give_up_gap(r, &r->all[r->waiting[0]], now);
}
