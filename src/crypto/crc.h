/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Ethernet CRC of frames for devices that do not process it with the cipher. It uses
 * intel-ipsec-mb, or DPDK if this build or CPU cannot use the library. zlib would take a cycle per
 * byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crypto_crc;

/* Returns NULL after an error message, or without memory. The caller gives it to
 * crypto_crc_close(). */
struct crypto_crc *crypto_crc_open(void);

void crypto_crc_close(struct crypto_crc *c);

/* Writes the CRC of the first `length` bytes of `data` behind them. */
void crypto_crc_write(const struct crypto_crc *c, uint8_t *data, size_t length);

/* Whether the last four of `length_with_crc` bytes are the CRC. False for fewer than five bytes. */
bool crypto_crc_good(const struct crypto_crc *c, const uint8_t *data, size_t length_with_crc);
