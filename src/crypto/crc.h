/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Ethernet CRC of frames beside whose cipher a device makes none: by intel-ipsec-mb, or by DPDK where this build, or
 * this CPU, does without the library. zlib's takes a cycle a byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crypto_crc;

/* NULL after a message, or when there is no memory. To be given to crypto_crc_close(). */
struct crypto_crc *crypto_crc_open(void);

void crypto_crc_close(struct crypto_crc *c);

/* Writes the CRC of `length` bytes behind them. */
void crypto_crc_write(const struct crypto_crc *c, uint8_t *data, size_t length);

/* Whether the last four of `length_with_crc` bytes are right. False for fewer than five bytes. */
bool crypto_crc_good(const struct crypto_crc *c, const uint8_t *data, size_t length_with_crc);
