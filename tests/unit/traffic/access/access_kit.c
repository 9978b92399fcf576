/* SPDX-License-Identifier: BSD-3-Clause */
#include "access_kit.h"

struct access_kit kit;

void kit_set_modem(uint32_t modem, struct access_modem settings) {
	settings.propagation = settings.propagation != 0 ? settings.propagation : PROPAGATION;
	settings.map_processing = MAP_PROCESSING;
	settings.burst_processing = BURST_PROCESSING;
	assert_true(access_set_modem(kit.access, modem, &settings));
}

void kit_set_flow(uint32_t flow, struct access_flow settings) {
	struct access_sid sids[ACCESS_MAX_CHANNELS];

	if (settings.sids == NULL) {
		for (uint16_t i = 0; i < kit.channels; i++)
			sids[i] = (struct access_sid){i, (uint16_t)(100 + flow)};
		settings.sids = sids;
		settings.sid_count = kit.channels;
	}
	settings.modem = flow;
	assert_null(access_set_flow(kit.access, flow, &settings, kit.now));
}

static void create(uint32_t channels, uint32_t flows) {
	struct access_channel settings[ACCESS_MAX_CHANNELS];
	struct access_config config = {settings, channels, flows, flows, 0, 5};
	const char *why;

	memset(&kit, 0, sizeof(kit));
	kit.channels = channels;
	kit.flows = flows;
	for (uint32_t i = 0; i < channels; i++)
		settings[i] = (struct access_channel){.id = (uint8_t)(i + 1),
						      .ucd_count = 7,
						      .frame = FRAME,
						      .frame_minislots = MINISLOTS,
						      .minislot_bytes = MINISLOT_BYTES,
						      .request_minislots = 1};
	kit.access = access_create(&config, &why);
	assert_non_null(kit.access);
	for (uint32_t i = 0; i < flows; i++) {
		kit_set_modem(i, (struct access_modem){0});
		kit_set_flow(i, (struct access_flow){.header_bytes = HEADER, .outstanding = 4});
	}
}

int kit_set_up(void **state) {
	create(1, 1);
	return 0;
}

int kit_tear_down(void **state) {
	kit_check_balance();
	access_free(kit.access);
	return 0;
}

void kit_restart(uint32_t channels, uint32_t flows) {
	kit_tear_down(NULL);
	create(channels, flows);
}

static void add_element(uint16_t sid, uint8_t iuc, uint16_t minislots) {
	struct map_element *e = &kit.map.elements[kit.map.count++];

	e->sid = sid;
	e->iuc = iuc;
	e[1].offset = (uint16_t)(e->offset + minislots); /* of the next element */
}

void kit_build_map(uint32_t frame, uint32_t ack_frame, const struct kit_element *list,
		   size_t count) {
	memset(&kit.map, 0, sizeof(kit.map));
	kit.map.version = 5;
	kit.map.ucd_count = 7;
	kit.map.alloc_start = frame * MINISLOTS;
	kit.map.ack_time = ack_frame * MINISLOTS;
	kit.map.data_start = 2;
	kit.map.data_end = 6;
	for (size_t i = 0; i < count; i++) {
		if (list[i].minislots > 0)
			add_element(list[i].sid, list[i].iuc, list[i].minislots);
	}
	add_element(0, MAP_NULL, 0);
	for (size_t i = 0; i < count; i++) {
		if (list[i].minislots == 0)
			add_element(list[i].sid, list[i].iuc, 0);
	}
}

void kit_send_at(uint16_t channel, uint64_t received) {
	kit.map.channel = (uint8_t)(channel + 1);
	access_map(kit.access, channel, &kit.map, received);
}

void kit_send(uint16_t channel) {
	kit_send_at(channel, (uint64_t)kit.map.alloc_start / MINISLOTS * FRAME - MAP_LEAD);
}

void kit_send_contention(uint16_t channel, uint8_t start, uint8_t end, uint32_t frame,
			 uint32_t ack_frame, uint16_t minislots) {
	kit_map(frame, ack_frame, {CONTENTION, minislots});
	kit.map.data_start = start;
	kit.map.data_end = end;
	kit_send(channel);
}

void kit_poll(uint32_t bytes, uint32_t request) {
	access_queue(kit.access, 0, bytes, 0);
	kit_send_map(0, 20, 14, {100, MAP_REQUEST, 1});
	kit_expect(20, {ACCESS_REQUEST, .request = request});
}

void kit_queue_all(uint32_t bytes) {
	for (uint32_t i = 0; i < kit.flows; i++)
		access_queue(kit.access, i, bytes, kit.now);
}

struct access_counts kit_counts(void) {
	struct access_counts c;

	access_counts(kit.access, &c);
	return c;
}

unsigned kit_run(uint64_t until) {
	kit.count = 0;
	while (access_next(kit.access, until, &kit.events[kit.count])) {
		const struct access_event *e = &kit.events[kit.count++];

		assert_in_range(e->time, kit.now, until);
		assert_in_range(kit.count, 1, 4095);
		kit.now = e->time;
	}
	kit.now = until;
	assert_true(access_due(kit.access) > until);
	return kit.count;
}

void kit_expect_events(uint64_t until, const struct access_event *expected, size_t count) {
	assert_int_equal(kit_run(until), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(kit.events[i].kind, expected[i].kind);
		assert_int_equal(kit.events[i].bytes, expected[i].bytes);
		assert_int_equal(kit.events[i].request, expected[i].request);
	}
}

void kit_check_balance(void) {
	struct access_counts c = kit_counts();

	assert_int_equal(c.queued, c.sent + c.discarded + c.waiting);
	assert_int_equal(c.sent, c.used + c.beyond);
	assert_int_equal(c.granted, c.used + c.unused + c.silent_bytes + c.late_bytes +
					    c.lost_bytes + c.pending_grants);
}
