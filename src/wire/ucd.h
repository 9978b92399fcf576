/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Upstream channel descriptors (MULPI 3.1, 6.4.3): modems get the parameters of a channel by them.
 * Type 2 (and 29, 35) describes an SC-QAM channel, type 51 an OFDMA channel. The body follows the
 * header of a MAC management message (management.h):
 *
 *     +---------+-------+---------------+------------+------
 *     | channel | count | minislot size | downstream | TLVs: type(8) length(8) value ..
 *     +---------+-------+---------------+------------+------
 *
 *     01 00 02 01   01 01 10   02 04 01C9C380   03 10 3300..   04 22 01  01 01 01  02 01 02 ..
 *         2560 ksym/s at 30 MHz, a preamble, and bursts of IUC 1: QPSK, no differential coding
 *
 * Fields with one number are stored by the type of their TLV, with their value on the wire.
 * ucd_set() sets them, and `has` shows which are present.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UCD_HEADER 4 /* bytes of a body before its TLVs */
#define UCD_BURSTS_MAX 32
#define UCD_PROFILE_MAX 126 /* runs of minislots in a burst descriptor of 255 bytes */
#define UCD_BANDS_MAX 64
#define UCD_PREAMBLE_MAX 128
#define UCD_EXTENDED_PREAMBLE_MAX 64

/* Types of TLVs. ucd_set() sets those with one number. */
enum ucd_field {
	UCD_SYMBOL_RATE = 1, /* in 160 ksym/s */
	UCD_FREQUENCY = 2, /* of the center, Hz */
	UCD_PREAMBLE = 3,
	UCD_BURST_1 = 4, /* burst descriptor of DOCSIS 1.x */
	UCD_BURST_2 = 5, /* burst descriptor of DOCSIS 2.0 */
	UCD_EXTENDED_PREAMBLE = 6,
	UCD_POWER_DENSITY = 15, /* 1: power follows the symbol rate */
	UCD_RANGING_REQUIRED = 16,
	UCD_HOLD_OFF = 18,
	UCD_CLASS = 19,
	UCD_HIGHER = 22, /* 1: a UCD of type 35 describes the same channel */
	UCD_BURST_3 = 23, /* burst descriptor of DOCSIS 3.0 and 3.1 */
	UCD_CHANGES = 24,
	UCD_SNAPSHOT = 25,
	UCD_CYCLIC_PREFIX = 26, /* ucd_cyclic_prefix() */
	UCD_ROLL_OFF = 27, /* ucd_roll_off() */
	UCD_SPACING = 28, /* UCD_25_KHZ, UCD_50_KHZ */
	UCD_SUBCARRIER_0 = 29, /* of its center, Hz */
	UCD_EXCLUDED = 30,
	UCD_UNUSED = 31,
	UCD_SYMBOLS = 32, /* per frame, 6..36 */
	UCD_SEED = 33, /* of the randomizer, 23 bits */
	UCD_FIELDS = 35,
};

#define UCD_25_KHZ 1 /* 16 subcarriers per minislot, a symbol of 40 us */
#define UCD_50_KHZ 2 /* 8, 20 us */

/* Types of sub-TLVs of a burst descriptor. ucd_burst_set() sets all except the profile. */
enum ucd_burst_field {
	UCD_MODULATION = 1, /* 1 QPSK, 2 16-QAM, 3 8-QAM, 4 32-QAM, 5 64-QAM, 6 128-QAM */
	UCD_DIFFERENTIAL = 2, /* 1 on, 2 off */
	UCD_PREAMBLE_LENGTH = 3, /* bits */
	UCD_PREAMBLE_OFFSET = 4, /* bits */
	UCD_FEC_T = 5,
	UCD_FEC_K = 6,
	UCD_SCRAMBLER_SEED = 7,
	UCD_MAX_BURST = 8, /* minislots; 0: no limit */
	UCD_GUARD_TIME = 9, /* symbols */
	UCD_LAST_CODEWORD = 10, /* 1 fixed, 2 shortened */
	UCD_SCRAMBLER = 11, /* 1 on, 2 off */
	UCD_INTERLEAVER_DEPTH = 12,
	UCD_INTERLEAVER_BLOCK = 13,
	UCD_PREAMBLE_TYPE = 14, /* 1 QPSK0, 2 QPSK1 */
	UCD_INITIAL_SUBCARRIERS = 19, /* of initial ranging */
	UCD_FINE_SUBCARRIERS = 20, /* of fine ranging */
	UCD_PROFILE = 21,
	UCD_IR_POWER = 22, /* initial ranging: start(8), step(8), 0.25 dB */
	UCD_BURST_FIELDS = 23,
};

/* Adjacent minislots with the same bits, in ascending order. */
struct ucd_run {
	uint8_t modulation; /* bits per subcarrier: 0 nothing, 1 BPSK, 2 QPSK .. 12 4096-QAM */
	uint8_t pilots; /* pilot pattern, 4 bits */
	uint16_t minislots; /* 1..256 */
};

struct ucd_burst {
	uint8_t tlv; /* UCD_BURST_1, _2 or _3 */
	uint8_t iuc;
	uint8_t runs; /* of the profile; 0: none */
	uint32_t has; /* a bit per field */
	uint16_t values[UCD_BURST_FIELDS];
	struct ucd_run profile[UCD_PROFILE_MAX];
};

struct ucd_band {
	uint16_t first, last; /* subcarriers, both included */
};

struct ucd {
	uint8_t type; /* of the message: 2, 29, 35, 51 */
	uint8_t channel; /* upstream channel ID */
	uint8_t count; /* configuration change count */
	uint8_t minislot_ticks; /* of 6.25 us; 0 for OFDMA */
	uint8_t downstream; /* channel ID */
	uint8_t burst_count, excluded_count, unused_count;
	uint8_t preamble_size, extended_preamble_size; /* 0: none */
	uint16_t unknown; /* TLVs that ucd_read() skipped */
	uint64_t has; /* a bit per field with one number, and UCD_SNAPSHOT */
	uint32_t values[UCD_FIELDS];
	uint8_t preamble[UCD_PREAMBLE_MAX];
	uint8_t extended_preamble[UCD_EXTENDED_PREAMBLE_MAX];
	uint32_t snapshot_time; /* DOCSIS timestamp (10.24 MHz) of the snapshot */
	uint8_t snapshot_division; /* 1/20 of a timestamp unit: the upper 4 of 5 bits */
	uint32_t snapshot_minislot; /* the minislot that begins at that time */
	struct ucd_band excluded[UCD_BANDS_MAX], unused[UCD_BANDS_MAX];
	struct ucd_burst bursts[UCD_BURSTS_MAX];
};

enum ucd_verdict {
	UCD_OK,
	/* of ucd_read() */
	UCD_BAD_TYPE, /* not 2, 29, 35, 51 */
	UCD_TRUNCATED, /* no header, or a TLV that exceeds its container */
	UCD_BAD_LENGTH, /* a TLV length that its type does not allow */
	UCD_REPEATED, /* a TLV that is allowed only once */
	UCD_TOO_MANY, /* bursts or bands */
	UCD_RESERVED, /* a reserved bit is set */
	/* of ucd_check() */
	UCD_MISSING, /* a TLV that its type requires; a burst without its fields */
	UCD_BAD_VALUE, /* an unknown code, or out of range */
	UCD_BAD_BAND, /* bands that do not ascend, or end beyond the last subcarrier */
	UCD_BAD_BURST, /* an invalid or repeated IUC; a preamble beyond the pattern */
	UCD_VERDICTS,
};

/*
 * Writes the body into the `size` bytes at `body` and returns its size; MANAGEMENT_BODY_MAX bytes
 * always suffice. Returns 0 if `size` is too small, or if a value or count exceeds its field.
 *
 * TLVs are in ascending order of type; burst descriptors come last, in their order.
 */
size_t ucd_write(uint8_t *body, size_t size, const struct ucd *ucd);

/*
 * Parses the body of `size` bytes of a message of `type`. On UCD_OK `out` is complete; otherwise it
 * is invalid.
 *
 * Unknown TLVs are skipped and counted in `unknown`; S-CDMA channels have many. If there are none,
 * and TLVs ascend, ucd_write() writes the same bytes.
 */
enum ucd_verdict ucd_read(struct ucd *out, uint8_t type, const uint8_t *body, size_t size);

/* Checks that the description of a channel is complete and within the limits of DOCSIS 3.1.
 * Returns the first fault. */
enum ucd_verdict ucd_check(const struct ucd *ucd);

/* The message version of UCDs of this type: 1, 3, 4, 5; 0: not a UCD. */
uint8_t ucd_version(uint8_t type);

/* Sets a field with one number. */
static inline void ucd_set(struct ucd *ucd, enum ucd_field field, uint32_t value) {
	ucd->has |= UINT64_C(1) << field;
	ucd->values[field] = value;
}

static inline bool ucd_has(const struct ucd *ucd, enum ucd_field field) {
	return ucd->has >> field & 1;
}

/* The same for a burst descriptor. */
static inline void ucd_burst_set(struct ucd_burst *burst, enum ucd_burst_field field,
				 uint16_t value) {
	burst->has |= UINT32_C(1) << field;
	burst->values[field] = value;
}

static inline bool ucd_burst_has(const struct ucd_burst *burst, enum ucd_burst_field field) {
	return burst->has >> field & 1;
}

/* Convert samples of 102.4 MHz to values of UCD_CYCLIC_PREFIX and UCD_ROLL_OFF, and back. Return
 * 0 and UINT16_MAX if there is no such value. */
uint8_t ucd_cyclic_prefix(uint16_t samples);
uint16_t ucd_cyclic_prefix_samples(uint32_t value);
uint8_t ucd_roll_off(uint16_t samples);
uint16_t ucd_roll_off_samples(uint32_t value);
