/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth requests of every kind, whose they are, and a ring that is full. */

#include <rte_ring_elem.h>

#include "upstream_cases.h"

#define REPEATING 2 /* modem 0, on the channel with one */

/* Runs the packets' list without the scheduler's. */
static void run(void) {
	for (int i = 0; i < 3; i++)
		pipeline_run(upstream_pipeline(bench->u, 0));
}

/* The only request in the ring. */
static struct us_request check(enum us_request_kind kind, unsigned stream, uint16_t size,
			       bool n_bytes) {
	struct us_request r;

	run();
	assert_int_equal(rte_ring_count(bench->u->requests.ring), 1);
	assert_int_equal(rte_ring_sc_dequeue_elem(bench->u->requests.ring, &r, sizeof(r)), 0);
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.modem, bench_streams[stream].modem);
	assert_int_equal(r.flow, bench_streams[stream].flow);
	assert_int_equal(r.channel, bench_streams[stream].channels[0]);
	assert_int_equal(r.size, size);
	assert_int_equal(r.n_bytes, n_bytes);
	if (kind != REQUEST_RECORD)
		assert_int_equal(r.cluster, bench_streams[stream].cluster);
	return r;
}

/* On channels without request session. */
CASE(frames_that_ask) {
	uint8_t bytes[BENCH_FRAME_MAX];

	bench_send(FRAMED, bytes, docsis_request_write(7, 0x30, bytes));
	check(REQUEST_FRAME, FRAMED, 7, false);
	bench_send(FRAMED, bytes, docsis_queue_request_write(777, 0x30, bytes));
	check(REQUEST_QUEUE_DEPTH, FRAMED, 777, true);
	/* for a SID of another modem, and one that the modem has on another channel */
	bench_send(FRAMED, bytes, docsis_request_write(7, 0x60, bytes));
	bench_send(FRAMED, bytes, docsis_request_write(7, 0x31, bytes));
	run();
	assert_int_equal(bench_count(COUNTER_BAD_REQUESTS), 2);
	assert_int_equal(bench_count(COUNTER_REQUEST_FRAMES), 4);
	assert_int_equal(bench_count(COUNTER_REQUESTS), 2);
}

CASE(headers_that_ask) {
	static const struct {
		uint8_t piggyback, minislots;
	} rows[] = {{33, 0}, {1, 0}, {0, 44}}; /* 1 is the least that there is */
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP, .sid = 0x30};
	static const uint8_t pdu[60] = {[12] = 0x88, [13] = 0xb5};
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size;

	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		h.piggyback = rows[i].piggyback;
		h.request = rows[i].minislots > 0;
		h.request_minislots = rows[i].minislots;
		bench_send(FRAMED, bytes, bench_frame(2, &h, pdu, 60, bytes));
		check(h.request ? REQUEST_ELEMENT : REQUEST_PIGGYBACK, FRAMED,
		      rows[i].piggyback + rows[i].minislots, false);
	}
	/* at once, whatever becomes of the frame ... */
	size = bench_frame(2, &h, pdu, 60, bytes);
	bench_send(FRAMED, bytes, docsis_up_header_size(&h));
	check(REQUEST_ELEMENT, FRAMED, 44, false);
	bytes[size - 1] ^= 1;
	bench_segment(FRAMED, BENCH_NO_POINTER, bytes + docsis_up_header_size(&h),
		      size - docsis_up_header_size(&h));
	bench_expect(DROP_FRAME_CRC, 1);
	run();
	/* ... but not from one that is dropped for its header */
	bench_send(FRAMED, bytes, docsis_up_header_write(&h, 10, bytes) + 10);
	bench_expect(DROP_FRAME_RUNT, 1);
	run();
	assert_int_equal(rte_ring_count(bench->u->requests.ring), 0);
	bench_take(UINT32_MAX);
}

CASE(segments_that_ask) {
	struct segment_header h = {
		.pointer_valid = true, .sid_cluster = 5, .request = 1234, .sequence = 8};

	bench_segment_as(FRAMED, &h, "", 0);
	check(REQUEST_SEGMENT, FRAMED, 1234, true);
	h.request = 0;
	h.sequence++;
	bench_segment_as(FRAMED, &h, "", 0);
	run();
	assert_int_equal(rte_ring_count(bench->u->requests.ring), 0);
	h.request = 2; /* of a duplicate, too: it was found good */
	bench_segment_as(FRAMED, &h, "", 0);
	check(REQUEST_SEGMENT, FRAMED, 2, true);
	bench_expect(DROP_SEGMENT_DUPLICATE, 1);
}

static void record(struct bench_psp *p, const struct uepi_request *r) {
	uint8_t bytes[UEPI_REQUEST_SIZE];

	psp_add(p, true, true, bytes, uepi_request_write(UEPI_OFDMA, r, bytes));
}

static void another_cluster(void) {
	static struct upstream_service_flow flows[2];
	static struct sid_cluster cluster;

	memcpy(flows, bench->modems[0].upstream_flows, sizeof(flows));
	cluster = flows[1].clusters[0];
	cluster.id = 4;
	flows[1].clusters = &cluster;
	bench->modems[0].upstream_flows = flows;
}

/* In packets of their own. A record names the SID cluster, or it is that of the SID. */
CASE(records, .prepare = another_cluster) {
	struct uepi_request r = {.sid = 0x12, .scheduled_sid = 0x12, .size = 99};
	struct bench_psp p;

	for (unsigned i = 0; i < 4; i++) {
		r.n_bytes = i & 1;
		r.cluster_valid = i >= 2;
		r.sid_cluster = i >= 2 ? 3 : 0;
		psp_open(&p, BENCH_REQUESTS);
		record(&p, &r);
		psp_send(&p);
		assert_int_equal(check(REQUEST_RECORD, REPEATING, 99, i & 1).cluster,
				 i >= 2 ? 3 : 4);
	}
}

CASE(records_that_are_none) {
	struct uepi_request r = {.sid = 0x12};
	uint8_t bytes[UEPI_REQUEST_SIZE + 1] = {0};
	struct bench_psp p;

	psp_open(&p, BENCH_REQUESTS);
	for (size_t size = 0; size <= sizeof(bytes); size++)
		psp_add(&p, true, true, bytes, size); /* too short, too long, of version 0 */
	uepi_request_write(UEPI_OFDMA, &r, bytes);
	for (int flags = 0; flags < 3; flags++)
		psp_add(&p, flags == 1, flags == 2, bytes, UEPI_REQUEST_SIZE);
	r.sid = 0x30; /* not on this channel */
	record(&p, &r);
	r.sid = 0x12;
	record(&p, &r);
	bench_handle_packet(&p);
	assert_int_equal(bench_count(COUNTER_BAD_REQUESTS), sizeof(bytes) + 1 + 3 + 1);
	assert_int_equal(bench_count(COUNTER_REQUESTS), 1);
}

/* Where there are records, what the bursts say is a repetition. */
CASE(repeated) {
	struct segment_header h = {.pointer_valid = true, .request = 5};
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size;

	size = docsis_request_write(7, 0x12, bytes);
	size += docsis_queue_request_write(7, 0x12, bytes + size);
	bench_segment_as(REPEATING, &h, bytes, size);
	bench_settle();
	assert_int_equal(bench_count(COUNTER_REQUESTS_REPEATED), 3);
	assert_int_equal(bench_count(COUNTER_REQUESTS), 0);
}

/* A round takes so many that other groups of the worker do not wait for it; the list is due until all are taken. */
static void rounds_are_short(unsigned waiting) {
	struct pipeline *list = upstream_pipeline(bench->u, 1);

	assert_true(waiting > 10 * US_REQUESTS_A_ROUND);
	while (waiting > 0) {
		unsigned now = RTE_MIN(waiting, (unsigned)US_REQUESTS_A_ROUND);

		assert_int_equal(pipeline_due(list), 0);
		assert_int_equal(pipeline_run(list), now);
		waiting -= now;
		assert_int_equal(rte_ring_count(bench->u->requests.ring), waiting);
		assert_int_equal(bench_count(COUNTER_REQUESTS) - waiting,
				 us_requests_taken(&bench->u->requests));
	}
	assert_int_equal(pipeline_run(list), 0);
}

/* The sink counts by kind and modem; what the ring has no place for is lost and counted. */
CASE(full_ring) {
	uint8_t bytes[1200];
	unsigned capacity, sent = 0;
	size_t size = 0;

	for (; size + DOCSIS_MAC_HEADER <= sizeof(bytes); sent++)
		size += docsis_request_write(1, 0x30, bytes + size);
	capacity = rte_ring_get_capacity(bench->u->requests.ring);
	for (unsigned asked = 0; asked < capacity + sent; asked += sent) {
		bench_send(FRAMED, bytes, size);
		for (unsigned i = 0; i <= sent / PIPELINE_BURST; i++)
			run();
	}
	assert_int_equal(bench_count(COUNTER_REQUESTS), capacity);
	assert_true(bench_count(COUNTER_REQUESTS_LOST) > 0);
	assert_int_equal(bench_count(COUNTER_REQUEST_FRAMES),
			 capacity + bench_count(COUNTER_REQUESTS_LOST));
	rounds_are_short(capacity);
	bench_settle();
	assert_int_equal(bench->u->requests.sink.by_kind[REQUEST_FRAME], capacity);
	assert_int_equal(bench->u->requests.sink.by_modem[2][REQUEST_FRAME], capacity);
	assert_int_equal(us_request_sink_modems(&bench->u->requests.sink), 1);
}
