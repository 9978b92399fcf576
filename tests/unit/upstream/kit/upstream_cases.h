/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of cases. Each case runs on an upstream of its own between ports in memory: the test is the R-PHY device with
 * its modems at one end, and the network and the control plane at the others. Every packet that comes out is made again
 * from its number and compared byte by byte. What was expected is compared at the end of the case.
 */
#pragma once

#include "test.h"

#include "fixture.h"
#include "upstream_kit.h"

/* Streams that most cases take. */
#define FRAMED 4 /* of modem 2, in the clear, with segment headers, cluster 5, channels 0 and 2 */
#define PLAIN 6 /* of modem 3, in the clear, without segment headers, channel 0 */

struct bench_case {
	const char *name;
	void (*run)(void);
	void (*prepare)(void); /* NULL, or changes what bench_prepare() has set */
	/* as in struct upstream_kit; sizes that are 0 stay as bench_prepare() has set them */
	unsigned network_depth, control_depth, frame_buffers, piece_buffers;
	bool copies, lossy;
	bool closed; /* it opens and closes as many as it wants itself */
	uint32_t held_by_modem, pending; /* where not 0, limits of the configuration */
};

/* CASE(what_it_shows, .prepare = ..) { .. }: they run in the order of the file, which has no main(). */
#define CASE(name, ...)                  \
	static void name(void);          \
	CASE_OF(name, name, __VA_ARGS__) \
	static void name(void)

/* The case that stands before it once more, prepared like this. */
#define CASE_AGAIN(preparation, name) CASE_OF(preparation##_##name, name, .prepare = preparation)

#define CASE_OF(id, name, ...)                                                 \
	__attribute__((constructor)) static void register_##id(void) {         \
		static const struct bench_case one = {#id, name, __VA_ARGS__}; \
                                                                               \
		bench_case_add(&one);                                          \
	}

/* At most once in a file: `ready` is called for each upstream that is open. */
#define EACH_CASE(ready)                                                    \
	__attribute__((constructor)) static void register_each_case(void) { \
		bench_when_ready = ready;                                   \
	}

#define CASES_MOST 64

static void (*bench_when_ready)(void);
static struct CMUnitTest bench_cases[CASES_MOST];
static size_t bench_case_count;

static void bench_size(unsigned *of, unsigned wanted) {
	if (wanted > 0)
		*of = wanted;
}

static void bench_case_run(void **state) {
	const struct bench_case *c = *state;

	if (c->closed) {
		c->run();
		return;
	}
	bench_prepare(bench);
	if (c->prepare != NULL)
		c->prepare();
	bench_size(&bench->sg.upstream.held_by_modem, c->held_by_modem);
	bench_size(&bench->sg.upstream.pending, c->pending);
	bench_size(&bench->network_depth, c->network_depth);
	bench_size(&bench->control_depth, c->control_depth);
	bench_size(&bench->frame_buffers, c->frame_buffers);
	bench_size(&bench->piece_buffers, c->piece_buffers);
	bench->copies |= c->copies;
	bench->lossy = c->lossy;
	bench_start();
	if (bench_when_ready != NULL)
		bench_when_ready();
	c->run();
	bench_close();
}

static void bench_case_add(const struct bench_case *one) {
	assert_true(bench_case_count < CASES_MOST);
	bench_cases[bench_case_count++] = (struct CMUnitTest){
		.name = one->name,
		.test_func = bench_case_run,
		.initial_state = (void *)(uintptr_t)one,
	};
}

int main(void) {
	return _cmocka_run_group_tests("upstream", bench_cases, bench_case_count, NULL,
				       fixture_stop);
}

/* For `prepare`: packets of up to 20 kB, fewer than else. */
static inline void bench_long_packets(void) {
	bench->packet_buffers = 255;
	bench->packet_slot = RTE_PKTMBUF_HEADROOM + 20000;
}

/* As bench_frame(), in the clear. */
static inline size_t bench_clear(unsigned modem, enum docsis_kind kind, const void *pdu,
				 size_t size, uint8_t *out) {
	return bench_frame(modem, &(struct docsis_up_header){.kind = kind}, pdu, size, out);
}

/* Sends bytes in a segment that begins with a frame, or in a burst, as the stream has it. */
static inline void bench_send(unsigned stream, const void *bytes, size_t size) {
	if (bench_streams[stream].segment_header)
		bench_segment(stream, 0, bytes, size);
	else
		bench_plain(stream, bytes, size);
}

/* The same, and all that comes of it; or in a segment in which no frame begins. */
static inline void bench_handle(unsigned stream, const void *bytes, size_t size) {
	bench_send(stream, bytes, size);
	bench_settle();
}

static inline void bench_handle_rest(unsigned stream, const void *bytes, size_t size) {
	bench_segment(stream, BENCH_NO_POINTER, bytes, size);
	bench_settle();
}

/* Writes the stream's next frames of `size` bytes behind each other, as many as `most` bytes hold. Returns how many
 * bytes they are. */
static inline size_t bench_fill(unsigned stream, size_t size, uint8_t *out, size_t most) {
	size_t used = 0;

	while (used + size + 32 <= most) /* with the MAC header, privacy and CRC */
		used += bench_mac(stream, size, out + used);
	return used;
}

/* The stream's next `count` frames of `size` bytes, sent behind each other; one; one, and all that comes of it. */
static inline void bench_put_many(unsigned stream, unsigned count, size_t size) {
	uint8_t bytes[BENCH_PACKET_MAX];
	size_t used = 0;

	while (count-- > 0) {
		assert_true(used + size + 32 <= sizeof(bytes));
		used += bench_mac(stream, size, bytes + used);
	}
	bench_send(stream, bytes, used);
}

static inline void bench_put(unsigned stream, size_t size) {
	bench_put_many(stream, 1, size);
}

static inline void bench_whole(unsigned stream, size_t size) {
	bench_put(stream, size);
	bench_settle();
}

/* A fragment of the stream, number `sequence` of its frame, is the first, the last, both or none. */
#define FRAGMENT_FIRST 1
#define FRAGMENT_LAST 2
static inline size_t bench_fragment(unsigned stream, unsigned sequence, int flags,
				    const void *bytes, size_t size, uint8_t *out) {
	const struct bench_stream *s = &bench_streams[stream];
	const struct security_association *sa = &bench->modems[s->modem].security;
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

	return bench_frame(s->modem, &h, bytes, size, out);
}

/* Sends one. */
static inline void bench_put_fragment(unsigned stream, unsigned sequence, int flags,
				      const void *bytes, size_t size) {
	uint8_t out[BENCH_FRAME_MAX];

	bench_send(stream, out, bench_fragment(stream, sequence, flags, bytes, size, out));
}

/* Sends a unit in fragments of `part` bytes from number 0 on, each in a segment or burst of its own; `between`, or
 * NULL, is called behind each. Returns how many they were. */
static inline unsigned bench_put_unit(unsigned stream, const uint8_t *unit, size_t size,
				      size_t part, void (*between)(void)) {
	unsigned count = 0;

	for (size_t at = 0; at < size; at += part, count++) {
		size_t now = at + part < size ? part : size - at;
		int flags = (at == 0 ? FRAGMENT_FIRST : 0) | (at + now == size ? FRAGMENT_LAST : 0);

		bench_put_fragment(stream, count, flags, unit + at, now);
		if (between != NULL)
			between();
	}
	return count;
}

/* A packet in which a burst begins, also one of the stream on its first channel. */
static inline void bench_open_burst(struct bench_psp *p, uint32_t session, uint16_t sid) {
	psp_open(p, session);
	psp_add_header(p, sid);
}

static inline void bench_open_stream(struct bench_psp *p, unsigned stream) {
	const struct bench_stream *s = &bench_streams[stream];

	bench_open_burst(p, bench_session(s->channels[0]), s->sid);
}

/* A packet with a whole burst: the stream's next frame of `size` bytes. With a number of its own. */
static inline void bench_packet(struct bench_psp *p, unsigned stream, size_t size) {
	uint8_t bytes[BENCH_FRAME_MAX];

	size = bench_mac(stream, size, bytes);
	bench_open_stream(p, stream);
	psp_add(p, false, false, bytes, size);
	psp_add_trailer(p);
}

static inline void bench_packet_as(struct bench_psp *p, unsigned stream, size_t size,
				   uint16_t number) {
	bench_packet(p, stream, size);
	p->numbered = true;
	p->sequence = number;
}

/* Sends it and handles all that comes of it. */
static inline void bench_handle_packet(const struct bench_psp *p) {
	psp_send(p);
	bench_settle();
}

/* Sends an empty packet of a flow with this number. */
static inline void bench_put_number(uint32_t session, uint8_t flow, uint16_t number) {
	struct bench_psp p;

	psp_open(&p, session);
	p.flow = flow;
	p.numbered = true;
	p.sequence = number;
	psp_send(&p);
}

/* Windows for order that are not in use. */
static inline unsigned bench_windows_free(void) {
	unsigned count = 0;

	for (const struct order_slots *s = bench->u->reorder_set.free; s != NULL; s = s->next_free)
		count++;
	return count;
}

/* `n` more were dropped now. */
static inline void bench_dropped(enum drop_reason reason, uint64_t n) {
	bench_expect(reason, n);
	assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
}
