/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of the upstream in order. Then the pending counts, the balance, and the stop. */
#include "upstream/upstream.h"

/* The queues between stages that turn one packet into many, or many into one. */
static const struct stage_queue queues[US_QUEUES] = {
	[US_BURSTS] = {"bursts", "complete ones, in the order of their packets", false},
	[US_SEGMENTS] = {"segments", "in the order of their numbers", false},
	[US_JOINED] = {"joined", "frames joined from fragments, and frames that followed them",
		       false},
	[US_REQUEST_RING] = {"ring of requests", "bandwidth requests of modems", true},
	[US_CONTROL_PORT] = {"control port", "MAC management messages", true},
	[US_MESSAGE_RING] = {"ring of messages", "MAPs and UCDs, to the lower MAC", true},
};

/* Counters of stages that find requests (requests.h). */
#define REQUEST_COUNTERS COUNTER_REQUESTS, COUNTER_REQUESTS_REPEATED, COUNTER_REQUESTS_LOST

/* Drop reasons of the stages `uepi` and `expire`, which both join bursts. */
#define BURST_DROPS                                                                \
	DROP_BURST_HEADLESS, DROP_BURST_GAP, DROP_BURST_BROKEN, DROP_BURST_HEADER, \
		DROP_BURST_TRAILER, DROP_BURST_TOO_LONG, DROP_BURST_NO_BUFFER
#define BURST_COUNTERS                                                                     \
	COUNTER_PSP_PACKETS, COUNTER_PSP_OFDMA, COUNTER_PSP_PARTIAL, COUNTER_PSP_SEGMENTS, \
		COUNTER_PSP_GAPS, COUNTER_PSP_MISSING, COUNTER_BURSTS, COUNTER_NO_BURSTS,  \
		COUNTER_ODD_TRAILERS, COUNTER_FEC_UNCORRECTABLE, REQUEST_COUNTERS,         \
		COUNTER_BAD_REQUESTS

/* Drop reasons of the stages `extract` and `extract_joined` (stream.h). */
#define EXTRACT_DROPS                                                                            \
	DROP_FRAME_HCS, DROP_FRAME_RESERVED, DROP_FRAME_EHDR, DROP_FRAME_LENGTH, DROP_FRAME_PHS, \
		DROP_FRAME_RUNT, DROP_FRAME_TOO_LONG, DROP_FRAME_POINTER, DROP_FRAME_TRUNCATED,  \
		DROP_FRAME_NO_BUFFER, DROP_STOPPED
#define EXTRACT_COUNTERS                                                                     \
	COUNTER_FRAMES, COUNTER_REQUEST_FRAMES, COUNTER_RESYNC_BYTES, COUNTER_PADDING_BYTES, \
		REQUEST_COUNTERS, COUNTER_BAD_REQUESTS

/* A stage's function, and the part of struct upstream with which it works. */
#define STAGE(function, part) .run = function, .context = offsetof(struct upstream, part)

/* From the R-PHY port to the network port. */
static const struct stage packet_list[] = {
	{
		.name = "receive",
		.about = "burst of L2TPv3 packets from the R-PHY port",
		.dpdk = "ethdev",
		STAGE(us_receive, receive),
		.polls = true,
		.counters = STAGE_COUNTERS(COUNTER_RECEIVED, COUNTER_RECEIVED_BYTES),
	},
	{
		.name = "validate",
		.about = "IP and L2TPv3 headers, session to upstream channel",
		.dpdk = "hash",
		STAGE(us_validate, validate),
		.drops = STAGE_DROPS(DROP_OUTER_RUNT, DROP_OUTER_CHAINED, DROP_NOT_L2TP,
				     DROP_OUTER_IP_HEADER, DROP_OUTER_IP_LENGTH,
				     DROP_OUTER_IP_CHECKSUM, DROP_OUTER_FRAGMENT,
				     DROP_OUTER_ADDRESS, DROP_L2TP_VERSION, DROP_L2TP_TRUNCATED,
				     DROP_L2TP_CONTROL, DROP_UNKNOWN_SESSION),
	},
	{
		.name = "uepi",
		.about = "PSP packets in order, their segments to bursts",
		.dpdk = "mbuf",
		STAGE(us_uepi, uepi),
		.output_queue = US_BURSTS,
		.other_queues = STAGE_TO(US_REQUEST_RING),
		.pending = us_uepi_pending,
		.stop = us_uepi_stop,
		.drops = STAGE_DROPS(DROP_PSP_TRUNCATED, DROP_PSP_CONTROL, DROP_PSP_EXTENDED,
				     DROP_PSP_TRAILING, DROP_PSP_DUPLICATE, DROP_PSP_LATE,
				     DROP_PACKET_SESSION_REMOVED, DROP_PACKET_STOPPED, BURST_DROPS,
				     DROP_BURST_SESSION_REMOVED, DROP_BURST_STOPPED),
		.counters =
			STAGE_COUNTERS(BURST_COUNTERS, COUNTER_PSP_REORDERED, COUNTER_PSP_RESYNCS),
	},
	{
		.name = "reassemble",
		.about = "SID to service flow, segments in order",
		.dpdk = "hash",
		STAGE(us_reassemble, reassemble),
		.input_queue = US_BURSTS,
		.output_queue = US_SEGMENTS,
		.other_queues = STAGE_TO(US_REQUEST_RING),
		.pending = us_reassemble_pending,
		.stop = us_reassemble_stop,
		.drops = STAGE_DROPS(DROP_UNKNOWN_SID, DROP_SEGMENT_TRUNCATED, DROP_SEGMENT_HCS,
				     DROP_SEGMENT_CLUSTER, DROP_SEGMENT_POINTER,
				     DROP_SEGMENT_DUPLICATE, DROP_SEGMENT_LATE,
				     DROP_SEGMENT_FLOW_REMOVED, DROP_SEGMENT_STOPPED),
		.counters = STAGE_COUNTERS(COUNTER_SEGMENTS, COUNTER_SEGMENT_BYTES,
					   COUNTER_SEGMENT_GAPS, COUNTER_SEGMENTS_MISSING,
					   COUNTER_SEGMENTS_REORDERED, COUNTER_SEGMENT_RESYNCS,
					   REQUEST_COUNTERS),
	},
	{
		.name = "expire",
		.about = "expires waits for missing parts when the timer runs out or memory "
			 "is needed",
		.dpdk = "mbuf",
		STAGE(us_expire, expire),
		.polls = true,
		.other_queues =
			STAGE_TO(US_BURSTS) | STAGE_TO(US_SEGMENTS) | STAGE_TO(US_REQUEST_RING),
		.drops = STAGE_DROPS(BURST_DROPS, DROP_BURST_TIMEOUT, DROP_BURST_LIMIT,
				     DROP_FRAME_TIMEOUT, DROP_FRAME_LIMIT),
		.counters = STAGE_COUNTERS(BURST_COUNTERS, COUNTER_SEGMENT_GAPS,
					   COUNTER_SEGMENTS_MISSING, COUNTER_WINDOWS_FULL),
	},
	{
		.name = "extract",
		.about = "frames, also across segments; HCS, requests, management",
		.dpdk = "mbuf",
		STAGE(us_extract, extract),
		.polls = true,
		.input_queue = US_SEGMENTS,
		.pulls_input = true,
		.other_queues = STAGE_TO(US_REQUEST_RING) | STAGE_TO(US_CONTROL_PORT),
		.pending = us_extract_pending,
		.stop = us_extract_stop,
		.drops = STAGE_DROPS(EXTRACT_DROPS, DROP_SEGMENT_ORPHAN, DROP_SEGMENT_STOPPED,
				     DROP_FRAME_GAP, DROP_NOT_RANGING, DROP_NO_CONTROL_PORT,
				     DROP_CONTROL_FULL, DROP_MANAGEMENT_CRC),
		.counters = STAGE_COUNTERS(EXTRACT_COUNTERS, COUNTER_EXTRACTED,
					   COUNTER_CONCATENATIONS, COUNTER_MANAGEMENT),
	},
	{
		.name = "decrypt_submit",
		.about = "key by sequence number and toggle; BPI+ decryption, CRC check if "
			 "configured",
		.dpdk = "intel-ipsec-mb or cryptodev",
		STAGE(us_decrypt_submit, decrypt),
		.drops = STAGE_DROPS(DROP_PRIVACY_MISSING, DROP_PRIVACY_SID, DROP_KEY_UNKNOWN,
				     DROP_CRYPTO_FULL, DROP_FRAME_CRC),
		.counters = STAGE_COUNTERS(COUNTER_DECRYPTED, COUNTER_DECRYPTED_AES_128,
					   COUNTER_DECRYPTED_AES_256, COUNTER_DECRYPTED_DES,
					   COUNTER_CLEAR, COUNTER_CRC_VERIFIED),
	},
	{
		.name = "decrypt_collect",
		.about = "frames that the crypto provider has completed",
		.dpdk = "intel-ipsec-mb or cryptodev",
		STAGE(us_decrypt_collect, decrypt),
		.polls = true,
		.pending = us_decrypt_collect_pending,
		.stop = us_decrypt_collect_stop,
		.drops = STAGE_DROPS(DROP_CRYPTO_ERROR, DROP_CRYPTO_LOST, DROP_FRAME_CRC,
				     DROP_STOPPED),
	},
	{
		.name = "defragment",
		.about = "fragments of pre-3.0 modems, until a frame is whole",
		.dpdk = "mbuf",
		STAGE(us_defragment, defragment),
		.other_queues = STAGE_TO(US_JOINED),
		.pending = us_defragment_pending,
		.stop = us_defragment_stop,
		.drops = STAGE_DROPS(DROP_FRAGMENT_CRC, DROP_FRAGMENT_ORDER, DROP_FRAGMENT_TOO_LONG,
				     DROP_FRAME_FLOW_REMOVED, DROP_STOPPED),
		.counters = STAGE_COUNTERS(COUNTER_FRAGMENTS),
	},
	{
		.name = "extract_joined",
		.about = "frames out of joined fragments, by the steps of extract",
		.dpdk = "mbuf",
		STAGE(us_extract_joined, extract_joined),
		.polls = true,
		.input_queue = US_JOINED,
		.pulls_input = true,
		.other_queues = STAGE_TO(US_REQUEST_RING) | STAGE_TO(US_CONTROL_PORT),
		.pending = us_extract_joined_pending,
		.stop = us_extract_joined_stop,
		.drops = STAGE_DROPS(EXTRACT_DROPS, DROP_PRIVACY_SID, DROP_KEY_UNKNOWN),
		.counters = STAGE_COUNTERS(EXTRACT_COUNTERS),
	},
	{
		.name = "verify_source",
		.about = "checks that the source address belongs to the modem",
		.dpdk = "mbuf",
		STAGE(us_verify_source, verify_source),
		.drops = STAGE_DROPS(DROP_SOURCE_ADDRESS, DROP_SOURCE_RATE, DROP_FRAME_RUNT,
				     DROP_VLAN, DROP_IPV4_HEADER, DROP_IPV4_LENGTH,
				     DROP_IPV4_CHECKSUM, DROP_IPV6_HEADER, DROP_IPV6_LENGTH,
				     DROP_IPV6_EXTENSIONS, DROP_ARP_MALFORMED),
		.counters = STAGE_COUNTERS(COUNTER_IPV4, COUNTER_IPV6, COUNTER_LLC),
	},
	{
		.name = "transmit",
		.about = "bursts of IP frames to the network port",
		.dpdk = "ethdev",
		STAGE(us_transmit, transmit),
		.polls = true,
		.pending = us_transmit_pending,
		.stop = us_transmit_stop,
		.drops = STAGE_DROPS(DROP_FRAME_NO_BUFFER, DROP_LINK_DOWN, DROP_PORT_GONE,
				     DROP_STOPPED),
		.counters = STAGE_COUNTERS(COUNTER_TRANSMITTED, COUNTER_TRANSMITTED_BYTES,
					   COUNTER_TRANSMIT_RETRIES),
	},
};

/* From the ring of requests to the upstream scheduler. */
static const struct stage scheduler_list[] = {
	{
		.name = "requests",
		.about = "bandwidth requests, by kind and modem",
		.dpdk = "ring",
		STAGE(us_requests, requests),
		.polls = true,
		.input_queue = US_REQUEST_RING,
		.pulls_input = true,
		.open = us_requests_open,
		.close = us_requests_close,
	},
};

/* From the upstream scheduler to the lower MAC: MAPs and UCDs. */
static const struct stage grant_list[] = {
	{
		.name = "grant",
		.about = "passes requests to the scheduler; makes MAPs and UCDs when they are due",
		.dpdk = "scheduler",
		STAGE(us_grant, grant),
		.polls = true,
		.other_queues = STAGE_TO(US_MESSAGE_RING),
		.open = us_grant_open,
		.close = us_grant_close,
		.counters = STAGE_COUNTERS(
			COUNTER_REQUESTS_TAKEN, COUNTER_REQUESTS_CUT, COUNTER_REQUESTS_NO_FLOW,
			COUNTER_REQUESTS_NOTHING, COUNTER_MAPS, COUNTER_UCDS, COUNTER_MESSAGES_MADE,
			COUNTER_MESSAGES_UNSENT, COUNTER_GRANTS_REFUSED, COUNTER_CLOCK_JUMPS),
	},
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
	return upstream_grants_due(ctx);
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

uint64_t upstream_pending(const struct upstream *u, enum unit unit) {
	return stages_pending(us_lists, US_PIPELINES, u, unit);
}

uint64_t upstream_incomplete(const struct upstream *u) {
	return (uint64_t)u->uepi.pending_packets + u->uepi.open_bursts +
	       u->reassemble.pending_segments + u->streams.incomplete_frames +
	       u->defragment.pending_fragments;
}

bool upstream_balanced(const struct upstream *u) {
	for (enum unit unit = 0; unit < UNITS; unit++) {
		if (upstream_in(u, unit) != upstream_out(u, unit) +
						    counters_dropped_units(&u->counters, unit) +
						    upstream_pending(u, unit))
			return false;
	}
	return true;
}

bool upstream_busy(const struct upstream *u) {
	const struct queue *q = u->list.queues;

	return q[US_BURSTS].count > 0 || q[US_SEGMENTS].count > 0 ||
	       u->extract.cursor.segment != NULL || u->r.crypto->pending > 0 ||
	       u->extract_joined.cursor.segment != NULL || q[US_JOINED].count > 0 ||
	       u->transmit.count > 0 || rte_ring_count(u->requests.ring) > 0 ||
	       pending_exceeded(&u->pending_set);
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
	return us_grant_due(&u->grant);
}

void upstream_close(struct upstream *u) {
	u->receive.closed = true;
}

uint64_t upstream_deadline(const struct upstream *u) {
	return pending_deadline(&u->pending_set);
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

uint64_t upstream_accounted_packets(const struct upstream *u) {
	return account_span_packets(&u->span, u->list.accounting,
				    u->counters.values[COUNTER_TRANSMITTED]);
}

int upstream_latency(struct upstream *u, bool on) {
	return latency_switch(&u->latency, on);
}

void upstream_stop(struct upstream *u) {
	stages_stop(us_lists, US_PIPELINES, u);
}
