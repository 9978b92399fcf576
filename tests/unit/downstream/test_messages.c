/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests messages of the upstream scheduler through a server, on the MAP pseudowire and in sessions
 * of channels: before queued data, split if long, dropped if late, charged to the rate of the
 * channel. */
#include "messages_kit.h"

#define FLOW 1
#define SLACK 200 /* us */
#define STREAMS 3
#define STEPS 5000

/* The model: messages of each stream, in order. */
static struct stream {
	uint16_t number; /* for message_put() */
	uint32_t session;
	uint8_t flow;
	unsigned put, received; /* messages */
	uint16_t sequence; /* of the next frame */
	bool open; /* a message is partly received */
	uint16_t left; /* its missing bytes */
	struct sent {
		uint8_t byte;
		uint16_t size;
		uint64_t until; /* deadline, ns */
	} sent[4 * STEPS];
} streams[STREAMS];
static uint64_t late_count; /* messages */

/* A message begins: the next one that is not late. `sent_now`: it was sent in this round. */
static void begin_message(struct stream *x, const struct depi_frame *s, bool sent_now) {
	const uint64_t now = group_kit_clock(kit)->now;

	for (; x->sent[x->received].byte != s->first.data[0]; x->received++, late_count++)
		assert_true(x->received < x->put && x->sent[x->received].until < now);
	assert_true(x->received < x->put && (!sent_now || x->sent[x->received].until >= now));
	x->left = x->sent[x->received++].size;
	x->open = true;
}

/* Checks a frame of a message. Returns false if it has none. Late messages leave no gap. */
static bool check_frame(const struct depi_frame *s, bool sent_now) {
	struct stream *x = streams;

	while (x < streams + STREAMS && (x->session != s->session || x->flow != s->psp.flow))
		x++;
	if (x == streams + STREAMS)
		return false;
	assert_int_equal(s->psp.sequence, x->sequence);
	if (s->session == kit->sg.channels[0].session) /* extra bytes with a counter */
		assert_int_equal(s->psp.extra[1], x->sequence % 16 << 4 | 3);
	else if (s->psp.extra != NULL)
		assert_int_equal(s->psp.extra[1], 0);
	x->sequence++;
	assert_int_equal(s->segments, 1);
	assert_int_equal(s->first.begin, !x->open);
	if (s->first.begin)
		begin_message(x, s, sent_now);
	x->left = (uint16_t)(x->left - s->first.length);
	assert_int_equal(s->first.data[s->first.length - 1], x->sent[x->received - 1].byte);
	assert_int_equal(s->first.end, x->left == 0);
	x->open = !s->first.end;
	return true;
}

static void put_random_message(struct random *r) {
	struct stream *x = &streams[random_below(r, STREAMS)];
	uint16_t size = (uint16_t)random_between(r, 60, 1900);
	uint16_t slack = random_below(r, 2) ? (uint16_t)random_below(r, 300) : MESSAGE_ANY_TIME;

	if (put_message_with_slack(x->number, size, slack))
		x->sent[x->put++] =
			(struct sent){(uint8_t)serial, size,
				      slack == MESSAGE_ANY_TIME
					      ? UINT64_MAX
					      : group_kit_clock(kit)->now + slack * UINT64_C(1000)};
}

static void init_streams(void) {
	static const int channels[STREAMS] = {-1, 0, 1};

	for (unsigned i = 0; i < STREAMS; i++) {
		const int c = channels[i];

		streams[i].number =
			c < 0 ? message_pseudowire(0) : message_channel(path(), (uint32_t)c);
		streams[i].session = c < 0 ? PSEUDOWIRE : kit->sg.channels[c].session;
		streams[i].flow = c < 0 ? 0 : FLOW;
	}
}

/* Runs a round, and reads the port if `port_open`. Checks that data follows messages of the same round, if the port was
 * read in the round before. Returns the number of completed messages. */
static unsigned run_round(bool port_open, bool was_open) {
	bool data = false;
	unsigned ended = 0;
	struct depi_frame s;

	group_kit_round(kit);
	assert_true(downstream_balanced(kit->group->downstream));
	while (port_open && receive_frame(&s)) {
		bool message = check_frame(&s, was_open);

		assert_false(was_open && message && data);
		data |= !message;
		ended += message && s.first.end;
	}
	return ended;
}

/* With data traffic and a port that is blocked at times, so that messages become late. */
TEST(messages_arrive_in_order_and_in_time) {
	struct random r = {20261129};
	bool port_open = true, was_open = true;
	unsigned ended = 0;

	messages_open("");
	init_streams();
	for (unsigned step = 0; step < STEPS; step++) {
		advance_clock(random_below(&r, 60000));
		for (uint32_t n = random_below(&r, 4); n > 0; n--)
			put_random_message(&r);
		for (uint32_t n = step % 4 == 0 ? random_below(&r, 12) : 0; n > 0; n--)
			group_kit_send_good(kit, 0, 0, 300);
		ended += run_round(port_open, was_open);
		was_open = port_open;
		port_open ^= random_below(&r, 40) == 0;
	}
	assert_in_range(late_count, 100, read_counter(COUNTER_MESSAGES_LATE));
	assert_in_range(ended, STEPS / 4, read_counter(COUNTER_MESSAGES_SENT));
	assert_true(read_counter(COUNTER_TRANSMITTED) > STEPS / 4);
	messages_close();
}

/* With data queued for a full port. */
TEST(messages_precede_queued_data) {
	struct depi_frame s;

	messages_open("");
	for (int round = 0; round < 250; round++) {
		for (int i = 0; i < 60; i++)
			group_kit_send_good(kit, 3, 0, 60);
		group_kit_round(kit);
		advance_clock(20000);
	}
	assert_true(kit->group->downstream->lower.waiting_count > 10);
	assert_true(put_message(message_pseudowire(0), 100));
	assert_true(put_message(message_channel(path(), 0), 100));
	group_kit_round(kit);
	assert_int_equal(downstream_messages_pending(kit->group->downstream), 2);
	for (unsigned i = 0; i < RPHY_DEPTH - 1; i++) { /* frames that the port had before */
		assert_true(receive_frame(&s));
		assert_int_not_equal(s.session, PSEUDOWIRE);
	}
	assert_false(receive_frame(&s));
	receive_next_frame(&s);
	assert_int_equal(s.session, PSEUDOWIRE);
	assert_true(receive_frame(&s));
	assert_int_equal(s.psp.flow, FLOW);
	assert_true(receive_frame(&s));
	assert_int_equal(s.psp.flow, 0);
	assert_int_equal(downstream_messages_pending(kit->group->downstream), 0);
	messages_close();
}

TEST(messages_are_charged_to_their_channel) {
	static const struct {
		bool pseudowire;
		uint16_t size;
		unsigned min, max; /* bytes charged to the channel */
	} cases[] = {{true, 100, 0, 0}, {false, 1000, 1000, 1100}, {false, 500, 500, 600}};
	struct scheduler_channel_report r, before;

	messages_open("");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct scheduler *s = kit->group->downstream->upper.scheduler;

		scheduler_report_channel(s, 1, &before);
		assert_true(put_message(cases[i].pseudowire ? message_pseudowire(0)
							    : message_channel(path(), 1),
					cases[i].size));
		group_kit_round(kit);
		scheduler_report_channel(s, 1, &r);
		assert_in_range(r.bytes - before.bytes, cases[i].min, cases[i].max);
		for (uint32_t unused = 0; unused < 3; unused += 2) {
			scheduler_report_channel(s, unused, &r);
			assert_int_equal(r.bytes, 0);
		}
	}
	messages_close();
}

/* With PSP flow 0, messages and data have common sequence numbers and stay in order. */
TEST(messages_in_psp_flow_of_data_keep_order) {
	uint16_t data = 0;
	struct depi_frame s;

	messages_open("psp_flow: 0");
	for (int round = 0; round < 10; round++) {
		group_kit_send_good(kit, 3, 0, 300);
		assert_true(put_message(message_channel(path(), 2), 100));
		assert_true(put_message(message_channel(path(), 0), 100));
		group_kit_round(kit);
		advance_clock(100000);
		group_kit_round(kit);
		while (receive_frame(&s)) {
			assert_int_equal(s.psp.flow, 0);
			if (s.session == kit->sg.channels[2].session)
				assert_int_equal(s.psp.sequence, data++);
		}
	}
	assert_true(data >= 10);
	assert_int_equal(kit->group->downstream->lower.depi.channels[0].sequence, 10);
	assert_int_equal(read_counter(COUNTER_MESSAGES_SENT), 20);
	assert_int_equal(read_counter(COUNTER_TRANSMITTED), 10);
	messages_close();
}

/* A full ring refuses messages. A stop drops pending ones, and so does an unused stream. */
TEST(refused_and_stopped_messages_are_counted) {
	unsigned in = 0;
	struct depi_frame s;

	messages_open("");
	assert_true(put_message(message_channel(path(), path()->channels - 1), 100));
	group_kit_round(kit);
	assert_int_equal(read_counter(COUNTER_MESSAGES_LOST), 1);
	for (int round = 0; round < 200; round++) {
		while (in < 1200 && put_message(message_pseudowire(0), 100))
			in++;
		group_kit_round(kit);
		assert_true(downstream_balanced(kit->group->downstream));
	}
	assert_false(put_message(message_pseudowire(0), 100));
	assert_int_equal(downstream_messages_pending(kit->group->downstream), in - RPHY_DEPTH + 1);
	for (unsigned i = 0; i < 10; i++)
		assert_true(receive_frame(&s));
	group_kit_round(kit);
	assert_int_equal(read_counter(COUNTER_MESSAGES_SENT), RPHY_DEPTH - 1 + 10);
	downstream_stop(kit->group->downstream);
	assert_int_equal(read_counter(COUNTER_MESSAGES), 1 + in);
	assert_int_equal(read_counter(COUNTER_MESSAGES_LOST),
			 1 + in - read_counter(COUNTER_MESSAGES_SENT));
	assert_true(downstream_balanced(kit->group->downstream));
	messages_close();
}

/* Fills the port, as if it had no link yet. */
static void fill_port(void) {
	for (unsigned i = 0; i + 1 < RPHY_DEPTH; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(kit->server.pools.packets);

		assert_non_null(m);
		assert_int_equal(packet_sink_burst(&kit->group->downstream->lower.rphy, &m, 1), 1);
	}
}

/* Frees up to `limit` frames of the port. */
static void empty_port(unsigned limit) {
	struct rte_mbuf *m;

	for (; limit > 0 && rte_eth_rx_burst(kit->rphy, 0, &m, 1) == 1; limit--)
		rte_pktmbuf_free(m);
}

/* Delays before the first link of the port are not measured; later delays are. */
TEST(delays_before_first_link_are_not_measured) {
	const struct ds_messages *x;

	messages_open("");
	x = &kit->group->downstream->lower.messages;
	for (unsigned pass = 0; pass < 2; pass++) {
		empty_port(RPHY_DEPTH);
		fill_port();
		for (unsigned i = 0; i < 100; i++)
			assert_true(put_message(message_pseudowire(0), 100));
		group_kit_round(kit);
		advance_clock(30000000);
		while (downstream_messages_pending(kit->group->downstream) > 0) {
			empty_port(RPHY_DEPTH);
			group_kit_round(kit);
		}
		assert_int_equal(x->delayed, pass * 100);
		assert_int_equal(x->delay_sum, pass * 100 * UINT64_C(30000000));
		assert_int_equal(x->delay_max, pass * UINT64_C(30000000));
	}
	assert_int_equal(read_counter(COUNTER_MESSAGES_SENT), 200);
	messages_close();
}

/* A message at its deadline is sent; one nanosecond later, it is late. */
TEST(late_message_is_dropped) {
	struct depi_frame s;

	messages_open("");
	for (uint64_t late = 0; late < 2; late++) {
		assert_true(put_message_with_slack(message_channel(path(), 1), 100, SLACK));
		advance_clock(SLACK * 1000 + late);
		group_kit_round(kit);
		assert_int_equal(receive_frame(&s), late == 0);
		assert_int_equal(read_counter(COUNTER_MESSAGES_LATE), late);
	}
	assert_int_equal(read_counter(COUNTER_MESSAGES_SENT), 1);
	messages_close();
}

TEST(no_message_path_without_scheduler) {
	open_server(UPSTREAM, RPHY_DEPTH);
	assert_null(path());
	assert_false(upstream_grants(kit->group->upstream));
	group_kit_close(kit);
}
