/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which packets a tap copies, and the metadata of each copy. Needs no EAL. */
#include "test_main.h"

#include "capture/live/facts.h"
#include "capture/live/part.h"
#include "upstream/upstream.h"

#define MODEMS 3
#define PACKETS 64
#define HEADERS (14 + 20 + 4) /* Ethernet, IPv4, the session of L2TPv3 (RFC 3931, 4.1.1) */

/* Three modems with a flow each, a slot of a removed modem, and one channel. */
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

/* The tap: its view, ring of copies, current stage, and drop reasons. */
static struct {
	struct tap_view v;
	struct tap_buffer *end;
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

/* Packet i belongs to modem i % 3 and consists of bytes i. */
static void init_packets(void) {
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

/* Creates a tap at the output of the stage; NULL: at drops. Returns the boundary. */
static unsigned create_tap(const char *stage, struct tap_filter filter,
			   struct tap_buffer_config config) {
	unsigned at = stage != NULL ? boundary(stage, TAP_OUT) : 0;

	tap_buffer_free(tap.end);
	memset(&tap, 0, sizeof(tap));
	init_packets();
	tap.end = tap_buffer_create(&config);
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

static const struct tap_record *next_copy(void) {
	static _Alignas(8) uint8_t copy[4096];
	uint32_t size;
	const void *entry = tap_ring_first(&tap.end->ring, &size);

	if (entry == NULL)
		return NULL;
	assert_true(size <= sizeof(copy));
	memcpy(copy, entry, size);
	tap_ring_pop(&tap.end->ring);
	return (const struct tap_record *)copy;
}

/* Removes all remaining copies. Returns their number. */
static unsigned count_copies(void) {
	unsigned count = 0;

	while (next_copy() != NULL)
		count++;
	return count;
}

static void pass_packets(unsigned at, uint16_t count) {
	tap.v.tap.passed(&tap.v.tap, at, pkts, count);
}

static void drop_packet(struct rte_mbuf *m, enum drop_reason reason) {
	tap.v.tap.dropped(&tap.v.tap, m, reason);
}

static const struct tap_filter no_filter;
static const struct tap_buffer_config copy_all = {.snap = TAP_SNAP_MAX, .sample = 1, .ring = 65536};

TEST(copy_has_metadata_of_packet) {
	unsigned at = create_tap("classify", no_filter, copy_all);
	const struct tap_record *r;

	pass_packets(at, 2);
	pass_packets(at + 1, 2); /* not a capture point */
	next_copy();
	r = next_copy();
	assert_int_equal(r->stage, at / 2);
	assert_int_equal(r->side, TAP_OUT);
	assert_int_equal(r->reason, DROP_NONE);
	assert_int_equal(r->form, TAP_ETHERNET);
	assert_int_equal(r->known, TAP_KNOWS_MODEM | TAP_KNOWS_FLOW);
	assert_memory_equal(r->mac, macs[1], 6);
	assert_int_equal(r->sfid, 20);
	assert_true(r->size == 60 && r->wire_size == 60);
	assert_int_equal(r->bytes[59], 1);
	assert_null(next_copy());
}

/* Metadata with invalid indexes, e.g. of stale fields, gives a copy without modem and flow. */
TEST(invalid_metadata_gives_no_modem) {
	unsigned at = create_tap("frame", no_filter, copy_all);
	const struct tap_record *r;

	memset(packet_meta(pkts[0]), 0xff, sizeof(struct packet_meta));
	pkts[0]->data_len = 3; /* less than a CRC */
	pass_packets(at, 1);
	r = next_copy();
	assert_int_equal(r->known, 0);
	assert_int_equal(r->size, 0);
	assert_int_equal(r->form, TAP_DOCSIS);
	packet_meta(pkts[0])->modem = MODEMS; /* the slot of the removed modem */
	packet_meta(pkts[0])->flow = 0;
	pass_packets(at, 1);
	assert_int_equal(next_copy()->known, TAP_KNOWS_FLOW);
}

TEST(chained_packet_is_copied_up_to_snaplen) {
	unsigned at =
		create_tap("classify", no_filter, (struct tap_buffer_config){130, 1, 0, 65536});
	const struct tap_record *r;

	pkts[0]->next = pkts[1];
	pkts[1]->next = pkts[2];
	pass_packets(at, 1);
	r = next_copy();
	assert_int_equal(r->size, 130);
	assert_int_equal(r->wire_size, 180);
	assert_int_equal(r->bytes[59], 0);
	assert_int_equal(r->bytes[60], 1);
	assert_int_equal(r->bytes[129], 2);
}

TEST(filters_select_packets) {
	static const struct {
		struct tap_filter filter;
		unsigned matched; /* of PACKETS */
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
		unsigned at = create_tap("schedule", cases[c].filter, copy_all);

		pass_packets(at, PACKETS);
		assert_int_equal(count_copies(), cases[c].matched);
		assert_int_equal(tap.end->tallies[at].matched, cases[c].matched);
	}
}

/* Every seventh packet is copied, independent of bursts and filter. */
TEST(one_of_n_packets_is_copied) {
	static const struct tap_filter filters[] = {
		{0}, {TAP_KNOWS_SESSION, TAP_NONE, TAP_NONE, 0x10001}};

	for (unsigned f = 0; f < ARRAY_COUNT(filters); f++) {
		unsigned passed = 0, at = create_tap("schedule", filters[f],
						     (struct tap_buffer_config){64, 7, 0, 65536});

		for (uint16_t n = 1; n <= PACKETS; passed += n++)
			pass_packets(at, n);
		assert_int_equal(count_copies(), (passed + 6) / 7);
		assert_int_equal(tap.end->tallies[at].matched, passed);
	}
}

TEST(packets_above_rate_or_ring_size_are_counted) {
	unsigned copies, at = create_tap("classify", no_filter,
					 (struct tap_buffer_config){64, 1, 100, 65536});

	pass_packets(at, PACKETS);
	assert_int_equal(tap.end->tallies[at].limited, PACKETS - 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(next_copy()->bytes[0], i);
	assert_null(next_copy()); /* packets above the rate are not copied */
	time_now.now += 50000000;
	pass_packets(at, PACKETS);
	assert_in_range(tap.end->tallies[at].limited, 2 * PACKETS - 15, 2 * PACKETS - 14);
	at = create_tap("classify", no_filter, (struct tap_buffer_config){64, 1, 0, 1024});
	pass_packets(at, PACKETS);
	copies = count_copies();
	assert_in_range(copies, 5, 10);
	assert_int_equal(tap.end->tallies[at].missed, PACKETS - copies);
}

TEST(drops_match_reason_and_filter) {
	const struct tap_record *r;

	create_tap(NULL, (struct tap_filter){TAP_KNOWS_MODEM, 2, 0, 0}, copy_all);
	tap.reasons[DROP_FILTER_DENY / 64] |= UINT64_C(1) << DROP_FILTER_DENY % 64;
	tap.stage = boundary("filter", TAP_IN) / 2;
	drop_packet(pkts[1], DROP_FILTER_DENY); /* of another modem */
	drop_packet(pkts[2], DROP_CPE_LIMIT); /* another reason */
	drop_packet(NULL, DROP_FILTER_DENY);
	assert_null(next_copy());
	drop_packet(pkts[2], DROP_FILTER_DENY);
	r = next_copy();
	assert_int_equal(r->reason, DROP_FILTER_DENY);
	assert_int_equal(r->stage, tap.stage);
	assert_memory_equal(r->mac, macs[2], 6);
	assert_int_equal(tap.end->tallies[TAP_DROP_SLOT].matched, 1);
	tap.stage = TAP_NO_STAGE; /* outside of stages, the modem is unknown */
	drop_packet(pkts[2], DROP_FILTER_DENY);
	assert_null(next_copy());
}

static enum tap_kind downstream_kind(const char *stage, enum tap_side side) {
	return tap_kind_at(DIRECTION_DOWN, boundary(stage, side));
}

/* Every stage has a boundary with packets, and packets dropped in any stage have a kind. */
TEST(each_stage_has_kinds_for_packets_and_drops) {
	for (unsigned d = DIRECTION_DOWN; d <= DIRECTION_UP; d++) {
		enum direction direction = (enum direction)d;
		unsigned count = tap_stage_count(direction);

		assert_in_range(count, 1, TAP_STAGES);
		for (unsigned s = 0; s < count; s++) {
			unsigned at = tap_stage_boundary(direction, s);

			assert_int_equal(at / 2, s);
			/* only `expire` has no packets at its boundaries */
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
	assert_int_equal(downstream_kind("encrypt_submit", TAP_IN), TAP_DOWN_CLEAR);
	assert_int_equal(downstream_kind("encrypt_submit", TAP_OUT), TAP_NOTHING);
	assert_int_equal(downstream_kind("depi", TAP_IN), TAP_DOWN_FRAME);
	assert_int_equal(downstream_kind("transmit", TAP_IN), TAP_DEPI);
	assert_int_equal(downstream_kind("transmit", TAP_OUT), TAP_NOTHING);
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

/* Modem, flow and session of upstream packets by metadata, whose indexes may be invalid. */
TEST(upstream_metadata_gives_modem_flow_and_session) {
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

	init_packets();
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

/* Headers before the packet's data are included if they are complete and match its length. */
TEST(removed_headers_are_restored_if_complete) {
	static const uint8_t headers[HEADERS] = {
		[12] = 8, 0, 0x45, 0, 0, 20 + 4 + 60, [22] = 64, 115, 0x7a, 0x38, [35] = 2, 0, 1};
	uint8_t *bytes = buffers[0].bytes + RTE_PKTMBUF_HEADROOM;
	struct tap_facts f = {0};
	struct tap_shape s;

	init_packets();
	memcpy(bytes, headers, HEADERS);
	tap_shape_read(TAP_PSP, pkts[0], &f, &s);
	assert_int_equal(s.form, TAP_ETHERNET);
	assert_int_equal(s.before, HEADERS);
	assert_int_equal(f.session, SESSION);
	bytes[17]++; /* IPv4 length above the size; the checksum stays valid */
	bytes[25]--;
	f = (struct tap_facts){0};
	tap_shape_read(TAP_PSP, pkts[0], &f, &s);
	assert_int_equal(s.form, TAP_PIECE);
	assert_int_equal(f.known, 0);
}

static int free_tap(void **state) {
	tap_buffer_free(tap.end);
	return 0;
}

ALL_TESTS(NULL, free_tap)
