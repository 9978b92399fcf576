/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills a grant by the kind of its flow: with segment headers, or before DOCSIS 3.0. */
#include "modems/uplink_fill.h"

#include "modems/uplink_legacy.h"
#include "modems/uplink_segment.h"

void uplink_grant_fill(struct uplink_grant *g, struct uplink_flows *flows,
		       struct uplink_frames *frames, bool rest_only, struct uplink_made *made) {
	struct uplink_stream *s = g->stream;
	bool unfinished = s->left > 0;

	g->ended = (struct uplink_ended){.stream = s->index, .first = s->ended};
	g->request = (struct uepi_request){.piggyback = true};
	if (frames->impairer != NULL)
		frames->impairer->grant(frames->impair, g);
	if (s->segment_header)
		uplink_segment_fill(g, frames, rest_only, made);
	else
		uplink_legacy_fill(g, frames, made);
	flows->unfinished += (s->left > 0) - unfinished;
}

void uplink_grant_finish(struct uplink_grant *g) {
	if (g->stream->segment_header) {
		uplink_segment_finish(g);
	} else {
		g->payload = rte_pktmbuf_mtod(g->buffer, const uint8_t *);
		g->payload_size = g->filled;
	}
}
