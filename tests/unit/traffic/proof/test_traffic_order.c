/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests window.h and resequencer.h with random numbers against models that list all numbers. */
#include "proof/resequencer.h"
#include "proof/window.h"
#include "random/deck.h"
#include "test_main.h"

#define HZ 1000ull
#define TIMEOUT RESEQUENCER_TIMER_MS /* cycles */

#define NUMBERS (256 * WINDOW_SIZE)

/* The expected classification of a number, from the list of all received numbers. */
static enum arrival expected_arrival(const bool *received, uint32_t next, uint32_t number) {
	if (number >= next)
		return number == next ? ARRIVAL_IN_ORDER : ARRIVAL_GAP;
	if (next - number > WINDOW_SIZE)
		return ARRIVAL_TOO_OLD;
	return received[number] ? ARRIVAL_DUPLICATE : ARRIVAL_LATE;
}

/* Numbers are near the next one, far behind it, or ahead beyond the window; 32 bits wrap. */
TEST(window_matches_list) {
	static bool received[NUMBERS];
	const uint32_t base = UINT32_MAX - NUMBERS / 2;
	struct window w = {.next = base};
	struct random random = {3};
	unsigned kinds[ARRIVAL_TOO_OLD + 1] = {0};
	uint32_t next = 0, gap = 0;

	while (next < NUMBERS - 3 * WINDOW_SIZE) {
		uint32_t far = random_below(&random, 3000) == 0 ? 2 * WINDOW_SIZE : 3;
		uint32_t back = random_below(&random, 4) == 0 ? WINDOW_SIZE + 3 : 5;
		uint32_t number = next + random_below(&random, far);
		enum arrival arrival;

		number -= random_below(&random, back < number + 1 ? back : number + 1);
		arrival = expected_arrival(received, next, number);
		assert_int_equal(window_arrive(&w, base + number, &gap), arrival);
		kinds[arrival]++;
		if (arrival == ARRIVAL_GAP)
			assert_int_equal(gap, number - next);
		received[number] = true;
		next = number < next ? next : number + 1;
		assert_true(window_received(&w, base + number) == (next - number <= WINDOW_SIZE));
		assert_false(window_received(&w, base + next));
	}
	for (unsigned i = 0; i < ARRAY_COUNT(kinds); i++)
		assert_true(kinds[i] > 10);
	w = (struct window){.next = 0x1ffff};
	assert_int_equal(window_extend(&w, 0xffff), 0x1ffff);
	assert_int_equal(window_extend(&w, 2), 0x20002);
	assert_int_equal(window_extend(&w, 0xfff0), 0x1fff0);
}

#define DSIDS 2
#define OTHER_SEQUENCE 77777777 /* sequence of another packet with a used DSID number */

/* Packets that a DSID delivered in a step. */
struct delivered {
	uint32_t sequences[2 * RESEQUENCER_DEPTH];
	unsigned count;
};

static struct resequencers all;
static struct delivered delivered[DSIDS];

static void record_delivery(void *ctx, const struct arrived *packet, uint64_t now) {
	struct delivered *d = &delivered[packet->stream];

	assert_true(packet->valid && d->count < ARRAY_COUNT(d->sequences));
	d->sequences[d->count++] = packet->sequence;
}

/* Model of a DSID's reorder queue: a list of all numbers, counted from the first packet. */
struct model {
	struct {
		enum { MISSING, BUFFERED, DELIVERED, GIVEN_UP } state;
		struct arrived packet;
	} numbers[NUMBERS];
	uint32_t next, buffered;
	bool started;
	uint64_t since; /* start of the reorder timer */
	struct delivered out;
};
static struct model model[DSIDS];
static uint64_t given_up, resequenced;
static uint32_t deepest;

static void model_deliver(struct model *s, const struct arrived *packet) {
	s->numbers[s->next++].state = DELIVERED;
	if (packet->valid)
		s->out.sequences[s->out.count++] = packet->sequence;
}

static void model_deliver_buffered(struct model *s, uint64_t now) {
	for (; s->numbers[s->next].state == BUFFERED; s->buffered--)
		model_deliver(s, &s->numbers[s->next].packet);
	s->since = now;
}

/* Gives up missing numbers up to the next received one, or to `end`. */
static void model_give_up(struct model *s, uint32_t end, uint64_t now) {
	for (; s->next < end && s->numbers[s->next].state == MISSING; given_up++)
		s->numbers[s->next++].state = GIVEN_UP;
	model_deliver_buffered(s, now);
}

static enum resequencer_verdict model_late(struct model *s, uint32_t n,
					   const struct arrived *packet) {
	if (!packet->valid)
		return RESEQUENCER_ACCEPTED;
	if (s->next - n > RESEQUENCER_DEPTH || s->numbers[n].state == DELIVERED)
		return RESEQUENCER_USED;
	s->numbers[n].state = DELIVERED;
	s->out.sequences[s->out.count++] = packet->sequence;
	return RESEQUENCER_ACCEPTED;
}

static enum resequencer_verdict model_put(struct model *s, uint32_t n, const struct arrived *packet,
					  uint64_t now) {
	if (!s->started && !packet->valid)
		return RESEQUENCER_ACCEPTED;
	s->started = true;
	if (n < s->next)
		return model_late(s, n, packet);
	while (n - s->next >= RESEQUENCER_DEPTH) /* the queue would be too long */
		model_give_up(s, s->buffered > 0 ? UINT32_MAX : n - RESEQUENCER_DEPTH + 1, now);
	if (n == s->next) {
		model_deliver(s, packet);
		if (s->buffered > 0)
			model_deliver_buffered(s, now);
		return RESEQUENCER_ACCEPTED;
	}
	if (s->numbers[n].state == BUFFERED && s->numbers[n].packet.valid) {
		if (!packet->valid)
			return RESEQUENCER_ACCEPTED;
		return s->numbers[n].packet.sequence == packet->sequence ? RESEQUENCER_DUPLICATE
									 : RESEQUENCER_CONFLICT;
	}
	s->since = s->buffered == 0 ? now : s->since;
	s->buffered += s->numbers[n].state == MISSING;
	s->numbers[n].state = BUFFERED;
	s->numbers[n].packet = *packet;
	resequenced += packet->valid;
	deepest = n - s->next + 1 > deepest ? n - s->next + 1 : deepest;
	return RESEQUENCER_ACCEPTED;
}

/* Asserts that resequencer and model delivered the same, and have the same state. */
static void assert_equal_to_model(void) {
	uint32_t gaps = 0;

	for (unsigned d = 0; d < DSIDS; d++) {
		assert_int_equal(delivered[d].count, model[d].out.count);
		assert_memory_equal(delivered[d].sequences, model[d].out.sequences,
				    delivered[d].count * sizeof(uint32_t));
		delivered[d].count = model[d].out.count = 0;
		gaps += model[d].buffered > 0;
	}
	assert_int_equal(all.gap_count, gaps);
	assert_int_equal(all.given_up, given_up);
	assert_int_equal(all.resequenced, resequenced);
	assert_int_equal(all.deepest, deepest);
}

/* A random number near the next one, far ahead, or behind it. */
static uint32_t random_number(struct random *r, uint32_t next) {
	uint32_t kind = random_below(r, 40);
	uint32_t behind = random_below(r, 3 * RESEQUENCER_DEPTH);

	if (kind == 0)
		return next + random_below(r, RESEQUENCER_DEPTH + 100);
	if (kind < 4)
		return next - (behind < next ? behind : next);
	return next + random_below(r, kind < 8 ? 60 : 4);
}

/* Expires reorder timers of the model. */
static void model_expire(uint64_t now, uint64_t timeout) {
	for (unsigned d = 0; d < DSIDS; d++) {
		if (model[d].buffered > 0 && now - model[d].since > timeout)
			model_give_up(&model[d], UINT32_MAX, now);
	}
}

TEST(resequencer_matches_model) {
	static const uint16_t bases[DSIDS] = {65000, 12345};
	struct random random = {7};
	unsigned verdicts[RESEQUENCER_EARLIER] = {0};
	uint64_t now = 0;

	assert_int_equal(resequencers_create(&all, DSIDS, HZ, record_delivery, NULL), 0);
	for (unsigned step = 0; model[0].next <= UINT16_MAX || model[1].next <= UINT16_MAX;
	     step++) {
		uint32_t d = random_below(&random, DSIDS);
		/* the first 100 are in order, so that nothing is buffered */
		uint32_t n = step < 100 ? model[d].next : random_number(&random, model[d].next);
		struct arrived packet = {.stream = d, .sequence = n, .valid = true};
		enum resequencer_verdict verdict;

		if (step >= 100 && random_below(&random, 30) == 0)
			packet.sequence = OTHER_SEQUENCE;
		packet.valid = step > 0 && random_below(&random, 20) > 0;
		if (!model[d].started && packet.sequence == OTHER_SEQUENCE)
			continue;
		verdict = resequencers_put(&all, d, (uint16_t)(bases[d] + n), &packet, now);
		assert_int_equal(verdict, model_put(&model[d], n, &packet, now));
		verdicts[verdict]++;
		assert_equal_to_model();
		now += random_below(&random, 2);
		resequencers_expire(&all, now);
		model_expire(now, TIMEOUT);
		assert_equal_to_model();
		if (step == 99)
			assert_null(all.all[0].ring);
	}
	for (unsigned v = 0; v < ARRAY_COUNT(verdicts); v++)
		assert_true(verdicts[v] > 50);
	assert_int_equal(deepest, RESEQUENCER_DEPTH);
	while (all.gap_count > 0) {
		resequencers_flush(&all, now);
		for (unsigned d = 0; d < DSIDS; d++) {
			while (model[d].buffered > 0)
				model_give_up(&model[d], UINT32_MAX, now);
		}
	}
	assert_equal_to_model();
	resequencers_free(&all);
}
