/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of an upstream scheduler through a whole server: on the MAP pseudowire and in the channel's session, before
 * data that waits, cut where they are long, taken of the channel's rate, and accounted for to the end.
 */
#include "test.h"

#include <string.h>

#include <rte_ethdev.h>

#include "fixture.h"
#include "scheduler/report.h"
#include "server_bench.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define RPHY_DEPTH 64 /* one less fits */
#define PSEUDOWIRE 0x00030001
#define FLOW 1

static struct server_bench storage, *const bench = &storage;

static void bench_open(const char *scheduler) {
	char text[8192];

	snprintf(text, sizeof(text),
		 "%srphy: {mtu: 1500, max_segments: 16}\nupstream: {scheduler: {%s}}\n"
		 "upstream_channels: [{id: 1, type: ofdma, rate: 600 Mbps, session: 0x20001}]\n",
		 server_bench_text, scheduler);
	server_bench_open(bench, text, RPHY_DEPTH);
	assert_non_null(bench->group->upstream);
	upstream_stop_granting(bench->group->upstream); /* the messages here are the test's */
}

static struct message_path *path(void) {
	return downstream_messages(bench->group->downstream);
}

static uint64_t counted(enum counter which) {
	return server_bench_counters(bench).values[which];
}

static uint64_t serial; /* of messages */

/* Its bytes tell which one it is. */
static bool put_until(uint16_t stream, uint16_t size, uint16_t slack) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(bench->server.pools.packets);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, size), (int)++serial, size);
	if (message_put(path(), m, stream, server_bench_clock(bench)->now, slack))
		return true;
	rte_pktmbuf_free(m);
	serial--;
	return false;
}

static bool put(uint16_t stream, uint16_t size) {
	return put_until(stream, size, MESSAGE_ANY_TIME);
}

/* What came out, one DEPI frame. */
struct seen {
	uint32_t session;
	struct psp psp;
	unsigned segments;
	struct psp_segment first;
	uint8_t frame[2048];
};

static bool take(struct seen *s) {
	struct psp_cursor cursor = {0};
	struct l2tp_data l2tp;
	struct rte_mbuf *m;
	uint32_t size;

	if (rte_eth_rx_burst(bench->rphy, 0, &m, 1) == 0)
		return false;
	size = m->pkt_len;
	assert_in_range(size, 40, sizeof(s->frame));
	memmove(s->frame, rte_pktmbuf_read(m, 0, size, s->frame), size);
	rte_pktmbuf_free(m);
	assert_int_equal(l2tp_parse(s->frame, size, &l2tp), L2TP_OK);
	assert_in_range(size - ETHERNET_HEADER, 0, 1500);
	s->session = l2tp.session;
	assert_int_equal(psp_parse(l2tp.payload, l2tp.payload_size,
				   l2tp.session == PSEUDOWIRE ||
						   l2tp.session == bench->sg.channels[2].session
					   ? 0
					   : 2,
				   &s->psp),
			 PSP_OK);
	s->segments = s->psp.count;
	assert_true(psp_next(&s->psp, &cursor, &s->first));
	return true;
}

static void drain(void) {
	struct seen s;

	for (unsigned quiet = 0; quiet < 20; quiet++) {
		while (take(&s))
			quiet = 0;
		server_bench_clock(bench)->now += 20000;
		server_bench_round(bench);
	}
}

static void close_all(void) {
	drain();
	assert_int_equal(downstream_messages_held(bench->group->downstream), 0);
	assert_int_equal(counted(COUNTER_MESSAGES), counted(COUNTER_MESSAGES_SENT) +
							    counted(COUNTER_MESSAGES_LOST) +
							    counted(COUNTER_MESSAGES_LATE));
	server_bench_close(bench);
}

/* Alone in its DEPI frame, at once, with numbers of its own. */
static void both_ways(void **state) {
	uint32_t session = 0;
	struct seen s;

	(void)state;
	bench_open("");
	session = bench->sg.channels[1].session;
	for (uint16_t n = 0; n < 3; n++) {
		assert_true(put(message_pseudowire(0), 100));
		assert_true(put(message_channel(path(), 1), 110));
		server_bench_round(bench);
		assert_true(take(&s));
		assert_int_equal(s.session, PSEUDOWIRE);
		assert_int_equal(s.psp.flow, 0);
		assert_int_equal(s.psp.sequence, n);
		assert_int_equal(s.segments, 1);
		assert_true(s.first.begin && s.first.end && s.first.length == 100);
		assert_int_equal(s.first.data[99], (uint8_t)(serial - 1));
		assert_true(take(&s));
		assert_int_equal(s.session, session);
		assert_int_equal(s.psp.flow, FLOW);
		assert_int_equal(s.psp.sequence, n);
		assert_true(s.first.begin && s.first.end && s.first.length == 110);
		assert_int_equal(s.first.data[0], (uint8_t)serial);
		assert_false(take(&s));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 6);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 0);
	close_all();
}

/* With data in line for a port that takes nothing. */
static void before_data_that_waits(void **state) {
	unsigned before = 0;
	struct seen s;

	(void)state;
	bench_open("");
	for (int round = 0; round < 250; round++) {
		for (int i = 0; i < 60; i++)
			server_bench_good(bench, 3, 0, 60);
		server_bench_round(bench);
		server_bench_clock(bench)->now += 20000;
	}
	assert_true(bench->group->downstream->lower.waiting_count > 10);
	assert_true(put(message_pseudowire(0), 100));
	assert_true(put(message_channel(path(), 0), 100));
	server_bench_round(bench);
	assert_int_equal(downstream_messages_held(bench->group->downstream), 2);
	while (take(&s)) { /* what the port had already */
		assert_int_not_equal(s.session, PSEUDOWIRE);
		before++;
	}
	assert_int_equal(before, RPHY_DEPTH - 1);
	server_bench_round(bench);
	assert_true(take(&s));
	assert_int_equal(s.session, PSEUDOWIRE);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, FLOW);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, 0);
	assert_int_equal(downstream_messages_held(bench->group->downstream), 0);
	close_all();
}

/* As one that has no link yet, until it is taken from. */
static void port_fill(void) {
	for (unsigned i = 0; i + 1 < RPHY_DEPTH; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(bench->server.pools.packets);

		assert_non_null(m);
		assert_int_equal(packet_sink_burst(&bench->group->downstream->lower.rphy, &m, 1),
				 1);
	}
}

static void port_empty(void) {
	struct rte_mbuf *m;

	while (rte_eth_rx_burst(bench->rphy, 0, &m, 1) == 1)
		rte_pktmbuf_free(m);
}

/* What waited for the port's first link tells nothing of the data plane; what waited later does. */
static void delays_are_those_of_a_port_that_was_there(void **state) {
	const struct ds_messages *x;
	uint64_t *now;

	(void)state;
	bench_open("");
	x = &bench->group->downstream->lower.messages;
	now = &server_bench_clock(bench)->now;
	for (unsigned times = 0; times < 2; times++) {
		port_empty();
		port_fill();
		for (unsigned i = 0; i < 100; i++)
			assert_true(put(message_pseudowire(0), 100));
		server_bench_round(bench);
		*now += 30000000;
		while (downstream_messages_held(bench->group->downstream) > 0) {
			port_empty();
			server_bench_round(bench);
		}
		assert_int_equal(x->delayed, times * 100);
		assert_int_equal(x->delay_sum, times * 100 * UINT64_C(30000000));
		assert_int_equal(x->delay_max, times * UINT64_C(30000000));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 200);
	close_all();
}

/* In order, over two DEPI frames. */
static void long_ones_are_cut(void **state) {
	struct seen a, b;

	(void)state;
	bench_open("");
	for (uint16_t i = 0; i < 2; i++) {
		uint16_t stream = i == 0 ? message_pseudowire(0) : message_channel(path(), 2);

		assert_true(put(stream, 1900));
		server_bench_round(bench);
		assert_true(take(&a) && take(&b));
		assert_int_equal(a.psp.sequence + 1, b.psp.sequence);
		assert_true(a.first.begin && !a.first.end && !b.first.begin && b.first.end);
		assert_int_equal(a.first.length + b.first.length, 1900);
		assert_int_equal(b.first.data[b.first.length - 1], (uint8_t)serial);
		assert_false(take(&a));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 2);
	close_all();
}

static uint64_t channel_bytes(uint32_t channel) {
	struct scheduler_channel_report r;

	scheduler_report_channel(bench->group->downstream->upper.scheduler, channel, &r);
	return r.bytes;
}

/* Of the channel that carries them, and of no other; the pseudowire is none of them. */
static void taken_of_the_channel(void **state) {
	uint64_t before;

	(void)state;
	bench_open("");
	before = channel_bytes(1);
	assert_true(put(message_pseudowire(0), 100));
	server_bench_round(bench);
	assert_int_equal(channel_bytes(1), before);
	assert_true(put(message_channel(path(), 1), 1000));
	server_bench_round(bench);
	assert_in_range(channel_bytes(1), before + 1000, before + 1100);
	before = channel_bytes(1);
	assert_true(put(message_channel(path(), 1), 500));
	server_bench_round(bench);
	assert_in_range(channel_bytes(1), before + 500, before + 600);
	assert_int_equal(channel_bytes(0), 0);
	assert_int_equal(channel_bytes(2), 0);
	close_all();
}

/* A flow of 0 is that of data: numbers go on, and nobody passes. */
static void in_the_flow_of_data(void **state) {
	uint16_t data = 0;
	struct seen s;

	(void)state;
	bench_open("psp_flow: 0");
	for (int round = 0; round < 10; round++) {
		server_bench_good(bench, 3, 0, 300);
		assert_true(put(message_channel(path(), 2), 100));
		assert_true(put(message_channel(path(), 0), 100));
		server_bench_round(bench);
		server_bench_clock(bench)->now += 100000;
		server_bench_round(bench);
		while (take(&s)) {
			assert_int_equal(s.psp.flow, 0);
			if (s.session == bench->sg.channels[2].session)
				assert_int_equal(s.psp.sequence, data++);
		}
	}
	assert_true(data >= 10);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 20);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 10);
	close_all();
}

/* A ring that is full refuses; a stop ends what is in the ring and in line. */
static void accounted_for_to_the_end(void **state) {
	struct seen s;
	unsigned in = 0;

	(void)state;
	bench_open("");
	for (int round = 0; round < 200; round++) {
		while (in < 1200 && put(message_pseudowire(0), 100))
			in++;
		server_bench_round(bench);
		assert_true(downstream_balanced(bench->group->downstream));
	}
	assert_false(put(message_pseudowire(0), 100));
	assert_int_equal(downstream_messages_held(bench->group->downstream), in - RPHY_DEPTH + 1);
	assert_true(put(message_pseudowire(0), 100) == false);
	for (unsigned i = 0; i < 10; i++)
		assert_true(take(&s));
	server_bench_round(bench);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), RPHY_DEPTH - 1 + 10);
	downstream_stop(bench->group->downstream);
	assert_int_equal(counted(COUNTER_MESSAGES), in);
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), in - counted(COUNTER_MESSAGES_SENT));
	assert_true(downstream_balanced(bench->group->downstream));
	close_all();
}

/* Of slack that a MAP has the last moment is in time. */
static void in_time_or_not_at_all(void **state) {
	struct seen s;

	(void)state;
	bench_open("");
	for (uint64_t late = 0; late < 2; late++) {
		assert_true(put_until(message_channel(path(), 1), 100, 200));
		server_bench_clock(bench)->now += 200000 + late;
		server_bench_round(bench);
		assert_int_equal(take(&s), late == 0);
		assert_int_equal(counted(COUNTER_MESSAGES_LATE), late);
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 1);
	close_all();
}

/* The port takes nothing for 100 ms: what is old by then does not come out, what is not does, in its order. */
static void nothing_old_comes_out(void **state) {
	unsigned in = 0, kept = 0;
	uint8_t last = 0;
	struct seen s;

	(void)state;
	bench_open("");
	for (int round = 0; round < 200; round++) {
		while (in < 700 && put_until(message_pseudowire(0), 100,
					     in % 7 == 0 ? MESSAGE_ANY_TIME : 200)) {
			kept += in >= RPHY_DEPTH - 1 && in % 7 == 0;
			in++;
		}
		server_bench_round(bench);
	}
	assert_int_equal(in, 700);
	assert_int_equal(downstream_messages_held(bench->group->downstream), in - RPHY_DEPTH + 1);
	for (unsigned i = 0; i < RPHY_DEPTH - 1; i++) /* what the port had already */
		assert_true(take(&s));
	server_bench_clock(bench)->now += 100000000;
	for (unsigned i = 0; i < kept; i++) {
		assert_true(downstream_balanced(bench->group->downstream));
		if (!take(&s)) {
			server_bench_round(bench);
			server_bench_round(bench);
			assert_true(take(&s));
		}
		assert_true(i == 0 || s.first.data[0] == (uint8_t)(last + 7));
		last = s.first.data[0];
	}
	server_bench_round(bench);
	assert_false(take(&s));
	assert_int_equal(counted(COUNTER_MESSAGES_LATE), in - RPHY_DEPTH + 1 - kept);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), RPHY_DEPTH - 1 + kept);
	close_all();
}

/* A stream that is nobody's ends, and is counted. */
static void channels_that_are_not_there(void **state) {
	struct seen s;

	(void)state;
	bench_open("");
	assert_true(put(message_channel(path(), path()->channels - 1), 100));
	server_bench_round(bench);
	assert_false(take(&s));
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), 1);
	close_all();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(before_data_that_waits),
		cmocka_unit_test(delays_are_those_of_a_port_that_was_there),
		cmocka_unit_test(long_ones_are_cut),
		cmocka_unit_test(taken_of_the_channel),
		cmocka_unit_test(in_the_flow_of_data),
		cmocka_unit_test(accounted_for_to_the_end),
		cmocka_unit_test(in_time_or_not_at_all),
		cmocka_unit_test(nothing_old_comes_out),
		cmocka_unit_test(channels_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
