/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream_kit.h"

#include <inttypes.h>

#include <rte_ethdev.h>

#include "platform/port.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "test.h"

#define EAL_MB 192
#define RPHY_DEPTH 1024

static struct upstream_kit storage;
struct upstream_kit *const bench = &storage;

void bench_crypto_start(void) {
	bench->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(bench->crypto);
	bench->queue = crypto_queue_open(bench->crypto, CRYPTO_UPLINK);
	assert_non_null(bench->queue);
	for (unsigned m = 0; m < bench->sg.modem_count; m++) {
		const struct security_association *sa = &bench->modems[m].security;

		if (sa->cipher == CIPHER_NONE)
			continue;
		bench->schedules[2 * m] =
			crypto_key_make(bench->crypto, CRYPTO_UPLINK, CIPHER_AES_128, sa->key);
		assert_non_null(bench->schedules[2 * m]);
		if (sa->has_next_key)
			bench->schedules[2 * m + 1] = crypto_key_make(bench->crypto, CRYPTO_UPLINK,
								      CIPHER_AES_128, sa->next_key);
	}
}

void bench_crypto_end(struct crypto_provider *crypto, struct crypto_queue *queue,
		      void *schedules[2 * BENCH_MOST_MODEMS]) {
	for (unsigned s = 0; s < ARRAY_COUNT(bench->schedules); s++)
		crypto_key_free(crypto, CRYPTO_UPLINK, CIPHER_AES_128, schedules[s]);
	assert_int_equal(crypto->keys, 0);
	crypto_queue_close(queue);
	crypto_close(crypto);
}

/* Two ends of a wire: ours and the upstream's. */
static uint16_t wire(unsigned which, unsigned opened, unsigned depth) {
	static const char *const names[3] = {"rphy", "network", "control"};
	uint16_t ids[2];
	char name[24];

	snprintf(name, sizeof(name), "%s%u", names[which], opened);
	assert_int_equal(port_pair(name, bench->packets, depth, ids), 0);
	bench->near[which] = ids[1];
	return ids[0];
}

void bench_crowd(unsigned count) {
	static struct upstream_sid crowd_sids[BENCH_CROWD];
	static struct sid_cluster crowd_clusters[BENCH_CROWD];
	static struct upstream_service_flow crowd_flows[BENCH_CROWD];

	assert_true(count <= BENCH_CROWD);
	for (unsigned i = 0; i < count; i++) {
		crowd_sids[i] = (struct upstream_sid){0, (uint16_t)(BENCH_CROWD_SID + i)};
		crowd_clusters[i] = (struct sid_cluster){0, &crowd_sids[i], 1};
		crowd_flows[i] =
			(struct upstream_service_flow){1000 + i, true, &crowd_clusters[i], 1};
		bench->modems[BENCH_MODEMS + i] = (struct modem){
			.mac = {2, 2, 0, 0, (uint8_t)(i >> 8), (uint8_t)i},
			.upstream_flows = &crowd_flows[i],
			.upstream_flow_count = 1,
		};
	}
	bench->crowd = count;
	bench->sg.modem_count = BENCH_MODEMS + count;
}

void bench_start(void) {
	static unsigned opened;
	struct us_resources r = {0};
	char name[24];

	if (opened++ == 0)
		fixture_eal(EAL_MB);
	bench->packets = fixture_pool("uepi", bench->packet_buffers, bench->packet_slot);
	bench->frames =
		fixture_pool("frames", bench->frame_buffers, RTE_PKTMBUF_HEADROOM + US_FRAME_SIZE);
	bench->pieces = fixture_pool("pieces", bench->piece_buffers, 0);
	snprintf(name, sizeof(name), "upstream%u", opened);
	bench_crypto_start();
	bench->rphy = wire(0, opened, RPHY_DEPTH);
	bench->network = wire(1, opened, bench->network_depth);
	bench->control = wire(2, opened, bench->control_depth);
	r.rphy.port = bench->near[0];
	r.network = packet_sink_port(bench->near[1]);
	r.control = bench->no_control ? (struct packet_sink){0} : packet_sink_port(bench->near[2]);
	r.crypto = bench->queue;
	r.schedules = bench->schedules;
	r.packets = bench->packets;
	r.frames = bench->frames;
	r.pieces = bench->pieces;
	r.stay = !bench->copies;
	r.clock = &bench->clock;
	r.capacity = bench->capacity;
	r.messages = bench->path;
	bench->u = upstream_create(&bench->sg, &r);
	assert_non_null(bench->u);
	if (bench->capacity == NULL)
		assert_int_equal(bench->u->tables.stream_count, BENCH_STREAMS + bench->crowd + 1);
}

void bench_open(void) {
	bench_prepare(bench);
	bench_start();
}

static void check_balance(void) {
	const struct upstream *u = bench->u;

	if (upstream_balanced(u))
		return;
	for (enum unit unit = 0; unit < UNITS; unit++)
		print_error("%s: in %" PRIu64 ", out %" PRIu64 ", dropped %" PRIu64
			    ", held %" PRIu64 "\n",
			    unit_name(unit), upstream_in(u, unit), upstream_out(u, unit),
			    counters_dropped_units(&u->counters, unit), upstream_pending(u, unit));
	fail_msg("the units do not add up");
}

static void check_drops(void) {
	bool wrong = false;

	for (unsigned i = 0; i < DROP_REASONS && !bench->any_drops; i++) {
		if (bench->u->counters.drops[i] == bench->expected[i])
			continue;
		print_error("%s: %" PRIu64 ", expected %" PRIu64 "\n",
			    drop_name((enum drop_reason)i), bench->u->counters.drops[i],
			    bench->expected[i]);
		wrong = true;
	}
	assert_false(wrong);
}

static void empty(uint16_t port) {
	struct rte_mbuf *m;

	while (rte_eth_rx_burst(port, 0, &m, 1) == 1)
		rte_pktmbuf_free(m);
}

void bench_nothing_held(void) {
	for (enum unit unit = 0; unit < UNITS; unit++)
		assert_int_equal(upstream_pending(bench->u, unit), 0);
	for (unsigned p = 0; p < PENDING_POOLS; p++)
		assert_int_equal(bench->u->pending_set.buffers[p], 0);
}

static void stop(void) {
	upstream_close(bench->u);
	upstream_stop(bench->u);
	check_balance();
	bench_nothing_held();
	for (uint32_t m = 0; m < bench->sg.modem_count; m++)
		assert_int_equal(bench->u->pending_set.modems[m].bytes, 0);
	assert_true(upstream_deadline(bench->u) == UINT64_MAX);
	upstream_free(bench->u);
}

void bench_close(void) {
	uint16_t far[3] = {bench->rphy, bench->network, bench->control};
	struct rte_mbuf *m;

	check_drops();
	for (unsigned stream = 0; stream < BENCH_STREAMS && !bench->any_drops && !bench->lossy;
	     stream++)
		bench_complete(stream);
	stop();
	while (bench->path != NULL && rte_ring_dequeue(bench->path->ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	for (int i = 0; i < 3; i++) {
		empty(bench->near[i]);
		empty(far[i]);
		port_close(bench->near[i]);
		port_close(far[i]);
	}
	bench_crypto_end(bench->crypto, bench->queue, bench->schedules);
	fixture_pool_end(bench->pieces);
	fixture_pool_end(bench->frames);
	fixture_pool_end(bench->packets);
}

void bench_expect(enum drop_reason reason, uint64_t n) {
	bench->expected[reason] += n;
}

uint64_t bench_count(enum counter counter) {
	return bench->u->counters.values[counter];
}

void bench_round(void) {
	pipeline_run(upstream_pipeline(bench->u, 0));
	pipeline_run(upstream_pipeline(bench->u, 1));
	check_balance();
}

void bench_rounds(unsigned n) {
	while (n-- > 0)
		bench_round();
}

/* A packet that came out: the next of its stream, or, where some were lost, a later one. */
static void packet_take(const uint8_t *frame, size_t size) {
	uint8_t expected[BENCH_FRAME_MAX];
	uint32_t serial;
	unsigned stream;

	serial = load_be32(frame + 42);
	stream = load_be16(frame + 46);
	assert_in_range(stream, 0, BENCH_STREAMS - 1);
	assert_in_range(serial, bench->next[stream], BENCH_SERIALS - 1);
	assert_int_equal(size, bench->size[stream][serial]);
	bench_ethernet(stream, serial, size, expected);
	assert_memory_equal(frame, expected, size);
	bench->next[stream] = serial + 1;
	bench->came[stream]++;
}

unsigned bench_take(unsigned most) {
	unsigned taken = 0;
	struct rte_mbuf *m;

	for (; taken < most && rte_eth_rx_burst(bench->network, 0, &m, 1) == 1; taken++) {
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		assert_int_equal(m->nb_segs, 1);
		assert_true(m->pool == bench->frames || m->pool == bench->pieces);
		assert_true(m->pool == bench->frames || rte_pktmbuf_tailroom(m) <= 4);
		assert_int_equal(rte_mbuf_refcnt_read(m), 1);
		fixture_check(m);
		if (m->data_len >= BENCH_SMALLEST && load_be16(frame + 12) == 0x0800 &&
		    load_be32(frame + 48) == 0x62656e63) {
			packet_take(frame, m->data_len);
		} else {
			bench->others++;
			bench->other_size = m->data_len;
			memcpy(bench->other, frame, RTE_MIN(m->data_len, sizeof(bench->other)));
		}
		rte_pktmbuf_free(m);
	}
	return taken;
}

static unsigned messages_process(void) {
	unsigned taken = 0;
	struct rte_mbuf *m;

	for (; rte_eth_rx_burst(bench->control, 0, &m, 1) == 1; taken++) {
		fixture_check(m);
		bench->messages++;
		bench->message_size = m->data_len;
		memcpy(bench->message, rte_pktmbuf_mtod(m, const uint8_t *),
		       RTE_MIN(m->data_len, sizeof(bench->message)));
		rte_pktmbuf_free(m);
	}
	return taken;
}

void bench_settle(void) {
	for (int idle = 0; idle < 2; idle++) {
		uint64_t received = bench_count(COUNTER_RECEIVED);

		bench_round();
		if (bench_take(UINT32_MAX) + messages_process() > 0 || upstream_busy(bench->u) ||
		    bench_count(COUNTER_RECEIVED) != received)
			idle = -1;
	}
	assert_int_equal(bench_count(COUNTER_RECEIVED), bench->injected);
}

void bench_after(uint64_t ns) {
	bench->clock.now += ns;
	bench_settle();
}

void bench_complete(unsigned stream) {
	assert_int_equal(bench->came[stream], bench->serial[stream]);
}
