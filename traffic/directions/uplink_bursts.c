/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends filled and encrypted grants as bursts. */
#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "impairments/impair.h"
#include "modems/uplink_fill.h"

static void ranging_send(struct uplink *u, const struct uplink_grant *g, uint64_t now) {
	uint8_t message[UPLINK_RANGING_SIZE];
	struct uplink_burst burst = {
		.sid = g->sid->sid,
		.payload = message,
	};

	burst.size = uplink_frame_ranging(&u->frames, g->stream->modem, g->sid->sid, message);
	uplink_rphy_ranging(&u->rphy, g->sid->channel, &burst, now);
	if (u->impair != NULL)
		shadow_ranging(&u->impair->shadow);
}

void uplink_grant_send(struct uplink *u, struct uplink_grant *g, uint64_t now) {
	struct uplink_burst burst = {
		.sid = g->sid->sid,
		.segment_header = g->stream->segment_header,
		.slot = g->slot,
		.ended = g->ended,
		.request = g->request,
	};

	impair_grant(u->impair, g);
	uplink_grant_finish(g);
	burst.payload = g->payload;
	burst.size = g->payload_size;
	if (u->impair == NULL || impair_burst(u->impair, g, &burst))
		uplink_rphy_data(&u->rphy, g->sid->channel, &burst, now);
	else
		uplink_flows_ended(&u->flows, &g->ended, now);
	if (g->management && u->rphy.channels[g->sid->channel].has_ranging)
		ranging_send(u, g, now);
}

unsigned uplink_transmit(struct uplink *u) {
	const struct uplink_ended *ended;
	unsigned ended_count;
	unsigned n = uplink_output_transmit(&u->rphy.output, &ended, &ended_count);
	uint64_t tsc = ended_count > 0 ? rte_rdtsc() : 0;

	for (unsigned i = 0; i < ended_count; i++)
		uplink_flows_ended(&u->flows, &ended[i], tsc);
	return n;
}
