/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bandwidth requests of each kind: their modem, flow and size, and a full request ring. */

#include <rte_ring_elem.h>

#include "upstream_cases.h"

#define REPEATING 2 /* stream of modem 0, on a channel with a request session */

/* Runs the pipeline of packets, but not the one that takes requests from the ring. */
static void run_packets(void) {
	for (int i = 0; i < 3; i++)
		pipeline_run(upstream_pipeline(kit->u, 0));
}

/* Checks and returns the only request in the ring. */
static struct us_request check_request(enum us_request_kind kind, unsigned stream, uint16_t size,
				       bool n_bytes) {
	struct us_request r;

	run_packets();
	assert_int_equal(rte_ring_count(kit->u->requests.ring), 1);
	assert_int_equal(rte_ring_sc_dequeue_elem(kit->u->requests.ring, &r, sizeof(r)), 0);
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.modem, kit_streams[stream].modem);
	assert_int_equal(r.flow, kit_streams[stream].flow);
	assert_int_equal(r.channel, kit_streams[stream].channels[0]);
	assert_int_equal(r.size, size);
	assert_int_equal(r.n_bytes, n_bytes);
	if (kind != REQUEST_RECORD)
		assert_int_equal(r.cluster, kit_streams[stream].cluster);
	return r;
}

/* On channels without a request session. */
CASE(request_frames) {
	uint8_t bytes[KIT_FRAME_MAX];

	kit_send(SEGMENTED, bytes, docsis_request_write(7, 0x30, bytes));
	check_request(REQUEST_FRAME, SEGMENTED, 7, false);
	kit_send(SEGMENTED, bytes, docsis_queue_request_write(777, 0x30, bytes));
	check_request(REQUEST_QUEUE_DEPTH, SEGMENTED, 777, true);
	/* of a SID of another modem, and of a SID that the modem has on another channel */
	kit_send(SEGMENTED, bytes, docsis_request_write(7, 0x60, bytes));
	kit_send(SEGMENTED, bytes, docsis_request_write(7, 0x31, bytes));
	run_packets();
	assert_int_equal(kit_counter(COUNTER_BAD_REQUESTS), 2);
	assert_int_equal(kit_counter(COUNTER_REQUEST_FRAMES), 4);
	assert_int_equal(kit_counter(COUNTER_REQUESTS), 2);
}

CASE(requests_in_mac_headers) {
	static const struct {
		uint8_t piggyback, minislots;
	} cases[] = {{33, 0}, {1, 0}, {0, 44}}; /* 1 is the smallest request */
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP, .sid = 0x30};
	static const uint8_t pdu[60] = {[12] = 0x88, [13] = 0xb5};
	uint8_t bytes[KIT_FRAME_MAX];
	size_t size;

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		h.piggyback = cases[i].piggyback;
		h.request = cases[i].minislots > 0;
		h.request_minislots = cases[i].minislots;
		kit_send(SEGMENTED, bytes, kit_write_frame(2, &h, pdu, 60, bytes));
		check_request(h.request ? REQUEST_ELEMENT : REQUEST_PIGGYBACK, SEGMENTED,
			      cases[i].piggyback + cases[i].minislots, false);
	}
	/* a request counts at once, whatever happens to its frame, */
	size = kit_write_frame(2, &h, pdu, 60, bytes);
	kit_send(SEGMENTED, bytes, docsis_up_header_size(&h));
	check_request(REQUEST_ELEMENT, SEGMENTED, 44, false);
	bytes[size - 1] ^= 1;
	kit_send_segment(SEGMENTED, KIT_NO_POINTER, bytes + docsis_up_header_size(&h),
			 size - docsis_up_header_size(&h));
	kit_expect_drops(DROP_FRAME_CRC, 1);
	run_packets();
	/* but not that of a frame that is dropped for its header */
	kit_send(SEGMENTED, bytes, docsis_up_header_write(&h, 10, bytes) + 10);
	kit_expect_drops(DROP_FRAME_RUNT, 1);
	run_packets();
	assert_int_equal(rte_ring_count(kit->u->requests.ring), 0);
	kit_receive(UINT32_MAX);
}

CASE(requests_in_segment_headers) {
	struct segment_header h = {
		.pointer_valid = true, .sid_cluster = 5, .request = 1234, .sequence = 8};

	kit_send_segment_as(SEGMENTED, &h, "", 0);
	check_request(REQUEST_SEGMENT, SEGMENTED, 1234, true);
	h.request = 0;
	h.sequence++;
	kit_send_segment_as(SEGMENTED, &h, "", 0);
	run_packets();
	assert_int_equal(rte_ring_count(kit->u->requests.ring), 0);
	h.request = 2; /* also of a duplicate, whose header is valid */
	kit_send_segment_as(SEGMENTED, &h, "", 0);
	check_request(REQUEST_SEGMENT, SEGMENTED, 2, true);
	kit_expect_drops(DROP_SEGMENT_DUPLICATE, 1);
}

static void add_record(struct psp_packet *p, const struct uepi_request *r) {
	uint8_t bytes[UEPI_REQUEST_SIZE];

	psp_add_segment(p, true, true, bytes, uepi_request_write(UEPI_OFDMA, r, bytes));
}

static void use_other_cluster(void) {
	static struct upstream_service_flow flows[2];
	static struct sid_cluster cluster;

	memcpy(flows, kit->modems[0].upstream_flows, sizeof(flows));
	cluster = flows[1].clusters[0];
	cluster.id = 4;
	flows[1].clusters = &cluster;
	kit->modems[0].upstream_flows = flows;
}

/* In packets of their own. A record has the SID cluster; else it is the cluster of the SID. */
CASE(request_records, .prepare = use_other_cluster) {
	struct uepi_request r = {.sid = 0x12, .scheduled_sid = 0x12, .size = 99};
	struct psp_packet p;

	for (unsigned i = 0; i < 4; i++) {
		r.n_bytes = i & 1;
		r.cluster_valid = i >= 2;
		r.sid_cluster = i >= 2 ? 3 : 0;
		psp_begin(&p, KIT_REQUESTS);
		add_record(&p, &r);
		psp_send(&p);
		assert_int_equal(check_request(REQUEST_RECORD, REPEATING, 99, i & 1).cluster,
				 i >= 2 ? 3 : 4);
	}
}

CASE(bad_request_records_are_counted) {
	struct uepi_request r = {.sid = 0x12};
	uint8_t bytes[UEPI_REQUEST_SIZE + 1] = {0};
	struct psp_packet p;

	psp_begin(&p, KIT_REQUESTS);
	for (size_t size = 0; size <= sizeof(bytes); size++)
		psp_add_segment(&p, true, true, bytes, size); /* too short, too long, version 0 */
	uepi_request_write(UEPI_OFDMA, &r, bytes);
	for (int flags = 0; flags < 3; flags++)
		psp_add_segment(&p, flags == 1, flags == 2, bytes, UEPI_REQUEST_SIZE);
	r.sid = 0x30; /* not on this channel */
	add_record(&p, &r);
	r.sid = 0x12;
	add_record(&p, &r);
	kit_process_packet(&p);
	assert_int_equal(kit_counter(COUNTER_BAD_REQUESTS), sizeof(bytes) + 1 + 3 + 1);
	assert_int_equal(kit_counter(COUNTER_REQUESTS), 1);
}

/* On a channel with request records, requests in bursts are repetitions. */
CASE(requests_in_bursts_are_repetitions) {
	struct segment_header h = {.pointer_valid = true, .request = 5};
	uint8_t bytes[KIT_FRAME_MAX];
	size_t size;

	size = docsis_request_write(7, 0x12, bytes);
	size += docsis_queue_request_write(7, 0x12, bytes + size);
	kit_send_segment_as(REPEATING, &h, bytes, size);
	kit_settle();
	assert_int_equal(kit_counter(COUNTER_REQUESTS_REPEATED), 3);
	assert_int_equal(kit_counter(COUNTER_REQUESTS), 0);
}

/* A round takes a limited number of requests, so that the worker's other groups need not wait. The
 * pipeline stays due until the ring is empty. */
static void check_rounds_are_limited(unsigned pending) {
	struct pipeline *list = upstream_pipeline(kit->u, 1);

	assert_true(pending > 10 * US_REQUESTS_PER_ROUND);
	while (pending > 0) {
		unsigned now = RTE_MIN(pending, (unsigned)US_REQUESTS_PER_ROUND);

		assert_int_equal(pipeline_due(list), 0);
		assert_int_equal(pipeline_run(list), now);
		pending -= now;
		assert_int_equal(rte_ring_count(kit->u->requests.ring), pending);
		assert_int_equal(kit_counter(COUNTER_REQUESTS) - pending,
				 us_requests_handled(&kit->u->requests));
	}
	assert_int_equal(pipeline_run(list), 0);
}

/* The sink counts by kind and modem. Requests that exceed the ring are lost and counted. */
CASE(full_ring_loses_requests) {
	uint8_t bytes[1200];
	unsigned capacity, sent = 0;
	size_t size = 0;

	for (; size + DOCSIS_MAC_HEADER <= sizeof(bytes); sent++)
		size += docsis_request_write(1, 0x30, bytes + size);
	capacity = rte_ring_get_capacity(kit->u->requests.ring);
	for (unsigned requested = 0; requested < capacity + sent; requested += sent) {
		kit_send(SEGMENTED, bytes, size);
		for (unsigned i = 0; i <= sent / PIPELINE_BURST; i++)
			run_packets();
	}
	assert_int_equal(kit_counter(COUNTER_REQUESTS), capacity);
	assert_true(kit_counter(COUNTER_REQUESTS_LOST) > 0);
	assert_int_equal(kit_counter(COUNTER_REQUEST_FRAMES),
			 capacity + kit_counter(COUNTER_REQUESTS_LOST));
	check_rounds_are_limited(capacity);
	kit_settle();
	assert_int_equal(kit->u->requests.sink.by_kind[REQUEST_FRAME], capacity);
	assert_int_equal(kit->u->requests.sink.by_modem[2][REQUEST_FRAME], capacity);
	assert_int_equal(us_request_sink_modems(&kit->u->requests.sink), 1);
}
