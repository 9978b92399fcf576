/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCDs (MULPI 3.1, 6.4.3).
 *
 * The configuration does not describe bursts, preambles, coding and subcarriers of maintenance.
 * They have common values of a CMTS, so that tools see a complete message; the simulated modems do
 * not use them.
 */
#include "upstream/grant_ucd.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "model/grants_times.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/ucd.h"

#define TYPE_SC_QAM 35 /* of DOCSIS 3.0 */
#define TYPE_OFDMA 51
#define FREQUENCY_SC_QAM 30000000 /* default */
#define FREQUENCY_OFDMA 7400000
#define SEED_SC_QAM 0x152
#define SEED_OFDMA 0x1234
#define PREAMBLE 128 /* bits */

static const uint8_t preamble[PREAMBLE / 8] = {0x33, 0xf3, 0x3f, 0xfc, 0xcc, 0xf0, 0xcc, 0x33,
					       0x3f, 0xcf, 0xf3, 0x30, 0xfc, 0xc3, 0x33, 0x0f};

static struct ucd_burst *burst_add(struct ucd *u, uint8_t iuc) {
	struct ucd_burst *b = &u->bursts[u->burst_count++];

	*b = (struct ucd_burst){.tlv = UCD_BURST_3, .iuc = iuc};
	return b;
}

static void sc_qam_burst(struct ucd *u, uint8_t iuc, uint16_t modulation, uint16_t t, uint16_t k) {
	struct ucd_burst *b = burst_add(u, iuc);

	ucd_burst_set(b, UCD_MODULATION, modulation);
	ucd_burst_set(b, UCD_DIFFERENTIAL, 2);
	ucd_burst_set(b, UCD_PREAMBLE_LENGTH, PREAMBLE / 2);
	ucd_burst_set(b, UCD_PREAMBLE_OFFSET, 0);
	ucd_burst_set(b, UCD_FEC_T, t);
	ucd_burst_set(b, UCD_FEC_K, k);
	ucd_burst_set(b, UCD_SCRAMBLER_SEED, SEED_SC_QAM);
	ucd_burst_set(b, UCD_MAX_BURST, 0);
	ucd_burst_set(b, UCD_GUARD_TIME, 8);
	ucd_burst_set(b, UCD_LAST_CODEWORD, 2);
	ucd_burst_set(b, UCD_SCRAMBLER, 1);
	ucd_burst_set(b, UCD_INTERLEAVER_DEPTH, 1);
	ucd_burst_set(b, UCD_INTERLEAVER_BLOCK, 1536);
	ucd_burst_set(b, UCD_PREAMBLE_TYPE, 1);
}

/* The modulation code of a burst descriptor for bits per symbol. */
static uint16_t modulation_of(uint8_t bits) {
	static const uint8_t codes[] = {[2] = 1, [3] = 3, [4] = 2, [5] = 4, [6] = 5};

	return bits >= 2 && bits <= 6 ? codes[bits] : codes[6];
}

static void fill_sc_qam(struct ucd *u, const struct upstream_physical *p) {
	u->type = TYPE_SC_QAM;
	u->minislot_ticks = p->minislot_ticks;
	ucd_set(u, UCD_SYMBOL_RATE, p->symbol_rate / 160u);
	ucd_set(u, UCD_FREQUENCY, p->frequency != 0 ? p->frequency : FREQUENCY_SC_QAM);
	memcpy(u->preamble, preamble, sizeof(preamble));
	u->preamble_size = sizeof(preamble);
	sc_qam_burst(u, MAP_REQUEST, 1, 0, 16);
	sc_qam_burst(u, MAP_INITIAL, 1, 5, 34);
	sc_qam_burst(u, MAP_STATION, 1, 5, 34);
	sc_qam_burst(u, p->data_iuc, modulation_of(p->modulation), 16, 223);
}

/* Bits per subcarrier; derived from the rate if not configured. */
static uint8_t bits_of(const struct upstream_physical *p, const struct grants_times *t) {
	uint32_t carriers = 400u / p->subcarrier_spacing * p->frame_symbols;
	uint32_t bits = p->bits != 0 ? p->bits : (8u * t->minislot_bytes + carriers - 1) / carriers;

	return (uint8_t)RTE_MIN(bits, 12u);
}

static void fill_ofdma(struct ucd *u, const struct upstream_physical *p,
		       const struct grants_times *t) {
	struct ucd_burst *b;

	u->type = TYPE_OFDMA;
	ucd_set(u, UCD_CYCLIC_PREFIX, ucd_cyclic_prefix(p->cyclic_prefix));
	ucd_set(u, UCD_ROLL_OFF, ucd_roll_off(64));
	ucd_set(u, UCD_SPACING, p->subcarrier_spacing == 25 ? UCD_25_KHZ : UCD_50_KHZ);
	ucd_set(u, UCD_SUBCARRIER_0, p->frequency != 0 ? p->frequency : FREQUENCY_OFDMA);
	ucd_set(u, UCD_SYMBOLS, p->frame_symbols);
	ucd_set(u, UCD_SEED, SEED_OFDMA);
	b = burst_add(u, MAP_INITIAL);
	ucd_burst_set(b, UCD_INITIAL_SUBCARRIERS, 64);
	b = burst_add(u, MAP_STATION);
	ucd_burst_set(b, UCD_FINE_SUBCARRIERS, 128);
	b = burst_add(u, p->data_iuc);
	b->profile[b->runs++] = (struct ucd_run){
		.modulation = bits_of(p, t),
		.pilots = 1,
		.minislots = p->frame_minislots,
	};
}

static uint8_t downstream_of(const struct service_group *sg, const struct upstream_channel *c) {
	return (uint8_t)grants_map_channel(sg, c, 0);
}

uint32_t us_ucd_write(const struct service_group *sg, const struct upstream_channel *c,
		      const uint8_t source[6], uint8_t *frame) {
	const struct grants_times t = grants_times_of(&sg->upstream.scheduler, c);
	struct management m = {.body = frame + DOCSIS_MAC_HEADER + MANAGEMENT_HEADER};
	struct ucd *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return 0;
	u->channel = (uint8_t)c->id;
	u->count = US_UCD_COUNT;
	u->downstream = downstream_of(sg, c);
	if (c->type == UPSTREAM_OFDMA)
		fill_ofdma(u, &c->grants.physical, &t);
	else
		fill_sc_qam(u, &c->grants.physical);
	m.type = u->type;
	m.version = ucd_version(u->type);
	memcpy(m.da, management_all_modems, sizeof(m.da));
	memcpy(m.sa, source, sizeof(m.sa));
	if (ucd_check(u) == UCD_OK)
		m.body_size = ucd_write(frame + DOCSIS_MAC_HEADER + MANAGEMENT_HEADER,
					MANAGEMENT_BODY_MAX, u);
	free(u);
	return m.body_size > 0 ? (uint32_t)management_frame_write(&m, frame, MANAGEMENT_FRAME_MAX)
			       : 0;
}
