/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from the modems. */
#include "scheduler/maps/lists.h"

static enum maps_verdict add_owed(struct maps *m, const struct maps_request *r, uint64_t now) {
	struct flow *f = &m->flows[r->flow];
	uint32_t bytes = lesser(r->bytes, m->flow_bytes - f->owed);

	if (r->channel < m->channel_count)
		f->request_channel = (uint8_t)r->channel;
	if (f->type == MAPS_UNSOLICITED_ACTIVITY)
		service_note_activity(m, r->flow, now);
	m->counts.requested_bytes += bytes;
	m->counts.owed_bytes += bytes;
	f->owed += bytes;
	if (f->state != FLOW_IDLE && f->cluster != r->cluster) {
		m->cluster_owed[r->flow * MAPS_MAX_CLUSTERS + r->cluster] += bytes;
	} else if (f->state != FLOW_IDLE) {
		f->owed_here += bytes;
	} else if (bytes > 0) {
		f->owed_here = bytes;
		if (f->cluster != r->cluster)
			flow_set_cluster(m, r->flow, r->cluster);
		flow_ready(m, r->flow);
	}
	return bytes == r->bytes ? MAPS_ACCEPTED : MAPS_CAPPED;
}

void maps_prefetch(const struct maps *m, uint32_t flow) {
	if (flow < m->flow_count)
		fetch(&m->flows[flow]);
}

enum maps_verdict maps_request(struct maps *m, const struct maps_request *r, uint64_t now) {
	struct req_state *req_state =
		&m->req_states[r->channel < m->channel_count ? r->channel : MAPS_MAX_CHANNELS];
	enum maps_verdict verdict;

	if (r->flow >= m->flow_count || r->cluster >= m->flows[r->flow].clusters)
		verdict = MAPS_NO_FLOW; /* a flow that does not exist has no clusters */
	else if (r->bytes == 0)
		verdict = MAPS_NOTHING;
	else
		verdict = add_owed(m, r, now);
	req_state->contention_requests += r->contended;
	req_state->late += (r->minislot_at == 0 ? now : r->minislot_at) < req_state->acked;
	req_state->verdicts[verdict]++;
	return verdict;
}

void maps_data_received(struct maps *m, uint32_t flow, uint64_t now) {
	if (flow < m->flow_count && m->flows[flow].clusters > 0 &&
	    m->flows[flow].type == MAPS_UNSOLICITED_ACTIVITY)
		service_note_activity(m, flow, now);
}

void maps_report_collisions(struct maps *m, uint32_t channel, uint32_t count) {
	if (channel >= m->channel_count)
		return;
	m->channels[channel].counts.collisions += count;
	m->channels[channel].collided =
		lesser(m->channels[channel].collided + lesser(count, UINT16_MAX), UINT16_MAX);
}

bool maps_queue_station(struct maps *m, uint32_t channel, uint16_t sid) {
	struct channel *c;

	if (channel >= m->channel_count || sid == MAPS_SID_UNUSED || sid >= MAP_SID_BROADCAST)
		return false;
	c = &m->channels[channel];
	if (c->set.station_minislots == 0 || c->station_count == MAX_STATIONS)
		return false;
	c->stations[(c->station_first + c->station_count++) % MAX_STATIONS] = sid;
	return true;
}
