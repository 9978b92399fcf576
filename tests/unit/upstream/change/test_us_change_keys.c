/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that roll, come and go, and another crypto provider: frames of all generations that there are decrypt, whatever
 * is on its way. */
#include "us_change_kit.h"

#include "upstream/change/provider.h"

#define TWO_KEYS 0 /* modem of stream 0 */
#define OF_TWO_KEYS 0
#define ONE_KEY 1 /* modem of stream 3, no segment headers */
#define OF_ONE_KEY 3
#define STEP 128 /* modems and flows */

static struct modem next;

/* The next key becomes the present one, and another comes behind it. */
static void roll(struct modem *m) {
	struct security_association *sa = &m->security;

	memcpy(sa->key, sa->next_key, 16);
	memcpy(sa->iv, sa->next_iv, 16);
	sa->key_sequence = (sa->key_sequence + 1) & 0xf;
	for (unsigned i = 0; i < 16; i++) {
		sa->next_key[i] = (uint8_t)(sa->next_key[i] * 5 + 17 + i);
		sa->next_iv[i] = (uint8_t)(sa->next_iv[i] * 3 + 1);
	}
}

/* A second generation comes, or goes. */
static void toggle(struct modem *m) {
	m->security.has_next_key = !m->security.has_next_key;
}

static void *schedule_of(const uint8_t *key) {
	void *s = crypto_key_make(bench->crypto, CRYPTO_UPLINK, CIPHER_AES_128, key);

	assert_non_null(s);
	return s;
}

/* The modem becomes another one, with the keys of that, and the change is taken. */
static struct us_change *take_keys(unsigned m, void (*differs)(struct modem *m)) {
	next = bench->modems[m];
	differs(&next);
	will_be(LIVE_MODEM, m, &next);
	given[0] = schedule_of(next.security.key);
	given[1] = next.security.has_next_key ? schedule_of(next.security.next_key) : NULL;
	return taken();
}

/* The server frees the old ones when all has passed. */
static void keys_are(unsigned m, struct us_change *c) {
	void *schedules[2] = {given[0], given[1]};

	pass_and_finish(c);
	bench->modems[m] = next;
	for (unsigned g = 0; g < 2; g++) {
		crypto_key_free(bench->crypto, CRYPTO_UPLINK, CIPHER_AES_128,
				bench->schedules[2 * m + g]);
		bench->schedules[2 * m + g] = schedules[g];
	}
}

/* Frames of all generations before, between and behind the steps: bench_mac() takes them by turns. A second generation
 * comes and goes: the first one keeps its session. */
static void keys_in_turns(unsigned m, unsigned stream, void (*differs)(struct modem *m)) {
	for (unsigned turn = 0; turn < 40; turn++) {
		struct us_change *c;

		for (unsigned i = 0; i < 9; i++)
			put(stream);
		to_segments();
		for (unsigned i = 0; i < 7; i++)
			put(stream);
		c = take_keys(m, differs);
		bench_settle();
		bench_complete(stream);
		keys_are(m, c);
		for (unsigned i = 0; i < 4; i++)
			passes(stream);
	}
}

CASE(keys_roll_come_and_go, .prepare = with_room) {
	keys_in_turns(TWO_KEYS, OF_TWO_KEYS, roll);
	keys_in_turns(ONE_KEY, OF_ONE_KEY, toggle);
}

/* Schedules are given for modems that there will be: one that goes in the same change has none. */
CASE(keys_behind_a_modem_that_goes, .prepare = with_room) {
	will_be(LIVE_MODEM, ONE_KEY, NULL);
	keys_are(TWO_KEYS, take_keys(TWO_KEYS, roll));
	for (unsigned i = 0; i < 4; i++)
		passes(OF_TWO_KEYS);
}

CASE(key_that_was_replaced, .prepare = with_room) {
	struct modem before = bench->modems[TWO_KEYS];
	struct us_change *c = take_keys(TWO_KEYS, roll);

	passes(OF_TWO_KEYS); /* serial 0: the first generation */
	keys_are(TWO_KEYS, c);
	bench->modems[TWO_KEYS] = before;
	drops(OF_TWO_KEYS, DROP_KEY_UNKNOWN);
	passes(OF_TWO_KEYS); /* serial 2: what was the next one */
	bench->modems[TWO_KEYS] = next;
}

CASE(sessions_remain, .prepare = with_room) {
	next = bench->modems[TWO_KEYS];
	next.upstream_flow_count = 1;
	change_to(LIVE_MODEM, TWO_KEYS, &next);
	whole(OF_TWO_KEYS);
	change_to(LIVE_MODEM, TWO_KEYS, &bench->modems[TWO_KEYS]);
	for (unsigned i = 0; i < 4; i++) {
		whole(OF_TWO_KEYS);
		put(2); /* of the flow that came again, on the OFDMA channel */
		bench_settle();
	}
}

CASE(cipher_goes, .prepare = with_room) {
	struct us_change *c;

	put(OF_ONE_KEY);
	to_segments();
	next = bench->modems[ONE_KEY];
	next.security.cipher = CIPHER_NONE;
	will_be(LIVE_MODEM, ONE_KEY, &next);
	c = taken();
	bench_settle();
	bench_complete(OF_ONE_KEY); /* encrypted, on its way */
	pass(c);
	drops(OF_ONE_KEY, DROP_KEY_UNKNOWN);
	keys_are(ONE_KEY, c);
	passes(OF_ONE_KEY);
}

/* Another provider: each frame is decrypted by the one that took it, and keys are the new one's from then on. */
static struct crypto_provider *former;
static struct crypto_queue *former_queue;
static void *former_schedules[2 * BENCH_MOST_MODEMS];

/* The kit has all of another one, which the upstream is to have. */
static struct us_provider_change other_provider(void) {
	former = bench->crypto;
	former_queue = bench->queue;
	memcpy(former_schedules, bench->schedules, sizeof(former_schedules));
	bench_crypto_start();
	return (struct us_provider_change){
		.u = bench->u,
		.queue = bench->queue,
		.schedules = bench->schedules,
	};
}

static void close_former(void) {
	bench_crypto_end(former, former_queue, former_schedules);
}

/* Of the flow of each stream. */
static void keys_are_the_new_ones(void) {
	struct us_tables *t = &bench->u->tables;

	for (unsigned s = 0; s < BENCH_STREAMS; s++) {
		const struct bench_stream *b = &bench_streams[s];
		const struct us_stream *stream = us_stream_of_sid(t, b->channels[0], b->sid);

		for (unsigned g = 0; g < US_GENERATIONS; g++)
			assert_ptr_equal(t->flows[stream->flow].keys[g].schedule,
					 bench->schedules[2 * b->modem + g]);
	}
}

/* By the other key, where there are two, the second time. */
static void all_streams_pass(void) {
	all_pass();
	all_pass();
}

/* What came in before is with the former one; what comes in meanwhile waits in its segments. */
CASE(frames_are_with_the_former_one, .prepare = with_room) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct us_provider_change c;
	uint64_t frames;

	for (unsigned i = 0; i < 5; i++)
		put(OF_TWO_KEYS);
	to_segments();
	assert_int_equal(us_decrypt_submit(&bench->u->decrypt, pkts,
					   us_extract(&bench->u->extract, pkts, 0)),
			 0);
	assert_int_equal(bench->queue->pending, 5);
	c = other_provider();
	assert_false(us_provider_change(&c));
	assert_ptr_equal(bench->u->r.crypto, former_queue);
	frames = bench_count(COUNTER_FRAMES);
	for (unsigned i = 0; i < 3; i++)
		put(OF_TWO_KEYS);
	for (unsigned rounds = 0; !us_provider_change(&c); rounds++) {
		assert_in_range(rounds, 0, 1000);
		bench_round();
	}
	assert_int_equal(bench_count(COUNTER_FRAMES), frames);
	assert_int_equal(bench_count(COUNTER_DECRYPTED), 5);
	close_former();
	keys_are_the_new_ones();
	bench_settle();
	bench_complete(OF_TWO_KEYS);
	assert_int_equal(bench->came[OF_TWO_KEYS], 8);
	all_streams_pass();
}

CASE(keys_remain, .prepare = with_room) {
	struct us_provider_change c;

	all_streams_pass();
	c = other_provider();
	assert_true(us_provider_change(&c));
	close_former();
	for (unsigned m = 0; m < BENCH_MODEMS; m++)
		will_be(LIVE_MODEM, m, &bench->modems[m]);
	change();
	keys_are_the_new_ones();
	all_streams_pass();
}

static void with_all(void) {
	bench_crowd(BENCH_CROWD);
}

/* Nothing is taken out of segments between the steps either. */
CASE(many_modems_take_many_steps, .prepare = with_all) {
	enum { MODEMS = BENCH_MODEMS + BENCH_CROWD };
	struct us_provider_change c;
	unsigned work = MODEMS, steps = 1;

	for (unsigned m = 0; m < MODEMS; m++)
		work += (unsigned)bench->modems[m].upstream_flow_count;
	c = other_provider();
	for (; !us_provider_change(&c); steps++) {
		put(OF_TWO_KEYS);
		bench_round();
		assert_int_equal(bench_count(COUNTER_FRAMES), 0);
	}
	assert_int_equal(steps, (work + STEP - 1) / STEP);
	close_former();
	all_streams_pass();
}
