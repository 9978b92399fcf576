/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long packets stay in the pipeline of a direction: from the receive stage's burst to the transmit
 * stage's burst that the port took. It is off until it is asked for; then the TSC is read once a burst
 * at either end.
 *
 * Downstream a packet's time ends with the DEPI frame that holds its last byte. Upstream it begins with
 * the L2TPv3 packet that held the trailer of the burst with its frame's last byte: that modem or R-PHY
 * device send the rest later is none of the pipeline's time, but what a frame waits for others is - for
 * an earlier packet, segment or fragment that came behind it.
 *
 * When a packet came stands in its mbuf (struct packet_meta), which outlasts the queues, the crypto
 * device and the chaining to DEPI frames. A part that is cut off carries none, as the packet's last
 * byte is not in it: so a walk along a DEPI frame finds the packets that end in it. As the port owns
 * what it took, the walk comes before, and the times wait in a line, in the order of the frames.
 *
 * What is recorded has one writer, the worker that transmits. A reader exchanges the histogram in which
 * it writes for an empty one and waits until the writer has seen that: the worker waits for nobody.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hdr_histogram.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "pipeline/packet.h"

/* Of one direction. Zeroed: off. */
struct latency {
	/* What the direction's workers read. */
	bool on;
	uint64_t since; /* ticks, above 0: packets that came before are not counted */
	uint64_t ns_per_tick_q32; /* fixed point, 32 fractional bits */
	const uint64_t *simulated; /* ns, in the place of the TSC; NULL in service */
	/* The transmitting worker's. */
	struct hdr_histogram *into __rte_cache_aligned; /* ns */
	uint32_t bursts; /* odd: one is being recorded */
	/* The reader's. */
	struct hdr_histogram *spare __rte_cache_aligned; /* empty */
	struct hdr_histogram *recent, *whole;
};

/* Of the packets that end in DEPI frames which the port has not taken yet, a circle. */
struct latency_line {
	uint64_t *arrived; /* ticks */
	uint32_t size; /* a power of two; 0: there is none */
	uint32_t first, count;
};

/*
 * Switches measuring on or off. Packets that are in the pipeline when it is switched on are not counted, and what was
 * measured before is forgotten. Returns 0, or -1 when memory is short: then it is off.
 */
int latency_switch(struct latency *l, bool on);

/*
 * The same in two parts, where a worker runs. The first makes room for what is to be measured, by the reader, who keeps
 * others away that do not know yet whether there is something to read; nothing happens where it is on. Returns 0 or -1
 * likewise. The second is for the worker that transmits, between two rounds, and cannot fail.
 */
int latency_prepare(struct latency *l);
int latency_reserve(struct latency *l); /* its memory alone: what was measured stays */
void latency_set(struct latency *l, bool on);

/* Time is `*ns` from here on. To be called while it is off. */
void latency_simulate(struct latency *l, const uint64_t *ns);

void latency_free(struct latency *l);

/* Whether it was ever switched on, so that there is something to read. */
bool latency_measured(const struct latency *l);

/* Readers are one at a time, of all that is measured in the process: between these. No worker is among them. */
void latency_readers_lock(void);
void latency_readers_unlock(void);

/*
 * Takes over what was recorded, also while workers run: `recent` and `whole` then have it. One reader
 * at a time. latency_measured() must hold.
 */
void latency_collect(struct latency *l);

/* Forgets what was collected in `recent`. */
void latency_reset(struct latency *l);

/* Records packets that the port took just now, by when they came. */
void latency_record(struct latency *l, const uint64_t *arrived, unsigned n);

/* Makes room for `packets` at a time. Returns 0, or -1 when memory is short. Harmless where there is. */
int latency_line_create(struct latency_line *line, uint32_t packets);
void latency_line_free(struct latency_line *line);

/* Adds the packets that end in the DEPI frame. Returns how many of them there is a time of. */
uint16_t latency_line_add(struct latency_line *line, const struct latency *l,
			  const struct rte_mbuf *frame);

/* The port took the frames of the first `n` packets in the line just now. */
void latency_line_record(struct latency_line *line, struct latency *l, uint32_t n);

static inline bool latency_on(const struct latency *l) {
	return unlikely(__atomic_load_n(&l->on, __ATOMIC_ACQUIRE));
}

static inline uint64_t latency_now(const struct latency *l) {
	return likely(l->simulated == NULL) ? rte_rdtsc() : *l->simulated;
}

/* A burst came just now. */
static inline void latency_arrive(const struct latency *l, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t now;

	if (n == 0 || !latency_on(l))
		return;
	now = latency_now(l);
	for (uint16_t i = 0; i < n; i++)
		packet_meta(pkts[i])->arrived = now;
}
