/* SPDX-License-Identifier: BSD-3-Clause */
/* The senders of the simulation: what RFC 5681, RFC 6298 and RFC 9438 say of them, alone and over time. */
#include "test_main.h"

#include <math.h>

#include "tcp.h"

#define MS UINT64_C(1000000)
#define ROUND_MAX 65536 /* packets under way at most */

/* A path without a queue, on which every packet takes the same time. */
struct path {
	struct tcp tcp;
	uint64_t now, rtt;
	uint64_t sent[ROUND_MAX]; /* when, by number modulo */
	uint64_t drop_each; /* that many-th packet is lost; 0: none is */
	uint64_t next; /* the number that arrives next */
};

static void send_all(struct path *p) {
	while (tcp_may_send(&p->tcp)) {
		uint64_t number = tcp_send(&p->tcp, p->now);

		p->sent[number % ROUND_MAX] = p->now;
	}
}

/* The next packet arrives or is lost, or time runs out. */
static void step(struct path *p) {
	uint64_t number = p->next, sent = p->sent[number % ROUND_MAX];

	if (number == p->tcp.sent) {
		p->now = p->tcp.deadline;
		tcp_time_out(&p->tcp);
	} else {
		p->next++;
		if (p->drop_each == 0 || (number + 1) % p->drop_each != 0) {
			p->now = sent + p->rtt;
			tcp_acknowledge(&p->tcp, number, sent, p->now);
		}
	}
	send_all(p);
}

static struct path *begin(enum congestion_control control, uint64_t rtt, uint64_t drop_each) {
	static struct path p;

	p = (struct path){.rtt = rtt, .drop_each = drop_each};
	tcp_init(&p.tcp, control);
	send_all(&p);
	return &p;
}

/* The mean window, from what was acknowledged in so many seconds after as many for settling. */
static double mean_window(struct path *p, uint64_t seconds) {
	uint64_t from, acknowledged;

	while (p->now < seconds * 1000 * MS)
		step(p);
	from = p->now;
	acknowledged = p->tcp.acknowledged;
	while (p->now < 2 * seconds * 1000 * MS)
		step(p);
	return (double)(p->tcp.acknowledged - acknowledged) * (double)p->rtt /
	       (double)(p->now - from);
}

static void acknowledge(struct tcp *t, uint64_t number) {
	tcp_acknowledge(t, number, 0, 100 * MS);
}

TEST(test_loss_is_found_by_three_later_packets) {
	struct tcp t;

	tcp_init(&t, CONGESTION_RENO);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(tcp_send(&t, 0), i);
	acknowledge(&t, 0);
	acknowledge(&t, 2); /* 1 is missing */
	acknowledge(&t, 3);
	assert_int_equal(t.lost, 0);
	assert_true(t.congestion.window == 13);
	acknowledge(&t, 5); /* and 4 */
	assert_int_equal(t.lost, 1);
	assert_true(t.congestion.window == 6.5);
	assert_int_equal(t.in_flight, 10 - 4 - 1);
	acknowledge(&t, 6);
	acknowledge(&t, 7);
	assert_int_equal(t.lost, 2);
	assert_int_equal(t.reductions, 1); /* was under way together with the first */
	assert_true(t.congestion.window == 6.5);
}

TEST(test_timeout) {
	struct tcp t;
	uint64_t rto;

	tcp_init(&t, CONGESTION_RENO);
	assert_true(t.deadline == TCP_NEVER);
	for (unsigned i = 0; i < 10; i++)
		tcp_send(&t, 5 * MS);
	assert_int_equal(t.deadline, 1005 * MS); /* no round trip is known */
	acknowledge(&t, 0);
	rto = t.deadline - 100 * MS;
	assert_int_equal(rto, 300 * MS); /* 100 ms, and four times half of it */
	tcp_time_out(&t);
	assert_int_equal(t.in_flight, 0);
	assert_int_equal(t.lost, 9);
	assert_true(t.congestion.window == 1 && t.congestion.threshold == 5.5);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(tcp_send(&t, 1000 * MS), 9 + i);
		assert_int_equal(t.deadline - 1000 * MS, rto << i);
		tcp_time_out(&t);
		assert_true(t.congestion.threshold == 5.5);
	}
	acknowledge(&t, 9); /* late */
	assert_int_equal(t.in_flight, 0);
	assert_int_equal(t.acknowledged, 1);
}

/*
 * RFC 9438, section 5.1, for one loss in every 1/p packets: sqrt(3 / 2p) with Reno's numbers, and for CUBIC
 * (C (3 + b) / 4 (1 - b))^(1/4) RTT^(3/4) / p^(3/4), where that is more than Reno. That does without the round in which a
 * loss is repaired: it holds where rounds between losses are many.
 */
TEST(test_each_takes_its_share_of_a_lossy_path) {
	static const struct {
		enum congestion_control control;
		uint64_t rtt, interval, seconds;
	} cases[] = {
		{CONGESTION_RENO, 20, 1000, 200},      {CONGESTION_RENO, 20, 5000, 200},
		{CONGESTION_RENO, 20, 20000, 200},     {CONGESTION_CUBIC, 100, 10000, 1000},
		{CONGESTION_CUBIC, 100, 100000, 1000}, {CONGESTION_CUBIC, 50, 100000, 1000},
		{CONGESTION_CUBIC, 200, 10000, 1000},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct path *p = begin(cases[i].control, cases[i].rtt * MS, cases[i].interval);
		double interval = (double)cases[i].interval, rtt = (double)cases[i].rtt / 1000;
		double expected = cases[i].control == CONGESTION_RENO
					  ? sqrt(1.5 * interval)
					  : pow(0.4 * 3.7 / 1.2, 0.25) * pow(rtt * interval, 0.75);
		double mean = mean_window(p, cases[i].seconds);

		if (fabs(mean / expected - 1) > 0.08)
			fail_msg("%u: window %f, not %f", i, mean, expected);
	}
}

/* Section 4.3: with short round trips, not less than Reno. */
TEST(test_cubic_is_no_worse_than_reno) {
	double reno = mean_window(begin(CONGESTION_RENO, 5 * MS, 1000), 100);
	double cubic = mean_window(begin(CONGESTION_CUBIC, 5 * MS, 1000), 100);

	assert_true(cubic > 0.95 * reno && cubic < 1.3 * reno);
}
