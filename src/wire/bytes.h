/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integers in byte buffers, in either order and at any alignment.
 *
 *     address    +0  +1  +2  +3
 *     bytes      12  34  56  78
 *     load_be32  0x12345678
 *     load_le32  0x78563412
 */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_be16(const uint8_t *bytes) {
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return be16toh(value);
}

static inline uint32_t load_be32(const uint8_t *bytes) {
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return be32toh(value);
}

static inline uint64_t load_be64(const uint8_t *bytes) {
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return be64toh(value);
}

static inline uint16_t load_le16(const uint8_t *bytes) {
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return le16toh(value);
}

static inline uint32_t load_le32(const uint8_t *bytes) {
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static inline void store_be16(uint8_t *bytes, uint16_t value) {
	value = htobe16(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void store_be32(uint8_t *bytes, uint32_t value) {
	value = htobe32(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void store_le16(uint8_t *bytes, uint16_t value) {
	value = htole16(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void store_le32(uint8_t *bytes, uint32_t value) {
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
}
