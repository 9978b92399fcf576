/* SPDX-License-Identifier: BSD-3-Clause */
/* Another crypto provider: each frame is decrypted by the one that took it, and keys are the new one's from then on. */
#include "us_change_kit.h"

#include "upstream/change/provider.h"

#define AES 0 /* stream of modem 0, which has two keys */
#define STEP 128 /* modems and flows */

static struct crypto_provider *former;
static struct crypto_queue *former_queue;
static void *former_schedules[2 * (BENCH_MODEMS + BENCH_CROWD)];

/* The bench has all of another one, which the upstream is to have. */
static struct us_provider_change other_provider(void) {
	former = bench->crypto;
	former_queue = bench->queue;
	memcpy(former_schedules, bench->schedules, sizeof(former_schedules));
	bench->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(bench->crypto);
	bench->queue = crypto_queue_open(bench->crypto, CRYPTO_UPLINK);
	assert_non_null(bench->queue);
	for (unsigned m = 0; m < BENCH_MODEMS; m++) {
		const struct security_association *sa = &bench->modems[m].security;

		if (sa->cipher != CIPHER_NONE)
			bench->schedules[2 * m] = schedule_of(sa->key);
		if (sa->has_next_key)
			bench->schedules[2 * m + 1] = schedule_of(sa->next_key);
	}
	return (struct us_provider_change){
		.u = bench->u,
		.queue = bench->queue,
		.schedules = bench->schedules,
	};
}

static void close_former(void) {
	for (unsigned s = 0; s < ARRAY_COUNT(former_schedules); s++)
		crypto_key_free(former, CRYPTO_UPLINK, CIPHER_AES_128, former_schedules[s]);
	crypto_queue_close(former_queue);
	crypto_close(former);
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

static void all_streams_pass(void) {
	for (unsigned s = 0; s < BENCH_STREAMS; s++) {
		whole(s);
		whole(s); /* by the other key, where there are two */
		bench_complete(bench, s);
	}
}

/* What came in before is with the former one; what comes in meanwhile waits in its segments. */
CASE(frames_are_with_the_former_one, .prepare = with_room) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct us_provider_change c;
	uint64_t frames;

	for (unsigned i = 0; i < 5; i++)
		put(AES);
	to_segments();
	assert_int_equal(us_decrypt_submit(bench->u, pkts, us_extract(bench->u, pkts, 0)), 0);
	assert_int_equal(bench->queue->held, 5);
	c = other_provider();
	assert_false(us_provider_change(&c));
	assert_ptr_equal(bench->u->r.crypto, former_queue);
	frames = bench_count(bench, COUNTER_FRAMES);
	for (unsigned i = 0; i < 3; i++)
		put(AES);
	for (unsigned rounds = 0; !us_provider_change(&c); rounds++) {
		assert_in_range(rounds, 0, 1000);
		bench_round(bench);
	}
	assert_int_equal(bench_count(bench, COUNTER_FRAMES), frames);
	assert_int_equal(bench_count(bench, COUNTER_DECRYPTED), 5);
	close_former();
	keys_are_the_new_ones();
	bench_settle(bench);
	bench_complete(bench, AES);
	assert_int_equal(bench->came[AES], 8);
	all_streams_pass();
}

/* A change that leaves a modem its keys leaves it those of the provider that there is. */
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
	bench_crowd(bench, BENCH_CROWD);
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
		put(AES);
		bench_round(bench);
		assert_int_equal(bench_count(bench, COUNTER_FRAMES), 0);
	}
	assert_int_equal(steps, (work + STEP - 1) / STEP);
	close_former();
	all_streams_pass();
}
