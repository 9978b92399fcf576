/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes and random packets beside a plain model: a configuration, and who has which SID and address in it.
 * After each change the upstream must be what one made anew of it would be, but for what lived on: parts of frames in
 * segments and fragments, and segments behind a gap. What was received before leaves, whoever goes meanwhile.
 */
#include "us_change_model.h"

static void send_burst(const struct upstream_sid *sid, const void *bytes, size_t size) {
	struct bench_psp p;

	psp_open(&p, session_of(&now, sid->channel));
	p.unnumbered = true;
	psp_add_header(&p, sid->sid);
	psp_add(&p, false, false, bytes, size);
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
	uint8_t payload[SEGMENT_HEADER_SIZE + 2 * BENCH_FRAME_MAX];
	size_t header = f->segment_header ? SEGMENT_HEADER_SIZE : 0;

	if (f->segment_header) {
		segment_header_write(&h, payload);
		c->next++;
	}
	memcpy(payload + header, bytes, size);
	send_burst(&c->sid, payload, header + size);
}

/* What came is what the model says, no more. */
static void check(void) {
	bench_settle();
	assert_int_equal(bench->others, expected_frames);
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		if (bench->u->counters.drops[d] != expected_drops[d])
			fail_msg("%s: %" PRIu64 ", expected %" PRIu64,
				 drop_name((enum drop_reason)d), bench->u->counters.drops[d],
				 expected_drops[d]);
	}
}

/* A whole frame from the address has come. */
static void frame_came(unsigned slot, unsigned address) {
	const struct model_modem *was = &before.modems[slot];

	if (address == now.modems[slot].address ||
	    (passing && was->flow_count > 0 && was->address == address))
		expected_frames++;
	else
		expected_drops[DROP_SOURCE_ADDRESS]++;
}

/* A half of a frame, in a segment or a fragment, or a frame behind a gap; then what it waits for. */
static void send_pending(struct model_flow *f, struct model_cluster *c, unsigned slot) {
	uint8_t bytes[BENCH_FRAME_MAX], out[BENCH_FRAME_MAX];
	size_t size = write_frame(c->address, bytes), half = size / 2;
	bool last = c->pending != NOTHING;
	const uint8_t *part = last ? bytes + half : bytes;

	if (!last)
		c->pending = f->segment_header && c->next > 0 && any(2) ? AHEAD : HALF;
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
		frame_came(slot, c->address);
	c->pending = NOTHING;
}

/* A whole frame on any SID, from any address or with `owned` its own; what is pending there comes to its end first. */
static void send_any(bool may_be_pending, bool owned) {
	struct upstream_sid sid = {any(BENCH_CHANNELS), (uint16_t)(FIRST_SID + any(SIDS))};
	uint8_t bytes[BENCH_FRAME_MAX];
	unsigned address = any(ADDRESSES), at[3] = {0};
	bool there = sid_owner(&now, sid.channel, sid.sid, at);
	struct model_cluster *c;
	struct model_flow *f;

	if (there && (owned || any(4) > 0))
		address = now.modems[at[0]].address;
	if (!there) {
		send_burst(&sid, bytes, write_frame(address, bytes));
		expected_drops[DROP_UNKNOWN_SID]++;
		return;
	}
	f = &now.modems[at[0]].flows[at[1]];
	c = &f->clusters[at[2]];
	if (c->pending != NOTHING || (may_be_pending && any(3) == 0)) {
		if (c->pending == NOTHING)
			c->address = address;
		if (!owned || c->address == address)
			send_pending(f, c, at[0]);
		return;
	}
	send_part(f, c, 0, bytes, write_frame(address, bytes));
	frame_came(at[0], address);
}

/* Returns how many halves of frames end when the change has passed; segments end when it takes effect. */
static unsigned draw_change(void) {
	unsigned halves = 0;
	unsigned first = any(MODEMS), count = 1 + any(4);

	next = now;
	for (unsigned i = 0; i < count; i++) /* first all that is given up */
		next.modems[(first + i) % MODEMS].flow_count = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned slot = (first + i) % MODEMS;

		draw_modem(slot);
		will_be(LIVE_MODEM, slot,
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
	if (any(3) == 0) {
		unsigned channel = 1 + any(BENCH_CHANNELS - 1);

		next.channels[channel] ^= 1;
		channels[channel] = bench->sg.upstream_channels[channel];
		channels[channel].session = session_of(&next, channel);
		will_be(LIVE_UPSTREAM_CHANNEL, channel, &channels[channel]);
	}
	return halves;
}

static void no_modems(void) {
	with_room();
	bench->sg.modem_count = 0;
	bench->any_drops = true;
}

/* Each SID of each channel leads where the configuration says, and all other slots are free. */
static void check_tables(void) {
	struct us_tables *t = &bench->u->tables;
	uint32_t used_flows = 0, used_streams = 0;

	for (unsigned channel = 0; channel < BENCH_CHANNELS; channel++) {
		for (uint16_t sid = FIRST_SID; sid < FIRST_SID + SIDS; sid++) {
			const struct us_stream *s = us_stream_of_sid(t, channel, sid);
			unsigned at[3] = {0};

			assert_int_equal(s != NULL, sid_owner(&now, channel, sid, at));
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

CASE(random_changes, .prepare = no_modems) {
	for (unsigned turn = 0; turn < 4000; turn++) {
		struct us_change *c;
		unsigned halves;

		for (unsigned i = 0; i < 12; i++)
			send_any(true, false);
		check();
		for (unsigned i = 0; i < 3; i++) /* on its way when its modem goes */
			send_any(false, true);
		to_segments();
		halves = draw_change();
		c = taken();
		before = now;
		now = next;
		passing = true;
		for (unsigned i = 0; i < 3; i++)
			send_any(false, false);
		check();
		passing = false;
		pass(c);
		expected_drops[DROP_FRAME_FLOW_REMOVED] += halves;
		finish(c);
		check();
		check_tables();
	}
	assert_true(expected_drops[DROP_FRAME_FLOW_REMOVED] > 100);
	assert_true(expected_drops[DROP_SEGMENT_FLOW_REMOVED] > 100);
	assert_true(expected_frames > 1000);
}
