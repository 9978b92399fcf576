/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of a flow, as each grant checks and charges them. Inline, as they are short. */
#pragma once

#include "scheduler/maps/internal.h"

/* Whether the flow's rates admit a quantum now, or its owed bytes if these are fewer. If not, the flow
 * is parked until they do. */
static inline bool rates_admit(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];
	uint32_t bytes = lesser(f->owed_here, QUANTUM);

	if ((!(f->limits & LIMIT_SUSTAINED) || bucket_has(&f->sustained, m->now, bytes)) &&
	    (!(f->limits & LIMIT_PEAK) || bucket_has(&m->limits[flow].peak, m->now, bytes)))
		return true;
	rates_wait(m, flow, bytes);
	return false;
}

/* Charges granted bytes to the current cluster and to the rates. */
static inline void flow_charge(struct maps *m, uint32_t flow, uint32_t bytes) {
	struct flow *f = &m->flows[flow];

	f->owed_here -= bytes;
	f->owed -= bytes;
	m->counts.owed_bytes -= bytes;
	if (f->limits & LIMIT_SUSTAINED)
		bucket_spend(&f->sustained, m->now, bytes);
	if (f->limits & (LIMIT_PEAK | LIMIT_RESERVED))
		rates_charge(m, flow, bytes);
}
