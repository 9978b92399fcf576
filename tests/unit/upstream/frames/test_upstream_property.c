/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same frames, cut in random ways into segments, bursts and PSP packets, always come out the same
 * and in order, also where the worker is away for longer than anything is waited for. With packets lost, doubled, out of order and damaged, whatever went in came out, was
 * dropped for a reason, or is pending: at every round, for every unit.
 */

#include "upstream_cases.h"
#include "wire/bytes.h"
#include "wire/hcs.h"

#define TURNS 20
#define ROOM 60000
#define FIRST_SEGMENT 0x1fc0 /* the numbers wrap soon */
#define FIRST_PACKET 0xff80

/* The frames of a stream, in a row, and how far they were sent. */
struct row {
	uint8_t bytes[ROOM];
	uint32_t begins[1200]; /* offsets of the frames */
	uint32_t size, sent;
	uint32_t frames, next;
};

/* What a session of the R-PHY device has open. */
struct wire {
	struct bench_psp psp;
	size_t most; /* bytes in a packet */
};

struct impairments {
	uint32_t loss, twice, late, damage; /* of 1,000 packets */
};

static struct row rows[BENCH_STREAMS];
static struct wire wires[BENCH_CHANNELS];
static struct random *r;
static uint64_t asked, asking, concatenations; /* requests beside others, alone; headers */
static struct impairments impaired;
static uint32_t late; /* of 1,000 packets, when all sessions have begun */
static bool away; /* the worker */
static struct {
	uint8_t frame[BENCH_PACKET_MAX + 600];
	size_t size; /* 0: none */
	unsigned left; /* packets that overtake it still */
} delayed[8];

static bool happens(uint32_t of_thousand) {
	return random_below(r, 1000) < of_thousand;
}

/* Mostly small, some large. */
static uint32_t some_size(uint32_t least, uint32_t most) {
	return random_below(r, 3) ? random_between(r, least, least + (most - least) / 10)
				  : random_between(r, least, most);
}

/* What stands between packets: requests, the header of a concatenation, a frame with a long header, and one that is passed
 * over. Returns its size. */
static uint32_t other_make(unsigned stream, uint8_t *out) {
	static const uint8_t reserved[] = {0xd1, 9, 0, 30, 0xf8, 1, 2, 3, 4, 5, 6, 7, 8};
	struct docsis_up_header h = {.kind = DOCSIS_KIND_ISOLATION,
				     .privacy = PRIVACY_BP_UP,
				     .sid = bench_streams[stream].sid,
				     .request = true};
	uint32_t serial = bench->serial[stream];
	uint8_t pdu[BENCH_SMALLEST];

	switch (random_below(r, 5)) {
	case 0: asking++; return (uint32_t)docsis_request_write(3, h.sid, out);
	case 1: asking++; return (uint32_t)docsis_queue_request_write(9, h.sid, out);
	case 2: concatenations++; return (uint32_t)docsis_concatenation_write(2, 500, out);
	case 3:
		memcpy(out, reserved, sizeof(reserved));
		docsis_hcs_write(out, sizeof(reserved));
		memset(out + sizeof(reserved) + DOCSIS_HCS_SIZE, 0xee, 21);
		bench_expect(DROP_FRAME_RESERVED, 1);
		return sizeof(reserved) + DOCSIS_HCS_SIZE + 21;
	default:
		asked++;
		bench->size[stream][serial] = sizeof(pdu);
		bench_ethernet(stream, bench->serial[stream]++, sizeof(pdu), pdu);
		return (uint32_t)bench_frame(bench_streams[stream].modem, &h, pdu, sizeof(pdu),
					     out);
	}
}

static void row_make(unsigned stream) {
	struct row *row = &rows[stream];
	uint32_t most = bench_streams[stream].modem < 2 ? 200 : 1996; /* plain AES is slow */

	memset(row, 0, sizeof(*row));
	for (unsigned n = some_size(1, 150); n > 0 && row->size + BENCH_FRAME_MAX < ROOM; n--) {
		row->begins[row->frames++] = row->size;
		if (most > 200 && bench_streams[stream].segment_header && happens(200)) {
			row->size += other_make(stream, row->bytes + row->size);
			continue;
		}
		row->size += (uint32_t)bench_mac(stream, some_size(BENCH_SMALLEST, most),
						 row->bytes + row->size);
	}
	row->begins[row->frames] = row->size;
}

static void deliver(const uint8_t *frame, size_t size) {
	bench_inject(frame, size);
	if (away)
		return;
	if (bench->injected % 8 == 0)
		bench_round();
	if (bench->injected % 64 == 0)
		bench_settle();
	if (happens(100))
		bench->clock.now += random_below(r, BENCH_MS);
}

static void damage(uint8_t *frame, size_t size) {
	/* headers of the outside are the device's own; from the PSP header on */
	frame[random_between(r, 38, (uint32_t)size - 1)] ^= (uint8_t)(1 << random_below(r, 8));
}

/* Those whose time has come, or all. */
static void deliver_delayed(bool all) {
	for (unsigned i = 0; i < ARRAY_COUNT(delayed); i++) {
		if (delayed[i].size == 0 || (!all && delayed[i].left-- > 0))
			continue;
		deliver(delayed[i].frame, delayed[i].size);
		delayed[i].size = 0;
	}
}

/* The way to the core: one packet with all that can happen to it. */
static void forward(uint8_t *frame, size_t size) {
	unsigned slot = random_below(r, ARRAY_COUNT(delayed));

	if (happens(impaired.damage))
		damage(frame, size);
	if (happens(impaired.loss))
		return;
	if (happens(impaired.late) && delayed[slot].size == 0) {
		memcpy(delayed[slot].frame, frame, size);
		delayed[slot].size = size;
		delayed[slot].left = random_below(r, 20); /* the window is longer */
		return;
	}
	deliver(frame, size);
	if (happens(impaired.twice))
		deliver(frame, size);
	deliver_delayed(false);
}

static void wire_close(struct wire *w) {
	uint8_t frame[BENCH_PACKET_MAX + 600];

	if (w->psp.count > 0)
		forward(frame, psp_write(&w->psp, frame));
	psp_open(&w->psp, w->psp.session);
	w->most = some_size(60, 3200);
}

/* The packet has `size` bytes more, or the next one has. */
static void wire_begin(struct wire *w, size_t size) {
	if (w->psp.size + size > w->most || w->psp.count > 200)
		wire_close(w);
}

static void wire_put(struct wire *w, const void *bytes, size_t size) {
	wire_begin(w, size);
	psp_add(&w->psp, false, false, bytes, size);
}

/* A burst on a channel, its payload cut anywhere. */
static void burst(unsigned channel, uint16_t sid, const uint8_t *payload, size_t size) {
	struct wire *w = &wires[channel];

	wire_begin(w, UEPI_HEADER_MAX);
	psp_add_header(&w->psp, sid);
	for (size_t at = 0; at < size;) {
		size_t part = some_size(1, 1500), left = size - at;

		if (part > left || size / part > 30)
			part = left < 1400 ? left : 1400;
		wire_put(w, payload + at, part);
		at += part;
		if (happens(20))
			wire_put(w, payload, 0);
	}
	wire_begin(w, UEPI_TRAILER_MAX);
	psp_add_trailer(&w->psp);
	if (happens(300))
		wire_close(w);
}

/* A segment of the stream, of any size: at most that of a grant. */
static void send_segment(unsigned stream) {
	const struct bench_stream *s = &bench_streams[stream];
	struct row *row = &rows[stream];
	uint32_t size = RTE_MIN(some_size(0, 2500), row->size - row->sent), padding = 0;
	struct segment_header h = {
		.sequence = bench->segment[stream]++,
		.sid_cluster = s->cluster,
		.request = (uint16_t)random_below(r, 3),
	};
	unsigned channel = s->channels[random_below(r, 2)];
	uint8_t bytes[4000];

	asked += h.request > 0;
	while (row->begins[row->next] < row->sent)
		row->next++;
	if (row->next < row->frames && row->begins[row->next] <= row->sent + size) {
		/* the first segment has one: before it, all is passed over */
		h.pointer_valid = row->begins[row->next] < row->sent + size ||
				  h.sequence == FIRST_SEGMENT || happens(500);
		h.pointer = (uint16_t)(row->begins[row->next] - row->sent);
	}
	memcpy(bytes + SEGMENT_HEADER_SIZE, row->bytes + row->sent, size);
	row->sent += size;
	/* between two frames there may be padding */
	for (uint32_t f = row->next; f <= row->frames && row->begins[f] <= row->sent; f++)
		padding = row->begins[f] == row->sent && happens(500) ? some_size(6, 300) : 0;
	memset(bytes + SEGMENT_HEADER_SIZE + size, happens(500) ? 0xff : 0, padding);
	segment_header_write(&h, bytes);
	burst(channel, s->sid, bytes, SEGMENT_HEADER_SIZE + size + padding);
	if (h.sequence == FIRST_SEGMENT) /* it starts the count, so nothing must be there before */
		wire_close(&wires[channel]);
}

/* A burst of whole frames, behind a concatenation header or not. */
static void send_plain(unsigned stream) {
	const struct bench_stream *s = &bench_streams[stream];
	struct row *row = &rows[stream];
	uint32_t frames = 1, most = random_between(r, 1, 8), end, size = 0;
	uint8_t bytes[8 * BENCH_FRAME_MAX + 300];

	while (row->begins[row->next] < row->sent)
		row->next++;
	while (frames < most && row->next + frames < row->frames)
		frames++;
	end = row->begins[row->next + frames];
	if (happens(500)) {
		concatenations++;
		size += (uint32_t)docsis_concatenation_write((uint8_t)frames, end - row->sent,
							     bytes);
	}
	memcpy(bytes + size, row->bytes + row->sent, end - row->sent);
	size += end - row->sent;
	row->sent = end;
	burst(s->channels[0], s->sid, bytes, size);
}

/* All streams in turn, until they are through; the worker is away while the last bytes come. */
static void run_turn(uint32_t last_bytes) {
	for (unsigned s = 0; s < BENCH_STREAMS; s++)
		row_make(s);
	for (uint32_t left = 1; left > 0;) {
		unsigned s = random_below(r, BENCH_STREAMS);

		left = 0;
		for (unsigned i = 0; i < BENCH_STREAMS; i++)
			left += rows[i].size - rows[i].sent;
		away = left < last_bytes;
		if (rows[s].sent == rows[s].size)
			continue;
		if (bench_streams[s].segment_header)
			send_segment(s);
		else
			send_plain(s);
	}
	for (unsigned c = 0; c < BENCH_CHANNELS; c++)
		wire_close(&wires[c]);
}

static void prepare(uint64_t seed, enum psp_numbering numbering) {
	memset(delayed, 0, sizeof(delayed));
	impaired = (struct impairments){0};
	late = 0;
	asked = asking = concatenations = 0;
	bench->sg.upstream.psp_numbering = numbering;
	bench->random.state = seed;
	r = &bench->random;
}

static void by_flow(void) {
	prepare(11, PSP_NUMBERING_FLOW);
}

static void by_session_out_of_order(void) {
	prepare(12, PSP_NUMBERING_SESSION);
	late = 100;
	bench->sg.upstream.reorder_timeout_ns = 1000 * BENCH_MS;
	bench->sg.upstream.held_by_modem = bench->sg.upstream.pending;
}

static void start(void) {
	for (unsigned s = 0; s < BENCH_STREAMS; s++)
		bench->segment[s] = FIRST_SEGMENT;
	for (unsigned s = 0; s < ARRAY_COUNT(bench->psp); s++)
		bench->psp[s][0] = FIRST_PACKET;
	for (unsigned c = 0; c < BENCH_CHANNELS; c++) {
		psp_open(&wires[c].psp, bench_session(c));
		wires[c].most = 1400;
	}
}

EACH_CASE(start)

/* Out of order or not, but none too late: nothing is lost. */
CASE(same_frames, .prepare = by_flow) {
	for (int turn = 0; turn <= TURNS; turn++) {
		run_turn(random_below(r, 20000));
		deliver_delayed(true);
		bench_rounds(random_below(r, 4));
		away = false;
		bench_after(150 * BENCH_MS);
		impaired.late = late;
		/* a segment may end in a frame: its rest is sent in the next turn, never later */
		for (unsigned s = 0; s < BENCH_STREAMS; s++)
			bench_complete(s);
	}
	bench_nothing_held();
	assert_true(bench_count(COUNTER_PSP_REORDERED) >= late);
	assert_int_equal(bench_count(COUNTER_PSP_MISSING), 0);
	assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), 0);
	assert_int_equal(bench_count(COUNTER_CONCATENATIONS), concatenations);
	assert_int_equal(bench_count(COUNTER_REQUEST_FRAMES), asking);
	assert_int_equal(bench_count(COUNTER_REQUESTS) + bench_count(COUNTER_REQUESTS_REPEATED),
			 asked + asking);
}
CASE_AGAIN(by_session_out_of_order, same_frames)

/* What comes is checked byte by byte, in order, never twice (by the kit); CRC and HCS see damage. */
static void impaired_run(struct impairments i, uint64_t seed) {
	uint64_t made = 0, came = 0;

	bench_prepare(bench);
	prepare(seed, seed % 2 ? PSP_NUMBERING_FLOW : PSP_NUMBERING_SESSION);
	bench_start();
	start();
	impaired = i;
	for (int turn = 0; turn < TURNS; turn++) {
		run_turn(0);
		bench_settle();
	}
	/* nothing waits for ever */
	for (int rest = 0; rest < 20; rest++)
		bench_after(100 * BENCH_MS);
	bench_nothing_held();
	assert_true(upstream_deadline(bench->u) == UINT64_MAX);
	assert_int_equal(rte_mempool_in_use_count(bench->packets), 0);
	assert_int_equal(rte_mempool_in_use_count(bench->pieces),
			 bench->u->streams.buffers.attached.count);
	for (unsigned s = 0; s < BENCH_STREAMS; s++) {
		made += bench->serial[s];
		came += bench->came[s];
	}
	assert_true(came < made && came > made / 4);
	bench->any_drops = true;
	bench_close();
}

CASE(impairments, .closed = true) {
	impaired_run((struct impairments){.loss = 20}, 21);
	impaired_run((struct impairments){.damage = 50}, 31);
	impaired_run((struct impairments){.damage = 100, .twice = 10}, 32);
	for (uint64_t seed = 41; seed < 45; seed++)
		impaired_run((struct impairments){20, 20, 50, 20}, seed);
}
