/* SPDX-License-Identifier: BSD-3-Clause */
/* A network port that takes little or nothing: nothing is lost, order is kept, a stop accounts for all. And VLANs: each
 * frame leaves with the tag, whatever waits. */
#include <rte_ethdev.h>

#include "platform/vlan.h"
#include "upstream_cases.h"

#define AES 2

static const unsigned streams[] = {FRAMED, PLAIN, AES};

/* A segment full of packets of the stream. */
static void put(unsigned stream, size_t bytes) {
	uint8_t room[BENCH_FRAME_MAX + 2000];
	size_t size = 0;

	while (size + 200 < bytes)
		size += bench_mac(stream, random_between(&bench->random, BENCH_SMALLEST, 150),
				  room + size);
	bench_send(stream, room, size);
}

/* What is behind the R-PHY port is bounded. */
static void check_bounds(void) {
	const struct upstream *u = bench->u;

	assert_in_range(u->transmit.count + u->r.crypto->pending, 0, US_TRANSMIT_CAPACITY);
	assert_in_range(u->list.queues[US_SEGMENTS].count, 0, 64 + 32 * 85);
}

CASE(nothing_is_taken, .network_depth = 64) {
	uint64_t pending = 0, bytes = 0;

	for (int i = 0; i < 300; i++) {
		bool has_room = bench->u->transmit.count < US_TRANSMIT_CAPACITY / 2;

		put(streams[i % 3], 700);
		bench_round();
		check_bounds();
		if (has_room)
			assert_int_equal(bench_count(COUNTER_RECEIVED), bench->injected);
	}
	for (enum unit unit = 0; unit < UNITS; unit++)
		pending += upstream_pending(bench->u, unit);
	assert_true(bench->u->transmit.count >= US_TRANSMIT_CAPACITY / 2);
	assert_true(bench_count(COUNTER_TRANSMIT_RETRIES) > 0);
	assert_int_equal(bench_count(COUNTER_TRANSMITTED), bench->network_depth - 1);
	assert_true(bench_count(COUNTER_RECEIVED) < bench->injected);
	assert_true(upstream_busy(bench->u) && pending > 0);
	assert_true(pipeline_due(&bench->u->list) == 0);
	bench_settle();
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		bench_complete(streams[i]);
		for (uint32_t serial = 0; serial < bench->serial[streams[i]]; serial++)
			bytes += bench->size[streams[i]][serial];
	}
	assert_int_equal(bench_count(COUNTER_TRANSMITTED), bench_count(COUNTER_FRAMES));
	assert_int_equal(bench_count(COUNTER_TRANSMITTED_BYTES), bytes);
}

/* Small packets without end in bursts of dozens of PSP packets: these come faster than they are taken apart.
 * By hundreds of buffers they stand in the queues; the port keeps those that were left for it. */
CASE(long_bursts) {
	static uint8_t bytes[60 * 1000];
	struct bench_psp p;
	uint32_t stands = 0;

	for (int i = 0; stands < US_QUEUED; i++) {
		assert_in_range(i, 0, 60 * 60);
		if (i % 60 == 0) {
			size_t size = bench_fill(PLAIN, BENCH_SMALLEST, bytes, sizeof(bytes));

			memset(bytes + size, 0xff, sizeof(bytes) - size); /* padding */
		}
		psp_open(&p, BENCH_SC_QAM);
		if (i % 60 == 0)
			psp_add_header(&p, bench_streams[PLAIN].sid);
		psp_add(&p, false, false, bytes + i % 60 * 1000, 1000);
		if (i % 60 == 59)
			psp_add_trailer(&p);
		psp_send(&p);
		if (i % 30 < 29)
			continue;
		bench_round();
		bench_take(UINT32_MAX);
		stands = bench->u->list.queues[US_BURSTS].buffers +
			 bench->u->list.queues[US_SEGMENTS].buffers;
	}
	assert_in_range(bench->u->list.queues[US_SEGMENTS].count, 1, 63); /* it is not that */
	psp_open(&p, BENCH_OFDMA);
	psp_send(&p);
	bench_round();
	assert_int_equal(bench_count(COUNTER_RECEIVED), bench->injected - 1);
	assert_in_range(rte_mempool_in_use_count(bench->packets), US_QUEUED,
			us_buffers(&bench->sg, NULL).packets);
	bench_settle();
	assert_int_equal(upstream_pending(bench->u, UNIT_SEGMENT), 0);
	assert_true(bench->came[PLAIN] > 10000);
	bench->any_drops = true; /* the last burst has no end */
}

/* A segment of one frame, in pieces: two of its header, two of the frame. */
static void put_pieces(void) {
	struct segment_header h = {.sid_cluster = bench_streams[FRAMED].cluster,
				   .pointer_valid = true,
				   .sequence = bench->segment[FRAMED]++};
	uint8_t bytes[BENCH_FRAME_MAX];
	const size_t ends[] = {3, SEGMENT_HEADER_SIZE, SEGMENT_HEADER_SIZE + 20,
			       SEGMENT_HEADER_SIZE + bench_mac(FRAMED, BENCH_SMALLEST,
							       bytes + SEGMENT_HEADER_SIZE)};
	struct bench_psp p;
	size_t at = 0;

	segment_header_write(&h, bytes);
	bench_open_burst(&p, BENCH_SC_QAM, bench_streams[FRAMED].sid);
	for (size_t i = 0; i < ARRAY_COUNT(ends); at = ends[i++])
		psp_add(&p, false, false, bytes + at, ends[i] - at);
	psp_add_trailer(&p);
	psp_send(&p);
}

/* One segment is all that is left, as the one before it filled the round to its last frame; of its
 * buffers those count that have something of a frame. */
CASE(one_segment_is_left, .prepare = bench_long_packets) {
	bench_put_many(FRAMED, PIPELINE_BURST, BENCH_SMALLEST);
	put_pieces();
	bench_round();
	assert_int_equal(bench_take(UINT32_MAX), PIPELINE_BURST);
	assert_int_equal(upstream_pending(bench->u, UNIT_SEGMENT), 1);
	assert_int_equal(bench->u->list.queues[US_SEGMENTS].buffers, 2);
	assert_true(upstream_busy(bench->u));
	assert_true(pipeline_due(&bench->u->list) == 0);
	bench_round();
	bench_take(UINT32_MAX);
	assert_false(upstream_busy(bench->u));
	assert_true(pipeline_due(&bench->u->list) == UINT64_MAX);
}

/* With something everywhere: packets, bursts, segments, frames, fragments, crypto, the line. */
CASE(stop_accounts_for_all, .lossy = true, .network_depth = 64) {
	uint8_t out[BENCH_FRAME_MAX] = {0};
	struct bench_psp p;
	uint64_t pending[UNITS];

	bench_send(PLAIN, out, bench_fragment(PLAIN, 0, FRAGMENT_FIRST, out + 500, 90, out));
	bench_mac(FRAMED, 300, out);
	bench_send(FRAMED, out, 100);
	put(7, 300);
	bench->segment[7]++;
	put(7, 300);
	bench_round();
	for (int i = 0; i < 40; i++)
		put(AES, 1900);
	bench_open_burst(&p, BENCH_OFDMA_ALONE, 0x31);
	psp_add(&p, false, false, out, 50);
	psp_send(&p);
	bench->psp[4][0]++;
	psp_send(&p);
	bench_rounds(30);
	pipeline_run(upstream_pipeline(bench->u, 0));
	assert_true(bench->u->uepi.pending_packets > 0 && bench->u->uepi.open_bursts > 0);
	assert_true(bench->u->reassemble.pending_segments > 0 &&
		    bench->u->list.queues[US_SEGMENTS].count > 0);
	assert_true(bench->u->streams.incomplete_frames > 0 &&
		    bench->u->defragment.pending_fragments > 0);
	assert_true(bench->u->transmit.count > 0);
	for (enum unit unit = 0; unit < UNITS; unit++)
		pending[unit] = upstream_pending(bench->u, unit);
	for (unsigned i = 0; i < DROP_REASONS; i++)
		assert_int_equal(bench->u->counters.drops[i], 0);
	upstream_stop(bench->u);
	bench_expect(DROP_PACKET_STOPPED, pending[UNIT_PACKET]);
	bench_expect(DROP_BURST_STOPPED, pending[UNIT_BURST]);
	bench_expect(DROP_SEGMENT_STOPPED, pending[UNIT_SEGMENT]);
	bench_expect(DROP_STOPPED, pending[UNIT_FRAME]);
}

/* What a row says of its queues is so that the loop can keep to it. */
CASE(the_list_is_sound, .closed = true) {
	unsigned given[US_QUEUES] = {0}, taken[US_QUEUES] = {0};

	for (unsigned l = 0; l < US_PIPELINES; l++) {
		const struct stage_list *list = &us_lists[l];

		assert_in_range(list->count, 1, PIPELINE_MAX_STAGES);
		assert_in_range(list->queue_count, 1, 1 + PIPELINE_MAX_QUEUES);
		for (unsigned i = 0; i < list->count; i++) {
			const struct stage *s = &list->stages[i];

			assert_in_range(s->from, 0, US_QUEUES - 1);
			assert_in_range(s->gives, 0, US_QUEUES - 1);
			assert_true(s->polls || !s->pulls);
			/* no burst is lost to one out of a queue, nor is one of a ring handed out */
			if (s->from != 0 && !s->pulls)
				assert_true(s[-1].gives != 0 && !list->queues[s->from].outside);
			given[s->gives]++;
			taken[s->from]++;
			for (unsigned q = 1; q < US_QUEUES; q++)
				given[q] += (s->also & STAGE_TO(q)) != 0;
		}
	}
	for (unsigned q = 1; q < US_QUEUES; q++) {
		assert_true(strlen(us_lists[0].queues[q].about) > 5);
		assert_true(given[q] > 0);
		assert_int_equal(taken[q], q != US_CONTROL_PORT && q != US_MESSAGE_RING);
	}
}

/* A group whose network and control port are VLANs. */
#define SIZE 300
#define VLAN 0x123
#define CONTROL_VLAN 0x456

static void vlans(void) {
	bench->sg.network.vlan = VLAN;
	bench->sg.control_port.vlan = CONTROL_VLAN;
}

static void copies(void) {
	vlans();
	bench->copies = true;
}

/* A frame of modem 2. */
static void send_kind(enum docsis_kind kind, const uint8_t *pdu, size_t size) {
	uint8_t mac[BENCH_FRAME_MAX];

	bench_send(FRAMED, mac, bench_clear(2, kind, pdu, size, mac));
}

static struct rte_mbuf *take(uint16_t port, uint16_t vlan) {
	struct rte_mbuf *m = NULL;
	const uint8_t *frame;

	if (rte_eth_rx_burst(port, 0, &m, 1) == 0)
		return NULL;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(load_be16(frame + 12), ETHERTYPE_VLAN);
	assert_int_equal(load_be16(frame + 14), vlan);
	packet_untag(m);
	fixture_check(m);
	return m;
}

/* The next one there has the tag, and is this without it. */
static void take_this(uint16_t port, uint16_t tag, const uint8_t *expected, size_t size) {
	struct rte_mbuf *m = take(port, tag);

	assert_non_null(m);
	assert_int_equal(rte_pktmbuf_pkt_len(m), size);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), expected, size);
	rte_pktmbuf_free(m);
}

/* Behind each other in one packet, too: the tag of one takes nothing from the one before, which waits. */
CASE(packets_that_wait_have_one_tag, .prepare = vlans, .network_depth = 4, .lossy = true) {
	const uint32_t packets = 20, together = 4, room = 3;
	uint8_t expected[SIZE];

	for (uint32_t i = together; i < packets; i++) {
		bench_put(FRAMED, SIZE);
		bench_round();
	}
	bench_put_many(FRAMED, together, SIZE);
	bench_rounds(5);
	assert_int_equal(bench->u->transmit.count, packets - room);
	for (uint32_t serial = 0; serial < packets; serial++) {
		bench_ethernet(FRAMED, serial, SIZE, expected);
		take_this(bench->network, VLAN, expected, SIZE);
		bench_round();
	}
	assert_int_equal(bench_count(COUNTER_TRANSMITTED_BYTES), packets * (SIZE + VLAN_TAG_SIZE));
}

CASE(messages_have_the_tag, .prepare = vlans) {
	uint8_t pdu[60];

	memset(pdu, 7, sizeof(pdu));
	send_kind(DOCSIS_KIND_MANAGEMENT, pdu, sizeof(pdu));
	bench_rounds(2);
	take_this(bench->control, CONTROL_VLAN, pdu, sizeof(pdu));
}

/* A priority that the modem's frame has, without a VLAN, stays beside the group's VLAN. */
CASE(priorities_stay, .prepare = vlans) {
	uint8_t pdu[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xf0, 0, 0x88, 0xb5};

	send_kind(DOCSIS_KIND_PACKET, pdu, sizeof(pdu));
	bench_rounds(2);
	memmove(pdu + VLAN_TAG_SIZE, pdu, 12);
	take_this(bench->network, 0xf000 | VLAN, pdu + VLAN_TAG_SIZE, sizeof(pdu) - VLAN_TAG_SIZE);
}

/* Short frames are padded before the tag, so that they are long enough without it,
 * whether they lie among others in their packet or alone in a buffer. */
CASE(short_frames_are_padded, .prepare = vlans) {
	for (size_t size = 14; size <= 60; size++) {
		uint8_t pdu[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
		uint8_t mac[BENCH_FRAME_MAX];
		size_t both;

		memset(pdu + 14, (int)size, size - 14);
		both = bench_clear(2, DOCSIS_KIND_PACKET, pdu, size, mac);
		both += bench_clear(2, DOCSIS_KIND_PACKET, pdu, size, mac + both);
		bench_send(FRAMED, mac, both);
		bench_rounds(2);
		for (unsigned i = 0; i < 2; i++)
			take_this(bench->network, VLAN, pdu, sizeof(pdu));
	}
}
CASE_AGAIN(copies, short_frames_are_padded)

/* Without a buffer a short frame that must be copied ends under a name. */
CASE(no_buffer_for_padding, .prepare = vlans, .frame_buffers = 127) {
	const uint8_t pdu[40] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	struct rte_mbuf *taken[127];

	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->frames, taken, 127), 0);
	send_kind(DOCSIS_KIND_PACKET, pdu, sizeof(pdu));
	bench_expect(DROP_FRAME_NO_BUFFER, 1);
	bench_rounds(2);
	assert_null(take(bench->network, VLAN));
	rte_pktmbuf_free_bulk(taken, 127);
}
