/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control of one queue: WRED, and DOCSIS-PIE (RFC 8034, appendix A). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/scheduler.h"

struct wred_state {
	double average; /* bytes */
	double min_threshold, max_threshold; /* bytes */
	double slope; /* of the probability, a byte */
	double part; /* by which the average moves */
	double idle_ticks; /* of a typical packet */
	int64_t empty_since; /* ticks */
	uint32_t since_drop; /* packets */
};

struct pie_state {
	double probability;
	double accumulated;
	double old_delay; /* seconds */
	double target; /* seconds */
	int64_t updated; /* ticks */
	int64_t burst_allowance; /* ticks */
	int64_t quiet; /* ticks for which all was quiet */
	uint32_t buffer; /* bytes */
	enum { PIE_INACTIVE, PIE_QUIESCENT, PIE_ACTIVE } state;
};

/* Of one flow; which one is in use says enum scheduler_aqm. */
struct aqm_state {
	union {
		struct wred_state wred;
		struct pie_state pie;
	};
};

/* What is asked about the queue at an arrival. */
struct aqm_queue {
	uint32_t bytes; /* that wait */
	int64_t head_age; /* ticks that its first packet has waited; 0 where it is empty */
};

/* Takes over the flow's settings; what it has learned stays unless it begins `anew`. */
void aqm_set(struct aqm_state *a, const struct scheduler_flow *f, bool anew, int64_t now);

/* Whether a packet that arrives is to be dropped. `random` is the state of the random numbers. */
bool wred_drops(struct wred_state *w, const struct aqm_queue *q, int64_t now, uint64_t *random);
bool pie_drops(struct pie_state *p, const struct aqm_queue *q, uint32_t packet, int64_t now,
	       uint64_t *random);

/* The queue has become empty: the average of WRED begins to decay. */
static inline void wred_empty(struct wred_state *w, int64_t now) {
	w->empty_since = now;
}
