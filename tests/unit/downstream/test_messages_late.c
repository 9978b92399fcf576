/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that wait for the port: what of them is late, and what is told of their delay. */
#include "messages_kit.h"

#define SLACK 200 /* us */
#define LATE_NS 201000

/* As one that has no link yet, until it is taken from. */
static void port_fill(void) {
	for (unsigned i = 0; i + 1 < RPHY_DEPTH; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(bench->server.pools.packets);

		assert_non_null(m);
		assert_int_equal(packet_sink_burst(&bench->group->downstream->lower.rphy, &m, 1),
				 1);
	}
}

/* Of what fills the port, at most `most`. */
static void port_empty(unsigned most) {
	struct rte_mbuf *m;

	for (; most > 0 && rte_eth_rx_burst(bench->rphy, 0, &m, 1) == 1; most--)
		rte_pktmbuf_free(m);
}

/* What waited for the port's first link tells nothing of the data plane; what waited later does. */
TEST(delays_are_those_of_a_port_that_was_there) {
	const struct ds_messages *x;

	messages_open("");
	x = &bench->group->downstream->lower.messages;
	for (unsigned times = 0; times < 2; times++) {
		port_empty(RPHY_DEPTH);
		port_fill();
		for (unsigned i = 0; i < 100; i++)
			assert_true(put(message_pseudowire(0), 100));
		server_bench_round(bench);
		pass_time(30000000);
		while (downstream_messages_held(bench->group->downstream) > 0) {
			port_empty(RPHY_DEPTH);
			server_bench_round(bench);
		}
		assert_int_equal(x->delayed, times * 100);
		assert_int_equal(x->delay_sum, times * 100 * UINT64_C(30000000));
		assert_int_equal(x->delay_max, times * UINT64_C(30000000));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 200);
	messages_close();
}

/* Of slack that a MAP has the last moment is in time. */
TEST(in_time_or_not_at_all) {
	struct seen s;

	messages_open("");
	for (uint64_t late = 0; late < 2; late++) {
		assert_true(put_until(message_channel(path(), 1), 100, SLACK));
		pass_time(SLACK * 1000 + late);
		server_bench_round(bench);
		assert_int_equal(take(&s), late == 0);
		assert_int_equal(counted(COUNTER_MESSAGES_LATE), late);
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 1);
	messages_close();
}

/* The port takes nothing for 100 ms: what is old by then does not come out, what is not does, in its order. */
TEST(nothing_old_comes_out) {
	unsigned in = 0, kept = 0;
	uint8_t last = 0;
	struct seen s;

	messages_open("");
	port_fill();
	for (int round = 0; round < 200; round++) {
		while (in < 700 && put_until(message_pseudowire(0), 100,
					     in % 7 == 0 ? MESSAGE_ANY_TIME : SLACK)) {
			kept += in % 7 == 0;
			in++;
		}
		server_bench_round(bench);
	}
	assert_int_equal(downstream_messages_held(bench->group->downstream), 700);
	port_empty(RPHY_DEPTH);
	pass_time(100000000);
	for (unsigned i = 0; i < kept; i++) {
		assert_true(downstream_balanced(bench->group->downstream));
		if (!take(&s)) {
			server_bench_round(bench);
			take_next(&s);
		}
		assert_true(i == 0 || s.first.data[0] == (uint8_t)(last + 7));
		last = s.first.data[0];
	}
	server_bench_round(bench);
	assert_false(take(&s));
	assert_int_equal(counted(COUNTER_MESSAGES_LATE), 700 - kept);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), kept);
	messages_close();
}

/* It comes out next, as frame `number` of its stream. */
static void take_frame(struct seen *s, unsigned number) {
	take_next(s);
	assert_int_equal(s->psp.sequence, number);
	if (s->session ==
	    bench->sg.channels[0].session) /* with a counter behind the segments' table */
		assert_int_equal(s->psp.extra[1], number % 16 << 4 | 3);
	else if (s->psp.extra != NULL)
		assert_int_equal(s->psp.extra[1], 0);
}

/* What waits behind a MAP that is too late takes its number; what waits without one that is late keeps its own. */
TEST(nobody_misses_a_number) {
	uint16_t streams[3];
	struct seen s;

	messages_open("");
	streams[0] = message_pseudowire(0);
	streams[1] = message_channel(path(), 0);
	streams[2] = message_channel(path(), 1);
	port_fill();
	for (unsigned i = 0; i < 60; i++) {
		assert_true(put_until(streams[i % 3], 100, SLACK));
		assert_true(put(streams[i % 3], 100));
		server_bench_round(bench);
	}
	pass_time(LATE_NS);
	port_empty(RPHY_DEPTH);
	for (unsigned i = 0; i < 60; i++)
		take_frame(&s, i / 3);
	assert_false(take(&s));
	for (unsigned waits = 0; waits < 2; waits++) {
		if (waits)
			port_fill();
		for (unsigned i = 0; i < 3; i++) {
			assert_true(put(streams[i], 100));
			server_bench_round(bench);
		}
		port_empty(waits ? RPHY_DEPTH : 0);
		for (unsigned i = 0; i < 3; i++)
			take_frame(&s, 20 + waits);
	}
	assert_int_equal(counted(COUNTER_MESSAGES_LATE), 60);
	messages_close();
}

/* A MAP of two frames: both are late, or none where the first is out. */
TEST(what_has_begun_to_go_out_ends) {
	struct seen s;

	messages_open("");
	port_fill();
	port_empty(1);
	for (unsigned i = 0; i < 3; i++)
		assert_true(put_until(message_pseudowire(0), 1700, SLACK));
	assert_true(put(message_pseudowire(0), 1700));
	server_bench_round(bench);
	pass_time(LATE_NS);
	port_empty(RPHY_DEPTH - 2);
	server_bench_round(bench);
	for (unsigned i = 0; i < 4; i++) {
		take_frame(&s, i);
		assert_int_equal(s.first.begin, i % 2 == 0);
		assert_int_equal(s.first.end, i % 2 == 1);
		assert_int_equal(s.first.data[0], (uint8_t)(serial - (i < 2 ? 3 : 0)));
	}
	assert_false(take(&s));
	assert_int_equal(counted(COUNTER_MESSAGES_LATE), 2);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 2);
	messages_close();
}
