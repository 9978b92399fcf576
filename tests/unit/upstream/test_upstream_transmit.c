/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stage transmit with a network port that accepts few packets or none: nothing is lost,
 * the order is kept, a stop accounts for all. Also tests the VLAN tags of the ports. */
#include <rte_ethdev.h>

#include "platform/vlan.h"
#include "upstream_cases.h"

#define AES 2 /* stream of modem 0, encrypted */

static const unsigned streams[] = {SEGMENTED, PLAIN, AES};

/* Sends about `bytes` bytes of packets of the stream in one segment or burst. */
static void send_packets(unsigned stream, size_t bytes) {
	uint8_t payload[KIT_FRAME_MAX + 2000];
	size_t size = 0;

	while (size + 200 < bytes)
		size += kit_next_frame(stream, random_between(&kit->random, KIT_FRAME_MIN, 150),
				       payload + size);
	kit_send(stream, payload, size);
}

/* Checks the limits of the transmit queue and of the queue of segments. */
static void check_bounds(void) {
	const struct upstream *u = kit->u;

	assert_in_range(u->transmit.count + u->r.crypto->pending, 0, US_TRANSMIT_CAPACITY);
	assert_in_range(u->list.queues[US_SEGMENTS].count, 0, 64 + 32 * 85);
}

CASE(full_network_port_stops_receiving, .network_depth = 64) {
	uint64_t pending = 0, bytes = 0;

	for (int i = 0; i < 300; i++) {
		bool may_receive = kit->u->transmit.count < US_TRANSMIT_CAPACITY / 2;

		send_packets(streams[i % 3], 700);
		kit_run_round();
		check_bounds();
		if (may_receive)
			assert_int_equal(kit_counter(COUNTER_RECEIVED), kit->injected);
	}
	for (enum unit unit = 0; unit < UNITS; unit++)
		pending += upstream_pending(kit->u, unit);
	assert_true(kit->u->transmit.count >= US_TRANSMIT_CAPACITY / 2);
	assert_true(kit_counter(COUNTER_TRANSMIT_RETRIES) > 0);
	assert_int_equal(kit_counter(COUNTER_TRANSMITTED), kit->network_depth - 1);
	assert_true(kit_counter(COUNTER_RECEIVED) < kit->injected);
	assert_true(upstream_busy(kit->u) && pending > 0);
	assert_true(pipeline_due(&kit->u->list) == 0);
	kit_settle();
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		kit_check_complete(streams[i]);
		for (uint32_t serial = 0; serial < kit->serial[streams[i]]; serial++)
			bytes += kit->size[streams[i]][serial];
	}
	assert_int_equal(kit_counter(COUNTER_TRANSMITTED), kit_counter(COUNTER_FRAMES));
	assert_int_equal(kit_counter(COUNTER_TRANSMITTED_BYTES), bytes);
}

/* Bursts of 60 PSP packets with small frames arrive faster than frames are extracted. At US_QUEUED
 * buffers in the queues, packets stay in the port. */
CASE(full_queues_stop_receiving) {
	static uint8_t bytes[60 * 1000];
	struct psp_packet p;
	uint32_t queued = 0;

	for (int i = 0; queued < US_QUEUED; i++) {
		assert_in_range(i, 0, 60 * 60);
		if (i % 60 == 0) {
			size_t size = kit_next_frames(PLAIN, KIT_FRAME_MIN, bytes, sizeof(bytes));

			memset(bytes + size, 0xff, sizeof(bytes) - size); /* padding */
		}
		psp_begin(&p, KIT_SC_QAM);
		if (i % 60 == 0)
			psp_add_header(&p, kit_streams[PLAIN].sid);
		psp_add_segment(&p, false, false, bytes + i % 60 * 1000, 1000);
		if (i % 60 == 59)
			psp_add_trailer(&p);
		psp_send(&p);
		if (i % 30 < 29)
			continue;
		kit_run_round();
		kit_receive(UINT32_MAX);
		queued = kit->u->list.queues[US_BURSTS].buffers +
			 kit->u->list.queues[US_SEGMENTS].buffers;
	}
	assert_in_range(kit->u->list.queues[US_SEGMENTS].count, 1, 63); /* not its limit */
	psp_begin(&p, KIT_OFDMA);
	psp_send(&p);
	kit_run_round();
	assert_int_equal(kit_counter(COUNTER_RECEIVED), kit->injected - 1);
	assert_in_range(rte_mempool_in_use_count(kit->packets), US_QUEUED,
			us_buffers(&kit->sg, NULL).packets);
	kit_settle();
	assert_int_equal(upstream_pending(kit->u, UNIT_SEGMENT), 0);
	assert_true(kit->received[PLAIN] > 10000);
	kit->ignore_drops = true; /* the last burst is incomplete */
}

/* Sends a segment with one frame in four PSP segments: two of the header, two of the frame. */
static void send_segment_in_pieces(void) {
	struct segment_header h = {.sid_cluster = kit_streams[SEGMENTED].cluster,
				   .pointer_valid = true,
				   .sequence = kit->segment[SEGMENTED]++};
	uint8_t bytes[KIT_FRAME_MAX];
	const size_t ends[] = {3, SEGMENT_HEADER_SIZE, SEGMENT_HEADER_SIZE + 20,
			       SEGMENT_HEADER_SIZE + kit_next_frame(SEGMENTED, KIT_FRAME_MIN,
								    bytes + SEGMENT_HEADER_SIZE)};
	struct psp_packet p;
	size_t at = 0;

	segment_header_write(&h, bytes);
	kit_begin_burst(&p, KIT_SC_QAM, kit_streams[SEGMENTED].sid);
	for (size_t i = 0; i < ARRAY_COUNT(ends); at = ends[i++])
		psp_add_segment(&p, false, false, bytes + at, ends[i] - at);
	psp_add_trailer(&p);
	psp_send(&p);
}

/* A round leaves one segment. Only its buffers with bytes of a frame count. */
CASE(segment_left_by_round_keeps_worker_busy, .prepare = kit_use_long_packets) {
	kit_send_frames(SEGMENTED, PIPELINE_BURST, KIT_FRAME_MIN);
	send_segment_in_pieces();
	kit_run_round();
	assert_int_equal(kit_receive(UINT32_MAX), PIPELINE_BURST);
	assert_int_equal(upstream_pending(kit->u, UNIT_SEGMENT), 1);
	assert_int_equal(kit->u->list.queues[US_SEGMENTS].buffers, 2);
	assert_true(upstream_busy(kit->u));
	assert_true(pipeline_due(&kit->u->list) == 0);
	kit_run_round();
	kit_receive(UINT32_MAX);
	assert_false(upstream_busy(kit->u));
	assert_true(pipeline_due(&kit->u->list) == UINT64_MAX);
}

/* Something is pending in each stage that can keep packets. */
CASE(stop_accounts_for_all, .lossy = true, .network_depth = 64) {
	uint8_t out[KIT_FRAME_MAX] = {0};
	struct psp_packet p;
	uint64_t pending[UNITS];

	kit_send(PLAIN, out, kit_write_fragment(PLAIN, 0, FRAGMENT_FIRST, out + 500, 90, out));
	kit_next_frame(SEGMENTED, 300, out);
	kit_send(SEGMENTED, out, 100);
	send_packets(7, 300);
	kit->segment[7]++;
	send_packets(7, 300);
	kit_run_round();
	for (int i = 0; i < 40; i++)
		send_packets(AES, 1900);
	kit_begin_burst(&p, KIT_OFDMA_2, 0x31);
	psp_add_segment(&p, false, false, out, 50);
	psp_send(&p);
	kit->psp[4][0]++;
	psp_send(&p);
	kit_run_rounds(30);
	pipeline_run(upstream_pipeline(kit->u, 0));
	assert_true(kit->u->uepi.pending_packets > 0 && kit->u->uepi.open_bursts > 0);
	assert_true(kit->u->reassemble.pending_segments > 0 &&
		    kit->u->list.queues[US_SEGMENTS].count > 0);
	assert_true(kit->u->streams.incomplete_frames > 0 &&
		    kit->u->defragment.pending_fragments > 0);
	assert_true(kit->u->transmit.count > 0);
	for (enum unit unit = 0; unit < UNITS; unit++)
		pending[unit] = upstream_pending(kit->u, unit);
	for (unsigned i = 0; i < DROP_REASONS; i++)
		assert_int_equal(kit->u->counters.drops[i], 0);
	upstream_stop(kit->u);
	kit_expect_drops(DROP_PACKET_STOPPED, pending[UNIT_PACKET]);
	kit_expect_drops(DROP_BURST_STOPPED, pending[UNIT_BURST]);
	kit_expect_drops(DROP_SEGMENT_STOPPED, pending[UNIT_SEGMENT]);
	kit_expect_drops(DROP_STOPPED, pending[UNIT_FRAME]);
}

/* Checks that the queues of the stages fit together. */
CASE(stage_lists_are_consistent, .self_started = true) {
	unsigned producers[US_QUEUES] = {0}, consumers[US_QUEUES] = {0};

	for (unsigned l = 0; l < US_PIPELINES; l++) {
		const struct stage_list *list = &us_lists[l];

		assert_in_range(list->count, 1, PIPELINE_MAX_STAGES);
		assert_in_range(list->queue_count, 1, 1 + PIPELINE_MAX_QUEUES);
		for (unsigned i = 0; i < list->count; i++) {
			const struct stage *s = &list->stages[i];

			assert_in_range(s->input_queue, 0, US_QUEUES - 1);
			assert_in_range(s->output_queue, 0, US_QUEUES - 1);
			assert_true(s->polls || !s->pulls_input);
			/* the burst of the stage before would be lost; rings are only pulled */
			if (s->input_queue != 0 && !s->pulls_input)
				assert_true(s[-1].output_queue != 0 &&
					    !list->queues[s->input_queue].outside);
			producers[s->output_queue]++;
			consumers[s->input_queue]++;
			for (unsigned q = 1; q < US_QUEUES; q++)
				producers[q] += (s->other_queues & STAGE_TO(q)) != 0;
		}
	}
	for (unsigned q = 1; q < US_QUEUES; q++) {
		assert_true(strlen(us_lists[0].queues[q].about) > 5);
		assert_true(producers[q] > 0);
		assert_int_equal(consumers[q], q != US_CONTROL_PORT && q != US_MESSAGE_RING);
	}
}

/* The network port and the control port of the group are VLANs. */
#define SIZE 300
#define VLAN 0x123
#define CONTROL_VLAN 0x456

static void use_vlans(void) {
	kit->sg.network.vlan = VLAN;
	kit->sg.control_port.vlan = CONTROL_VLAN;
}

static void use_vlans_and_copies(void) {
	use_vlans();
	kit->copy_frames = true;
}

/* Sends a MAC frame of modem 2. */
static void send_mac_frame(enum docsis_kind kind, const uint8_t *pdu, size_t size) {
	uint8_t mac[KIT_FRAME_MAX];

	kit_send(SEGMENTED, mac, kit_write_clear_frame(2, kind, pdu, size, mac));
}

static struct rte_mbuf *receive_tagged(uint16_t port, uint16_t vlan) {
	struct rte_mbuf *m = NULL;
	const uint8_t *frame;

	if (rte_eth_rx_burst(port, 0, &m, 1) == 0)
		return NULL;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(load_be16(frame + 12), ETHERTYPE_VLAN);
	assert_int_equal(load_be16(frame + 14), vlan);
	packet_untag(m);
	fixture_packet_check(m);
	return m;
}

/* Receives a frame, and compares its tag and the frame without it. */
static void check_received(uint16_t port, uint16_t tag, const uint8_t *expected, size_t size) {
	struct rte_mbuf *m = receive_tagged(port, tag);

	assert_non_null(m);
	assert_int_equal(rte_pktmbuf_pkt_len(m), size);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), expected, size);
	rte_pktmbuf_free(m);
}

/* Also in one packet: the tag of a frame must not overwrite the end of the one before. */
CASE(pending_packets_have_one_tag, .prepare = use_vlans, .network_depth = 4, .lossy = true) {
	const uint32_t packets = 20, together = 4, port_capacity = 3;
	uint8_t expected[SIZE];

	for (uint32_t i = together; i < packets; i++) {
		kit_send_frame(SEGMENTED, SIZE);
		kit_run_round();
	}
	kit_send_frames(SEGMENTED, together, SIZE);
	kit_run_rounds(5);
	assert_int_equal(kit->u->transmit.count, packets - port_capacity);
	for (uint32_t serial = 0; serial < packets; serial++) {
		kit_write_ethernet(SEGMENTED, serial, SIZE, expected);
		check_received(kit->network, VLAN, expected, SIZE);
		kit_run_round();
	}
	assert_int_equal(kit_counter(COUNTER_TRANSMITTED_BYTES), packets * (SIZE + VLAN_TAG_SIZE));
}

CASE(management_messages_have_tag, .prepare = use_vlans) {
	uint8_t pdu[60];

	memset(pdu, 7, sizeof(pdu));
	send_mac_frame(DOCSIS_KIND_MANAGEMENT, pdu, sizeof(pdu));
	kit_run_rounds(2);
	check_received(kit->control, CONTROL_VLAN, pdu, sizeof(pdu));
}

/* The priority tag of a modem's frame: its priority gets into the tag of the group's VLAN. */
CASE(priority_of_modem_is_kept, .prepare = use_vlans) {
	uint8_t pdu[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xf0, 0, 0x88, 0xb5};

	send_mac_frame(DOCSIS_KIND_PACKET, pdu, sizeof(pdu));
	kit_run_rounds(2);
	memmove(pdu + VLAN_TAG_SIZE, pdu, 12);
	check_received(kit->network, 0xf000 | VLAN, pdu + VLAN_TAG_SIZE,
		       sizeof(pdu) - VLAN_TAG_SIZE);
}

/* Short frames are padded to the minimum without the tag, in their packet or in a copy. */
CASE(short_frames_are_padded, .prepare = use_vlans) {
	for (size_t size = 14; size <= 60; size++) {
		uint8_t pdu[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
		uint8_t mac[KIT_FRAME_MAX];
		size_t both;

		memset(pdu + 14, (int)size, size - 14);
		both = kit_write_clear_frame(2, DOCSIS_KIND_PACKET, pdu, size, mac);
		both += kit_write_clear_frame(2, DOCSIS_KIND_PACKET, pdu, size, mac + both);
		kit_send(SEGMENTED, mac, both);
		kit_run_rounds(2);
		for (unsigned i = 0; i < 2; i++)
			check_received(kit->network, VLAN, pdu, sizeof(pdu));
	}
}
CASE_WITH(use_vlans_and_copies, short_frames_are_padded)

/* Without a free buffer, a short frame that must be copied is dropped. */
CASE(short_frame_without_buffer_is_dropped, .prepare = use_vlans, .frame_buffers = 127) {
	const uint8_t pdu[40] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	struct rte_mbuf *allocated[127];

	assert_int_equal(rte_pktmbuf_alloc_bulk(kit->frames, allocated, 127), 0);
	send_mac_frame(DOCSIS_KIND_PACKET, pdu, sizeof(pdu));
	kit_expect_drops(DROP_FRAME_NO_BUFFER, 1);
	kit_run_rounds(2);
	assert_null(receive_tagged(kit->network, VLAN));
	rte_pktmbuf_free_bulk(allocated, 127);
}
