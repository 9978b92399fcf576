/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion window of a TCP sender, in packets: Reno (RFC 5681) and CUBIC (RFC 9438). After a timeout CUBIC grows
 * towards the W_max that it has after a loss. By RFC 9438, section 4.8, W_max would be the window at the start of
 * congestion avoidance (docs/limits.md). */
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
	double maximum; /* W_max; below `prior` after fast convergence */
	double period; /* K, seconds from the epoch until the window reaches W_max again */
	double estimate; /* W_est, the window of Reno */
	uint64_t epoch; /* ns: start of congestion avoidance */
	bool epoch_known; /* false from a reduction until congestion avoidance starts */
};

struct congestion {
	enum congestion_control control;
	double window;
	double threshold; /* window at which slow start ends; INFINITY before the first loss */
	struct congestion_cubic cubic;
};

/* Initial window of ten packets (RFC 6928), slow start without a threshold. */
void congestion_init(struct congestion *c, enum congestion_control control);

/* A packet was acknowledged at time `now`, outside of loss recovery. `rtt` is the smoothed one;
 * both in ns. */
void congestion_on_ack(struct congestion *c, uint64_t now, uint64_t rtt);

/* Packets were lost; called once for all losses within one window. Reduces the window, to two packets at least, also
 * from a window of one. */
void congestion_on_loss(struct congestion *c);

/* The retransmission timer has expired. Reduces the threshold as congestion_on_loss(), then starts slow start from
 * one packet. Called for the first of consecutive timeouts only (RFC 5681, section 3.1). */
void congestion_on_timeout(struct congestion *c);
