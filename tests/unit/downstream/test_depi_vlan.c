/* SPDX-License-Identifier: BSD-3-Clause */
/* DEPI frames in a VLAN are those without one, with the tag. */
#include "test.h"

#include <string.h>

#include "depi_bench.h"
#include "downstream/stages.h"
#include "wire/vlan.h"

#include "fixture.h"

#define FRAMES 200
#define OUT 64
#define ROOM 2048
#define VLAN 4094

static struct depi_bench bench;

/* DEPI frames of one run, one behind the other. */
struct record {
	uint8_t bytes[OUT][ROOM];
	size_t size[OUT];
	unsigned count;
};

static struct record plain, tagged;

static void note(struct record *r, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		assert_true(r->count < OUT);
		fixture_check(pkts[i]);
		r->size[r->count] = fixture_read(pkts[i], r->bytes[r->count], ROOM);
		r->count++;
		rte_pktmbuf_free(pkts[i]);
	}
}

static void run(uint8_t family, uint16_t vlan, struct record *r) {
	const struct depi_bench_config c = {
		.mtu = 1500,
		.max_segments = 16,
		.family = family,
		.extra = PSP_EXTRA_COUNTER,
		.flush_ns = DEPI_BENCH_FLUSH_NS,
		.packets = 511,
		.headers = 255,
		.fragments = 255,
	};
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	depi_bench_open(&bench, &c);
	depi_free(&bench.lower.depi);
	bench.sg.rphy_port.vlan = vlan;
	assert_int_equal(
		depi_create(&bench.lower.depi, &bench.sg, 0, bench.headers, bench.fragments), 0);
	r->count = 0;
	for (unsigned f = 0; f < FRAMES; f++)
		note(r, pkts, depi_bench_put(&bench, (uint16_t)(f % 3), 30 + 7 * f % 400, pkts));
	bench.clock.now += DEPI_BENCH_FLUSH_NS;
	note(r, pkts, ds_depi(&bench.lower, pkts, 0));
	depi_bench_close(&bench);
}

static void the_tag_is_all(void **state) {
	static const uint8_t families[] = {4, 6};

	(void)state;
	for (size_t f = 0; f < ARRAY_COUNT(families); f++) {
		run(families[f], 0, &plain);
		run(families[f], VLAN, &tagged);
		assert_true(plain.count > 10);
		assert_int_equal(tagged.count, plain.count);
		for (unsigned i = 0; i < plain.count; i++) {
			const uint8_t *frame = tagged.bytes[i];

			assert_int_equal(tagged.size[i], plain.size[i] + VLAN_TAG_SIZE);
			assert_memory_equal(frame, plain.bytes[i], VLAN_ADDRESSES);
			assert_int_equal(load_be16(frame + 12), ETHERTYPE_VLAN);
			assert_int_equal(load_be16(frame + 14), VLAN);
			assert_memory_equal(frame + 16, plain.bytes[i] + 12, plain.size[i] - 12);
		}
	}
}

/* The scheduler counts no tag, as the channel carries none; and a DEPI frame has room for as much. */
static void the_format_knows_no_tag(void **state) {
	struct depi_format before, after;

	(void)state;
	depi_bench_open_roomy(&bench);
	before = depi_format(&bench.sg.rphy, &bench.channels[0]);
	bench.sg.rphy_port.vlan = VLAN;
	after = depi_format(&bench.sg.rphy, &bench.channels[0]);
	assert_memory_equal(&before, &after, sizeof(before));
	depi_bench_close(&bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tag_is_all),
		cmocka_unit_test(the_format_knows_no_tag),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
