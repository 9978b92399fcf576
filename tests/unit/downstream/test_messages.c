/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of an upstream scheduler through a whole server: on the MAP pseudowire and in the channel's session, before
 * data that waits, cut where they are long, in time or not at all, taken of the channel's rate, and accounted for to the
 * end.
 */
#include "messages_kit.h"

#define FLOW 1
#define SLACK 200 /* us */
#define STREAMS 3
#define STEPS 5000

/* The model: what is on its way in a stream, in its order. */
static struct stream {
	uint16_t number; /* message_put() takes it by this */
	uint32_t session;
	uint8_t flow;
	unsigned put, back; /* messages */
	uint16_t sequence; /* of the next frame */
	bool open; /* a message has begun to come */
	uint16_t left; /* bytes of it */
	struct sent {
		uint8_t byte;
		uint16_t size;
		uint64_t until; /* ns */
	} sent[4 * STEPS];
} streams[STREAMS];
static uint64_t passed_over; /* messages that were late */

/* What comes is the next one that is not late. `sent_now`: it went to the port in this round. */
static void message_begins(struct stream *x, const struct seen *s, bool sent_now) {
	const uint64_t now = group_kit_clock(bench)->now;

	for (; x->sent[x->back].byte != s->first.data[0]; x->back++, passed_over++)
		assert_true(x->back < x->put && x->sent[x->back].until < now);
	assert_true(x->back < x->put && (!sent_now || x->sent[x->back].until >= now));
	x->left = x->sent[x->back++].size;
	x->open = true;
}

/* Returns whether it was a frame of a message. Numbers go on, whatever was late. */
static bool frame_is_back(const struct seen *s, bool sent_now) {
	struct stream *x = streams;

	while (x < streams + STREAMS && (x->session != s->session || x->flow != s->psp.flow))
		x++;
	if (x == streams + STREAMS)
		return false;
	assert_int_equal(s->psp.sequence, x->sequence);
	if (s->session == bench->sg.channels[0].session) /* with a counter behind the table */
		assert_int_equal(s->psp.extra[1], x->sequence % 16 << 4 | 3);
	else if (s->psp.extra != NULL)
		assert_int_equal(s->psp.extra[1], 0);
	x->sequence++;
	assert_int_equal(s->segments, 1);
	assert_int_equal(s->first.begin, !x->open);
	if (s->first.begin)
		message_begins(x, s, sent_now);
	x->left = (uint16_t)(x->left - s->first.length);
	assert_int_equal(s->first.data[s->first.length - 1], x->sent[x->back - 1].byte);
	assert_int_equal(s->first.end, x->left == 0);
	x->open = !s->first.end;
	return true;
}

static void put_one(struct random *r) {
	struct stream *x = &streams[random_below(r, STREAMS)];
	uint16_t size = (uint16_t)random_between(r, 60, 1900);
	uint16_t slack = random_below(r, 2) ? (uint16_t)random_below(r, 300) : MESSAGE_ANY_TIME;

	if (put_until(x->number, size, slack))
		x->sent[x->put++] =
			(struct sent){(uint8_t)serial, size,
				      slack == MESSAGE_ANY_TIME ? UINT64_MAX
								: group_kit_clock(bench)->now +
									  slack * UINT64_C(1000)};
}

static void streams_begin(void) {
	static const int channels[STREAMS] = {-1, 0, 1};

	for (unsigned i = 0; i < STREAMS; i++) {
		const int c = channels[i];

		streams[i].number =
			c < 0 ? message_pseudowire(0) : message_channel(path(), (uint32_t)c);
		streams[i].session = c < 0 ? PSEUDOWIRE : bench->sg.channels[c].session;
		streams[i].flow = c < 0 ? 0 : FLOW;
	}
}

/* A round, and what the port has of it. Data of the same round goes behind messages. Returns how many messages ended. */
static unsigned round_and_read(bool takes, bool took) {
	bool data = false;
	unsigned ended = 0;
	struct seen s;

	group_kit_round(bench);
	assert_true(downstream_balanced(bench->group->downstream));
	while (takes && take(&s)) {
		bool message = frame_is_back(&s, took);

		assert_false(took && message && data);
		data |= !message;
		ended += message && s.first.end;
	}
	return ended;
}

/* Data beside them, and a port that takes nothing for a while: messages come in the round in which others turn out to be
 * late. */
TEST(in_order_and_in_time) {
	struct random r = {20261129};
	bool takes = true, took = true;
	unsigned ended = 0;

	messages_open("");
	streams_begin();
	for (unsigned step = 0; step < STEPS; step++) {
		pass_time(random_below(&r, 60000));
		for (uint32_t n = random_below(&r, 4); n > 0; n--)
			put_one(&r);
		for (uint32_t n = step % 4 == 0 ? random_below(&r, 12) : 0; n > 0; n--)
			group_kit_good(bench, 0, 0, 300);
		ended += round_and_read(takes, took);
		took = takes;
		takes ^= random_below(&r, 40) == 0;
	}
	assert_in_range(passed_over, 100, counted(COUNTER_MESSAGES_LATE));
	assert_in_range(ended, STEPS / 4, counted(COUNTER_MESSAGES_SENT));
	assert_true(counted(COUNTER_TRANSMITTED) > STEPS / 4);
	messages_close();
}

/* With data in line for a port that takes nothing. */
TEST(before_data_that_waits) {
	struct seen s;

	messages_open("");
	for (int round = 0; round < 250; round++) {
		for (int i = 0; i < 60; i++)
			group_kit_good(bench, 3, 0, 60);
		group_kit_round(bench);
		pass_time(20000);
	}
	assert_true(bench->group->downstream->lower.waiting_count > 10);
	assert_true(put(message_pseudowire(0), 100));
	assert_true(put(message_channel(path(), 0), 100));
	group_kit_round(bench);
	assert_int_equal(downstream_messages_pending(bench->group->downstream), 2);
	for (unsigned i = 0; i < RPHY_DEPTH - 1; i++) { /* what the port had already */
		assert_true(take(&s));
		assert_int_not_equal(s.session, PSEUDOWIRE);
	}
	assert_false(take(&s));
	take_next(&s);
	assert_int_equal(s.session, PSEUDOWIRE);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, FLOW);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, 0);
	assert_int_equal(downstream_messages_pending(bench->group->downstream), 0);
	messages_close();
}

TEST(taken_of_the_channel) {
	static const struct {
		bool pseudowire;
		uint16_t size;
		unsigned least, most; /* bytes taken of the channel */
	} cases[] = {{true, 100, 0, 0}, {false, 1000, 1000, 1100}, {false, 500, 500, 600}};
	struct scheduler_channel_report r, before;

	messages_open("");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct scheduler *s = bench->group->downstream->upper.scheduler;

		scheduler_report_channel(s, 1, &before);
		assert_true(put(cases[i].pseudowire ? message_pseudowire(0)
						    : message_channel(path(), 1),
				cases[i].size));
		group_kit_round(bench);
		scheduler_report_channel(s, 1, &r);
		assert_in_range(r.bytes - before.bytes, cases[i].least, cases[i].most);
		for (uint32_t other = 0; other < 3; other += 2) {
			scheduler_report_channel(s, other, &r);
			assert_int_equal(r.bytes, 0);
		}
	}
	messages_close();
}

/* A flow of 0 is that of data: numbers go on, and nobody passes. */
TEST(in_the_flow_of_data) {
	uint16_t data = 0;
	struct seen s;

	messages_open("psp_flow: 0");
	for (int round = 0; round < 10; round++) {
		group_kit_good(bench, 3, 0, 300);
		assert_true(put(message_channel(path(), 2), 100));
		assert_true(put(message_channel(path(), 0), 100));
		group_kit_round(bench);
		pass_time(100000);
		group_kit_round(bench);
		while (take(&s)) {
			assert_int_equal(s.psp.flow, 0);
			if (s.session == bench->sg.channels[2].session)
				assert_int_equal(s.psp.sequence, data++);
		}
	}
	assert_true(data >= 10);
	assert_int_equal(bench->group->downstream->lower.depi.channels[0].sequence, 10);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 20);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 10);
	messages_close();
}

/* A ring that is full refuses; a stop ends what is in the ring and in line. A stream that is nobody's ends as well. */
TEST(accounted_for_to_the_end) {
	unsigned in = 0;
	struct seen s;

	messages_open("");
	assert_true(put(message_channel(path(), path()->channels - 1), 100));
	group_kit_round(bench);
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), 1);
	for (int round = 0; round < 200; round++) {
		while (in < 1200 && put(message_pseudowire(0), 100))
			in++;
		group_kit_round(bench);
		assert_true(downstream_balanced(bench->group->downstream));
	}
	assert_false(put(message_pseudowire(0), 100));
	assert_int_equal(downstream_messages_pending(bench->group->downstream),
			 in - RPHY_DEPTH + 1);
	for (unsigned i = 0; i < 10; i++)
		assert_true(take(&s));
	group_kit_round(bench);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), RPHY_DEPTH - 1 + 10);
	downstream_stop(bench->group->downstream);
	assert_int_equal(counted(COUNTER_MESSAGES), 1 + in);
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), 1 + in - counted(COUNTER_MESSAGES_SENT));
	assert_true(downstream_balanced(bench->group->downstream));
	messages_close();
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
		group_kit_round(bench);
		pass_time(30000000);
		while (downstream_messages_pending(bench->group->downstream) > 0) {
			port_empty(RPHY_DEPTH);
			group_kit_round(bench);
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
		group_kit_round(bench);
		assert_int_equal(take(&s), late == 0);
		assert_int_equal(counted(COUNTER_MESSAGES_LATE), late);
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 1);
	messages_close();
}

/* Upstream channels alone are no scheduler: nothing is there for messages, and nobody makes any. */
TEST(none_without_a_scheduler) {
	bench_open(UPSTREAM, RPHY_DEPTH);
	assert_null(path());
	assert_false(upstream_grants(bench->group->upstream));
	group_kit_close(bench);
}
