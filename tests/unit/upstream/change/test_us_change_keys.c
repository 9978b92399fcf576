/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests live changes of keys and of the crypto provider. Frames of all present key generations
 * decrypt, also those that were received before. */
#include "us_change_kit.h"

#include "upstream/change/provider.h"

#define TWO_KEYS 0 /* modem of stream 0 */
#define TWO_KEYS_STREAM 0
#define ONE_KEY 1 /* modem of stream 3, no segment headers */
#define ONE_KEY_STREAM 3
#define STEP 128 /* modems and flows per step */

static struct modem new_modem;

/* The next key becomes the present one, and gets a successor. */
static void roll_keys(struct modem *m) {
	struct security_association *sa = &m->security;

	memcpy(sa->key, sa->next_key, 16);
	memcpy(sa->iv, sa->next_iv, 16);
	sa->key_sequence = (sa->key_sequence + 1) & 0xf;
	for (unsigned i = 0; i < 16; i++) {
		sa->next_key[i] = (uint8_t)(sa->next_key[i] * 5 + 17 + i);
		sa->next_iv[i] = (uint8_t)(sa->next_iv[i] * 3 + 1);
	}
}

/* Adds or removes the next key. */
static void toggle_next_key(struct modem *m) {
	m->security.has_next_key = !m->security.has_next_key;
}

static void *make_schedule(const uint8_t *key) {
	void *s = crypto_key_make(kit->crypto, CRYPTO_UPLINK, CIPHER_AES_128, key);

	assert_non_null(s);
	return s;
}

/* Applies a change of the modem's keys by `alter`. end_key_change() ends it. */
static struct us_change *begin_key_change(unsigned m, void (*alter)(struct modem *m)) {
	new_modem = kit->modems[m];
	alter(&new_modem);
	add_change(LIVE_MODEM, m, &new_modem);
	key_schedules[0] = make_schedule(new_modem.security.key);
	key_schedules[1] =
		new_modem.security.has_next_key ? make_schedule(new_modem.security.next_key) : NULL;
	return begin_and_apply();
}

/* Ends the change and frees the old schedules, as the server does. */
static void end_key_change(unsigned m, struct us_change *c) {
	void *schedules[2] = {key_schedules[0], key_schedules[1]};

	flush_and_end(c);
	kit->modems[m] = new_modem;
	for (unsigned g = 0; g < 2; g++) {
		crypto_key_free(kit->crypto, CRYPTO_UPLINK, CIPHER_AES_128,
				kit->schedules[2 * m + g]);
		kit->schedules[2 * m + g] = schedules[g];
	}
}

/* Sends frames of all generations before, during and after changes of the keys. */
static void check_key_changes(unsigned m, unsigned stream, void (*alter)(struct modem *m)) {
	for (unsigned n = 0; n < 40; n++) {
		struct us_change *c;

		for (unsigned i = 0; i < 9; i++)
			send_frame(stream);
		run_to_segments();
		for (unsigned i = 0; i < 7; i++)
			send_frame(stream);
		c = begin_key_change(m, alter);
		kit_settle();
		kit_check_complete(stream);
		end_key_change(m, c);
		for (unsigned i = 0; i < 4; i++)
			check_delivered(stream);
	}
}

CASE(keys_roll_and_next_key_is_toggled, .prepare = use_spare_capacity) {
	check_key_changes(TWO_KEYS, TWO_KEYS_STREAM, roll_keys);
	check_key_changes(ONE_KEY, ONE_KEY_STREAM, toggle_next_key);
}

/* Key schedules are passed for the remaining modems only. */
CASE(keys_change_beside_removed_modem, .prepare = use_spare_capacity) {
	add_change(LIVE_MODEM, ONE_KEY, NULL);
	end_key_change(TWO_KEYS, begin_key_change(TWO_KEYS, roll_keys));
	for (unsigned i = 0; i < 4; i++)
		check_delivered(TWO_KEYS_STREAM);
}

CASE(replaced_key_is_unknown, .prepare = use_spare_capacity) {
	struct modem before = kit->modems[TWO_KEYS];
	struct us_change *c = begin_key_change(TWO_KEYS, roll_keys);

	check_delivered(TWO_KEYS_STREAM); /* serial 0: the first generation */
	end_key_change(TWO_KEYS, c);
	kit->modems[TWO_KEYS] = before;
	check_dropped(TWO_KEYS_STREAM, DROP_KEY_UNKNOWN);
	check_delivered(TWO_KEYS_STREAM); /* serial 2: the former next key */
	kit->modems[TWO_KEYS] = new_modem;
}

CASE(flow_change_keeps_crypto_sessions, .prepare = use_spare_capacity) {
	new_modem = kit->modems[TWO_KEYS];
	new_modem.upstream_flow_count = 1;
	change_object(LIVE_MODEM, TWO_KEYS, &new_modem);
	process_frame(TWO_KEYS_STREAM);
	change_object(LIVE_MODEM, TWO_KEYS, &kit->modems[TWO_KEYS]);
	for (unsigned i = 0; i < 4; i++) {
		process_frame(TWO_KEYS_STREAM);
		send_frame(2); /* of the flow that was added again, on the OFDMA channel */
		kit_settle();
	}
}

CASE(removed_cipher_drops_later_frames, .prepare = use_spare_capacity) {
	struct us_change *c;

	send_frame(ONE_KEY_STREAM);
	run_to_segments();
	new_modem = kit->modems[ONE_KEY];
	new_modem.security.cipher = CIPHER_NONE;
	add_change(LIVE_MODEM, ONE_KEY, &new_modem);
	c = begin_and_apply();
	kit_settle();
	kit_check_complete(ONE_KEY_STREAM); /* received before */
	flush_change(c);
	check_dropped(ONE_KEY_STREAM, DROP_KEY_UNKNOWN);
	end_key_change(ONE_KEY, c);
	check_delivered(ONE_KEY_STREAM);
}

/* The former provider completes the frames that it has. The new one decrypts all others. */
static struct crypto_provider *former;
static struct crypto_queue *former_queue;
static void *former_schedules[2 * KIT_MAX_MODEMS];

/* Opens another provider for the upstream and keeps the former one. */
static struct us_provider_change open_other_provider(void) {
	former = kit->crypto;
	former_queue = kit->queue;
	memcpy(former_schedules, kit->schedules, sizeof(former_schedules));
	kit_crypto_open();
	return (struct us_provider_change){
		.u = kit->u,
		.queue = kit->queue,
		.schedules = kit->schedules,
	};
}

static void close_former(void) {
	kit_crypto_close(former, former_queue, former_schedules);
}

/* Checks the flow of each stream. */
static void check_new_schedules(void) {
	struct us_tables *t = &kit->u->tables;

	for (unsigned s = 0; s < KIT_STREAMS; s++) {
		const struct kit_stream *b = &kit_streams[s];
		const struct us_stream *stream = us_stream_of_sid(t, b->channels[0], b->sid);

		for (unsigned g = 0; g < US_GENERATIONS; g++)
			assert_ptr_equal(t->flows[stream->flow].keys[g].schedule,
					 kit->schedules[2 * b->modem + g]);
	}
}

/* Twice, so that a modem with two keys uses both. */
static void check_all_delivered_twice(void) {
	check_all_delivered();
	check_all_delivered();
}

/* The former provider completes the frames that it has. Later ones wait in their segments. */
CASE(provider_change_waits_for_frames_in_crypto, .prepare = use_spare_capacity) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct us_provider_change c;
	uint64_t frames;

	for (unsigned i = 0; i < 5; i++)
		send_frame(TWO_KEYS_STREAM);
	run_to_segments();
	assert_int_equal(
		us_decrypt_submit(&kit->u->decrypt, pkts, us_extract(&kit->u->extract, pkts, 0)),
		0);
	assert_int_equal(kit->queue->pending, 5);
	c = open_other_provider();
	assert_false(us_provider_change(&c));
	assert_ptr_equal(kit->u->r.crypto, former_queue);
	frames = kit_counter(COUNTER_FRAMES);
	for (unsigned i = 0; i < 3; i++)
		send_frame(TWO_KEYS_STREAM);
	for (unsigned rounds = 0; !us_provider_change(&c); rounds++) {
		assert_in_range(rounds, 0, 1000);
		kit_run_round();
	}
	assert_int_equal(kit_counter(COUNTER_FRAMES), frames);
	assert_int_equal(kit_counter(COUNTER_DECRYPTED), 5);
	close_former();
	check_new_schedules();
	kit_settle();
	kit_check_complete(TWO_KEYS_STREAM);
	assert_int_equal(kit->received[TWO_KEYS_STREAM], 8);
	check_all_delivered_twice();
}

CASE(later_change_keeps_new_schedules, .prepare = use_spare_capacity) {
	struct us_provider_change c;

	check_all_delivered_twice();
	c = open_other_provider();
	assert_true(us_provider_change(&c));
	close_former();
	for (unsigned m = 0; m < KIT_MODEMS; m++)
		add_change(LIVE_MODEM, m, &kit->modems[m]);
	run_change();
	check_new_schedules();
	check_all_delivered_twice();
}

static void add_all_modems(void) {
	kit_add_modems(KIT_ADDED_MODEMS);
}

/* Between the steps no frame is extracted. */
CASE(provider_change_takes_steps, .prepare = add_all_modems) {
	enum { MODEMS = KIT_MODEMS + KIT_ADDED_MODEMS };
	struct us_provider_change c;
	unsigned work = MODEMS, steps = 1;

	for (unsigned m = 0; m < MODEMS; m++)
		work += (unsigned)kit->modems[m].upstream_flow_count;
	c = open_other_provider();
	for (; !us_provider_change(&c); steps++) {
		send_frame(TWO_KEYS_STREAM);
		kit_run_round();
		assert_int_equal(kit_counter(COUNTER_FRAMES), 0);
	}
	assert_int_equal(steps, (work + STEP - 1) / STEP);
	close_former();
	check_all_delivered_twice();
}
