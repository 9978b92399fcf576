/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests UCDs, and that the message ring has capacity for all MAPs and UCDs that are due at once,
 * with as many upstream and downstream channels as there can be. */
#include "upstream/grant_ucd.h"
#include "upstream_grants.h"
#include "wire/ucd.h"

#define CARRIERS GRANTS_MAP_CHANNELS
#define MESSAGES (1 + CARRIERS) /* messages per upstream channel */
#define PAUSE 150000 /* ns; a MAP may be later */

static struct upstream_channel channels[SG_MAX_UPSTREAM_CHANNELS];

static void configure_largest(struct service_group *sg) {
	configure_scheduler(sg);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++) {
		channels[i] = sg->upstream_channels[RTE_MIN(i, KIT_CHANNELS - 1u)];
		if (i >= KIT_CHANNELS) {
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
	sg->upstream.scheduler.ucd_interval = 10 * KIT_MS;
}

/* A scheduler needs buffers for the messages in the ring, and as many at the R-PHY port. */
static void use_largest(void) {
	uint32_t frames;

	configure_largest(&kit->sg);
	frames = us_buffers(&kit->sg, NULL).frames;
	kit->sg.upstream.scheduled = false;
	assert_int_equal(frames, us_buffers(&kit->sg, NULL).frames + 2 * messages_ring(&kit->sg));
	kit->sg.upstream.scheduled = true;
	message_ring_open(messages_ring(&kit->sg));
	kit->frame_buffers = 8191;
}

CASE(ring_has_capacity_for_all_messages, .prepare = use_largest) {
	unsigned most = 0, received = 0;

	for (unsigned i = 0; i < 200; i++) {
		unsigned now;

		kit->clock.now = upstream_grants_due(kit->u) + i % 2 * PAUSE;
		run_scheduler();
		now = discard_messages();
		received += now;
		most = RTE_MAX(most, now);
	}
	assert_int_equal(kit_counter(COUNTER_MESSAGES_UNSENT), 0);
	assert_int_equal(kit_counter(COUNTER_MESSAGES_MADE), received);
	/* UCDs and MAPs that are due at once, after a pause of the worker */
	assert_in_range(most, SG_MAX_UPSTREAM_CHANNELS * MESSAGES + 1,
			2 * SG_MAX_UPSTREAM_CHANNELS * MESSAGES);
}

CASE(ring_size_follows_channels, .self_started = true) {
	struct service_group sg = {.upstream_channels = channels};

	assert_int_equal(messages_ring(&sg), MESSAGES_RING);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++)
		channels[i].grants.map_channel_count = 0; /* the first of the group */
	sg.upstream_channel_count = SG_MAX_UPSTREAM_CHANNELS;
	assert_int_equal(messages_ring(&sg), MESSAGES_RING);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++)
		channels[i].grants.map_channel_count = CARRIERS;
	assert_int_equal(messages_ring(&sg), 2048);
	sg.upstream_channel_count = 29; /* 522 messages */
	assert_int_equal(messages_ring(&sg), 1024);
}

/* Writes and parses the channel's UCD. Returns false if it cannot be written. */
static bool read_ucd(unsigned channel, struct ucd *ucd) {
	uint8_t frame[MANAGEMENT_FRAME_MAX];
	struct management m;
	uint32_t size = us_ucd_write(&kit->sg, &kit->sg.upstream_channels[channel],
				     kit->sg.rphy.core_mac, frame);

	if (size == 0)
		return false;
	assert_int_equal(management_frame_read(frame, size, &m), MANAGEMENT_OK);
	assert_int_equal(ucd_read(ucd, m.type, m.body, m.body_size), UCD_OK);
	assert_int_equal(ucd_check(ucd), UCD_OK);
	return true;
}

/* Checks an OFDMA channel: initial and fine ranging, data with one modulation (6.4.3). */
static void check_ofdma_bursts(const struct ucd *ucd) {
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

/* Checks the bursts of an SC-QAM channel (MULPI 6.4.3, table of burst attributes). */
static void check_sc_qam_bursts(const struct ucd *ucd) {
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
	} expected[] = {{MAP_REQUEST, 1, 0, 16},
			{MAP_INITIAL, 1, 5, 34},
			{MAP_STATION, 1, 5, 34},
			{10, 5, 16, 223}};

	assert_int_equal(ucd->burst_count, ARRAY_COUNT(expected));
	for (unsigned i = 0; i < ucd->burst_count; i++) {
		const struct ucd_burst *b = &ucd->bursts[i];

		assert_int_equal(b->iuc, expected[i].iuc);
		assert_int_equal(b->values[UCD_MODULATION], expected[i].modulation);
		assert_int_equal(b->values[UCD_FEC_T], expected[i].fec_t);
		assert_int_equal(b->values[UCD_FEC_K], expected[i].fec_k);
		assert_int_equal(b->has, (1u << (UCD_PREAMBLE_TYPE + 1)) - 2);
		for (unsigned f = UCD_DIFFERENTIAL; f <= UCD_PREAMBLE_TYPE; f++) {
			if (f != UCD_FEC_T && f != UCD_FEC_K)
				assert_int_equal(b->values[f], values[f]);
		}
	}
}

CASE(ucd_describes_each_channel_type, .prepare = with_scheduler) {
	for (unsigned c = 0; c < KIT_CHANNELS; c++) {
		bool ofdma = kit->sg.upstream_channels[c].type == UPSTREAM_OFDMA;
		struct ucd ucd;

		assert_true(read_ucd(c, &ucd));
		(ofdma ? check_ofdma_bursts : check_sc_qam_bursts)(&ucd);
	}
}

/* Data bursts of SC-QAM; by default 64-QAM (6.4.3, table of burst attributes). */
CASE(ucd_has_code_of_modulation, .prepare = with_scheduler) {
	static const uint16_t codes[] = {[0] = 5, [2] = 1, [3] = 3, [4] = 2, [5] = 4, [6] = 5};
	struct upstream_channel *k = kit->sg.upstream_channels; /* the first one is SC-QAM */
	struct ucd ucd;

	for (uint8_t bits = 0; bits < ARRAY_COUNT(codes); bits++) {
		if (codes[bits] == 0)
			continue;
		k->grants.physical.modulation = bits;
		assert_true(read_ucd(0, &ucd));
		assert_int_equal(ucd.bursts[3].values[UCD_MODULATION], codes[bits]);
	}
}

/* A frame of five symbols is too short (6.4.3, table of OFDMA parameters: 6 to 36). */
CASE(invalid_frame_has_no_ucd, .prepare = with_scheduler) {
	struct ucd ucd;

	for (unsigned c = 0; c < KIT_CHANNELS; c++) {
		struct upstream_channel *k = &kit->sg.upstream_channels[c];

		k->grants.physical.frame_symbols = 5;
		assert_int_equal(read_ucd(c, &ucd), k->type != UPSTREAM_OFDMA);
	}
}
