/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The header check sequence of a DOCSIS MAC header or upstream segment header (MULPI, MAC header
 * format): CRC-16/X-25, low byte first on the wire.
 *
 *     +----------------------+-----+-----+
 *     | header, length bytes | low | high|
 *     +----------------------+-----+-----+
 *
 *     C2 00 00 38            BA 43             a MAP's header, value 0x43BA
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOCSIS_HCS_SIZE 2
#define DOCSIS_HCS_SHARES 16

/* Used by docsis_hcs_share() only. */
extern uint16_t docsis_hcs_shares[DOCSIS_HCS_SHARES][256];

/* The check sequence over `length` bytes, as a number in host order. */
uint16_t docsis_hcs(const uint8_t *header, size_t length);

/* Writes the two bytes of the check sequence behind `length` bytes of header. */
void docsis_hcs_write(uint8_t *header, size_t length);

/* Whether the two bytes at header[length_without_hcs] are the check sequence of those before
 * them. */
bool docsis_hcs_good(const uint8_t *header, size_t length_without_hcs);

/*
 * The contribution of a byte to the check sequence if `behind` bytes, fewer than DOCSIS_HCS_SHARES,
 * are between it and the HCS.
 *
 * A CRC is linear: if the bits `change` of a header byte change, the check sequence changes by the
 * bits of docsis_hcs_share(behind, change), whatever the other bytes are.
 */
static inline uint16_t docsis_hcs_share(size_t behind, uint8_t change) {
	return docsis_hcs_shares[behind][change];
}
