/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence windows and resequencing: every order in, one order out. */
#include "proof/resequencer.h"
#include "proof/window.h"
#include "random/deck.h"
#include "test_main.h"

#define HZ 1000ull
#define WAIT RESEQUENCER_TIMER_MS /* cycles */

#define NUMBERS (256 * WINDOW_SIZE)

/* What a list of all numbers that came says of the next one. */
static enum arrival expected(const bool *came, uint32_t next, uint32_t number) {
	if (number >= next)
		return number == next ? ARRIVAL_IN_ORDER : ARRIVAL_GAP;
	if (next - number > WINDOW_SIZE)
		return ARRIVAL_TOO_OLD;
	return came[number] ? ARRIVAL_DUPLICATE : ARRIVAL_LATE;
}

/* Numbers near the next one, far behind it, and now and then ahead by more than the window; over the wrap of 32 bits. */
TEST(windows_tell_late_from_duplicate) {
	static bool came[NUMBERS];
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
		arrival = expected(came, next, number);
		assert_int_equal(window_arrive(&w, base + number, &gap), arrival);
		kinds[arrival]++;
		if (arrival == ARRIVAL_GAP)
			assert_int_equal(gap, number - next);
		came[number] = true;
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
#define OTHER 77777777 /* sequence of another packet under a number */

/* What a DSID has delivered, and is to deliver, in a step. */
struct delivered {
	uint32_t sequences[2 * RESEQUENCER_DEPTH];
	unsigned count;
};

static struct resequencers all;
static struct delivered delivered[DSIDS];

static void note(void *ctx, const struct arrived *packet, uint64_t now) {
	struct delivered *d = &delivered[packet->stream];

	assert_true(packet->valid && d->count < ARRAY_COUNT(d->sequences));
	d->sequences[d->count++] = packet->sequence;
}

/* A DSID as a list of all its numbers, which are counted from the first packet. */
struct slow {
	struct {
		enum { MISSING, HELD, CAME, GIVEN_UP } is;
		struct arrived packet;
	} numbers[NUMBERS];
	uint32_t next, held;
	bool started;
	uint64_t since; /* it waits for the next */
	struct delivered out;
};
static struct slow slow[DSIDS];
static uint64_t given_up, resequenced;
static uint32_t deepest;

static void slow_pass(struct slow *s, const struct arrived *packet) {
	s->numbers[s->next++].is = CAME;
	if (packet->valid)
		s->out.sequences[s->out.count++] = packet->sequence;
}

static void slow_run_on(struct slow *s, uint64_t now) {
	for (; s->numbers[s->next].is == HELD; s->held--)
		slow_pass(s, &s->numbers[s->next].packet);
	s->since = now;
}

/* Gives up numbers that are missing, up to one that came or is `end`. */
static void slow_give_up(struct slow *s, uint32_t end, uint64_t now) {
	for (; s->next < end && s->numbers[s->next].is == MISSING; given_up++)
		s->numbers[s->next++].is = GIVEN_UP;
	slow_run_on(s, now);
}

static enum resequencer_verdict slow_late(struct slow *s, uint32_t n,
					  const struct arrived *packet) {
	if (!packet->valid)
		return RESEQUENCER_ACCEPTED;
	if (s->next - n > RESEQUENCER_DEPTH || s->numbers[n].is == CAME)
		return RESEQUENCER_USED;
	s->numbers[n].is = CAME;
	s->out.sequences[s->out.count++] = packet->sequence;
	return RESEQUENCER_ACCEPTED;
}

static enum resequencer_verdict slow_take(struct slow *s, uint32_t n, const struct arrived *packet,
					  uint64_t now) {
	if (!s->started && !packet->valid)
		return RESEQUENCER_ACCEPTED;
	s->started = true;
	if (n < s->next)
		return slow_late(s, n, packet);
	while (n - s->next >= RESEQUENCER_DEPTH) /* too many would wait */
		slow_give_up(s, s->held > 0 ? UINT32_MAX : n - RESEQUENCER_DEPTH + 1, now);
	if (n == s->next) {
		slow_pass(s, packet);
		if (s->held > 0)
			slow_run_on(s, now);
		return RESEQUENCER_ACCEPTED;
	}
	if (s->numbers[n].is == HELD && s->numbers[n].packet.valid) {
		if (!packet->valid)
			return RESEQUENCER_ACCEPTED;
		return s->numbers[n].packet.sequence == packet->sequence ? RESEQUENCER_DUPLICATE
									 : RESEQUENCER_CONFLICT;
	}
	s->since = s->held == 0 ? now : s->since;
	s->held += s->numbers[n].is == MISSING;
	s->numbers[n].is = HELD;
	s->numbers[n].packet = *packet;
	resequenced += packet->valid;
	deepest = n - s->next + 1 > deepest ? n - s->next + 1 : deepest;
	return RESEQUENCER_ACCEPTED;
}

/* Both have delivered the same, and wait for the same. */
static void compare(void) {
	uint32_t waiting = 0;

	for (unsigned d = 0; d < DSIDS; d++) {
		assert_int_equal(delivered[d].count, slow[d].out.count);
		assert_memory_equal(delivered[d].sequences, slow[d].out.sequences,
				    delivered[d].count * sizeof(uint32_t));
		delivered[d].count = slow[d].out.count = 0;
		waiting += slow[d].held > 0;
	}
	assert_int_equal(all.gap_count, waiting);
	assert_int_equal(all.given_up, given_up);
	assert_int_equal(all.resequenced, resequenced);
	assert_int_equal(all.deepest, deepest);
}

/* A number near the next one, or so far ahead that too many would wait, or behind it. */
static uint32_t number_of(struct random *r, uint32_t next) {
	uint32_t kind = random_below(r, 40);
	uint32_t behind = random_below(r, 3 * RESEQUENCER_DEPTH);

	if (kind == 0)
		return next + random_below(r, RESEQUENCER_DEPTH + 100);
	if (kind < 4)
		return next - (behind < next ? behind : next);
	return next + random_below(r, kind < 8 ? 60 : 4);
}

/* Gives up what waits for longer than `wait`. */
static void slow_expire(uint64_t now, uint64_t wait) {
	for (unsigned d = 0; d < DSIDS; d++) {
		if (slow[d].held > 0 && now - slow[d].since > wait)
			slow_give_up(&slow[d], UINT32_MAX, now);
	}
}

TEST(order_is_that_of_a_list) {
	static const uint16_t bases[DSIDS] = {65000, 12345};
	struct random random = {7};
	unsigned verdicts[RESEQUENCER_EARLIER] = {0};
	uint64_t now = 0;

	assert_int_equal(resequencers_create(&all, DSIDS, HZ, note, NULL), 0);
	for (unsigned step = 0; slow[0].next <= UINT16_MAX || slow[1].next <= UINT16_MAX; step++) {
		uint32_t d = random_below(&random, DSIDS);
		/* In order at first, so that nothing has to be held. */
		uint32_t n = step < 100 ? slow[d].next : number_of(&random, slow[d].next);
		struct arrived packet = {.stream = d, .sequence = n, .valid = true};
		enum resequencer_verdict verdict;

		if (step >= 100 && random_below(&random, 30) == 0)
			packet.sequence = OTHER;
		packet.valid = step > 0 && random_below(&random, 20) > 0;
		if (!slow[d].started && packet.sequence == OTHER)
			continue;
		verdict = resequencers_put(&all, d, (uint16_t)(bases[d] + n), &packet, now);
		assert_int_equal(verdict, slow_take(&slow[d], n, &packet, now));
		verdicts[verdict]++;
		compare();
		now += random_below(&random, 2);
		resequencers_expire(&all, now);
		slow_expire(now, WAIT);
		compare();
		if (step == 99)
			assert_null(all.all[0].ring);
	}
	for (unsigned v = 0; v < ARRAY_COUNT(verdicts); v++)
		assert_true(verdicts[v] > 50);
	assert_int_equal(deepest, RESEQUENCER_DEPTH);
	while (all.gap_count > 0) {
		resequencers_flush(&all, now);
		for (unsigned d = 0; d < DSIDS; d++) {
			while (slow[d].held > 0)
				slow_give_up(&slow[d], UINT32_MAX, now);
		}
	}
	compare();
	resequencers_free(&all);
}
