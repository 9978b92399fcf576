/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a packet, read from top to bottom. Below it: what is held, the balance, and the stop. */
#include "upstream/upstream.h"

#include "upstream/bursts.h"
#include "upstream/defragment.h"
#include "upstream/extract.h"
#include "upstream/reassemble.h"
#include "upstream/stages.h"
#include "upstream/uepi.h"

/* From the R-PHY port to the network port ... */
static const struct stage packet_list[] = {
	{"receive", "burst of L2TPv3 packets from the R-PHY port", "ethdev", us_receive, true},
	{"validate", "IP and L2TPv3 headers, session to upstream channel", "hash", us_validate,
	 false},
	{"uepi", "PSP packets in order, their segments to bursts", "mbuf", us_uepi, true},
	{"reassemble", "SID to service flow, segments in order", "hash", us_reassemble, false},
	{"extract", "frames, also across segments; HCS, requests, management", "mbuf", us_extract,
	 true},
	{"decrypt_submit", "key by sequence and toggle; BPI+, CRC where asked",
	 "cryptodev + security", us_decrypt_submit, false},
	{"decrypt_collect", "what the crypto device has done", "cryptodev", us_decrypt_collect,
	 true},
	{"defragment", "fragments of pre-3.0 modems to frames", "mbuf", us_defragment, true},
	{"verify_source", "source address belongs to the modem", "mbuf", us_verify_source, false},
	{"transmit", "bursts of IP frames to the network port", "ethdev", us_transmit, true},
};

/* ... and what modems ask for, to who grants it. */
static const struct stage scheduler_list[] = {
	{"requests", "bandwidth requests, by kind and modem", "ring", us_request_sink, true},
};

const struct stage_list us_lists[US_PIPELINES] = {
	{"upstream", packet_list, RTE_DIM(packet_list)},
	{"upstream scheduler", scheduler_list, RTE_DIM(scheduler_list)},
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
	switch (unit) {
	case UNIT_PACKET: return u->waiting_packets;
	case UNIT_BURST: return u->open_bursts + u->bursts.count;
	case UNIT_SEGMENT:
		return (uint64_t)u->waiting_segments + u->segments.count + (u->cut.segment != NULL);
	case UNIT_FRAME:
	case UNITS: break;
	}
	return (uint64_t)u->incomplete_frames + u->in_crypto + u->waiting_fragments +
	       u->behind.count + u->waiting_count;
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
	return u->bursts.count > 0 || u->segments.count > 0 || u->cut.segment != NULL ||
	       u->in_crypto > 0 || u->joined_cut.segment != NULL || u->behind.count > 0 ||
	       u->waiting_count > 0 || rte_ring_count(u->requests.ring) > 0;
}

void upstream_close(struct upstream *u) {
	u->closed = true;
}

uint64_t upstream_deadline(const struct upstream *u) {
	return holds_deadline(&u->holds);
}

struct pipeline *upstream_pipeline(struct upstream *u, unsigned index) {
	return index == 0 ? &u->list : &u->scheduler;
}

void upstream_account(struct upstream *u, bool on) {
	for (unsigned i = 0; i < US_PIPELINES; i++)
		upstream_pipeline(u, i)->accounting = on;
}

int upstream_latency(struct upstream *u, bool on) {
	return latency_switch(&u->latency, on);
}

static void stop_crypto(struct upstream *u) {
	struct rte_mbuf *pkts[PIPELINE_BURST];

	for (int tries = 0; u->in_crypto > 0 && tries < 1000; tries++) {
		uint16_t n = us_decrypt_collect(u, pkts, 0);

		for (uint16_t i = 0; i < n; i++)
			drop(&u->counters, pkts[i], DROP_STOPPED);
	}
}

void upstream_stop(struct upstream *u) {
	struct rte_mbuf *m;

	us_packets_stop(u);
	while ((m = us_queue_take(&u->bursts)) != NULL)
		drop(&u->counters, m, DROP_BURST_STOPPED);
	us_segments_stop(u);
	us_frames_stop(u);
	stop_crypto(u);
	us_fragments_stop(u);
	for (; u->waiting_count > 0; u->waiting_count--) {
		drop(&u->counters, u->waiting[u->waiting_first], DROP_STOPPED);
		u->waiting_first = (u->waiting_first + 1) % US_TRANSMIT_CAPACITY;
	}
}
