/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test. Frames are randomly split into segments, bursts and PSP packets. They always
 * arrive unchanged and in order, even if the worker pauses for longer than any timeout. If packets
 * are lost, duplicated, reordered or damaged, each unit is transmitted, dropped for a reason or
 * pending, after each round. */

#include "upstream_cases.h"
#include "wire/bytes.h"
#include "wire/hcs.h"

#define REPETITIONS 20 /* per case */
#define TRAFFIC_MAX 60000 /* bytes */
#define FIRST_SEGMENT 0x1fc0 /* soon wraps */
#define FIRST_PACKET 0xff80

/* The frames of a stream, and how many of their bytes were sent. */
struct traffic {
	uint8_t bytes[TRAFFIC_MAX];
	uint32_t begins[1200]; /* offsets of the frames */
	uint32_t size, sent;
	uint32_t frames, next;
};

/* The PSP packet of a session that is being built. */
struct session {
	struct psp_packet psp;
	size_t limit; /* bytes per packet */
};

struct impairments {
	uint32_t loss, twice, late, damage; /* probabilities, per 1,000 packets */
};

static struct traffic all_traffic[KIT_STREAMS];
static struct session sessions[KIT_CHANNELS];
static struct random *r;
static uint64_t piggybacked; /* requests in segment or MAC headers */
static uint64_t request_frames, concatenations; /* concatenation headers */
static struct impairments impaired;
static uint32_t late; /* impaired.late of a case without loss, once all sessions have started */
static bool away; /* the worker runs no rounds */
static struct {
	uint8_t frame[KIT_PACKET_MAX + KIT_HEADERS_MAX];
	size_t size; /* 0: none */
	unsigned left; /* packets that still overtake it */
} delayed[8];

static bool happens(uint32_t permille) {
	return random_below(r, 1000) < permille;
}

/* Draws a size: mostly small, some large. */
static uint32_t draw_size(uint32_t least, uint32_t limit) {
	return random_below(r, 3) ? random_between(r, least, least + (limit - least) / 10)
				  : random_between(r, least, limit);
}

/* Writes a request, a concatenation header, a reserved frame or a long header. Returns its size. */
static uint32_t write_other(unsigned stream, uint8_t *out) {
	static const uint8_t reserved[] = {0xd1, 9, 0, 30, 0xf8, 1, 2, 3, 4, 5, 6, 7, 8};
	struct docsis_up_header h = {.kind = DOCSIS_KIND_ISOLATION,
				     .privacy = PRIVACY_BP_UP,
				     .sid = kit_streams[stream].sid,
				     .request = true};
	uint32_t serial = kit->serial[stream];
	uint8_t pdu[KIT_FRAME_MIN];

	switch (random_below(r, 5)) {
	case 0: request_frames++; return (uint32_t)docsis_request_write(3, h.sid, out);
	case 1: request_frames++; return (uint32_t)docsis_queue_request_write(9, h.sid, out);
	case 2: concatenations++; return (uint32_t)docsis_concatenation_write(2, 500, out);
	case 3:
		memcpy(out, reserved, sizeof(reserved));
		docsis_hcs_write(out, sizeof(reserved));
		memset(out + sizeof(reserved) + DOCSIS_HCS_SIZE, 0xee, 21);
		kit_expect_drops(DROP_FRAME_RESERVED, 1);
		return sizeof(reserved) + DOCSIS_HCS_SIZE + 21;
	default:
		piggybacked++;
		kit->size[stream][serial] = sizeof(pdu);
		kit_write_ethernet(stream, kit->serial[stream]++, sizeof(pdu), pdu);
		return (uint32_t)kit_write_frame(kit_streams[stream].modem, &h, pdu, sizeof(pdu),
						 out);
	}
}

static void make_traffic(unsigned stream) {
	struct traffic *traffic = &all_traffic[stream];
	uint32_t limit = kit_streams[stream].modem < 2 ? 200 : 1996; /* plain AES is slow */

	memset(traffic, 0, sizeof(*traffic));
	for (unsigned n = draw_size(1, 150); n > 0 && traffic->size + KIT_FRAME_MAX < TRAFFIC_MAX;
	     n--) {
		traffic->begins[traffic->frames++] = traffic->size;
		if (limit > 200 && kit_streams[stream].segment_header && happens(200)) {
			traffic->size += write_other(stream, traffic->bytes + traffic->size);
			continue;
		}
		traffic->size += (uint32_t)kit_next_frame(stream, draw_size(KIT_FRAME_MIN, limit),
							  traffic->bytes + traffic->size);
	}
	traffic->begins[traffic->frames] = traffic->size;
}

static void deliver(const uint8_t *frame, size_t size) {
	kit_inject(frame, size);
	if (away)
		return;
	if (kit->injected % 8 == 0)
		kit_run_round();
	if (kit->injected % 64 == 0)
		kit_settle();
	if (happens(100))
		kit->clock.now += random_below(r, KIT_MS);
}

static void damage(uint8_t *frame, size_t size) {
	/* outer headers are intact: from the PSP header on */
	frame[random_between(r, 38, (uint32_t)size - 1)] ^= (uint8_t)(1 << random_below(r, 8));
}

/* Delivers the delayed packets that are due, or all. */
static void deliver_delayed(bool all) {
	for (unsigned i = 0; i < ARRAY_COUNT(delayed); i++) {
		if (delayed[i].size == 0 || (!all && delayed[i].left-- > 0))
			continue;
		deliver(delayed[i].frame, delayed[i].size);
		delayed[i].size = 0;
	}
}

/* Sends a packet to the core, with random impairments. */
static void forward(uint8_t *frame, size_t size) {
	unsigned slot = random_below(r, ARRAY_COUNT(delayed));

	if (happens(impaired.damage))
		damage(frame, size);
	if (happens(impaired.loss))
		return;
	if (happens(impaired.late) && delayed[slot].size == 0) {
		memcpy(delayed[slot].frame, frame, size);
		delayed[slot].size = size;
		delayed[slot].left = random_below(r, 20); /* less than the reorder window */
		return;
	}
	deliver(frame, size);
	if (happens(impaired.twice))
		deliver(frame, size);
	deliver_delayed(false);
}

static void session_flush(struct session *w) {
	uint8_t frame[KIT_PACKET_MAX + KIT_HEADERS_MAX];

	if (w->psp.count > 0)
		forward(frame, psp_write(&w->psp, frame));
	psp_begin(&w->psp, w->psp.session);
	w->limit = draw_size(60, 3200);
}

/* Sends the packet first if it has no space for `size` more bytes. */
static void session_reserve(struct session *w, size_t size) {
	if (w->psp.size + size > w->limit || w->psp.count > 200)
		session_flush(w);
}

static void session_add(struct session *w, const void *bytes, size_t size) {
	session_reserve(w, size);
	psp_add_segment(&w->psp, false, false, bytes, size);
}

/* Sends a burst on a channel, with its payload split at random. */
static void burst(unsigned channel, uint16_t sid, const uint8_t *payload, size_t size) {
	struct session *w = &sessions[channel];

	session_reserve(w, UEPI_HEADER_MAX);
	psp_add_header(&w->psp, sid);
	for (size_t at = 0; at < size;) {
		size_t part = draw_size(1, 1500), left = size - at;

		if (part > left || size / part > 30)
			part = left < 1400 ? left : 1400;
		session_add(w, payload + at, part);
		at += part;
		if (happens(20))
			session_add(w, payload, 0);
	}
	session_reserve(w, UEPI_TRAILER_MAX);
	psp_add_trailer(&w->psp);
	if (happens(300))
		session_flush(w);
}

/* Sends the stream's next bytes in a segment of random size. */
static void send_segment(unsigned stream) {
	const struct kit_stream *s = &kit_streams[stream];
	struct traffic *traffic = &all_traffic[stream];
	uint32_t size = RTE_MIN(draw_size(0, 2500), traffic->size - traffic->sent), padding = 0;
	struct segment_header h = {
		.sequence = kit->segment[stream]++,
		.sid_cluster = s->cluster,
		.request = (uint16_t)random_below(r, 3),
	};
	unsigned channel = s->channels[random_below(r, 2)];
	uint8_t bytes[4000];

	piggybacked += h.request > 0;
	while (traffic->begins[traffic->next] < traffic->sent)
		traffic->next++;
	if (traffic->next < traffic->frames &&
	    traffic->begins[traffic->next] <= traffic->sent + size) {
		/* the first segment needs a pointer: bytes before it would be skipped */
		h.pointer_valid = traffic->begins[traffic->next] < traffic->sent + size ||
				  h.sequence == FIRST_SEGMENT || happens(500);
		h.pointer = (uint16_t)(traffic->begins[traffic->next] - traffic->sent);
	}
	memcpy(bytes + SEGMENT_HEADER_SIZE, traffic->bytes + traffic->sent, size);
	traffic->sent += size;
	/* between two frames there may be padding */
	for (uint32_t f = traffic->next;
	     f <= traffic->frames && traffic->begins[f] <= traffic->sent; f++)
		padding =
			traffic->begins[f] == traffic->sent && happens(500) ? draw_size(6, 300) : 0;
	memset(bytes + SEGMENT_HEADER_SIZE + size, happens(500) ? 0xff : 0, padding);
	segment_header_write(&h, bytes);
	burst(channel, s->sid, bytes, SEGMENT_HEADER_SIZE + size + padding);
	if (h.sequence == FIRST_SEGMENT) /* no later segment may overtake it */
		session_flush(&sessions[channel]);
}

/* Sends a burst of whole frames, with or without a concatenation header. */
static void send_plain(unsigned stream) {
	const struct kit_stream *s = &kit_streams[stream];
	struct traffic *traffic = &all_traffic[stream];
	uint32_t frames = 1, limit = random_between(r, 1, 8), end, size = 0;
	uint8_t bytes[8 * KIT_FRAME_MAX + 300];

	while (traffic->begins[traffic->next] < traffic->sent)
		traffic->next++;
	while (frames < limit && traffic->next + frames < traffic->frames)
		frames++;
	end = traffic->begins[traffic->next + frames];
	if (happens(500)) {
		concatenations++;
		size += (uint32_t)docsis_concatenation_write((uint8_t)frames, end - traffic->sent,
							     bytes);
	}
	memcpy(bytes + size, traffic->bytes + traffic->sent, end - traffic->sent);
	size += end - traffic->sent;
	traffic->sent = end;
	burst(s->channels[0], s->sid, bytes, size);
}

/* Sends all traffic, from the streams in random order. The worker is away during the last bytes. */
static void send_all_traffic(uint32_t last_bytes) {
	for (unsigned s = 0; s < KIT_STREAMS; s++)
		make_traffic(s);
	for (uint32_t left = 1; left > 0;) {
		unsigned s = random_below(r, KIT_STREAMS);

		left = 0;
		for (unsigned i = 0; i < KIT_STREAMS; i++)
			left += all_traffic[i].size - all_traffic[i].sent;
		away = left < last_bytes;
		if (all_traffic[s].sent == all_traffic[s].size)
			continue;
		if (kit_streams[s].segment_header)
			send_segment(s);
		else
			send_plain(s);
	}
	for (unsigned c = 0; c < KIT_CHANNELS; c++)
		session_flush(&sessions[c]);
}

static void prepare_run(uint64_t seed, enum psp_numbering numbering) {
	memset(delayed, 0, sizeof(delayed));
	impaired = (struct impairments){0};
	late = 0;
	piggybacked = request_frames = concatenations = 0;
	kit->sg.upstream.psp_numbering = numbering;
	kit->random.state = seed;
	r = &kit->random;
}

static void number_by_flow(void) {
	prepare_run(11, PSP_NUMBERING_FLOW);
}

static void number_by_session_out_of_order(void) {
	prepare_run(12, PSP_NUMBERING_SESSION);
	late = 100;
	kit->sg.upstream.reorder_timeout_ns = 1000 * KIT_MS;
	kit->sg.upstream.modem_pending_limit = kit->sg.upstream.pending;
}

/* All sequence numbers start shortly before they wrap. */
static void start_numbers(void) {
	for (unsigned s = 0; s < KIT_STREAMS; s++)
		kit->segment[s] = FIRST_SEGMENT;
	for (unsigned s = 0; s < ARRAY_COUNT(kit->psp); s++)
		kit->psp[s][0] = FIRST_PACKET;
	for (unsigned c = 0; c < KIT_CHANNELS; c++) {
		psp_begin(&sessions[c].psp, kit_session(c));
		sessions[c].limit = 1400;
	}
}

BEFORE_EACH_CASE(start_numbers)

/* Packets are delayed or not, but not beyond the window: nothing is lost. */
CASE(all_frames_arrive_unchanged, .prepare = number_by_flow) {
	for (int i = 0; i <= REPETITIONS; i++) {
		send_all_traffic(random_below(r, 20000));
		deliver_delayed(true);
		kit_run_rounds(random_below(r, 4));
		away = false;
		kit_advance(150 * KIT_MS);
		impaired.late = late;
		/* a segment may end in a frame, whose rest is sent in the next repetition */
		for (unsigned s = 0; s < KIT_STREAMS; s++)
			kit_check_complete(s);
	}
	kit_check_nothing_pending();
	assert_true(late == 0 || kit_counter(COUNTER_PSP_REORDERED) >= 100);
	assert_int_equal(kit_counter(COUNTER_PSP_MISSING), 0);
	assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), 0);
	assert_int_equal(kit_counter(COUNTER_CONCATENATIONS), concatenations);
	assert_int_equal(kit_counter(COUNTER_REQUEST_FRAMES), request_frames);
	assert_int_equal(kit_counter(COUNTER_REQUESTS) + kit_counter(COUNTER_REQUESTS_REPEATED),
			 piggybacked + request_frames);
}
CASE_WITH(number_by_session_out_of_order, all_frames_arrive_unchanged)

/* The kit checks bytes and order of each received packet. CRC and HCS detect damage. */
static void run_impaired(struct impairments rates, uint64_t seed) {
	uint64_t made = 0, received = 0;

	kit_set_defaults(kit);
	prepare_run(seed, seed % 2 ? PSP_NUMBERING_FLOW : PSP_NUMBERING_SESSION);
	kit_start();
	start_numbers();
	impaired = rates;
	for (int i = 0; i < REPETITIONS; i++) {
		send_all_traffic(0);
		kit_settle();
	}
	/* nothing is pending for ever */
	for (int n = 0; n < 20; n++)
		kit_advance(100 * KIT_MS);
	kit_check_nothing_pending();
	assert_true(upstream_deadline(kit->u) == UINT64_MAX);
	assert_int_equal(rte_mempool_in_use_count(kit->packets), 0);
	assert_int_equal(rte_mempool_in_use_count(kit->pieces),
			 kit->u->streams.buffers.attached.count);
	for (unsigned s = 0; s < KIT_STREAMS; s++) {
		made += kit->serial[s];
		received += kit->received[s];
	}
	assert_true(received < made && received > made / 4);
	kit->ignore_drops = true;
	kit_close();
}

CASE(impaired_packets_keep_units_balanced, .self_started = true) {
	run_impaired((struct impairments){.loss = 20}, 21);
	run_impaired((struct impairments){.damage = 50}, 31);
	run_impaired((struct impairments){.damage = 100, .twice = 10}, 32);
	for (uint64_t seed = 41; seed < 45; seed++)
		run_impaired((struct impairments){20, 20, 50, 20}, seed);
}
