/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the TCP senders of the simulation against RFC 5681, RFC 6298 and RFC 9438. */
#include "test_main.h"

#include <math.h>

#include "tcp.h"

#define MS UINT64_C(1000000)
#define FLIGHT_MAX 65536 /* maximum packets in flight */

/* A path without a queue and with a constant round-trip time. */
struct path {
	struct tcp tcp;
	uint64_t now, rtt; /* ns */
	uint64_t sent[FLIGHT_MAX]; /* send time per packet number, modulo FLIGHT_MAX */
	uint64_t drop_each; /* one of so many packets is lost; 0: none */
	uint64_t next; /* number of the packet that arrives next */
};

static void send_all(struct path *p) {
	while (tcp_may_send(&p->tcp)) {
		uint64_t number = tcp_send(&p->tcp, p->now);

		p->sent[number % FLIGHT_MAX] = p->now;
	}
}

/* The next packet is acknowledged or lost, or the retransmission timer expires. */
static void path_step(struct path *p) {
	uint64_t number = p->next, sent = p->sent[number % FLIGHT_MAX];

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

static struct path *start(enum congestion_control control, uint64_t rtt, uint64_t drop_each) {
	static struct path p;

	p = (struct path){.rtt = rtt, .drop_each = drop_each};
	tcp_init(&p.tcp, control);
	send_all(&p);
	return &p;
}

/* The mean window in packets over `seconds`, after as many seconds to settle. */
static double mean_window(struct path *p, uint64_t seconds) {
	uint64_t from, acknowledged;

	while (p->now < seconds * 1000 * MS)
		path_step(p);
	from = p->now;
	acknowledged = p->tcp.acknowledged;
	while (p->now < 2 * seconds * 1000 * MS)
		path_step(p);
	return (double)(p->tcp.acknowledged - acknowledged) * (double)p->rtt /
	       (double)(p->now - from);
}

static void acknowledge(struct tcp *t, uint64_t number) {
	tcp_acknowledge(t, number, 0, 100 * MS);
}

TEST(loss_is_detected_after_three_later_packets) {
	struct tcp t;

	tcp_init(&t, CONGESTION_RENO);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(tcp_send(&t, 0), i);
	acknowledge(&t, 0);
	acknowledge(&t, 2); /* 1 is missing */
	acknowledge(&t, 3);
	assert_int_equal(t.lost, 0);
	assert_true(t.congestion.window == 13);
	acknowledge(&t, 5); /* 4 is missing */
	assert_int_equal(t.lost, 1);
	assert_true(t.congestion.window == 6.5);
	assert_int_equal(t.in_flight, 10 - 4 - 1);
	acknowledge(&t, 6);
	acknowledge(&t, 7);
	assert_int_equal(t.lost, 2);
	assert_int_equal(t.reductions, 1); /* both losses are of one flight */
	assert_true(t.congestion.window == 6.5);
}

TEST(timeout_backs_off_exponentially) {
	struct tcp t;
	uint64_t rto;

	tcp_init(&t, CONGESTION_RENO);
	assert_true(t.deadline == TCP_NEVER);
	for (unsigned i = 0; i < 10; i++)
		tcp_send(&t, 5 * MS);
	assert_int_equal(t.deadline, 1005 * MS); /* no RTT sample yet */
	acknowledge(&t, 0);
	rto = t.deadline - 100 * MS;
	assert_int_equal(rto, 300 * MS); /* SRTT 100 ms + 4 * RTTVAR 50 ms */
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

/* RFC 9438, section 5.1: the mean window for loss rate p is sqrt(3 / 2p) for Reno, and for CUBIC (C
 * (3 + b) / 4 (1 - b))^(1/4) RTT^(3/4) / p^(3/4) if that exceeds Reno's. The formulas ignore the
 * round that repairs a loss, so the cases have many rounds between losses. */
TEST(mean_window_matches_rfc_9438) {
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
		struct path *p = start(cases[i].control, cases[i].rtt * MS, cases[i].interval);
		double interval = (double)cases[i].interval, rtt = (double)cases[i].rtt / 1000;
		double expected = cases[i].control == CONGESTION_RENO
					  ? sqrt(1.5 * interval)
					  : pow(0.4 * 3.7 / 1.2, 0.25) * pow(rtt * interval, 0.75);
		double mean = mean_window(p, cases[i].seconds);

		if (fabs(mean / expected - 1) > 0.08)
			fail_msg("case %u: mean window %f, expected %f", i, mean, expected);
	}
}

/* RFC 9438, section 4.3: with short round trips, CUBIC gets no less than Reno. */
TEST(cubic_is_no_slower_than_reno) {
	double reno = mean_window(start(CONGESTION_RENO, 5 * MS, 1000), 100);
	double cubic = mean_window(start(CONGESTION_CUBIC, 5 * MS, 1000), 100);

	assert_true(cubic > 0.95 * reno && cubic < 1.3 * reno);
}
