/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tap takes of the packets that pass: filters, samples, rates, and what it says of each. No EAL is needed. */
#include "test_main.h"

#include "capture/live/facts.h"
#include "capture/live/part.h"
#include "upstream/upstream.h"

#define MODEMS 3
#define PACKETS 64
#define HEADERS (14 + 20 + 4) /* Ethernet, IPv4, the session of L2TPv3 (RFC 3931, 4.1.1) */

/* Three modems with a flow each, numbers 10, 20 and 30 in the source of SFIDs, and one channel; and the source of a modem
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

/* What rules, the stage that it rules at, and what it takes. */
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
		m->data_off = RTE_PKTMBUF_HEADROOM + HEADERS;
		m->data_len = 60;
		m->pkt_len = 60;
		m->nb_segs = 1;
		memset(buffers[i].bytes, (int)i, sizeof(buffers[i].bytes));
		packet_meta(m)->modem = packet_meta(m)->flow = i % MODEMS;
	}
}

/* Looks at what the stage hands out, or at no stage. Returns where that is. */
static unsigned tap_make(const char *stage, struct tap_filter filter,
			 struct tap_end_config config) {
	unsigned at = stage != NULL ? boundary(stage, TAP_OUT) : 0;

	tap_end_free(tap.end);
	memset(&tap, 0, sizeof(tap));
	packets_make();
	tap.end = tap_end_create(&config);
	assert_non_null(tap.end);
	tap.v.direction = DIRECTION_DOWN;
	tap.stage = TAP_NO_STAGE;
	tap.v.tap.stage = &tap.stage;
	tap.v.tables = (struct tap_tables){.d = &down, .names = &names};
	tap.v.clock = &clock_now;
	tap.v.rule_count = 1;
	tap.v.rules[0] =
		(struct tap_rule){tap.end, filter, (uint64_t)(stage != NULL) << at, tap.reasons};
	tap_view_finish(&tap.v, 0, 2);
	return at;
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

/* How many there are still. */
static unsigned left(void) {
	unsigned count = 0;

	while (next() != NULL)
		count++;
	return count;
}

static void let_pass(unsigned boundary, uint16_t count) {
	tap.v.tap.passed(&tap.v.tap, boundary, pkts, count);
}

static void let_drop(struct rte_mbuf *m, enum drop_reason reason) {
	tap.v.tap.dropped(&tap.v.tap, m, reason);
}

static const struct tap_filter any;
static const struct tap_end_config all = {.snap = TAP_SNAP_MAX, .sample = 1, .ring = 65536};

TEST(what_is_said) {
	unsigned at = tap_make("classify", any, all);
	const struct tap_record *r;

	let_pass(at, 2);
	let_pass(at + 1, 2); /* nobody rules there */
	next();
	r = next();
	assert_int_equal(r->stage, at / 2);
	assert_int_equal(r->side, TAP_OUT);
	assert_int_equal(r->reason, DROP_NONE);
	assert_int_equal(r->form, TAP_ETHERNET);
	assert_int_equal(r->known, TAP_KNOWS_MODEM | TAP_KNOWS_FLOW);
	assert_memory_equal(r->mac, macs[1], 6);
	assert_int_equal(r->sfid, 20);
	assert_true(r->size == 60 && r->wire_size == 60);
	assert_int_equal(r->bytes[59], 1);
	assert_null(next());
}

/* Of sources that are in no table, as when fields hold what was there before, nothing is said. */
TEST(odd_fields) {
	unsigned at = tap_make("frame", any, all);
	const struct tap_record *r;

	memset(packet_meta(pkts[0]), 0xff, sizeof(struct packet_meta));
	pkts[0]->data_len = 3; /* less than the CRC that is still to come */
	let_pass(at, 1);
	r = next();
	assert_int_equal(r->known, 0);
	assert_int_equal(r->size, 0);
	assert_int_equal(r->form, TAP_DOCSIS);
	packet_meta(pkts[0])->modem = MODEMS; /* who was there is gone */
	packet_meta(pkts[0])->flow = 0;
	let_pass(at, 1);
	assert_int_equal(next()->known, TAP_KNOWS_FLOW);
}

TEST(chains) {
	unsigned at = tap_make("classify", any, (struct tap_end_config){130, 1, 0, 65536});
	const struct tap_record *r;

	pkts[0]->next = pkts[1];
	pkts[1]->next = pkts[2];
	let_pass(at, 1);
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
		{{0, TAP_NONE, TAP_NONE, 0}, 64},
		{{TAP_KNOWS_MODEM, 0, TAP_NONE, 0}, 22},
		{{TAP_KNOWS_MODEM, TAP_NONE, TAP_NONE, 0}, 0},
		{{TAP_KNOWS_FLOW, TAP_NONE, 2, 0}, 21},
		{{TAP_KNOWS_MODEM | TAP_KNOWS_FLOW, 1, 2, 0}, 0},
		{{TAP_KNOWS_SESSION, TAP_NONE, TAP_NONE, 0x10001}, 64},
		{{TAP_KNOWS_SESSION, TAP_NONE, TAP_NONE, 0x10002}, 0},
	};

	for (unsigned c = 0; c < ARRAY_COUNT(cases); c++) {
		unsigned at = tap_make("schedule", cases[c].filter, all);

		let_pass(at, PACKETS);
		assert_int_equal(left(), cases[c].matched);
		assert_int_equal(tap.end->tallies[at].matched, cases[c].matched);
	}
}

/* One in seven, wherever bursts begin: with and without a filter the same. */
TEST(samples) {
	static const struct tap_filter filters[] = {
		{0}, {TAP_KNOWS_SESSION, TAP_NONE, TAP_NONE, 0x10001}};

	for (unsigned f = 0; f < ARRAY_COUNT(filters); f++) {
		unsigned seen = 0, at = tap_make("schedule", filters[f],
						 (struct tap_end_config){64, 7, 0, 65536});

		for (uint16_t n = 1; n <= PACKETS; seen += n++)
			let_pass(at, n);
		assert_int_equal(left(), (seen + 6) / 7);
		assert_int_equal(tap.end->tallies[at].matched, seen);
	}
}

TEST(rates_and_full_rings) {
	unsigned got, at = tap_make("classify", any, (struct tap_end_config){64, 1, 100, 65536});

	let_pass(at, PACKETS);
	assert_int_equal(tap.end->tallies[at].limited, PACKETS - 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(next()->bytes[0], i);
	assert_null(next()); /* what is beyond the rate is not copied */
	time_now.now += 50000000;
	let_pass(at, PACKETS);
	assert_in_range(tap.end->tallies[at].limited, 2 * PACKETS - 15, 2 * PACKETS - 14);
	at = tap_make("classify", any, (struct tap_end_config){64, 1, 0, 1024});
	let_pass(at, PACKETS);
	got = left();
	assert_in_range(got, 5, 10);
	assert_int_equal(tap.end->tallies[at].missed, PACKETS - got);
}

TEST(drops) {
	const struct tap_record *r;

	tap_make(NULL, (struct tap_filter){TAP_KNOWS_MODEM, 2, 0, 0}, all);
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

static enum tap_kind kind_down(const char *stage, enum tap_side side) {
	return tap_kind_at(DIRECTION_DOWN, boundary(stage, side));
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
	assert_int_equal(kind_down("encrypt_submit", TAP_IN), TAP_DOWN_CLEAR);
	assert_int_equal(kind_down("encrypt_submit", TAP_OUT), TAP_NOTHING);
	assert_int_equal(kind_down("depi", TAP_IN), TAP_DOWN_FRAME);
	assert_int_equal(kind_down("transmit", TAP_IN), TAP_DEPI);
	assert_int_equal(kind_down("transmit", TAP_OUT), TAP_NOTHING);
}

#define FLOWS 2
#define SESSION 0x20001
#define RANGING 0x20009

static struct us_session us_sessions[] = {{.id = SESSION}, {.id = RANGING}};
static struct us_channel us_channels[] = {{{0, US_NONE, 1}}};
static struct us_flow us_flows[FLOWS + 1] = {
	{.modem = 7}, {.modem = PENDING_NO_MODEM}, {.modem = 9}};
static struct us_stream us_streams[] = {{.flow = 0}};
static struct upstream up = {.tables = {.sessions = us_sessions,
					.session_count = 2,
					.channels = us_channels,
					.channel_count = 1,
					.flows = us_flows,
					.flow_count = FLOWS,
					.streams = us_streams,
					.stream_count = 1}};

/* What a packet upstream is of, by its fields: what they name may not be there, or have gone. */
TEST(facts_of_the_upstream) {
	static const unsigned session = TAP_KNOWS_SESSION,
			      each = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION;
	const struct {
		enum tap_kind kind;
		struct us_meta meta;
		unsigned known;
		uint32_t session;
	} cases[] = {
		{TAP_BURST, {0}, session, SESSION},
		{TAP_BURST, {.burst = {.ranging = true}}, session, RANGING},
		{TAP_BURST, {.burst = {.ranging = true, .channel = 1}}, 0, 0},
		{TAP_SEGMENT, {0}, each, SESSION},
		{TAP_SEGMENT, {.segment = {.stream = 1}}, session, SESSION},
		{TAP_PDU, {0}, each, SESSION},
		{TAP_PDU, {.frame = {.flow = 1}}, session, SESSION},
		{TAP_PDU, {.frame = {.flow = FLOWS}}, session, SESSION},
	};
	const struct tap_tables tables = {.u = &up};

	packets_make();
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct tap_facts f;

		*us_meta(pkts[0]) = cases[i].meta;
		tap_facts_read(&tables, cases[i].kind, pkts[0], &f);
		assert_int_equal(f.known, cases[i].known);
		if (f.known != 0)
			assert_int_equal(f.session, cases[i].session);
		if (f.known == each)
			assert_int_equal(f.modem, 7);
	}
}

/* They stand in front of what is left of the packet, where they are whole. */
TEST(headers_in_front) {
	static const uint8_t headers[HEADERS] = {
		[12] = 8, 0, 0x45, 0, 0, 20 + 4 + 60, [22] = 64, 115, 0x7a, 0x38, [35] = 2, 0, 1};
	uint8_t *bytes = buffers[0].bytes + RTE_PKTMBUF_HEADROOM;
	struct tap_facts f = {0};
	struct tap_shape s;

	packets_make();
	memcpy(bytes, headers, HEADERS);
	tap_shape_read(TAP_PSP, pkts[0], &f, &s);
	assert_int_equal(s.form, TAP_ETHERNET);
	assert_int_equal(s.before, HEADERS);
	assert_int_equal(f.session, SESSION);
	bytes[17]++; /* longer than what is there */
	bytes[25]--;
	f = (struct tap_facts){0};
	tap_shape_read(TAP_PSP, pkts[0], &f, &s);
	assert_int_equal(s.form, TAP_PIECE);
	assert_int_equal(f.known, 0);
}

static int end(void **state) {
	tap_end_free(tap.end);
	return 0;
}

ALL_TESTS(NULL, end)
