/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a packet, read from top to bottom. Below it: what is held, the balance, and the stop. */
#include "upstream/upstream.h"

/* What stands between the rows, where one packet becomes many, or many become one. */
static const struct stage_queue queues[US_QUEUES] = {
	[US_BURSTS] = {"bursts", "complete ones, in the order of their packets", false},
	[US_SEGMENTS] = {"segments", "in the order of their numbers", false},
	[US_JOINED] = {"joined", "fragments that are frames again, and what came behind them",
		       false},
	[US_REQUEST_RING] = {"ring of requests", "what modems ask for", true},
	[US_CONTROL_PORT] = {"control port", "MAC management messages", true},
	[US_MESSAGE_RING] = {"ring of messages", "MAPs and UCDs, to the lower MAC", true},
};

/* From the R-PHY port to the network port. A wait may end in any row, as its time is over or its memory is needed:
 * what it lets go stands in the queue to which its own row gives. .. */
static const struct stage packet_list[] = {
	{"receive", "burst of L2TPv3 packets from the R-PHY port", "ethdev", us_receive,
	 .polls = true},
	{"validate", "IP and L2TPv3 headers, session to upstream channel", "hash", us_validate},
	{"uepi", "PSP packets in order, their segments to bursts", "mbuf", us_uepi, .polls = true,
	 .gives = US_BURSTS, .also = STAGE_TO(US_REQUEST_RING)},
	{"reassemble", "SID to service flow, segments in order", "hash", us_reassemble,
	 .from = US_BURSTS, .gives = US_SEGMENTS, .also = STAGE_TO(US_REQUEST_RING)},
	{"extract", "frames, also across segments; HCS, requests, management", "mbuf", us_extract,
	 .polls = true, .from = US_SEGMENTS, .pulls = true,
	 .also = STAGE_TO(US_REQUEST_RING) | STAGE_TO(US_CONTROL_PORT)},
	{"decrypt_submit", "key by sequence and toggle; BPI+, CRC where asked",
	 "intel-ipsec-mb or cryptodev", us_decrypt_submit},
	{"decrypt_collect", "what the crypto provider has done", "the same", us_decrypt_collect,
	 .polls = true},
	{"defragment", "fragments of pre-3.0 modems, until a frame is whole", "mbuf", us_defragment,
	 .also = STAGE_TO(US_JOINED)},
	{"extract_joined", "frames out of joined fragments, by the steps of extract", "mbuf",
	 us_extract_joined, .polls = true, .from = US_JOINED, .pulls = true,
	 .also = STAGE_TO(US_REQUEST_RING) | STAGE_TO(US_CONTROL_PORT)},
	{"verify_source", "source address belongs to the modem", "mbuf", us_verify_source},
	{"transmit", "bursts of IP frames to the network port", "ethdev", us_transmit,
	 .polls = true},
};

/* ... and what modems ask for, to who grants it. */
static const struct stage scheduler_list[] = {
	{"requests", "bandwidth requests, by kind and modem", "ring", us_request_sink,
	 .polls = true, .from = US_REQUEST_RING, .pulls = true},
};

/* ... who makes MAPs for the lower MAC. */
static const struct stage grant_list[] = {
	{"grant", "requests to grants; MAPs and UCDs when they are due", "scheduler", us_grant,
	 .polls = true, .also = STAGE_TO(US_MESSAGE_RING)},
};

static uint64_t upstream_due(const void *ctx) {
	const struct upstream *u = ctx;

	return upstream_busy(u) ? 0 : upstream_deadline(u);
}

static uint64_t requests_due(const void *ctx) {
	const struct upstream *u = ctx;

	return rte_ring_count(u->requests.ring) > 0 ? 0 : UINT64_MAX;
}

static uint64_t grants_due(const void *ctx) {
	return us_grant_due(ctx);
}

const struct stage_list us_lists[US_PIPELINES] = {
	{"upstream", packet_list, RTE_DIM(packet_list), queues, US_QUEUES, .due = upstream_due},
	{"upstream scheduler", scheduler_list, RTE_DIM(scheduler_list), queues, US_QUEUES,
	 .due = requests_due},
	{"upstream grants", grant_list, RTE_DIM(grant_list), queues, US_QUEUES, .due = grants_due},
};

static uint64_t value(const struct upstream *u, enum counter which) {
	return u->counters.values[which];
}

uint64_t upstream_in(const struct upstream *u, enum unit unit) {
	static const enum counter in[UNITS] = {
		[UNIT_PACKET] = COUNTER_RECEIVED,
		[UNIT_BURST] = COUNTER_BURSTS,
		[UNIT_SEGMENT] = COUNTER_SEGMENTS,
		[UNIT_FRAME] = COUNTER_FRAMES,
	};

	return value(u, in[unit]);
}

uint64_t upstream_out(const struct upstream *u, enum unit unit) {
	switch (unit) {
	case UNIT_PACKET: return value(u, COUNTER_PSP_PACKETS);
	case UNIT_BURST: return value(u, COUNTER_SEGMENTS) + value(u, COUNTER_NO_BURSTS);
	case UNIT_SEGMENT: return value(u, COUNTER_EXTRACTED);
	case UNIT_FRAME:
	case UNITS: break;
	}
	return value(u, COUNTER_TRANSMITTED) + value(u, COUNTER_MANAGEMENT) +
	       value(u, COUNTER_REQUEST_FRAMES) + value(u, COUNTER_CONCATENATIONS) +
	       value(u, COUNTER_FRAGMENTS);
}

uint64_t upstream_held(const struct upstream *u, enum unit unit) {
	const struct queue *q = u->list.queues;

	switch (unit) {
	case UNIT_PACKET: return u->uepi.waiting_packets;
	case UNIT_BURST: return u->uepi.open_bursts + q[US_BURSTS].count;
	case UNIT_SEGMENT:
		return (uint64_t)u->reassemble.waiting_segments + q[US_SEGMENTS].count +
		       (u->extract.cut.segment != NULL);
	case UNIT_FRAME:
	case UNITS: break;
	}
	return (uint64_t)u->streams.incomplete_frames + u->r.crypto->held +
	       u->defragment.waiting_fragments + q[US_JOINED].count - u->extract_joined.units +
	       u->transmit.count;
}

uint64_t upstream_waiting(const struct upstream *u) {
	return (uint64_t)u->uepi.waiting_packets + u->uepi.open_bursts +
	       u->reassemble.waiting_segments + u->streams.incomplete_frames +
	       u->defragment.waiting_fragments;
}

bool upstream_balanced(const struct upstream *u) {
	for (enum unit unit = 0; unit < UNITS; unit++) {
		if (upstream_in(u, unit) != upstream_out(u, unit) +
						    counters_dropped_units(&u->counters, unit) +
						    upstream_held(u, unit))
			return false;
	}
	return true;
}

bool upstream_busy(const struct upstream *u) {
	const struct queue *q = u->list.queues;

	return q[US_BURSTS].count > 0 || q[US_SEGMENTS].count > 0 ||
	       u->extract.cut.segment != NULL || u->r.crypto->held > 0 || us_joined_waits(u) ||
	       u->transmit.count > 0 || rte_ring_count(u->requests.ring) > 0;
}

bool upstream_grants(const struct upstream *u) {
	return u->grant.maps != NULL;
}

void upstream_follow_clock(struct upstream *u) {
	u->grant.follow = true;
}

void upstream_stop_granting(struct upstream *u) {
	u->grant.stopped = true;
}

void upstream_resume_granting(struct upstream *u) {
	u->grant.stopped = false;
}

uint64_t upstream_grants_due(const struct upstream *u) {
	return us_grant_due(u);
}

void upstream_close(struct upstream *u) {
	u->receive.closed = true;
}

uint64_t upstream_deadline(const struct upstream *u) {
	return holds_deadline(&u->holds);
}

struct pipeline *upstream_pipeline(struct upstream *u, unsigned index) {
	struct pipeline *const pipelines[US_PIPELINES] = {&u->list, &u->scheduler, &u->grants};

	return pipelines[index];
}

void upstream_account(struct upstream *u, bool on) {
	account_span_switch(&u->span, u->list.accounting, on,
			    u->counters.values[COUNTER_TRANSMITTED]);
	for (unsigned i = 0; i < US_PIPELINES; i++)
		pipeline_account(upstream_pipeline(u, i), on);
}

uint64_t upstream_accounted(const struct upstream *u) {
	return account_span_packets(&u->span, u->list.accounting,
				    u->counters.values[COUNTER_TRANSMITTED]);
}

int upstream_latency(struct upstream *u, bool on) {
	return latency_switch(&u->latency, on);
}

void upstream_stop(struct upstream *u) {
	us_uepi_stop(u);
	us_reassemble_stop(u);
	us_extract_stop(u);
	us_decrypt_stop(u);
	us_defragment_stop(u);
	us_extract_joined_stop(u);
	us_transmit_stop(u);
}
