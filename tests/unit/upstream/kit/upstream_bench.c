/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream_bench.h"

#include <inttypes.h>
#include <string.h>

#include <rte_ethdev.h>

#include "platform/port.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "test.h"

#define EAL_MB 192
#define RPHY_DEPTH 1024
#define BURST 64

static void crypto_start(struct upstream_bench *b) {
	b->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(b->crypto);
	b->queue = crypto_queue_open(b->crypto, CRYPTO_UPLINK);
	assert_non_null(b->queue);
	for (unsigned m = 0; m < b->sg.modem_count; m++) {
		const struct security_association *sa = &b->modems[m].security;

		if (sa->cipher == CIPHER_NONE)
			continue;
		b->schedules[2 * m] =
			crypto_key_make(b->crypto, CRYPTO_UPLINK, CIPHER_AES_128, sa->key);
		assert_non_null(b->schedules[2 * m]);
		if (sa->has_next_key)
			b->schedules[2 * m + 1] = crypto_key_make(b->crypto, CRYPTO_UPLINK,
								  CIPHER_AES_128, sa->next_key);
	}
}

/* Two ends of a wire: ours and the upstream's. */
static uint16_t wire(struct upstream_bench *b, unsigned which, unsigned opened, unsigned depth) {
	static const char *const names[3] = {"rphy", "network", "control"};
	uint16_t ids[2];
	char name[24];

	snprintf(name, sizeof(name), "%s%u", names[which], opened);
	assert_int_equal(port_pair(name, b->packets, depth, ids), 0);
	b->near[which] = ids[1];
	return ids[0];
}

void bench_start(struct upstream_bench *b) {
	static unsigned opened;
	struct us_resources r = {0};
	char name[24];

	if (opened++ == 0)
		fixture_eal(EAL_MB);
	b->packets = fixture_pool("uepi", b->packet_buffers, b->packet_room);
	b->frames = fixture_pool("frames", b->frame_buffers, RTE_PKTMBUF_HEADROOM + US_FRAME_ROOM);
	b->pieces = fixture_pool("pieces", b->piece_buffers, 0);
	b->guarded = fixture_pool("guarded", 63, 0);
	snprintf(name, sizeof(name), "upstream%u", opened);
	crypto_start(b);
	b->rphy = wire(b, 0, opened, RPHY_DEPTH);
	b->network = wire(b, 1, opened, b->network_depth);
	b->control = wire(b, 2, opened, b->control_depth);
	r.rphy.port = b->near[0];
	r.network = packet_sink_port(b->near[1]);
	r.control = b->no_control ? (struct packet_sink){0} : packet_sink_port(b->near[2]);
	r.crypto = b->queue;
	r.schedules = b->schedules;
	r.packets = b->packets;
	r.frames = b->frames;
	r.pieces = b->pieces;
	r.stay = !b->copies;
	r.clock = &b->clock;
	r.room = b->room;
	r.messages = b->path;
	b->u = upstream_create(&b->sg, &r);
	assert_non_null(b->u);
	if (b->room == NULL)
		assert_int_equal(b->u->tables.stream_count, BENCH_STREAMS + b->crowd + 1);
}

void bench_open(struct upstream_bench *b) {
	bench_prepare(b);
	bench_start(b);
}

static void check_balance(const struct upstream_bench *b) {
	const struct upstream *u = b->u;

	if (upstream_balanced(u))
		return;
	for (enum unit unit = 0; unit < UNITS; unit++)
		print_error("%s: in %" PRIu64 ", out %" PRIu64 ", dropped %" PRIu64
			    ", held %" PRIu64 "\n",
			    unit_name(unit), upstream_in(u, unit), upstream_out(u, unit),
			    counters_dropped_units(&u->counters, unit), upstream_held(u, unit));
	fail_msg("the units do not add up");
}

static void check_drops(const struct upstream_bench *b) {
	bool wrong = false;

	for (unsigned i = 0; i < DROP_REASONS && !b->any_drops; i++) {
		if (b->u->counters.drops[i] == b->expected[i])
			continue;
		print_error("%s: %" PRIu64 ", expected %" PRIu64 "\n",
			    drop_name((enum drop_reason)i), b->u->counters.drops[i],
			    b->expected[i]);
		wrong = true;
	}
	assert_false(wrong);
}

static void empty(uint16_t port) {
	struct rte_mbuf *m;

	while (rte_eth_rx_burst(port, 0, &m, 1) == 1)
		rte_pktmbuf_free(m);
}

static void stop(struct upstream_bench *b) {
	upstream_close(b->u);
	upstream_stop(b->u);
	check_balance(b);
	for (enum unit unit = 0; unit < UNITS; unit++)
		assert_int_equal(upstream_held(b->u, unit), 0);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(b->u->holds.buffers[p], 0);
	for (uint32_t m = 0; m < b->sg.modem_count; m++)
		assert_int_equal(b->u->holds.modems[m].bytes, 0);
	assert_true(upstream_deadline(b->u) == UINT64_MAX);
	upstream_free(b->u);
}

void bench_close(struct upstream_bench *b) {
	uint16_t far[3] = {b->rphy, b->network, b->control};
	struct rte_mbuf *m;

	check_drops(b);
	for (unsigned stream = 0; stream < BENCH_STREAMS && !b->any_drops && !b->lossy; stream++)
		bench_complete(b, stream);
	stop(b);
	while (b->path != NULL && rte_ring_dequeue(b->path->ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	for (int i = 0; i < 3; i++) {
		empty(b->near[i]);
		empty(far[i]);
		port_close(b->near[i]);
		port_close(far[i]);
	}
	for (unsigned s = 0; s < ARRAY_COUNT(b->schedules); s++) {
		crypto_key_free(b->crypto, CRYPTO_UPLINK, CIPHER_AES_128, b->schedules[s]);
	}
	assert_int_equal(b->crypto->keys, 0);
	crypto_queue_close(b->queue);
	crypto_close(b->crypto);
	fixture_pool_end(b->guarded);
	fixture_pool_end(b->pieces);
	fixture_pool_end(b->frames);
	fixture_pool_end(b->packets);
}

void bench_expect(struct upstream_bench *b, enum drop_reason reason, uint64_t n) {
	b->expected[reason] += n;
}

uint64_t bench_count(const struct upstream_bench *b, enum counter counter) {
	return b->u->counters.values[counter];
}

void bench_round(struct upstream_bench *b) {
	pipeline_run(upstream_pipeline(b->u, 0));
	pipeline_run(upstream_pipeline(b->u, 1));
	check_balance(b);
}

void bench_rounds(struct upstream_bench *b, unsigned n) {
	while (n-- > 0)
		bench_round(b);
}

/* A packet that came out: the next of its stream, or, where some were lost, a later one. */
static void packet_take(struct upstream_bench *b, const uint8_t *frame, size_t size) {
	uint8_t expected[BENCH_FRAME_MAX];
	uint32_t serial;
	unsigned stream;

	serial = load_be32(frame + 42);
	stream = load_be16(frame + 46);
	assert_in_range(stream, 0, BENCH_STREAMS - 1);
	assert_in_range(serial, b->next[stream], BENCH_SERIALS - 1);
	assert_int_equal(size, b->size[stream][serial]);
	bench_ethernet(b, stream, serial, size, expected);
	assert_memory_equal(frame, expected, size);
	b->next[stream] = serial + 1;
	b->came[stream]++;
}

static bool is_packet(const uint8_t *frame, size_t size) {
	return size >= BENCH_SMALLEST && load_be16(frame + 12) == 0x0800 &&
	       load_be32(frame + 48) == 0x62656e63;
}

unsigned bench_take(struct upstream_bench *b, unsigned most) {
	unsigned taken = 0;
	struct rte_mbuf *m;

	for (; taken < most && rte_eth_rx_burst(b->network, 0, &m, 1) == 1; taken++) {
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		assert_int_equal(m->nb_segs, 1);
		assert_true(m->pool == b->frames || m->pool == b->pieces);
		assert_true(m->pool == b->frames || rte_pktmbuf_tailroom(m) <= 4);
		assert_int_equal(rte_mbuf_refcnt_read(m), 1);
		fixture_check(m);
		if (is_packet(frame, m->data_len)) {
			packet_take(b, frame, m->data_len);
		} else {
			b->others++;
			b->other_size = m->data_len;
			memcpy(b->other, frame, RTE_MIN(m->data_len, sizeof(b->other)));
		}
		rte_pktmbuf_free(m);
	}
	return taken;
}

static unsigned messages_take(struct upstream_bench *b) {
	unsigned taken = 0;
	struct rte_mbuf *m;

	for (; rte_eth_rx_burst(b->control, 0, &m, 1) == 1; taken++) {
		fixture_check(m);
		b->messages++;
		b->message_size = m->data_len;
		memcpy(b->message, rte_pktmbuf_mtod(m, const uint8_t *),
		       RTE_MIN(m->data_len, sizeof(b->message)));
		rte_pktmbuf_free(m);
	}
	return taken;
}

void bench_settle(struct upstream_bench *b) {
	for (int idle = 0; idle < 2; idle++) {
		uint64_t received = bench_count(b, COUNTER_RECEIVED);

		bench_round(b);
		if (bench_take(b, UINT32_MAX) + messages_take(b) > 0 || upstream_busy(b->u) ||
		    bench_count(b, COUNTER_RECEIVED) != received)
			idle = -1;
	}
	assert_int_equal(bench_count(b, COUNTER_RECEIVED), b->injected);
}

void bench_after(struct upstream_bench *b, uint64_t ns) {
	b->clock.now += ns;
	bench_settle(b);
}

void bench_complete(const struct upstream_bench *b, unsigned stream) {
	assert_int_equal(b->came[stream], b->serial[stream]);
}
