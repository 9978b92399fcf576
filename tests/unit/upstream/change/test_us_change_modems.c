/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests live changes of modems and their streams, while packets arrive. */
#include "us_change_kit.h"

#include "upstream/change/internal.h"

#define LAST 5 /* modem of stream 8 */
#define LAST_STREAM 8
#define AES 3 /* stream of modem 1, encrypted, without segment headers */

static struct modem removed; /* modem 4 */

static void use_free_slots(void) {
	static struct upstream_channel slots[KIT_CHANNELS + 1];

	removed = kit->modems[4];
	memset(&kit->modems[4], 0, sizeof(removed));
	memcpy(slots, kit->sg.upstream_channels, KIT_CHANNELS * sizeof(slots[0]));
	kit->sg.upstream_channels = slots;
	kit->sg.upstream_channel_count = KIT_CHANNELS + 1;
	use_spare_capacity();
}

/* The lists of a group in service can have free slots between used ones. */
CASE(free_slots_are_skipped, .prepare = use_free_slots) {
	assert_null(kit->u->tables.slots.modem_data[4]);
	kit->modems[4] = removed;
	check_dropped(7, DROP_UNKNOWN_SID);
	change_object(LIVE_MODEM, 4, &removed);
	check_all_delivered();
}

CASE(removed_modem_drops_its_fragments, .prepare = use_spare_capacity,
     .modem_pending_limit = 4000000) {
	enum { FRAGMENTS = 500 };
	static const uint8_t bytes[20];
	struct us_change *c;
	unsigned steps = 0;

	for (unsigned i = 0; i < FRAGMENTS; i++) {
		kit_send_fragment(LAST_STREAM, i, i == 0 ? FRAGMENT_FIRST : 0, bytes,
				  sizeof(bytes));
		kit_settle();
	}
	assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), FRAGMENTS);
	add_change(LIVE_MODEM, LAST, NULL);
	c = begin_and_apply();
	for (; !us_change_flushed(c); steps++)
		kit_run_round();
	assert_in_range(steps, 2, 4);
	end_change(c);
	check_nothing_pending();
	check_lost(LAST_STREAM, DROP_FRAME_FLOW_REMOVED, FRAGMENTS);
}

/* The record, the pending bytes and the request counts of the slot start at 0. */
CASE(reused_slot_starts_empty, .prepare = use_spare_capacity) {
	uint8_t request[16];

	kit_process(LAST_STREAM, request,
		    docsis_request_write(3, kit_streams[LAST_STREAM].sid, request));
	assert_int_equal(kit->u->requests.sink.by_modem[LAST][REQUEST_FRAME], 1);
	change_object(LIVE_MODEM, LAST, NULL);
	assert_int_equal(kit->u->requests.sink.by_modem[LAST][REQUEST_FRAME], 0);
	assert_int_equal(kit->u->requests.sink.removed_modems, 1);
	assert_int_equal(kit->u->requests.sink.by_kind[REQUEST_FRAME], 1);
	assert_null(kit->u->tables.modems[LAST].ipv4);
	assert_int_equal(kit->u->pending_set.modems[LAST].bytes, 0);
	change_object(LIVE_MODEM, LAST, &kit->modems[LAST]);
	kit->segment[LAST_STREAM] = 4000; /* numbers may start anywhere */
	check_delivered(LAST_STREAM);
}

/* A change of a modem must not reset the rate limit of its control frames. */
CASE(change_keeps_rate_limit_of_control_frames, .prepare = use_spare_capacity) {
	struct modem changed = kit->modems[0];

	kit->u->tables.modems[0].control_at = 12345;
	change_object(LIVE_MODEM, 0, &changed);
	assert_int_equal(kit->u->tables.modems[0].control_at, 12345);
}

/* Frames that were received with the former SID decrypt. After the change the SID is unknown. */
CASE(changed_sid_replaces_former_one, .prepare = use_spare_capacity) {
	static struct upstream_sid sid = {0, 0x2a};
	struct modem new_modem = kit->modems[1];
	struct upstream_service_flow flow = new_modem.upstream_flows[0];
	struct sid_cluster cluster = {flow.clusters[0].id, &sid, 1};
	uint8_t frame[KIT_FRAME_MAX];
	struct us_change *c;

	send_frame(AES);
	run_to_segments();
	flow.clusters = &cluster;
	new_modem.upstream_flows = &flow;
	add_change(LIVE_MODEM, 1, &new_modem);
	c = begin_and_apply();
	kit_settle();
	kit_check_complete(AES);
	flush_and_end(c);
	check_dropped(AES, DROP_UNKNOWN_SID);
	/* its privacy element has the former SID */
	kit_send_burst(KIT_SC_QAM, sid.sid, frame, kit_next_frame(AES, SIZE, frame));
	kit_settle();
	check_lost(AES, DROP_PRIVACY_SID, 1);
}

/* Sends a segment of padding with this number for each added modem. */
static void send_padding(uint16_t number) {
	uint8_t segment[SEGMENT_HEADER_SIZE + 4];

	memset(segment, 0xff, sizeof(segment));
	segment_header_write(&(struct segment_header){.sequence = number}, segment);
	for (unsigned m = 0; m < ADDED; m++)
		kit_send_burst(KIT_SC_QAM, (uint16_t)(KIT_ADDED_SID + m), segment, sizeof(segment));
	kit_settle();
}

/* Each stream and each pending segment counts against a step. */
CASE(removed_streams_are_flushed_in_steps, .prepare = use_added_modems) {
	const uint32_t *pending = &kit->u->reassemble.pending_segments;
	uint32_t before = ADDED;
	struct us_change *c;
	bool done;

	send_padding(0);
	send_padding(2);
	assert_int_equal(*pending, ADDED);
	for (unsigned m = 0; m < ADDED; m++)
		add_change(LIVE_MODEM, KIT_MODEMS + m, NULL);
	c = begin_change();
	do {
		done = us_change_apply(c);
		assert_in_range(before - *pending, 0,
				US_STEP_NS / (US_RECORD_NS + CHANGE_BUFFER_NS));
		before = *pending;
	} while (!done);
	assert_int_equal(*pending, 0);
	flush_and_end(c);
	kit_check_dropped(DROP_SEGMENT_FLOW_REMOVED, ADDED);
	kit_expect_drops(DROP_SEGMENT_ORPHAN, ADDED); /* the first ones */
}
