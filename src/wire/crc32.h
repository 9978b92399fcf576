/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CRC at the end of an Ethernet frame (IEEE 802.3, 3.2.9), which DOCSIS keeps in every packet
 * PDU and MAC management message. The reflected CRC-32, low byte first on the wire.
 *
 *     +---------------------+----+----+----+----+
 *     | DA .. end of data   |  0 |  8 | 16 | 24 |   first bit of each byte of the CRC
 *     +---------------------+----+----+----+----+
 *
 *     "123456789"             26   39   F4   CB     value 0xCBF43926
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETHERNET_CRC_SIZE 4

/* The CRC over `length` bytes, as a number in host order. */
uint32_t ethernet_crc(const uint8_t *data, size_t length);

/* Writes the four bytes of the CRC behind `length` bytes of frame. */
void ethernet_crc_write(uint8_t *data, size_t length);

/* Whether the last four of `length_with_crc` bytes are the CRC. False for fewer than five bytes. */
bool ethernet_crc_good(const uint8_t *data, size_t length_with_crc);
