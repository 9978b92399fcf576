/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests live changes of upstream channels, their sessions, and settings of the group. */
#include "us_change_kit.h"

#define SC_QAM 0 /* channel of KIT_SC_QAM */
#define OFDMA 1
#define OFDMA_2 2

static struct upstream_channel new_channels[3];

static void copy_channel(unsigned channel) {
	new_channels[channel] = kit->sg.upstream_channels[channel];
}

/* The channel has an open burst in each flow, and more packets behind gaps than a step may free.
 * The change takes two steps, and rounds between them stay consistent. */
CASE(removed_channel_drops_pending_packets, .prepare = use_spare_capacity) {
	enum { FLOWS = PSP_FLOW_MAX + 1, PENDING = 31 };
	unsigned steps = 1, slots;
	struct us_change *c;
	struct psp_packet p;

	slots = kit_unused_windows();
	for (uint8_t f = 0; f < FLOWS; f++) {
		for (uint16_t i = 0; i <= PENDING; i++) {
			kit_begin_burst(&p, KIT_SC_QAM, kit_streams[PLAIN].sid);
			p.flow = f;
			p.numbered = true;
			p.sequence = i > 0 ? i + 1 : 0;
			psp_send(&p);
		}
		kit_settle();
	}
	assert_int_equal(upstream_pending(kit->u, UNIT_BURST), FLOWS);
	assert_int_equal(upstream_pending(kit->u, UNIT_PACKET), FLOWS * PENDING);
	assert_int_equal(kit_unused_windows(), slots - FLOWS);
	add_change(LIVE_UPSTREAM_CHANNEL, SC_QAM, NULL);
	c = begin_change();
	for (; !us_change_apply(c); steps++) {
		assert_true(upstream_pending(kit->u, UNIT_PACKET) > 0);
		kit_run_round();
	}
	assert_int_equal(steps, 2);
	check_nothing_pending();
	assert_int_equal(kit_unused_windows(), slots);
	kit_expect_drops(DROP_PACKET_SESSION_REMOVED, FLOWS * PENDING);
	kit_expect_drops(DROP_BURST_SESSION_REMOVED, FLOWS);
	flush_and_end(c);
	check_dropped(PLAIN, DROP_UNKNOWN_SESSION);
	change_object(LIVE_UPSTREAM_CHANNEL, SC_QAM, &kit->sg.upstream_channels[SC_QAM]);
	process_frame(PLAIN); /* numbers may start anywhere */
}

/* Pending data of the channel are kept. */
CASE(request_session_is_removed_and_added, .prepare = use_spare_capacity) {
	struct psp_packet p;
	uint8_t frame[KIT_FRAME_MAX], record[64];
	struct uepi_request r = {.sid = kit_streams[2].sid, .size = 2};
	size_t size;

	kit_begin_burst(&p, KIT_OFDMA, kit_streams[2].sid);
	kit_process_packet(&p);
	assert_int_equal(upstream_pending(kit->u, UNIT_BURST), 1);
	assert_true(us_request_is_repeated(&kit->u->requests, OFDMA));
	copy_channel(OFDMA);
	new_channels[OFDMA].request_session = 0;
	change_object(LIVE_UPSTREAM_CHANNEL, OFDMA, &new_channels[OFDMA]);
	assert_false(us_request_is_repeated(&kit->u->requests, OFDMA));
	assert_int_equal(upstream_pending(kit->u, UNIT_BURST), 1);
	segment_header_write(&(struct segment_header){.pointer_valid = true}, frame);
	size = kit_next_frame(2, SIZE, frame + SEGMENT_HEADER_SIZE);
	psp_begin(&p, KIT_OFDMA);
	psp_add_segment(&p, false, false, frame, SEGMENT_HEADER_SIZE + size);
	psp_add_trailer(&p);
	kit_process_packet(&p);
	kit_check_complete(2);
	psp_begin(&p, KIT_REQUESTS);
	psp_add_segment(&p, true, true, record, uepi_request_write(UEPI_OFDMA, &r, record));
	kit_process_packet(&p);
	kit_expect_drops(DROP_UNKNOWN_SESSION, 1);
	change_object(LIVE_UPSTREAM_CHANNEL, OFDMA, &kit->sg.upstream_channels[OFDMA]);
	kit_process_packet(&p);
	assert_int_equal(kit->u->requests.sink.by_kind[REQUEST_RECORD], 1);
}

/* Two channels of one type swap their sessions, of which neither is unknown at any time. */
CASE(channels_swap_sessions, .prepare = use_spare_capacity) {
	struct slot_counts before;
	struct us_change *c;
	uint64_t segments;

	before = count_slots();
	copy_channel(OFDMA);
	copy_channel(OFDMA_2);
	new_channels[OFDMA].session = KIT_OFDMA_2;
	new_channels[OFDMA_2].session = KIT_OFDMA;
	add_change(LIVE_UPSTREAM_CHANNEL, OFDMA, &new_channels[OFDMA]);
	add_change(LIVE_UPSTREAM_CHANNEL, OFDMA_2, &new_channels[OFDMA_2]);
	c = begin_change();
	do {
		kit_send_burst(KIT_OFDMA, 0x12, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
		kit_send_burst(KIT_OFDMA_2, 0x31, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
		kit_run_round();
	} while (!us_change_apply(c));
	flush_and_end(c);
	check_slots(before);
	kit_settle();
	assert_int_equal(kit->u->counters.drops[DROP_UNKNOWN_SESSION], 0);
	/* SID 0x12 belongs to channel OFDMA, which now has the other session */
	kit->ignore_drops = true;
	segments = kit_counter(COUNTER_SEGMENTS);
	kit_send_burst(KIT_OFDMA_2, 0x12, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	kit_settle();
	assert_int_equal(kit_counter(COUNTER_SEGMENTS), segments + 1);
}

CASE(channel_changes_type, .prepare = use_spare_capacity) {
	struct slot_counts before;

	before = count_slots();
	process_frame(PLAIN);
	for (unsigned i = 0; i < 301; i++) {
		if (i == 300)
			check_delivered(PLAIN);
		copy_channel(SC_QAM);
		new_channels[SC_QAM].type = i & 1 ? UPSTREAM_SC_QAM : UPSTREAM_OFDMA;
		change_object(LIVE_UPSTREAM_CHANNEL, SC_QAM, &new_channels[SC_QAM]);
		check_slots(before);
	}
	process_frame(PLAIN); /* an SC-QAM burst header is invalid on OFDMA */
	kit->ignore_drops = true;
	assert_int_equal(kit->received[PLAIN], kit->serial[PLAIN] - 1);
}

CASE(group_changes_settings, .prepare = use_spare_capacity) {
	static struct service_group group;
	uint8_t frame[KIT_FRAME_MAX];
	size_t size;

	group = kit->sg;
	group.upstream.verify_source = false;
	group.upstream.verify_crc = false;
	group.upstream.frame_timeout_ns = 7 * KIT_MS;
	group.upstream.reorder_timeout_ns = 3 * KIT_MS;
	group.upstream.modem_pending_limit = 4096;
	group.upstream.pending /= 2;
	group.max_frame = SIZE + 3;
	change_object(LIVE_GROUP, 0, &group);
	assert_int_equal(kit->u->pending_set.timeouts[PENDING_CLASS_SEGMENTS], 6 * KIT_MS);
	assert_int_equal(kit->u->pending_set.modem_limit, 4096);
	assert_int_equal(kit->u->pending_set.limits[PENDING_POOL_PACKETS],
			 group.upstream.pending / us_packet_size(&group));
	check_dropped(PLAIN, DROP_FRAME_TOO_LONG);
	group.max_frame = 2000;
	change_object(LIVE_GROUP, 0, &group);
	size = kit_next_frame(PLAIN, SIZE, frame);
	frame[size - 1] ^= 1; /* its CRC, which is not verified */
	kit_process(PLAIN, frame, size);
	kit_check_complete(PLAIN);
	kit->modems[3].addresses = kit->modems[4].addresses;
	check_delivered(PLAIN);
	kit_process(SEGMENTED, frame, kit_next_frame(SEGMENTED, SIZE, frame) - 20);
	kit_advance(7 * KIT_MS);
	check_lost(SEGMENTED, DROP_FRAME_TIMEOUT, 1);
	change_object(LIVE_GROUP, 0, &kit->sg);
	check_dropped(PLAIN, DROP_SOURCE_ADDRESS);
}
