/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that roll while packets are under way: two generations per modem, and the order of frames and changes. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "follow_rig.h"
#include "test_main.h"

#define IV "101112131415161718191a1b1c1d1e1f"
#define IN_RING 32

static struct rig_frame older[FOLLOW_PACKETS];

/* The first modem's generation of this number; number 1 is the one that it begins with. */
static void key_of(unsigned number, char key[33]) {
	snprintf(key, 33, "%02x0102030405060708090a0b0c0d0e0f", number == 1 ? 0 : number);
}

/* The server has generation `number`, and with `next` the one after it. */
static void key_set(unsigned number, bool next) {
	char key[33], next_key[33], text[400];
	int size;

	key_of(number, key);
	key_of(number + 1, next_key);
	size = snprintf(text, sizeof(text),
			"{'said': 1, 'cipher': 'aes-128', 'key': '%s', 'iv': '" IV
			"', 'key_sequence': %u",
			key, number % 16);
	if (next)
		size += snprintf(text + size, sizeof(text) - (size_t)size,
				 ", 'next_key': '%s', 'next_iv': '" IV "'", next_key);
	snprintf(text + size, sizeof(text) - (size_t)size, "}");
	follow_set_json(follow_modem(follow_server.config, 0), "security", text);
}

/* The same, as a change. */
static void server_has(unsigned number, bool next) {
	fake_server_begin(&follow_server);
	key_set(number, next);
	follow_change_end();
}

/* Numbers wrap behind 15. Frames of each generation arrive when the next one is in use. */
TEST(keys_roll_on_and_on) {
	uint32_t magic = follow_rig.traffic->downlink->generator->magic;

	for (unsigned number = 1; number <= 40; number++) {
		server_has(number, true);
		follow_learn();
		follow_take(FOLLOW_PACKETS);
		server_has(number + 1, false);
		follow_learn();
		follow_send(0, FOLLOW_PACKETS);
	}
	follow_take_and_send(FOLLOW_PACKETS);
	assert_int_equal(follow_rig.traffic->downlink->follow->frames.count, 0);
	assert_int_equal(follow_rig.traffic->downlink->generator->magic, magic); /* keys alone */
	follow_all_proven();
}

/* Frames of a key that the modem has not: packets of which nothing else is known. */
static void finish_undecipherable(unsigned count) {
	assert_true(count > 0);
	follow_finish((struct rig_wrong){.undecipherable = count});
}

static void times_are_over(void) {
	for (int i = 0; i < 4; i++)
		traffic_receive(follow_rig.traffic);
	assert_null(follow_rig.traffic->downlink->follow->oldest);
}

/* Frames with the first generation come when that is none of the modem's any more, for the reason given. */
static void first_key_is_gone(void (*reason)(void)) {
	unsigned old;

	server_has(1, true);
	follow_learn();
	follow_take(FOLLOW_PACKETS);
	old = follow_count(0, FOLLOW_PACKETS, 0);
	server_has(2, false);
	follow_learn();
	reason();
	follow_send(0, FOLLOW_PACKETS);
	follow_judge();
	finish_undecipherable(old);
}

/* A generation that was removed is known for a while, and then no more. */
TEST(a_removed_key_is_dropped_when_its_time_is_over) {
	follow_rig.traffic->downlink->follow->keep = 0;
	first_key_is_gone(times_are_over);
}

static void third_comes(void) {
	server_has(2, true);
	follow_learn();
}

/* The third generation takes the place of the first. */
TEST(a_modem_holds_two_generations) {
	first_key_is_gone(third_comes);
}

/* A change that brings a modem anew brings both of its keys, whose numbers wrap. */
TEST(a_modem_comes_with_both_keys) {
	fake_server_begin(&follow_server);
	key_set(15, true);
	follow_set_json(follow_modem(follow_server.config, 0), "cpe_limit", "'5'");
	follow_change_end();
	follow_learn();
	server_has(16, false);
	follow_take_and_send(FOLLOW_PACKETS);
	assert_true(follow_count(0, FOLLOW_PACKETS, 0) > 0);
	assert_int_equal(follow_rig.traffic->downlink->follow->frames.count, 0);
	follow_all_proven();
}

/* A generation that comes again is not dropped with the one of before. */
TEST(a_key_that_comes_again_stays) {
	follow_rig.traffic->downlink->follow->keep = rte_get_tsc_hz() / 50;
	server_has(1, true);
	follow_learn();
	server_has(2, false); /* removes the first */
	follow_learn();
	server_has(1, true); /* as a file that is read again has it */
	follow_learn();
	rte_delay_us_block(40000);
	times_are_over();
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* Frames wait for as long as the server takes to say that nothing has changed: no clock ends that. */
TEST(frames_wait_for_the_servers_word) {
	unsigned unknown;

	follow_server.busy = true;
	follow_rig.sg.modems[0].security.key_sequence = 9; /* and the server tells nobody */
	follow_take(FOLLOW_PACKETS);
	unknown = follow_count(0, FOLLOW_PACKETS, 0);
	follow_send(0, FOLLOW_PACKETS);
	for (int i = 0; i < 200; i++) {
		follow_look(&following, 1);
		traffic_receive(follow_rig.traffic);
	}
	assert_int_equal(follow_rig.traffic->downlink->follow->frames.count, unknown);
	assert_in_range(follow_server.infos, 0, 1); /* it is not asked twice */
	follow_server.busy = false;
	fake_server_answer(&follow_server);
	follow_judge();
	finish_undecipherable(unknown);
}

/* A change that was made behind the question, and before the answer, explains them. */
TEST(a_change_before_the_answer_explains_frames) {
	follow_server.busy = true;
	follow_take(FOLLOW_PACKETS);
	follow_rig.sg.modems[0].security.key_sequence = 3;
	rig_take(&follow_rig, older, FOLLOW_PACKETS, NULL);
	follow_send(0, FOLLOW_PACKETS);
	rig_send_frames(&follow_rig, older, FOLLOW_PACKETS);
	for (int i = 0; i < 20; i++)
		follow_learn();
	assert_true(follow_rig.traffic->downlink->follow->frames.count > 0);
	fake_server_begin(&follow_server);
	key_set(1, false);
	json_object_set_new(json_object_get(follow_modem(follow_server.config, 0), "security"),
			    "key_sequence", json_integer(3));
	fake_server_prepare(&follow_server);
	pthread_mutex_unlock(&follow_server.lock);
	follow_server.busy = false;
	fake_server_answer(&follow_server);
	for (int i = 0; i < 20; i++)
		follow_learn(); /* the answer came, but the change is not through */
	assert_true(follow_rig.traffic->downlink->follow->frames.count > 0);
	fake_server_begin(&follow_server);
	fake_server_apply(&follow_server);
	follow_change_end();
	follow_learn();
	follow_all_proven();
}

static void put_into_ring(const struct rig_frame *f) {
	struct rig_segment whole = {f->bytes, f->size, true, true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(follow_rig.pool);
	uint8_t depi[RIG_MTU + 14];
	size_t size = rig_depi(&follow_rig, f->channel, &whole, 1, depi);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)size), depi, size);
	assert_int_equal(rte_eth_tx_burst(follow_rig.rphy[1], 0, &m, 1), 1);
}

/* What stands in the port when the server tells of a change was sent before it, and is judged by what was before. */
TEST(what_stands_in_the_port_is_older_than_a_change) {
	server_has(1, true);
	follow_learn();
	follow_take(IN_RING);
	assert_true(follow_count(0, IN_RING, 0) > 0);
	for (unsigned i = 0; i < IN_RING; i++)
		put_into_ring(&follow_frames[i]);
	server_has(2, true); /* the third is in the place of the first, which is dropped at once */
	follow_look(&following, 0);
	assert_int_equal(following.changes, 2);
	traffic_change_round(follow_rig.traffic, rte_rdtsc());
	assert_false(traffic_took(follow_rig.traffic));
	traffic_receive(follow_rig.traffic); /* a whole burst: more may be there */
	traffic_change_round(follow_rig.traffic, rte_rdtsc());
	assert_false(traffic_took(follow_rig.traffic));
	traffic_receive(follow_rig.traffic);
	traffic_change_round(follow_rig.traffic, rte_rdtsc());
	assert_true(traffic_took(follow_rig.traffic));
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* A file that is read again replaces both generations at once: what is under way is known by those of before. */
TEST(all_keys_are_replaced_at_once) {
	server_has(5, true);
	follow_learn();
	follow_take(FOLLOW_PACKETS);
	server_has(2, true);
	follow_learn();
	follow_send(0, FOLLOW_PACKETS);
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* What was before the oldest change is forgotten, also where keys alone changed behind it. */
TEST(tables_before_keys_are_forgotten) {
	struct downlink *d = follow_rig.traffic->downlink;

	follow_modem_add();
	follow_learn();
	server_has(1, true);
	follow_learn();
	follow_modem_remove();
	follow_learn();
	assert_non_null(d->generator->past->older);
	assert_non_null(d->modems.older->older);
	d->follow->oldest->until = 0;
	traffic_receive(follow_rig.traffic);
	assert_false(d->follow->oldest->tables);
	assert_null(d->generator->past->older);
	assert_null(d->modems.older->older);
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* A port that is never empty does not hold a change up. */
TEST(a_full_port_does_not_hold_a_change_up) {
	unsigned rounds = 0;

	server_has(1, true);
	follow_look(&following, 0);
	while (!traffic_took(follow_rig.traffic) && rounds < 1000) {
		traffic_change_round(follow_rig.traffic, rte_rdtsc());
		rounds++;
	}
	assert_in_range(rounds, 32, 100);
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

EACH_TEST(follow_begin, follow_end)
ALL_TESTS(follow_open_rig, follow_close_rig)
