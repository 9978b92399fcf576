/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP sender with endless data, selective acknowledgements and a path that keeps the order, so that
 * a hole in what is acknowledged is a loss. Packets are counted as transmissions: one that is sent
 * again has a new number, and what is in it does not matter here. Times in ns.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "congestion.h"

#define TCP_DUPLICATES 3 /* later packets acknowledged, until a missing one is taken for lost */
#define TCP_NEVER UINT64_MAX

/* Transmissions that are missing between two acknowledged ones. */
struct tcp_hole {
	uint64_t end; /* the number behind the last one */
	uint64_t packets;
	uint64_t due; /* taken for lost when so many were acknowledged */
};

struct tcp {
	struct congestion congestion;
	uint64_t sent; /* transmissions, and the number of the next */
	uint64_t expected; /* the number that is to be acknowledged next */
	uint64_t acknowledged; /* transmissions */
	uint64_t in_flight; /* neither acknowledged nor lost */
	uint64_t recover; /* what is lost before this number was answered by the last reduction */
	struct tcp_hole holes[TCP_DUPLICATES]; /* in their order */
	unsigned hole_count;
	uint64_t smoothed_rtt, rtt_variance;
	unsigned backoff; /* timeouts in a row */
	uint64_t deadline; /* of the retransmission timer, or TCP_NEVER */
	uint64_t lost, reductions, timeouts;
};

void tcp_init(struct tcp *t, enum congestion_control control);

/* Whether the window lets a packet go. */
bool tcp_may_send(const struct tcp *t);

/* A packet goes at time `now`. Returns its number. */
uint64_t tcp_send(struct tcp *t, uint64_t now);

/* Transmission `number`, sent at time `sent`, is acknowledged at time `now`. */
void tcp_acknowledge(struct tcp *t, uint64_t number, uint64_t sent, uint64_t now);

/* The deadline is reached: all that is under way is taken for lost. */
void tcp_time_out(struct tcp *t);
