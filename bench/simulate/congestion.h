/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of a TCP sender, in packets: Reno (RFC 5681) and CUBIC (RFC 9438). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum congestion_control {
	CONGESTION_RENO,
	CONGESTION_CUBIC,
};

/* What CUBIC remembers of the last reduction. */
struct congestion_cubic {
	double prior; /* the window before it */
	double maximum; /* W_max */
	double period; /* K, seconds from the epoch until the window is W_max again */
	double estimate; /* W_est, what Reno would have */
	uint64_t epoch; /* ns: when congestion avoidance began */
	bool epoch_known;
};

struct congestion {
	enum congestion_control control;
	double window;
	double threshold; /* where slow start ends */
	struct congestion_cubic cubic;
};

/* Ten packets (RFC 6928), slow start without a threshold. */
void congestion_init(struct congestion *c, enum congestion_control control);

/* A packet was acknowledged at time `now`, and no loss is being repaired. `rtt` is the smoothed one;
 * both in ns. */
void congestion_on_ack(struct congestion *c, uint64_t now, uint64_t rtt);

/* Packets were lost: to be called once for what was under way together. */
void congestion_on_loss(struct congestion *c);

/* Nothing was acknowledged for the retransmission timeout. */
void congestion_on_timeout(struct congestion *c);
