/* SPDX-License-Identifier: BSD-3-Clause */
/* What UCDs tell of channels. And as many upstream channels as there can be, in as many downstream channels each: the ring
 * to the lower MAC has room for all MAPs and UCDs of a moment. */
#include "upstream/grant_ucd.h"
#include "upstream_grants.h"
#include "wire/ucd.h"

#define CARRIERS GRANTS_MAP_CHANNELS
#define STREAMS (1 + CARRIERS) /* of a channel */
#define PAUSE 150000 /* ns: less than a MAP may be late */

static struct upstream_channel channels[SG_MAX_UPSTREAM_CHANNELS];

static void widest(struct service_group *sg) {
	configure(sg);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++) {
		channels[i] = sg->upstream_channels[RTE_MIN(i, BENCH_CHANNELS - 1u)];
		if (i >= BENCH_CHANNELS) {
			channels[i].id = 1 + i;
			channels[i].session = 0x30000 + i;
		}
		channels[i].grants.map_channel_count = CARRIERS;
		for (uint32_t d = 0; d < CARRIERS; d++)
			channels[i].grants.map_channels[d] = downstream[d].id;
	}
	sg->channel_count = CARRIERS;
	sg->upstream_channels = channels;
	sg->upstream_channel_count = SG_MAX_UPSTREAM_CHANNELS;
	sg->upstream.scheduler.ucd_interval = 10 * BENCH_MS;
}

/* Who grants has buffers for what is in the ring, and for as much before the R-PHY port. */
static void many(void) {
	uint32_t with;

	widest(&bench->sg);
	with = us_buffers(&bench->sg, NULL).frames;
	bench->sg.upstream.scheduled = false;
	assert_int_equal(with, us_buffers(&bench->sg, NULL).frames + 2 * messages_ring(&bench->sg));
	bench->sg.upstream.scheduled = true;
	message_ring_open(messages_ring(&bench->sg));
	bench->frame_buffers = 8191;
}

CASE(all_of_a_moment, .prepare = many) {
	unsigned most = 0, came = 0;

	for (unsigned i = 0; i < 200; i++) {
		unsigned now;

		bench->clock.now = upstream_grants_due(bench->u) + i % 2 * PAUSE;
		run();
		now = empty();
		came += now;
		most = RTE_MAX(most, now);
	}
	assert_int_equal(bench_count(COUNTER_MESSAGES_UNSENT), 0);
	assert_int_equal(bench_count(COUNTER_MESSAGES_MADE), came);
	/* UCDs and MAPs at once, behind a pause of the worker */
	assert_in_range(most, SG_MAX_UPSTREAM_CHANNELS * STREAMS + 1,
			2 * SG_MAX_UPSTREAM_CHANNELS * STREAMS);
}

CASE(the_ring_of_a_group, .closed = true) {
	struct service_group sg = {.upstream_channels = channels};

	assert_int_equal(messages_ring(&sg), MESSAGES_RING);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++)
		channels[i].grants.map_channel_count = 0; /* the first of the group is one */
	sg.upstream_channel_count = SG_MAX_UPSTREAM_CHANNELS;
	assert_int_equal(messages_ring(&sg), MESSAGES_RING);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++)
		channels[i].grants.map_channel_count = CARRIERS;
	assert_int_equal(messages_ring(&sg), 2048);
	sg.upstream_channel_count = 29; /* 522 messages */
	assert_int_equal(messages_ring(&sg), 1024);
}

/* The channel's UCD, taken apart. Returns false where there is none. */
static bool told(unsigned channel, struct ucd *ucd) {
	uint8_t frame[MANAGEMENT_FRAME_MAX];
	struct management m;
	uint32_t size = us_ucd_write(&bench->sg, &bench->sg.upstream_channels[channel],
				     bench->sg.rphy.core_mac, frame);

	if (size == 0)
		return false;
	assert_int_equal(management_frame_read(frame, size, &m), MANAGEMENT_OK);
	assert_int_equal(ucd_read(ucd, m.type, m.body, m.body_size), UCD_OK);
	assert_int_equal(ucd_check(ucd), UCD_OK);
	return true;
}

/* Of an OFDMA channel: both kinds of ranging, and data in minislots that are all alike (6.4.3). */
static void check_regions(const struct ucd *ucd) {
	const struct ucd_burst *b = ucd->bursts;

	assert_int_equal(ucd->burst_count, 3);
	assert_int_equal(b[0].iuc, MAP_INITIAL);
	assert_int_equal(b[0].has, 1u << UCD_INITIAL_SUBCARRIERS);
	assert_int_equal(b[0].values[UCD_INITIAL_SUBCARRIERS], 64);
	assert_int_equal(b[1].iuc, MAP_STATION);
	assert_int_equal(b[1].has, 1u << UCD_FINE_SUBCARRIERS);
	assert_int_equal(b[1].values[UCD_FINE_SUBCARRIERS], 128);
	assert_int_equal(b[2].iuc, 10);
	assert_int_equal(b[2].runs, 1);
	assert_int_equal(b[2].profile[0].minislots, 237);
	assert_in_range(b[2].profile[0].modulation, 1, 12);
}

/* What a burst of SC-QAM is (MULPI 6.4.3, table of burst attributes). */
static void check_bursts(const struct ucd *ucd) {
	static const uint16_t values[UCD_BURST_FIELDS] = {
		[UCD_DIFFERENTIAL] = 2,	     [UCD_PREAMBLE_LENGTH] = 64,
		[UCD_PREAMBLE_OFFSET] = 0,   [UCD_SCRAMBLER_SEED] = 0x152,
		[UCD_MAX_BURST] = 0,	     [UCD_GUARD_TIME] = 8,
		[UCD_LAST_CODEWORD] = 2,     [UCD_SCRAMBLER] = 1,
		[UCD_INTERLEAVER_DEPTH] = 1, [UCD_INTERLEAVER_BLOCK] = 1536,
		[UCD_PREAMBLE_TYPE] = 1,
	};
	static const struct {
		uint16_t iuc, modulation, fec_t, fec_k;
	} rows[] = {{MAP_REQUEST, 1, 0, 16},
		    {MAP_INITIAL, 1, 5, 34},
		    {MAP_STATION, 1, 5, 34},
		    {10, 5, 16, 223}};

	assert_int_equal(ucd->burst_count, ARRAY_COUNT(rows));
	for (unsigned i = 0; i < ucd->burst_count; i++) {
		const struct ucd_burst *b = &ucd->bursts[i];

		assert_int_equal(b->iuc, rows[i].iuc);
		assert_int_equal(b->values[UCD_MODULATION], rows[i].modulation);
		assert_int_equal(b->values[UCD_FEC_T], rows[i].fec_t);
		assert_int_equal(b->values[UCD_FEC_K], rows[i].fec_k);
		assert_int_equal(b->has, (1u << (UCD_PREAMBLE_TYPE + 1)) - 2);
		for (unsigned f = UCD_DIFFERENTIAL; f <= UCD_PREAMBLE_TYPE; f++) {
			if (f != UCD_FEC_T && f != UCD_FEC_K)
				assert_int_equal(b->values[f], values[f]);
		}
	}
}

CASE(of_each_kind, .prepare = scheduled) {
	for (unsigned c = 0; c < BENCH_CHANNELS; c++) {
		bool ofdma = bench->sg.upstream_channels[c].type == UPSTREAM_OFDMA;
		struct ucd ucd;

		assert_true(told(c, &ucd));
		(ofdma ? check_regions : check_bursts)(&ucd);
	}
}

/* Data bursts of SC-QAM; 64-QAM where nothing is said (6.4.3, table of burst attributes: modulation type). */
CASE(modulations_have_their_codes, .prepare = scheduled) {
	static const uint16_t codes[] = {[0] = 5, [2] = 1, [3] = 3, [4] = 2, [5] = 4, [6] = 5};
	struct upstream_channel *k = bench->sg.upstream_channels; /* the first one is SC-QAM */
	struct ucd ucd;

	for (uint8_t bits = 0; bits < ARRAY_COUNT(codes); bits++) {
		if (codes[bits] == 0)
			continue;
		k->grants.physical.modulation = bits;
		assert_true(told(0, &ucd));
		assert_int_equal(ucd.bursts[3].values[UCD_MODULATION], codes[bits]);
	}
}

/* Five symbols are no frame (6.4.3, table of OFDMA parameters: 6 to 36). */
CASE(settings_that_none_can_tell, .prepare = scheduled) {
	struct ucd ucd;

	for (unsigned c = 0; c < BENCH_CHANNELS; c++) {
		struct upstream_channel *k = &bench->sg.upstream_channels[c];

		k->grants.physical.frame_symbols = 5;
		assert_int_equal(told(c, &ucd), k->type != UPSTREAM_OFDMA);
	}
}
