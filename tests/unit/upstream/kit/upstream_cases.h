/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the cases of a test program, each with an upstream of its own (upstream_kit.h). The kit
 * checks each received packet when it arrives, and the drops at the end of the case. */
#pragma once

#include "test.h"

#include "fixture.h"
#include "upstream_kit.h"

/* Streams that most cases use. */
#define SEGMENTED 4 /* modem 2, no key, segment headers, cluster 5, channels 0 and 2 */
#define PLAIN 6 /* modem 3, no key, no segment headers, channel 0 */

struct kit_case {
	const char *name;
	void (*run)(void);
	void (*prepare)(void); /* NULL, or changes the defaults before kit_start() */
	/* As in struct upstream_kit. Sizes of 0 are not set. */
	unsigned network_depth, control_depth, frame_buffers, piece_buffers;
	bool copy_frames, lossy;
	bool self_started; /* it calls kit_start() and kit_close() itself */
	uint32_t modem_pending_limit, pending; /* unless 0, limits of the configuration */
};

/* CASE(condition_and_result, .prepare = ...) {...} defines a case. This header has main(). */
#define CASE(name, ...)                        \
	static void name(void);                \
	CASE_REGISTER(name, name, __VA_ARGS__) \
	static void name(void)

/* Runs the case above a second time, with another `prepare`. */
#define CASE_WITH(preparation, name) \
	CASE_REGISTER(preparation##_##name, name, .prepare = preparation)

#define CASE_REGISTER(id, name, ...)                                       \
	__attribute__((constructor)) static void register_##id(void) {     \
		static const struct kit_case c = {#id, name, __VA_ARGS__}; \
                                                                           \
		kit_case_add(&c);                                          \
	}

/* Calls `ready` after kit_start() of each case. At most once per file. */
#define BEFORE_EACH_CASE(ready)                                               \
	__attribute__((constructor)) static void register_before_each(void) { \
		kit_before_each = ready;                                      \
	}

#define MAX_CASES 64

static void (*kit_before_each)(void);
static struct CMUnitTest kit_cases[MAX_CASES];
static size_t kit_case_count;

static void kit_override(unsigned *of, unsigned value) {
	if (value > 0)
		*of = value;
}

static void kit_case_run(void **state) {
	const struct kit_case *c = *state;

	if (c->self_started) {
		c->run();
		return;
	}
	kit_set_defaults(kit);
	if (c->prepare != NULL)
		c->prepare();
	kit_override(&kit->sg.upstream.modem_pending_limit, c->modem_pending_limit);
	kit_override(&kit->sg.upstream.pending, c->pending);
	kit_override(&kit->network_depth, c->network_depth);
	kit_override(&kit->control_depth, c->control_depth);
	kit_override(&kit->frame_buffers, c->frame_buffers);
	kit_override(&kit->piece_buffers, c->piece_buffers);
	kit->copy_frames |= c->copy_frames;
	kit->lossy = c->lossy;
	kit_start();
	if (kit_before_each != NULL)
		kit_before_each();
	c->run();
	kit_close();
}

static void kit_case_add(const struct kit_case *c) {
	assert_true(kit_case_count < MAX_CASES);
	kit_cases[kit_case_count++] = (struct CMUnitTest){
		.name = c->name,
		.test_func = kit_case_run,
		.initial_state = (void *)(uintptr_t)c,
	};
}

int main(void) {
	return _cmocka_run_group_tests("upstream", kit_cases, kit_case_count, NULL, fixture_stop);
}

/* For `prepare`: fewer packet buffers, for packets of up to 20 kB. */
static inline void kit_use_long_packets(void) {
	kit->packet_buffers = 255;
	kit->packet_buffer_size = RTE_PKTMBUF_HEADROOM + 20000;
}

/* Writes a MAC frame as kit_write_frame() does, in the clear. */
static inline size_t kit_write_clear_frame(unsigned modem, enum docsis_kind kind, const void *pdu,
					   size_t size, uint8_t *out) {
	return kit_write_frame(modem, &(struct docsis_up_header){.kind = kind}, pdu, size, out);
}

/* Sends bytes that begin with a frame: in a segment with pointer 0, or in a plain burst. */
static inline void kit_send(unsigned stream, const void *bytes, size_t size) {
	if (kit_streams[stream].segment_header)
		kit_send_segment(stream, 0, bytes, size);
	else
		kit_send_plain(stream, bytes, size);
}

/* Send and settle. kit_process_tail() sends a segment in which no frame begins. */
static inline void kit_process(unsigned stream, const void *bytes, size_t size) {
	kit_send(stream, bytes, size);
	kit_settle();
}

static inline void kit_process_tail(unsigned stream, const void *bytes, size_t size) {
	kit_send_segment(stream, KIT_NO_POINTER, bytes, size);
	kit_settle();
}

/* Writes as many next frames of `size` bytes as fit into `most` bytes. Returns their bytes. */
static inline size_t kit_next_frames(unsigned stream, size_t size, uint8_t *out, size_t most) {
	size_t used = 0;

	while (used + size + 32 <= most) /* MAC header, privacy element and CRC */
		used += kit_next_frame(stream, size, out + used);
	return used;
}

/* Send the stream's next frames of `size` bytes in one segment or burst. */
static inline void kit_send_frames(unsigned stream, unsigned count, size_t size) {
	uint8_t bytes[KIT_PACKET_MAX];
	size_t used = 0;

	while (count-- > 0) {
		assert_true(used + size + 32 <= sizeof(bytes));
		used += kit_next_frame(stream, size, bytes + used);
	}
	kit_send(stream, bytes, used);
}

static inline void kit_send_frame(unsigned stream, size_t size) {
	kit_send_frames(stream, 1, size);
}

static inline void kit_process_frame(unsigned stream, size_t size) {
	kit_send_frame(stream, size);
	kit_settle();
}

/* Writes fragment `sequence` of a fragmented frame with these flags. Returns its size. */
#define FRAGMENT_FIRST 1
#define FRAGMENT_LAST 2
static inline size_t kit_write_fragment(unsigned stream, unsigned sequence, int flags,
					const void *bytes, size_t size, uint8_t *out) {
	const struct kit_stream *s = &kit_streams[stream];
	const struct security_association *sa = &kit->modems[s->modem].security;
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.encrypted = sa->cipher != CIPHER_NONE,
		.key_sequence = sa->key_sequence,
		.sid = s->sid,
		.fragment_first = (flags & FRAGMENT_FIRST) != 0,
		.fragment_last = (flags & FRAGMENT_LAST) != 0,
		.fragment_sequence = sequence & 0xf,
	};

	return kit_write_frame(s->modem, &h, bytes, size, out);
}

static inline void kit_send_fragment(unsigned stream, unsigned sequence, int flags,
				     const void *bytes, size_t size) {
	uint8_t out[KIT_FRAME_MAX];

	kit_send(stream, out, kit_write_fragment(stream, sequence, flags, bytes, size, out));
}

/* Sends a unit (joined frames) in fragments of `part` bytes, each in a segment or burst of its own.
 * Calls `between`, unless NULL, after each. Returns the number of fragments. */
static inline unsigned kit_send_unit(unsigned stream, const uint8_t *unit, size_t size, size_t part,
				     void (*between)(void)) {
	unsigned count = 0;

	for (size_t at = 0; at < size; at += part, count++) {
		size_t now = at + part < size ? part : size - at;
		int flags = (at == 0 ? FRAGMENT_FIRST : 0) | (at + now == size ? FRAGMENT_LAST : 0);

		kit_send_fragment(stream, count, flags, unit + at, now);
		if (between != NULL)
			between();
	}
	return count;
}

/* Begin a packet with the header of a burst, of any SID or of a stream on its first channel. */
static inline void kit_begin_burst(struct psp_packet *p, uint32_t session, uint16_t sid) {
	psp_begin(p, session);
	psp_add_header(p, sid);
}

static inline void kit_begin_stream_burst(struct psp_packet *p, unsigned stream) {
	const struct kit_stream *s = &kit_streams[stream];

	kit_begin_burst(p, kit_session(s->channels[0]), s->sid);
}

/* Build a packet with one whole burst: the stream's next frame of `size` bytes. */
static inline void kit_write_packet(struct psp_packet *p, unsigned stream, size_t size) {
	uint8_t bytes[KIT_FRAME_MAX];

	size = kit_next_frame(stream, size, bytes);
	kit_begin_stream_burst(p, stream);
	psp_add_segment(p, false, false, bytes, size);
	psp_add_trailer(p);
}

static inline void kit_write_numbered_packet(struct psp_packet *p, unsigned stream, size_t size,
					     uint16_t number) {
	kit_write_packet(p, stream, size);
	p->numbered = true;
	p->sequence = number;
}

/* Sends the packet and settles. */
static inline void kit_process_packet(const struct psp_packet *p) {
	psp_send(p);
	kit_settle();
}

/* Sends a PSP packet without segments, with this sequence number. */
static inline void kit_send_empty_packet(uint32_t session, uint8_t flow, uint16_t number) {
	struct psp_packet p;

	psp_begin(&p, session);
	p.flow = flow;
	p.numbered = true;
	p.sequence = number;
	psp_send(&p);
}

/* The number of reorder windows that are not in use. */
static inline unsigned kit_unused_windows(void) {
	unsigned count = 0;

	for (const struct order_slots *s = kit->u->reorder_set.free; s != NULL; s = s->next_free)
		count++;
	return count;
}

/* Expects `n` more drops and checks that they have happened. */
static inline void kit_check_dropped(enum drop_reason reason, uint64_t n) {
	kit_expect_drops(reason, n);
	assert_int_equal(kit->u->counters.drops[reason], kit->expected[reason]);
}
