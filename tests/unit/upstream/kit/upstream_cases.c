/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream_cases.h"

#define CASES_MOST 64

static struct upstream_bench storage;
struct upstream_bench *const bench = &storage;
void (*bench_when_ready)(void);

static struct CMUnitTest cases[CASES_MOST];
static size_t case_count;

static void size(unsigned *of, unsigned wanted) {
	if (wanted > 0)
		*of = wanted;
}

static void case_run(void **state) {
	const struct bench_case *c = *state;

	if (c->closed) {
		c->run();
		return;
	}
	bench_prepare(bench);
	if (c->prepare != NULL)
		c->prepare();
	size(&bench->sg.upstream.held_by_modem, c->held_by_modem);
	size(&bench->sg.upstream.held, c->held);
	size(&bench->network_depth, c->network_depth);
	size(&bench->control_depth, c->control_depth);
	size(&bench->frame_buffers, c->frame_buffers);
	size(&bench->piece_buffers, c->piece_buffers);
	bench->copies |= c->copies;
	bench->lossy = c->lossy;
	bench_start();
	if (bench_when_ready != NULL)
		bench_when_ready();
	c->run();
	bench_close();
}

void bench_case_add(const struct bench_case *one) {
	assert_true(case_count < CASES_MOST);
	cases[case_count++] = (struct CMUnitTest){
		.name = one->name,
		.test_func = case_run,
		.initial_state = (void *)(uintptr_t)one,
	};
}

int main(void) {
	return _cmocka_run_group_tests("upstream", cases, case_count, NULL, fixture_stop);
}

void bench_long_packets(void) {
	bench->packet_buffers = 255;
	bench->packet_room = RTE_PKTMBUF_HEADROOM + 20000;
}

size_t bench_clear(unsigned modem, enum docsis_kind kind, const void *pdu, size_t size,
		   uint8_t *out) {
	return bench_frame(modem, &(struct docsis_up_header){.kind = kind}, pdu, size, out);
}

void bench_nothing_held(void) {
	for (enum unit unit = 0; unit < UNITS; unit++)
		assert_int_equal(upstream_held(bench->u, unit), 0);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(bench->u->holds.buffers[p], 0);
}

void bench_send(unsigned stream, const void *bytes, size_t size) {
	if (bench_streams[stream].segment_header)
		bench_segment(stream, 0, bytes, size);
	else
		bench_plain(stream, bytes, size);
}

void bench_handle(unsigned stream, const void *bytes, size_t size) {
	bench_send(stream, bytes, size);
	bench_settle();
}

void bench_handle_rest(unsigned stream, const void *bytes, size_t size) {
	bench_segment(stream, BENCH_NO_POINTER, bytes, size);
	bench_settle();
}

size_t bench_fill(unsigned stream, size_t size, uint8_t *out, size_t most) {
	size_t used = 0;

	while (used + size + 32 <= most) /* with the MAC header, privacy and CRC */
		used += bench_mac(stream, size, out + used);
	return used;
}

void bench_put_many(unsigned stream, unsigned count, size_t size) {
	uint8_t bytes[BENCH_PACKET_MAX];
	size_t used = 0;

	while (count-- > 0) {
		assert_true(used + size + 32 <= sizeof(bytes));
		used += bench_mac(stream, size, bytes + used);
	}
	bench_send(stream, bytes, used);
}

void bench_put(unsigned stream, size_t size) {
	bench_put_many(stream, 1, size);
}

void bench_whole(unsigned stream, size_t size) {
	bench_put(stream, size);
	bench_settle();
}

size_t bench_fragment(unsigned stream, unsigned sequence, int flags, const void *bytes, size_t size,
		      uint8_t *out) {
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

void bench_put_fragment(unsigned stream, unsigned sequence, int flags, const void *bytes,
			size_t size) {
	uint8_t out[BENCH_FRAME_MAX];

	bench_send(stream, out, bench_fragment(stream, sequence, flags, bytes, size, out));
}

unsigned bench_put_unit(unsigned stream, const uint8_t *unit, size_t size, size_t part,
			void (*between)(void)) {
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

void bench_open_burst(struct bench_psp *p, uint32_t session, uint16_t sid) {
	psp_open(p, session);
	psp_add_header(p, sid);
}

void bench_open_stream(struct bench_psp *p, unsigned stream) {
	const struct bench_stream *s = &bench_streams[stream];

	bench_open_burst(p, bench_session(s->channels[0]), s->sid);
}

void bench_packet(struct bench_psp *p, unsigned stream, size_t size) {
	uint8_t bytes[BENCH_FRAME_MAX];

	size = bench_mac(stream, size, bytes);
	bench_open_stream(p, stream);
	psp_add(p, false, false, bytes, size);
	psp_add_trailer(p);
}

void bench_packet_as(struct bench_psp *p, unsigned stream, size_t size, uint16_t number) {
	bench_packet(p, stream, size);
	p->numbered = true;
	p->sequence = number;
}

void bench_handle_packet(const struct bench_psp *p) {
	psp_send(p);
	bench_settle();
}

void bench_put_number(uint32_t session, uint8_t flow, uint16_t number) {
	struct bench_psp p;

	psp_open(&p, session);
	p.flow = flow;
	p.numbered = true;
	p.sequence = number;
	psp_send(&p);
}

unsigned bench_windows_free(void) {
	unsigned count = 0;

	for (const struct order_slots *s = bench->u->slots.free; s != NULL; s = s->next_free)
		count++;
	return count;
}

void bench_dropped(enum drop_reason reason, uint64_t n) {
	bench_expect(reason, n);
	assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
}
