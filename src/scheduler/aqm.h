/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control of one queue: WRED, and DOCSIS-PIE (RFC 8034, appendix A). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/scheduler.h"

struct wred_state {
	double average; /* bytes */
	double min_threshold, max_threshold; /* bytes */
	double slope; /* probability per byte */
	double part; /* fraction of the difference by which the average moves */
	double idle_ticks; /* while empty, the average moves once per this time */
	int64_t empty_since; /* ticks; the average includes the idle time before */
	uint32_t since_drop; /* packets */
};

struct pie_state {
	double probability;
	double accumulated; /* sum of packets' drop probabilities since the latest drop */
	double old_delay; /* seconds; at the latest update */
	double target; /* seconds */
	int64_t updated; /* ticks; time of the latest update */
	int64_t burst_allowance; /* ticks left in which no packet is dropped */
	int64_t quiet; /* ticks without congestion */
	uint32_t buffer; /* bytes; a third of it activates PIE */
	enum { PIE_INACTIVE, PIE_QUIESCENT, PIE_ACTIVE } state;
};

/* State of one flow. enum scheduler_aqm selects the member in use. */
struct aqm_state {
	union {
		struct wred_state wred;
		struct pie_state pie;
	};
};

/* The queue when a packet arrives. */
struct aqm_queue {
	uint32_t bytes; /* queued */
	int64_t head_age; /* age of the first packet in ticks; 0 if empty. For DOCSIS-PIE only */
};

/* Applies the flow's settings. Set `reset` for a new flow or another f->aqm; else the state
 * stays. */
void aqm_set(struct aqm_state *a, const struct scheduler_flow *f, bool reset, int64_t now);

/* Whether to drop an arriving packet, of `packet` bytes; updates the state. `random` is the state
 * of the generator and must not be 0. */
bool wred_drops(struct wred_state *w, const struct aqm_queue *q, int64_t now, uint64_t *random);
bool pie_drops(struct pie_state *p, const struct aqm_queue *q, uint32_t packet, int64_t now,
	       uint64_t *random);

/* Call it when the queue becomes empty: the average decays from then on. */
static inline void wred_empty(struct wred_state *w, int64_t now) {
	w->empty_since = now;
}
