/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream_kit.h"

#include <inttypes.h>

#include <rte_ethdev.h>

#include "platform/port.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "test.h"

#define EAL_MB 192 /* memory of EAL */
#define RPHY_DEPTH 1024 /* packets */

static struct upstream_kit storage;
struct upstream_kit *const kit = &storage;

void kit_crypto_open(void) {
	kit->crypto = crypto_standalone_open(SOCKET_ID_ANY);
	assert_non_null(kit->crypto);
	kit->queue = crypto_queue_open(kit->crypto, CRYPTO_UPLINK);
	assert_non_null(kit->queue);
	for (unsigned m = 0; m < kit->sg.modem_count; m++) {
		const struct security_association *sa = &kit->modems[m].security;

		if (sa->cipher == CIPHER_NONE)
			continue;
		kit->schedules[2 * m] =
			crypto_key_make(kit->crypto, CRYPTO_UPLINK, CIPHER_AES_128, sa->key);
		assert_non_null(kit->schedules[2 * m]);
		if (sa->has_next_key)
			kit->schedules[2 * m + 1] = crypto_key_make(kit->crypto, CRYPTO_UPLINK,
								    CIPHER_AES_128, sa->next_key);
		assert_true(!sa->has_next_key || kit->schedules[2 * m + 1] != NULL);
	}
}

void kit_crypto_close(struct crypto_provider *crypto, struct crypto_queue *queue,
		      void *schedules[2 * KIT_MAX_MODEMS]) {
	for (unsigned s = 0; s < ARRAY_COUNT(kit->schedules); s++)
		crypto_key_free(crypto, CRYPTO_UPLINK, CIPHER_AES_128, schedules[s]);
	assert_int_equal(crypto->keys, 0);
	crypto_queue_close(queue);
	crypto_close(crypto);
}

/* Opens a pair of in-memory ports. Returns the test's end. */
static uint16_t open_port_pair(unsigned which, unsigned opened, unsigned depth) {
	static const char *const names[3] = {"rphy", "network", "control"};
	uint16_t ids[2];
	char name[24];

	snprintf(name, sizeof(name), "%s%u", names[which], opened);
	assert_int_equal(port_pair(name, kit->packets, depth, ids), 0);
	kit->near[which] = ids[1];
	return ids[0];
}

void kit_add_modems(unsigned count) {
	static struct upstream_sid sids[KIT_ADDED_MODEMS];
	static struct sid_cluster clusters[KIT_ADDED_MODEMS];
	static struct upstream_service_flow flows[KIT_ADDED_MODEMS];

	assert_true(count <= KIT_ADDED_MODEMS);
	for (unsigned i = 0; i < count; i++) {
		sids[i] = (struct upstream_sid){0, (uint16_t)(KIT_ADDED_SID + i)};
		clusters[i] = (struct sid_cluster){0, &sids[i], 1};
		flows[i] = (struct upstream_service_flow){1000 + i, true, &clusters[i], 1};
		kit->modems[KIT_MODEMS + i] = (struct modem){
			.mac = {2, 2, 0, 0, (uint8_t)(i >> 8), (uint8_t)i},
			.upstream_flows = &flows[i],
			.upstream_flow_count = 1,
		};
	}
	kit->added_modems = count;
	kit->sg.modem_count = KIT_MODEMS + count;
}

void kit_start(void) {
	static unsigned opened;
	struct us_resources r = {0};
	char name[24];

	if (opened++ == 0)
		fixture_start_eal(EAL_MB);
	kit->packets = fixture_pool_create("uepi", kit->packet_buffers, kit->packet_buffer_size);
	kit->frames = fixture_pool_create("frames", kit->frame_buffers,
					  RTE_PKTMBUF_HEADROOM + US_FRAME_SIZE);
	kit->pieces = fixture_pool_create("pieces", kit->piece_buffers, 0);
	snprintf(name, sizeof(name), "upstream%u", opened);
	kit_crypto_open();
	kit->rphy = open_port_pair(0, opened, RPHY_DEPTH);
	kit->network = open_port_pair(1, opened, kit->network_depth);
	kit->control = open_port_pair(2, opened, kit->control_depth);
	r.rphy.port = kit->near[0];
	r.network = packet_sink_port(kit->near[1]);
	r.control = kit->no_control ? (struct packet_sink){0} : packet_sink_port(kit->near[2]);
	r.crypto = kit->queue;
	r.schedules = kit->schedules;
	r.packets = kit->packets;
	r.frames = kit->frames;
	r.pieces = kit->pieces;
	r.attach_frames = !kit->copy_frames;
	r.clock = &kit->clock;
	r.capacity = kit->capacity;
	r.messages = kit->path;
	kit->u = upstream_create(&kit->sg, &r);
	assert_non_null(kit->u);
	if (kit->capacity == NULL)
		assert_int_equal(kit->u->tables.stream_count, KIT_STREAMS + kit->added_modems + 1);
}

void kit_open(void) {
	kit_set_defaults(kit);
	kit_start();
}

static void check_balance(void) {
	const struct upstream *u = kit->u;

	if (upstream_balanced(u))
		return;
	for (enum unit unit = 0; unit < UNITS; unit++)
		print_error("%s: in %" PRIu64 ", out %" PRIu64 ", dropped %" PRIu64
			    ", pending %" PRIu64 "\n",
			    unit_name(unit), upstream_in(u, unit), upstream_out(u, unit),
			    counters_dropped_units(&u->counters, unit), upstream_pending(u, unit));
	fail_msg("in differs from out + drops + pending of a unit");
}

static void check_drops(void) {
	bool wrong = false;

	for (unsigned i = 0; i < DROP_REASONS && !kit->ignore_drops; i++) {
		if (kit->u->counters.drops[i] == kit->expected[i])
			continue;
		print_error("%s: %" PRIu64 ", expected %" PRIu64 "\n",
			    drop_name((enum drop_reason)i), kit->u->counters.drops[i],
			    kit->expected[i]);
		wrong = true;
	}
	assert_false(wrong);
}

static void drain_port(uint16_t port) {
	struct rte_mbuf *m;

	while (rte_eth_rx_burst(port, 0, &m, 1) == 1)
		rte_pktmbuf_free(m);
}

void kit_check_nothing_pending(void) {
	for (enum unit unit = 0; unit < UNITS; unit++)
		assert_int_equal(upstream_pending(kit->u, unit), 0);
	for (unsigned p = 0; p < PENDING_POOLS; p++)
		assert_int_equal(kit->u->pending_set.buffers[p], 0);
}

static void stop_upstream(void) {
	upstream_close(kit->u);
	upstream_stop(kit->u);
	check_balance();
	kit_check_nothing_pending();
	for (uint32_t m = 0; m < kit->sg.modem_count; m++)
		assert_int_equal(kit->u->pending_set.modems[m].bytes, 0);
	assert_true(upstream_deadline(kit->u) == UINT64_MAX);
	upstream_free(kit->u);
}

void kit_close(void) {
	uint16_t far[3] = {kit->rphy, kit->network, kit->control};
	struct rte_mbuf *m;

	check_drops();
	for (unsigned stream = 0; stream < KIT_STREAMS && !kit->ignore_drops && !kit->lossy;
	     stream++)
		kit_check_complete(stream);
	stop_upstream();
	while (kit->path != NULL && rte_ring_dequeue(kit->path->ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	for (int i = 0; i < 3; i++) {
		drain_port(kit->near[i]);
		drain_port(far[i]);
		port_close(kit->near[i]);
		port_close(far[i]);
	}
	kit_crypto_close(kit->crypto, kit->queue, kit->schedules);
	fixture_pool_free(kit->pieces);
	fixture_pool_free(kit->frames);
	fixture_pool_free(kit->packets);
}

void kit_expect_drops(enum drop_reason reason, uint64_t n) {
	kit->expected[reason] += n;
}

uint64_t kit_counter(enum counter counter) {
	return kit->u->counters.values[counter];
}

void kit_run_round(void) {
	pipeline_run(upstream_pipeline(kit->u, 0));
	pipeline_run(upstream_pipeline(kit->u, 1));
	check_balance();
}

void kit_run_rounds(unsigned n) {
	while (n-- > 0)
		kit_run_round();
}

/* Checks the bytes of a received packet, and that it is the next of its stream or a later one. */
static void check_packet(const uint8_t *frame, size_t size) {
	uint8_t expected[KIT_FRAME_MAX];
	uint32_t serial;
	unsigned stream;

	serial = load_be32(frame + 42);
	stream = load_be16(frame + 46);
	assert_in_range(stream, 0, KIT_STREAMS - 1);
	assert_in_range(serial, kit->next[stream], KIT_SERIALS - 1);
	assert_int_equal(size, kit->size[stream][serial]);
	kit_write_ethernet(stream, serial, size, expected);
	assert_memory_equal(frame, expected, size);
	kit->next[stream] = serial + 1;
	kit->received[stream]++;
}

unsigned kit_receive(unsigned most) {
	unsigned count = 0;
	struct rte_mbuf *m;

	for (; count < most && rte_eth_rx_burst(kit->network, 0, &m, 1) == 1; count++) {
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		assert_int_equal(m->nb_segs, 1);
		assert_true(m->pool == kit->frames || m->pool == kit->pieces);
		assert_true(m->pool == kit->frames || rte_pktmbuf_tailroom(m) <= 4);
		assert_int_equal(rte_mbuf_refcnt_read(m), 1);
		fixture_packet_check(m);
		if (m->data_len >= KIT_FRAME_MIN && load_be16(frame + 12) == 0x0800 &&
		    load_be32(frame + 48) == 0x62656e63) {
			check_packet(frame, m->data_len);
		} else {
			kit->other_frames++;
			kit->other_size = m->data_len;
			memcpy(kit->other, frame, RTE_MIN(m->data_len, sizeof(kit->other)));
		}
		rte_pktmbuf_free(m);
	}
	return count;
}

static unsigned receive_messages(void) {
	unsigned count = 0;
	struct rte_mbuf *m;

	for (; rte_eth_rx_burst(kit->control, 0, &m, 1) == 1; count++) {
		fixture_packet_check(m);
		kit->messages++;
		kit->message_size = m->data_len;
		memcpy(kit->message, rte_pktmbuf_mtod(m, const uint8_t *),
		       RTE_MIN(m->data_len, sizeof(kit->message)));
		rte_pktmbuf_free(m);
	}
	return count;
}

void kit_settle(void) {
	for (int idle = 0; idle < 2; idle++) {
		uint64_t received = kit_counter(COUNTER_RECEIVED);

		kit_run_round();
		if (kit_receive(UINT32_MAX) + receive_messages() > 0 || upstream_busy(kit->u) ||
		    kit_counter(COUNTER_RECEIVED) != received)
			idle = -1;
	}
	assert_int_equal(kit_counter(COUNTER_RECEIVED), kit->injected);
}

void kit_advance(uint64_t ns) {
	kit->clock.now += ns;
	kit_settle();
}

void kit_check_complete(unsigned stream) {
	assert_int_equal(kit->received[stream], kit->serial[stream]);
}
