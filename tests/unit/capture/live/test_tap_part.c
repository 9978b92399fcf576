/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tap takes of the packets that pass: filters, samples, rates, and what it says of each. No EAL is needed. */
#include "test_main.h"

#include <string.h>

#include "capture/live/part.h"

#define MODEMS 3
#define PACKETS 64

/* Three modems with a flow each, numbers 10, 20 and 30 in the place of SFIDs, and one channel; and the place of a modem
 * that is not there any more. */
static uint8_t macs[MODEMS + 1][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 3}};
static uint32_t sfids[MODEMS] = {10, 20, 30};
static uint32_t sessions[1] = {0x10001};
static const struct tap_names names = {
	.modem_count = MODEMS + 1,
	.down_flow_count = MODEMS,
	.channel_count = 1,
	.macs = macs,
	.down_sfids = sfids,
	.sessions = sessions,
};
static struct downstream down;
static struct clock time_now;
static struct clock *const clock_now = &time_now;

static struct {
	struct rte_mbuf m;
	uint8_t bytes[256];
} buffers[PACKETS];
static struct rte_mbuf *pkts[PACKETS];

/* What looks, the stage that it looks at, and what it takes. */
static struct {
	struct tap_view v;
	struct tap_end *end;
	uint32_t stage;
	uint64_t reasons[TAP_REASON_WORDS];
} tap;

static unsigned boundary(const char *stage, enum tap_side side) {
	for (unsigned s = 0; s < tap_stage_count(DIRECTION_DOWN); s++) {
		if (strcmp(tap_stage_name(DIRECTION_DOWN, s), stage) == 0)
			return tap_boundary(s, side);
	}
	fail_msg("no stage %s", stage);
	return 0;
}

/* Packet i is of modem i % 3; its bytes are its number. */
static void packets_make(void) {
	packet_meta_offset = RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), PACKET_META_ALIGN);
	for (unsigned i = 0; i < PACKETS; i++) {
		struct rte_mbuf *m = pkts[i] = &buffers[i].m;

		memset(m, 0, sizeof(*m));
		m->buf_addr = buffers[i].bytes;
		m->buf_len = sizeof(buffers[i].bytes);
		m->data_off = 100;
		m->data_len = 60;
		m->pkt_len = 60;
		m->nb_segs = 1;
		memset(buffers[i].bytes, (int)i, sizeof(buffers[i].bytes));
		packet_meta(m)->modem = packet_meta(m)->flow = i % MODEMS;
	}
}

static void tap_make(uint64_t boundaries, const struct tap_filter *filter,
		     const struct tap_end_config *config) {
	tap_end_free(tap.end);
	memset(&tap, 0, sizeof(tap));
	packets_make();
	tap.end = tap_end_create(config);
	assert_non_null(tap.end);
	tap.v.direction = DIRECTION_DOWN;
	tap.stage = TAP_NO_STAGE;
	tap.v.tap.stage = &tap.stage;
	tap.v.tables = (struct tap_tables){.d = &down, .names = &names};
	tap.v.clock = &clock_now;
	tap.v.look_count = 1;
	tap.v.looks[0] = (struct tap_look){tap.end, *filter, boundaries, tap.reasons};
	tap_view_finish(&tap.v, 0, 2);
}

static const struct tap_record *next(void) {
	static _Alignas(8) uint8_t copy[4096];
	uint32_t size;
	const void *entry = tap_ring_first(&tap.end->ring, &size);

	if (entry == NULL)
		return NULL;
	assert_true(size <= sizeof(copy));
	memcpy(copy, entry, size);
	tap_ring_take(&tap.end->ring);
	return (const struct tap_record *)copy;
}

static void let_pass(unsigned boundary, struct rte_mbuf **m, uint16_t count) {
	tap.v.tap.passed(&tap.v.tap, boundary, m, count);
}

static void let_drop(struct rte_mbuf *m, enum drop_reason reason) {
	tap.v.tap.dropped(&tap.v.tap, m, reason);
}

static const struct tap_end_config all = {.snap = TAP_SNAP_MAX, .sample = 1, .ring = 65536};

TEST(what_is_said) {
	unsigned at = boundary("classify", TAP_OUT);
	const struct tap_record *r;

	tap_make(UINT64_C(1) << at, &(struct tap_filter){0}, &all);
	let_pass(at, pkts, 2);
	let_pass(at + 1, pkts, 2); /* nobody looks there */
	next();
	r = next();
	assert_int_equal(r->stage, at / 2);
	assert_int_equal(r->side, TAP_OUT);
	assert_int_equal(r->reason, DROP_NONE);
	assert_int_equal(r->form, TAP_ETHERNET);
	assert_int_equal(r->known, TAP_KNOWS_MODEM | TAP_KNOWS_FLOW);
	assert_memory_equal(r->mac, macs[1], 6);
	assert_int_equal(r->sfid, 20);
	assert_int_equal(r->size, 60);
	assert_int_equal(r->wire_size, 60);
	assert_int_equal(r->bytes[59], 1);
	assert_null(next());
}

/* Of places that are in no table, as when fields hold what was there before, nothing is said. */
TEST(odd_fields) {
	unsigned at = boundary("frame", TAP_OUT);
	const struct tap_record *r;

	tap_make(UINT64_C(1) << at, &(struct tap_filter){0}, &all);
	memset(packet_meta(pkts[0]), 0xff, sizeof(struct packet_meta));
	pkts[0]->data_len = 3; /* less than the CRC that is still to come */
	let_pass(at, pkts, 1);
	r = next();
	assert_int_equal(r->known, 0);
	assert_int_equal(r->size, 0);
	assert_int_equal(r->form, TAP_DOCSIS);
	packet_meta(pkts[0])->modem = MODEMS; /* who was there is gone */
	packet_meta(pkts[0])->flow = 0;
	let_pass(at, pkts, 1);
	assert_int_equal(next()->known, TAP_KNOWS_FLOW);
}

/* The bytes of a chain of buffers come one behind the other, up to the snap length. */
TEST(chains) {
	unsigned at = boundary("classify", TAP_OUT);
	const struct tap_record *r;

	tap_make(UINT64_C(1) << at, &(struct tap_filter){0},
		 &(struct tap_end_config){.snap = 130, .sample = 1, .ring = 65536});
	pkts[0]->next = pkts[1];
	pkts[1]->next = pkts[2];
	let_pass(at, pkts, 1);
	r = next();
	assert_int_equal(r->size, 130);
	assert_int_equal(r->wire_size, 180);
	assert_int_equal(r->bytes[59], 0);
	assert_int_equal(r->bytes[60], 1);
	assert_int_equal(r->bytes[129], 2);
}

TEST(filters) {
	static const struct {
		struct tap_filter filter;
		unsigned matched; /* of 64 */
	} cases[] = {
		{{0, TAP_NOBODY, TAP_NOBODY, 0}, 64},
		{{TAP_KNOWS_MODEM, 0, TAP_NOBODY, 0}, 22},
		{{TAP_KNOWS_MODEM, TAP_NOBODY, TAP_NOBODY, 0}, 0},
		{{TAP_KNOWS_FLOW, TAP_NOBODY, 2, 0}, 21},
		{{TAP_KNOWS_MODEM | TAP_KNOWS_FLOW, 1, 2, 0}, 0},
		{{TAP_KNOWS_SESSION, TAP_NOBODY, TAP_NOBODY, 0x10001}, 64},
		{{TAP_KNOWS_SESSION, TAP_NOBODY, TAP_NOBODY, 0x10002}, 0},
	};
	unsigned at = boundary("schedule", TAP_OUT);

	for (unsigned c = 0; c < ARRAY_COUNT(cases); c++) {
		unsigned got = 0;

		tap_make(UINT64_C(1) << at, &cases[c].filter, &all);
		let_pass(at, pkts, PACKETS);
		while (next() != NULL)
			got++;
		assert_int_equal(got, cases[c].matched);
		assert_int_equal(tap.end->tallies[at].matched, cases[c].matched);
	}
}

/* One in seven, wherever bursts begin: with and without a filter the same. */
TEST(samples) {
	unsigned at = boundary("schedule", TAP_OUT);

	for (unsigned filtered = 0; filtered < 2; filtered++) {
		unsigned seen = 0, got = 0;

		tap_make(UINT64_C(1) << at,
			 &(struct tap_filter){filtered ? TAP_KNOWS_SESSION : 0, TAP_NOBODY,
					      TAP_NOBODY, 0x10001},
			 &(struct tap_end_config){.snap = 64, .sample = 7, .ring = 65536});
		for (uint16_t n = 1; n <= PACKETS; seen += n++)
			let_pass(at, pkts, n);
		while (next() != NULL)
			got++;
		assert_int_equal(got, (seen + 6) / 7);
		assert_int_equal(tap.end->tallies[at].matched, seen);
	}
}

TEST(rates_and_full_rings) {
	unsigned at = boundary("classify", TAP_OUT), got = 0;

	tap_make(UINT64_C(1) << at, &(struct tap_filter){0},
		 &(struct tap_end_config){.snap = 64, .sample = 1, .rate = 100, .ring = 65536});
	let_pass(at, pkts, PACKETS);
	assert_int_equal(tap.end->tallies[at].limited, PACKETS - 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(next()->bytes[0], i);
	assert_null(next()); /* what is beyond the rate is not copied */
	time_now.now += 50000000;
	let_pass(at, pkts, PACKETS);
	assert_in_range(tap.end->tallies[at].limited, 2 * PACKETS - 15, 2 * PACKETS - 14);
	tap_make(UINT64_C(1) << at, &(struct tap_filter){0},
		 &(struct tap_end_config){.snap = 64, .sample = 1, .ring = 1024});
	let_pass(at, pkts, PACKETS);
	while (next() != NULL)
		got++;
	assert_in_range(got, 5, 10);
	assert_int_equal(tap.end->tallies[at].missed, PACKETS - got);
}

TEST(drops) {
	const struct tap_record *r;

	tap_make(0, &(struct tap_filter){TAP_KNOWS_MODEM, 2, 0, 0}, &all);
	tap.reasons[DROP_FILTER_DENY / 64] |= UINT64_C(1) << DROP_FILTER_DENY % 64;
	tap.stage = boundary("filter", TAP_IN) / 2;
	let_drop(pkts[1], DROP_FILTER_DENY); /* another modem's */
	let_drop(pkts[2], DROP_CPE_LIMIT); /* another reason */
	let_drop(NULL, DROP_FILTER_DENY);
	assert_null(next());
	let_drop(pkts[2], DROP_FILTER_DENY);
	r = next();
	assert_int_equal(r->reason, DROP_FILTER_DENY);
	assert_int_equal(r->stage, tap.stage);
	assert_memory_equal(r->mac, macs[2], 6);
	assert_int_equal(tap.end->tallies[TAP_DROP_SLOT].matched, 1);
	tap.stage = TAP_NO_STAGE; /* then the modem is not known */
	let_drop(pkts[2], DROP_FILTER_DENY);
	assert_null(next());
}

/* Every stage has a side that can be asked for, and every packet that is dropped anywhere is of some kind. */
TEST(every_stage_and_reason) {
	for (unsigned d = DIRECTION_DOWN; d <= DIRECTION_UP; d++) {
		enum direction direction = (enum direction)d;
		unsigned count = tap_stage_count(direction);

		assert_in_range(count, 1, TAP_STAGES);
		for (unsigned s = 0; s < count; s++) {
			unsigned at = tap_stage_boundary(direction, s);

			assert_int_equal(at / 2, s);
			/* one stage takes nothing and hands out nothing */
			assert_int_equal(tap_kind_at(direction, at) == TAP_NOTHING,
					 strcmp(tap_stage_name(direction, s), "expire") == 0);
			for (unsigned r = 0; r < DROP_REASONS; r++) {
				enum tap_kind kind =
					tap_kind_dropped(direction, s, (enum drop_reason)r);

				assert_in_range(kind, d == DIRECTION_UP ? TAP_OUTER : TAP_DOWN_RAW,
						d == DIRECTION_UP ? TAP_PART_FLOW : TAP_DEPI);
			}
		}
		assert_int_equal(tap_kind_at(direction, tap_boundary(count, TAP_IN)), TAP_NOTHING);
	}
	assert_int_equal(tap_kind_at(DIRECTION_DOWN, boundary("encrypt_submit", TAP_IN)),
			 TAP_DOWN_CLEAR);
	assert_int_equal(tap_kind_at(DIRECTION_DOWN, boundary("encrypt_submit", TAP_OUT)),
			 TAP_NOTHING);
	assert_int_equal(tap_kind_at(DIRECTION_DOWN, boundary("depi", TAP_IN)), TAP_DOWN_FRAME);
	assert_int_equal(tap_kind_at(DIRECTION_DOWN, boundary("transmit", TAP_IN)), TAP_DEPI);
	assert_int_equal(tap_kind_at(DIRECTION_DOWN, boundary("transmit", TAP_OUT)), TAP_NOTHING);
}

static int end(void **state) {
	tap_end_free(tap.end);
	return 0;
}

ALL_TESTS(NULL, end)
