/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/bytes.h"
#include "wire/ucd.h"
#include "wire/ucd_fields.h"

#define TYPE_OFDMA 51
#define SUBCARRIERS_50_KHZ 2048
#define SUBCARRIERS_25_KHZ 4096
#define IUC_LAST 13
#define IUC_NULL 7
#define IUC_ACK 8

/* Samples of 102.4 MHz, by value less one (MULPI 3.1, UCD; as Wireshark names them). */
static const uint16_t prefixes[] = {96, 128, 160, 192, 224, 256, 288, 320, 384, 512, 640};
static const uint16_t roll_offs[] = {0, 32, 64, 96, 128, 160, 192, 224};

static uint8_t value_of(const uint16_t *samples, size_t count, uint16_t wanted) {
	for (size_t i = 0; i < count; i++) {
		if (samples[i] == wanted)
			return (uint8_t)(i + 1);
	}
	return 0;
}

uint8_t ucd_cyclic_prefix(uint16_t samples) {
	return value_of(prefixes, sizeof(prefixes) / sizeof(*prefixes), samples);
}

uint16_t ucd_cyclic_prefix_samples(uint32_t value) {
	return value - 1 < sizeof(prefixes) / sizeof(*prefixes) ? prefixes[value - 1] : UINT16_MAX;
}

uint8_t ucd_roll_off(uint16_t samples) {
	return value_of(roll_offs, sizeof(roll_offs) / sizeof(*roll_offs), samples);
}

uint16_t ucd_roll_off_samples(uint32_t value) {
	return value - 1 < sizeof(roll_offs) / sizeof(*roll_offs) ? roll_offs[value - 1]
								  : UINT16_MAX;
}

static bool has_all(uint64_t has, uint64_t wanted) {
	return (has & wanted) == wanted;
}

static enum ucd_verdict bands_check(const struct ucd_band *bands, size_t count,
				    unsigned subcarriers) {
	for (size_t i = 0; i < count; i++) {
		if (bands[i].last < bands[i].first || bands[i].last >= subcarriers)
			return UCD_BAD_BAND;
		if (i > 0 && bands[i].first <= bands[i - 1].last)
			return UCD_BAD_BAND;
	}
	return UCD_OK;
}

static enum ucd_verdict ofdma_check(const struct ucd *ucd) {
	static const uint64_t wanted = UINT64_C(1) << UCD_CYCLIC_PREFIX |
				       UINT64_C(1) << UCD_ROLL_OFF | UINT64_C(1) << UCD_SPACING |
				       UINT64_C(1) << UCD_SUBCARRIER_0 |
				       UINT64_C(1) << UCD_SYMBOLS | UINT64_C(1) << UCD_SEED;
	uint16_t prefix = ucd_cyclic_prefix_samples(ucd->values[UCD_CYCLIC_PREFIX]);
	uint16_t roll_off = ucd_roll_off_samples(ucd->values[UCD_ROLL_OFF]);
	uint32_t spacing = ucd->values[UCD_SPACING], symbols = ucd->values[UCD_SYMBOLS];
	unsigned subcarriers = spacing == UCD_25_KHZ ? SUBCARRIERS_25_KHZ : SUBCARRIERS_50_KHZ;

	if (!has_all(ucd->has, wanted))
		return UCD_MISSING;
	/* PHY: the roll-off is shorter than the prefix */
	if (prefix == UINT16_MAX || roll_off >= prefix ||
	    (spacing != UCD_25_KHZ && spacing != UCD_50_KHZ) || symbols < 6 || symbols > 36 ||
	    ucd->values[UCD_SEED] > 0x7fffff)
		return UCD_BAD_VALUE;
	if (bands_check(ucd->excluded, ucd->excluded_count, subcarriers) != UCD_OK)
		return UCD_BAD_BAND;
	return bands_check(ucd->unused, ucd->unused_count, subcarriers);
}

static enum ucd_verdict sc_qam_check(const struct ucd *ucd) {
	uint8_t ticks = ucd->minislot_ticks;
	uint32_t rate = ucd->values[UCD_SYMBOL_RATE];

	if (!has_all(ucd->has, UINT64_C(1) << UCD_SYMBOL_RATE | UINT64_C(1) << UCD_FREQUENCY) ||
	    ucd->preamble_size == 0)
		return UCD_MISSING;
	/* powers of two: 160 to 5120 ksym/s, minislots of 6.25 us to 800 us */
	if (rate == 0 || rate > 32 || (rate & (rate - 1)) != 0 || ticks == 0 ||
	    (ticks & (ticks - 1)) != 0)
		return UCD_BAD_VALUE;
	return UCD_OK;
}

static enum ucd_verdict burst_check(const struct ucd *ucd, const struct ucd_burst *burst) {
	static const uint64_t wanted = 1u << UCD_MODULATION | 1u << UCD_PREAMBLE_LENGTH |
				       1u << UCD_PREAMBLE_OFFSET | 1u << UCD_FEC_T |
				       1u << UCD_GUARD_TIME;
	unsigned pattern = 8u * (ucd->preamble_size + ucd->extended_preamble_size);

	if (burst->iuc == 0 || burst->iuc > IUC_LAST || burst->iuc == IUC_NULL ||
	    burst->iuc == IUC_ACK)
		return UCD_BAD_BURST;
	/* maintenance bursts have their subcarriers, data bursts their profile */
	if (ucd->type == TYPE_OFDMA)
		return burst->runs > 0 || burst->has != 0 ? UCD_OK : UCD_MISSING;
	if (!has_all(burst->has, wanted))
		return UCD_MISSING;
	if (burst->values[UCD_PREAMBLE_LENGTH] + burst->values[UCD_PREAMBLE_OFFSET] > (int)pattern)
		return UCD_BAD_BURST;
	return UCD_OK;
}

enum ucd_verdict ucd_check(const struct ucd *ucd) {
	uint32_t seen[UCD_BURST_3 + 1] = {0}; /* IUCs, by the type of their TLV */
	enum ucd_verdict verdict;

	if (ucd_version(ucd->type) == 0)
		return UCD_BAD_TYPE;
	verdict = ucd->type == TYPE_OFDMA ? ofdma_check(ucd) : sc_qam_check(ucd);
	if (verdict != UCD_OK)
		return verdict;
	if (ucd->burst_count == 0)
		return UCD_MISSING;
	for (unsigned i = 0; i < ucd->burst_count; i++) {
		const struct ucd_burst *burst = &ucd->bursts[i];

		verdict = burst_check(ucd, burst);
		if (verdict != UCD_OK)
			return verdict;
		if (!ucd_is_burst(burst->tlv) || seen[burst->tlv] >> burst->iuc & 1)
			return UCD_BAD_BURST;
		seen[burst->tlv] |= UINT32_C(1) << burst->iuc;
	}
	return UCD_OK;
}
