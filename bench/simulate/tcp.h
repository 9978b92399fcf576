/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP sender with endless data, selective acknowledgements and a path that keeps the order, so a hole in
 * the acknowledgements is a loss. Packets are counted as transmissions: a retransmission has a new number,
 * and contents do not matter. Times in ns.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "congestion.h"

#define TCP_DUPLICATES 3 /* a missing packet is lost at this acknowledgement of a later one */
#define TCP_NEVER UINT64_MAX

/* Consecutive transmissions that are missing before an acknowledged one. */
struct tcp_hole {
	uint64_t end; /* number after the last one */
	uint64_t packets;
	uint64_t due; /* counts as lost when `acknowledged` reaches this */
};

struct tcp {
	struct congestion congestion;
	uint64_t sent; /* count of transmissions, and so the number of the next one */
	uint64_t expected; /* number of the next expected acknowledgement */
	uint64_t acknowledged; /* count of transmissions */
	uint64_t in_flight; /* neither acknowledged nor lost */
	uint64_t recover; /* losses before this number are covered by the last reduction */
	struct tcp_hole holes[TCP_DUPLICATES]; /* in order */
	unsigned hole_count;
	uint64_t smoothed_rtt, rtt_variance;
	unsigned backoff; /* consecutive timeouts, at most BACKOFF_MAX; each doubles the timer */
	uint64_t deadline; /* of the retransmission timer, or TCP_NEVER */
	/* counts of transmissions, window reductions, expired timers */
	uint64_t lost, reductions, timeouts;
};

void tcp_init(struct tcp *t, enum congestion_control control);

/* Whether the window allows another packet. */
bool tcp_may_send(const struct tcp *t);

/* Sends a packet at time `now`, and starts the retransmission timer if it is stopped. Returns the packet's number. */
uint64_t tcp_send(struct tcp *t, uint64_t now);

/* Transmission `number`, sent at time `sent`, is acknowledged at time `now`. Numbers must increase; those given up at a
 * timeout are ignored. */
void tcp_acknowledge(struct tcp *t, uint64_t number, uint64_t sent, uint64_t now);

/* To be called when `deadline` is reached: all packets in flight count as lost. Stops the timer until the next
 * tcp_send(). */
void tcp_time_out(struct tcp *t);
