/* SPDX-License-Identifier: BSD-3-Clause */
#include "access_rig.h"

struct access_modem rig_modem_settings(void) {
	return (struct access_modem){
		.propagation = PROPAGATION,
		.map_processing = PROCESSING,
		.burst_processing = BURST,
	};
}

void rig_modem(struct access_rig *r, uint32_t modem, struct access_modem settings) {
	assert_true(access_set_modem(r->access, modem, &settings));
}

void rig_flow(struct access_rig *r, uint32_t flow, struct access_flow settings) {
	struct access_sid sids[ACCESS_MAX_CHANNELS];

	if (settings.sids == NULL) {
		for (uint16_t i = 0; i < r->channels; i++)
			sids[i] = (struct access_sid){i, (uint16_t)(100 + flow)};
		settings.sids = sids;
		settings.sid_count = r->channels;
	}
	settings.modem = flow;
	assert_null(access_set_flow(r->access, flow, &settings, r->now));
}

void rig_open(struct access_rig *r, uint32_t channels, uint32_t flows) {
	struct access_channel settings[ACCESS_MAX_CHANNELS];
	struct access_config config = {settings, channels, flows, flows, 0, 5};
	const char *why;

	memset(r, 0, sizeof(*r));
	r->channels = channels;
	for (uint32_t i = 0; i < channels; i++)
		settings[i] = (struct access_channel){.id = (uint8_t)(i + 1),
						      .ucd_count = 7,
						      .frame = FRAME,
						      .frame_minislots = IN_FRAME,
						      .minislot_bytes = MINISLOT,
						      .request_minislots = 1};
	r->access = access_create(&config, &why);
	assert_non_null(r->access);
	for (uint32_t i = 0; i < flows; i++) {
		rig_modem(r, i, rig_modem_settings());
		rig_flow(r, i, (struct access_flow){.header_bytes = HEADER, .outstanding = 4});
	}
}

void rig_close(struct access_rig *r) {
	rig_balance(r);
	access_free(r->access);
}

void rig_map(struct access_rig *r, uint32_t frame, uint32_t ack_frame) {
	memset(&r->map, 0, sizeof(r->map));
	r->map.version = 5;
	r->map.ucd_count = 7;
	r->map.alloc_start = frame * IN_FRAME;
	r->map.ack_time = ack_frame * IN_FRAME;
	r->map.data_start = 2;
	r->map.data_end = 6;
	r->map.elements[0].offset = 0;
}

/* The next element's offset stands in it already. */
void rig_element(struct access_rig *r, uint16_t sid, uint8_t iuc, uint16_t minislots) {
	struct map_element *e = &r->map.elements[r->map.count++];

	e->sid = sid;
	e->iuc = iuc;
	e[1].offset = (uint16_t)(e->offset + minislots);
}

void rig_end(struct access_rig *r) {
	rig_element(r, 0, MAP_NULL, 0);
}

void rig_pending(struct access_rig *r, uint16_t sid) {
	rig_element(r, sid, DATA, 0);
}

void rig_send_at(struct access_rig *r, uint16_t channel, uint64_t heard) {
	r->map.channel = (uint8_t)(channel + 1);
	access_map(r->access, channel, &r->map, heard);
}

void rig_send(struct access_rig *r, uint16_t channel) {
	rig_send_at(r, channel, (uint64_t)r->map.alloc_start / IN_FRAME * FRAME - HEARD);
}

void rig_send_grant(struct access_rig *r, uint32_t frame, uint16_t minislots) {
	rig_map(r, frame, frame - 6);
	rig_element(r, 100, DATA, minislots);
	rig_end(r);
	rig_send(r, 0);
}

struct access_counts rig_counts(const struct access_rig *r) {
	struct access_counts c;

	access_counts(r->access, &c);
	return c;
}

unsigned rig_run(struct access_rig *r, uint64_t until) {
	r->count = 0;
	while (access_next(r->access, until, &r->events[r->count])) {
		const struct access_event *e = &r->events[r->count++];

		assert_in_range(e->time, r->now, until);
		assert_in_range(r->count, 1, 4095);
		r->now = e->time;
	}
	r->now = until;
	assert_true(access_due(r->access) > until);
	return r->count;
}

void rig_balance(const struct access_rig *r) {
	struct access_counts c = rig_counts(r);

	assert_int_equal(c.queued, c.sent + c.discarded + c.waiting);
	assert_int_equal(c.sent, c.used + c.beyond);
	assert_int_equal(c.granted, c.used + c.unused + c.silent_bytes + c.late_bytes +
					    c.lost_bytes + c.coming);
}
