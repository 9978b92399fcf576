/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage put anywhere between parse and the queues may drop packets and change their order: all others
 * go where they would have gone alone.
 */
#include "test.h"

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "model/load/loader.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "packets.h"
#include "random.h"

#define SIZE 80
#define BURSTS 300
#define FLOWS 200 /* that come again */

static const stage_fn stages[] = {ds_parse, ds_known_flows, ds_modem_lookup, ds_filter,
				  ds_classify};

/* Puts a stage of the test behind so many of these. */
#define PLACES RTE_DIM(stages)

/* What becomes of a packet. */
struct fate {
	uint32_t modem, flow;
	enum drop_reason reason; /* DROP_NONE: it is kept */
	uint8_t mac[6];
};

struct upper {
	struct service_group sg;
	struct downstream *d;
	struct clock clock;
};

/* One gets packets by ones and keeps no flows; the other one has the stage in between. */
static struct upper alone, together;
static struct rte_mempool *packets;
static struct random random_state = {.state = 11};
static bool taken[PIPELINE_BURST]; /* by the stage in between, by the packet's serial */

static const char text[] =
	"name: between\nservice_group: %d\nflow_cache: %d\nfilter_default: permit\n"
	"channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
	"bonding_groups:\n  - {id: 1, channels: [1]}\n"
	"filter_groups:\n"
	"  - id: 1\n    rules:\n"
	"      - {family: ipv4, action: deny, tos: 0x04/0x0c}\n"
	"      - {family: ipv6, action: deny, source: '2001:db8:ff40::/42'}\n"
	"modems:\n"
	"  - {mac: '02:01:00:00:00:01', addresses: [10.0.0.1, 10.0.0.2, '2001:db8:0:1::1'],\n"
	"     filter_groups: [1], bonding_group: 1,\n"
	"     security: {said: 1, cipher: none}, service_flows: [{id: 1}, {id: 2}, {id: 3}],\n"
	"     classifiers: [{family: ipv4, tos: 0x10/0x10, service_flow: 2},\n"
	"                   {family: ipv6, source: '2001:db8:ff80::/41', service_flow: 3}]}\n"
	"  - {mac: '02:01:00:00:00:02', addresses: [10.0.1.1, '2001:db8:0:2::1'],\n"
	"     bonding_group: 1,\n"
	"     security: {said: 2, cipher: none}, service_flows: [{id: 4}, {id: 5}],\n"
	"     classifiers: [{family: ipv4, tos: 0x20/0x20, service_flow: 5}]}\n";

static void upper_make(struct upper *u, int number, int records) {
	static void *const no_schedules[2];
	struct ds_resources r = {.upper_clock = &u->clock,
				 .lower_clock = &u->clock,
				 .schedules = no_schedules,
				 .queued_max = 1000,
				 .hand_over_max = 64};
	char filled[4096];

	snprintf(filled, sizeof(filled), text, number, records);
	group_load(&u->sg, filled);
	u->d = downstream_create(&u->sg, &r);
	assert_non_null(u->d);
}

static int make(void **state) {
	(void)state;
	packets = fixture_pool("packets", 4 * PIPELINE_BURST - 1, FIXTURE_ROOM);
	upper_make(&alone, 1, 0);
	upper_make(&together, 2, 64);
	return 0;
}

static int unmake(void **state) {
	struct upper *uppers[] = {&alone, &together};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(uppers); i++) {
		downstream_free(uppers[i]->d);
		service_group_free(&uppers[i]->sg);
	}
	fixture_pool_end(packets);
	return 0;
}

/* One of FLOWS frames: for an address, one that nobody has, a modem itself, or one that parse drops. */
static void frame_make(uint8_t *frame, uint32_t serial) {
	uint32_t flow = random_below(&random_state, FLOWS);
	const struct modem *m = &alone.sg.modems[flow % 2];
	size_t address = flow / 2 % (m->address_count + 1);

	if (flow % 11 == 0)
		packet_llc(frame, SIZE, serial, m->mac);
	else if (address == m->address_count)
		packet_ipv4(frame, SIZE, serial, (const uint8_t[4]){10, 9, 9, 9});
	else
		packet_for(m, address, frame, SIZE, serial);
	if (load_be16(frame + 12) == 0x0800) {
		frame[15] = (uint8_t)(flow << 2);
		packet_ipv4_checksum(frame);
		frame[24] ^= flow % 13 == 0;
	} else if (load_be16(frame + 12) == 0x86dd) {
		frame[27] = (uint8_t)(flow << 1);
	}
}

static enum drop_reason last_drop(const struct counters *before, const struct counters *c) {
	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (c->drops[r] != before->drops[r])
			return (enum drop_reason)r;
	}
	return DROP_NONE;
}

static struct fate fate_alone(const uint8_t *frame) {
	struct ds_upper *u = &alone.d->upper;
	struct counters before = u->counters;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY] = {fixture_packet(packets, frame, SIZE)};
	struct fate fate = {0};
	uint16_t n = 1;

	for (unsigned s = 0; s < RTE_DIM(stages) && n > 0; s++)
		n = stages[s](u, pkts, n);
	fate.reason = last_drop(&before, &u->counters);
	assert_int_equal(n, fate.reason == DROP_NONE);
	if (n == 1) {
		fate.modem = packet_meta(pkts[0])->modem;
		fate.flow = packet_meta(pkts[0])->flow;
		memcpy(fate.mac, rte_pktmbuf_mtod(pkts[0], uint8_t *), sizeof(fate.mac));
		rte_pktmbuf_free(pkts[0]);
	}
	return fate;
}

static uint32_t serial_of(struct rte_mbuf *m) {
	return packet_serial(rte_pktmbuf_mtod(m, uint8_t *));
}

static uint16_t drop_every_second(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (i % 2 == 0) {
			taken[serial_of(pkts[i])] = true;
			drop(&u->counters, pkts[i], DROP_STOPPED);
			continue;
		}
		pkts[kept++] = pkts[i];
	}
	return kept;
}

static uint16_t turn_round(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	(void)ctx;
	for (uint16_t i = 0; i < n / 2; i++) {
		struct rte_mbuf *m = pkts[i];

		pkts[i] = pkts[n - 1 - i];
		pkts[n - 1 - i] = m;
	}
	return n;
}

/* Those that came through are all that should, each where it should be. */
static uint16_t check_survivors(struct rte_mbuf **pkts, uint16_t n, const struct fate *fates,
				uint16_t sent) {
	uint16_t expected = 0;

	for (uint16_t i = 0; i < sent; i++)
		expected += fates[i].reason == DROP_NONE && !taken[i];
	assert_int_equal(n, expected);
	for (uint16_t i = 0; i < n; i++) {
		uint32_t serial = serial_of(pkts[i]);
		const struct fate *f = &fates[serial];

		assert_true(serial < sent && !taken[serial]);
		assert_int_equal(f->reason, DROP_NONE);
		assert_int_equal(packet_meta(pkts[i])->modem, f->modem);
		assert_int_equal(packet_meta(pkts[i])->flow, f->flow);
		assert_memory_equal(rte_pktmbuf_mtod(pkts[i], void *), f->mac, sizeof(f->mac));
		taken[serial] = true; /* comes once */
		rte_pktmbuf_free(pkts[i]);
	}
	return n;
}

static void check_drops(const struct counters *before, const struct counters *c,
			const struct fate *fates, uint16_t sent, const bool *between) {
	uint64_t expected[DROP_REASONS] = {0};

	for (uint16_t i = 0; i < sent; i++) {
		if (between[i])
			expected[DROP_STOPPED]++;
		else if (fates[i].reason != DROP_NONE)
			expected[fates[i].reason]++;
	}
	for (unsigned r = 0; r < DROP_REASONS; r++)
		assert_int_equal(c->drops[r] - before->drops[r], expected[r]);
}

/* Returns how many packets came through. */
static uint16_t burst(unsigned place, stage_fn between) {
	struct ds_upper *u = &together.d->upper;
	struct counters before = u->counters;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct fate fates[PIPELINE_BURST];
	bool dropped[PIPELINE_BURST];
	uint16_t sent = (uint16_t)random_below(&random_state, PIPELINE_BURST + 1), n = sent;

	memset(taken, 0, sizeof(taken));
	for (uint16_t i = 0; i < sent; i++) {
		uint8_t frame[PACKET_MAX] = {0};

		frame_make(frame, i);
		fates[i] = fate_alone(frame);
		pkts[i] = fixture_packet(packets, frame, SIZE);
	}
	for (unsigned s = 0; s < RTE_DIM(stages); s++) {
		n = n > 0 ? stages[s](u, pkts, n) : 0;
		if (s == place && n > 0)
			n = between(u, pkts, n);
	}
	memcpy(dropped, taken, sizeof(dropped));
	check_drops(&before, &u->counters, fates, sent, dropped);
	return check_survivors(pkts, n, fates, sent);
}

static void everywhere(stage_fn between) {
	for (unsigned place = 0; place < PLACES; place++) {
		unsigned through = 0;

		flow_cache_forget_all(&together.d->upper.flow_cache);
		for (unsigned i = 0; i < BURSTS; i++)
			through += burst(place, between);
		assert_true(through > BURSTS * PIPELINE_BURST / 8);
	}
}

static void others_keep_their_way(void **state) {
	(void)state;
	everywhere(drop_every_second);
}

static void order_is_free(void **state) {
	(void)state;
	everywhere(turn_round);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(others_keep_their_way, make, unmake),
		cmocka_unit_test_setup_teardown(order_is_free, make, unmake),
	};

	return cmocka_run_group_tests(tests, fixture_start, NULL);
}
