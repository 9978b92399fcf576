/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/crc32.h"

#include <zlib.h>

#include "wire/bytes.h"

uint32_t ethernet_crc(const uint8_t *data, size_t length) {
	return (uint32_t)crc32_z(0, data, length);
}

void ethernet_crc_write(uint8_t *data, size_t length) {
	store_le32(data + length, ethernet_crc(data, length));
}

bool ethernet_crc_good(const uint8_t *data, size_t length_with_crc) {
	if (length_with_crc <= ETHERNET_CRC_SIZE)
		return false;

	size_t length = length_with_crc - ETHERNET_CRC_SIZE;

	return load_le32(data + length) == ethernet_crc(data, length);
}
