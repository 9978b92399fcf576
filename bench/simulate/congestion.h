/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion window of a TCP sender, in packets: Reno (RFC 5681) and CUBIC (RFC 9438). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum congestion_control {
	CONGESTION_RENO,
	CONGESTION_CUBIC,
};

/* CUBIC's state since the last reduction. */
struct congestion_cubic {
	double prior; /* window before the reduction */
	double maximum; /* W_max */
	double period; /* K, seconds from the epoch until the window reaches W_max again */
	double estimate; /* W_est, the window of Reno */
	uint64_t epoch; /* ns: start of congestion avoidance */
	bool epoch_known;
};

struct congestion {
	enum congestion_control control;
	double window;
	double threshold; /* where slow start ends */
	struct congestion_cubic cubic;
};

/* Initial window of ten packets (RFC 6928), slow start without a threshold. */
void congestion_init(struct congestion *c, enum congestion_control control);

/* A packet was acknowledged at time `now`, outside of loss recovery. `rtt` is the smoothed one;
 * both in ns. */
void congestion_on_ack(struct congestion *c, uint64_t now, uint64_t rtt);

/* Packets were lost; called once for all losses within one window. */
void congestion_on_loss(struct congestion *c);

/* The retransmission timer has expired. */
void congestion_on_timeout(struct congestion *c);
