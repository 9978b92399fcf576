/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp.h"

#include <string.h>

#define MS 1000000ull
#define RTO_INITIAL (1000 * MS)
#define RTO_MIN (200 * MS) /* as in Linux; RFC 6298 recommends a second */
#define RTO_MAX (60000 * MS)
#define BACKOFF_MAX 8 /* doublings of the timeout */

void tcp_init(struct tcp *t, enum congestion_control control) {
	*t = (struct tcp){.deadline = TCP_NEVER};
	congestion_init(&t->congestion, control);
}

bool tcp_may_send(const struct tcp *t) {
	return (double)t->in_flight + 1 <= t->congestion.window;
}

static uint64_t rto(const struct tcp *t) {
	uint64_t base = t->smoothed_rtt == 0 ? RTO_INITIAL : t->smoothed_rtt + 4 * t->rtt_variance;

	base = (base < RTO_MIN ? RTO_MIN : base) << t->backoff;
	return base < RTO_MAX ? base : RTO_MAX;
}

uint64_t tcp_send(struct tcp *t, uint64_t now) {
	t->in_flight++;
	if (t->deadline == TCP_NEVER)
		t->deadline = now + rto(t);
	return t->sent++;
}

/* RFC 6298, section 2. */
static void measure_rtt(struct tcp *t, uint64_t rtt) {
	uint64_t difference;

	if (t->smoothed_rtt == 0) {
		t->smoothed_rtt = rtt;
		t->rtt_variance = rtt / 2;
		return;
	}
	difference = rtt > t->smoothed_rtt ? rtt - t->smoothed_rtt : t->smoothed_rtt - rtt;
	t->rtt_variance = (3 * t->rtt_variance + difference) / 4;
	t->smoothed_rtt = (7 * t->smoothed_rtt + rtt) / 8;
}

/* The first loss of a flight reduces the window. */
static void lose(struct tcp *t, const struct tcp_hole *hole) {
	t->in_flight -= hole->packets;
	t->lost += hole->packets;
	if (hole->end <= t->recover)
		return;
	t->recover = t->sent;
	t->reductions++;
	congestion_on_loss(&t->congestion);
}

/* Each acknowledgement adds at most one hole, and each hole is lost after TCP_DUPLICATES
 * acknowledgements, including the one that adds it. So TCP_DUPLICATES holes suffice. */
static void holes_update(struct tcp *t, uint64_t number) {
	if (number > t->expected)
		t->holes[t->hole_count++] = (struct tcp_hole){
			.end = number,
			.packets = number - t->expected,
			.due = t->acknowledged + TCP_DUPLICATES - 1,
		};
	if (t->hole_count == 0 || t->holes[0].due > t->acknowledged)
		return;
	lose(t, &t->holes[0]);
	memmove(t->holes, t->holes + 1, --t->hole_count * sizeof(t->holes[0]));
}

void tcp_acknowledge(struct tcp *t, uint64_t number, uint64_t sent, uint64_t now) {
	if (number < t->expected)
		return; /* given up at a timeout */
	t->acknowledged++;
	t->in_flight--;
	t->backoff = 0;
	measure_rtt(t, now - sent);
	holes_update(t, number);
	t->expected = number + 1;
	if (number >= t->recover)
		congestion_on_ack(&t->congestion, now, t->smoothed_rtt);
	t->deadline = t->in_flight > 0 ? now + rto(t) : TCP_NEVER;
}

void tcp_time_out(struct tcp *t) {
	t->timeouts++;
	t->lost += t->in_flight;
	t->in_flight = 0;
	t->hole_count = 0;
	t->expected = t->sent;
	t->recover = t->sent;
	if (t->backoff == 0) /* a repeated timeout does not reduce again (RFC 5681, section 3.1) */
		congestion_on_timeout(&t->congestion);
	if (t->backoff < BACKOFF_MAX)
		t->backoff++;
	t->deadline = TCP_NEVER;
}
