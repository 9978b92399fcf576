/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests random changes and random packets against a plain model: a configuration, with the modem of
 * each SID and address. After each change the upstream must equal one that was created from the new
 * configuration, except for what it keeps: parts of frames, fragments, and segments behind a gap. A
 * packet from before a change is transmitted even if its modem is removed. */
#include "us_change_model.h"

static void send_burst(const struct upstream_sid *sid, const void *bytes, size_t size) {
	struct psp_packet p;

	psp_begin(&p, session_of(&now, sid->channel));
	p.unnumbered = true;
	psp_add_header(&p, sid->sid);
	psp_add_segment(&p, false, false, bytes, size);
	psp_add_trailer(&p);
	psp_send(&p);
}

static void send_part(const struct model_flow *f, struct model_cluster *c, int pointer,
		      const uint8_t *bytes, size_t size) {
	struct segment_header h = {
		.pointer_valid = pointer >= 0,
		.pointer = pointer >= 0 ? (uint16_t)pointer : 0,
		.sequence = c->next & US_SEQUENCE_MASK,
		.sid_cluster = c->id,
	};
	uint8_t payload[SEGMENT_HEADER_SIZE + 2 * KIT_FRAME_MAX];
	size_t header = f->segment_header ? SEGMENT_HEADER_SIZE : 0;

	if (f->segment_header) {
		segment_header_write(&h, payload);
		c->next++;
	}
	memcpy(payload + header, bytes, size);
	send_burst(&c->sid, payload, header + size);
}

/* Settles, and compares frames and drops with the model. */
static void check_model(void) {
	kit_settle();
	assert_int_equal(kit->other_frames, expected_frames);
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		if (kit->u->counters.drops[d] != expected_drops[d])
			fail_msg("%s: %" PRIu64 ", expected %" PRIu64,
				 drop_name((enum drop_reason)d), kit->u->counters.drops[d],
				 expected_drops[d]);
	}
}

/* Expects the result of a complete frame from the address. */
static void expect_frame(unsigned slot, unsigned address) {
	const struct model_modem *was = &before.modems[slot];

	if (address == now.modems[slot].address ||
	    (passing && was->flow_count > 0 && was->address == address))
		expected_frames++;
	else
		expected_drops[DROP_SOURCE_ADDRESS]++;
}

/* Sends half a frame or a frame behind a gap, which is then pending, or the missing part. */
static void send_pending(struct model_flow *f, struct model_cluster *c, unsigned slot) {
	uint8_t bytes[KIT_FRAME_MAX], out[KIT_FRAME_MAX];
	size_t size = write_frame(c->address, bytes), half = size / 2;
	bool last = c->pending != NOTHING;
	const uint8_t *part = last ? bytes + half : bytes;

	if (!last)
		c->pending = f->segment_header && c->next > 0 && draw(2) ? AHEAD : HALF;
	if (c->pending == AHEAD) {
		c->next += !last;
		send_part(f, c, 0, bytes, size);
		c->next += last ? 1 : -2;
	} else {
		size = last ? size - half : half;
		if (f->segment_header)
			send_part(f, c, last ? -1 : 0, part, size);
		else
			send_part(f, c, 0, out, write_fragment(c, last, part, size, out));
	}
	if (!last)
		return;
	for (unsigned frames = c->pending == AHEAD ? 2 : 1; frames > 0; frames--)
		expect_frame(slot, c->address);
	c->pending = NOTHING;
}

/* Sends a frame on any SID, from any address or (`owned`) its own, or completes a pending one. */
static void send_any(bool may_be_pending, bool owned) {
	struct upstream_sid sid = {draw(KIT_CHANNELS), (uint16_t)(FIRST_SID + draw(SIDS))};
	uint8_t bytes[KIT_FRAME_MAX];
	unsigned address = draw(ADDRESSES), at[3] = {0};
	bool in_use = find_sid(&now, sid.channel, sid.sid, at);
	struct model_cluster *c;
	struct model_flow *f;

	if (in_use && (owned || draw(4) > 0))
		address = now.modems[at[0]].address;
	if (!in_use) {
		send_burst(&sid, bytes, write_frame(address, bytes));
		expected_drops[DROP_UNKNOWN_SID]++;
		return;
	}
	f = &now.modems[at[0]].flows[at[1]];
	c = &f->clusters[at[2]];
	if (c->pending != NOTHING || (may_be_pending && draw(3) == 0)) {
		if (c->pending == NOTHING)
			c->address = address;
		if (!owned || c->address == address)
			send_pending(f, c, at[0]);
		return;
	}
	send_part(f, c, 0, bytes, write_frame(address, bytes));
	expect_frame(at[0], address);
}

/* Draws a change. Returns how many halves of frames the flush will drop. */
static unsigned draw_change(void) {
	unsigned halves = 0;
	unsigned first = draw(MODEMS), count = 1 + draw(4);

	next = now;
	for (unsigned i = 0; i < count; i++) /* first free what they have */
		next.modems[(first + i) % MODEMS].flow_count = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned slot = (first + i) % MODEMS;

		draw_modem(slot);
		add_change(LIVE_MODEM, slot,
			   next.modems[slot].flow_count > 0 ? modem_of(&next, slot) : NULL);
		for (unsigned f = 0; f < now.modems[slot].flow_count; f++) {
			const struct model_flow *was = &now.modems[slot].flows[f];

			for (unsigned c = 0; c < was->cluster_count; c++) {
				const struct model_cluster *k = &was->clusters[c];

				if (same_cluster(&next.modems[slot], was, k->id) != NULL)
					continue;
				halves += k->pending == HALF;
				expected_drops[DROP_SEGMENT_FLOW_REMOVED] += k->pending == AHEAD;
			}
		}
	}
	if (draw(3) == 0) {
		unsigned channel = 1 + draw(KIT_CHANNELS - 1);

		next.channels[channel] ^= 1;
		channels[channel] = kit->sg.upstream_channels[channel];
		channels[channel].session = session_of(&next, channel);
		add_change(LIVE_UPSTREAM_CHANNEL, channel, &channels[channel]);
	}
	return halves;
}

static void start_without_modems(void) {
	use_spare_capacity();
	kit->sg.modem_count = 0;
	kit->ignore_drops = true;
}

/* Each SID of each channel leads to the stream of the model, and all other slots are free. */
static void check_tables(void) {
	struct us_tables *t = &kit->u->tables;
	uint32_t used_flows = 0, used_streams = 0;

	for (unsigned channel = 0; channel < KIT_CHANNELS; channel++) {
		for (uint16_t sid = FIRST_SID; sid < FIRST_SID + SIDS; sid++) {
			const struct us_stream *s = us_stream_of_sid(t, channel, sid);
			unsigned at[3] = {0};

			assert_int_equal(s != NULL, find_sid(&now, channel, sid, at));
			if (s == NULL)
				continue;
			assert_int_equal(s->modem, at[0]);
			assert_int_equal(s->cluster,
					 now.modems[at[0]].flows[at[1]].clusters[at[2]].id);
			assert_int_equal(t->flows[s->flow].segment_header,
					 now.modems[at[0]].flows[at[1]].segment_header);
			assert_true(us_flow_has_sid(&t->flows[s->flow], sid));
			used_streams++;
		}
	}
	for (unsigned m = 0; m < MODEMS; m++) {
		used_flows += now.modems[m].flow_count;
		assert_int_equal(t->modems[m].ipv4_count, now.modems[m].flow_count > 0);
		assert_null(t->modems[m].retired);
	}
	assert_int_equal(t->slots.flows.count, t->flow_count - 1 - used_flows);
	assert_int_equal(t->slots.streams.count, t->stream_count - 1 - used_streams);
	assert_int_equal(rte_hash_count(t->by_sid), used_streams);
}

CASE(random_changes_match_model, .prepare = start_without_modems) {
	for (unsigned n = 0; n < 4000; n++) {
		struct us_change *c;
		unsigned halves;

		for (unsigned i = 0; i < 12; i++)
			send_any(true, false);
		check_model();
		for (unsigned i = 0; i < 3; i++) /* pending when the modem is removed */
			send_any(false, true);
		run_to_segments();
		halves = draw_change();
		c = begin_and_apply();
		before = now;
		now = next;
		passing = true;
		for (unsigned i = 0; i < 3; i++)
			send_any(false, false);
		check_model();
		passing = false;
		flush_change(c);
		expected_drops[DROP_FRAME_FLOW_REMOVED] += halves;
		end_change(c);
		check_model();
		check_tables();
	}
	assert_true(expected_drops[DROP_FRAME_FLOW_REMOVED] > 100);
	assert_true(expected_drops[DROP_SEGMENT_FLOW_REMOVED] > 100);
	assert_true(expected_frames > 1000);
}
