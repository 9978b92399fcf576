/* SPDX-License-Identifier: BSD-3-Clause */
/* intel-ipsec-mb itself: which of its code runs on this CPU, and the Ethernet CRC as it makes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-ipsec-mb.h>

#include "crypto/isa.h"

/*
 * A manager with its lanes, of one queue. NULL after a message: this version of the library has no such code, the CPU
 * does not run it, or there is no memory. To be given to free_mb_mgr().
 */
IMB_MGR *library_manager(enum crypto_isa isa);

/* Whether this CPU has AES-NI, without which the library of distributions does nothing. */
bool library_runs_here(void);

/* What runs: "AVX512". */
const char *library_code(const IMB_MGR *m);

/* The Ethernet CRC of `length` bytes. */
uint32_t library_crc(const IMB_MGR *m, const uint8_t *data, size_t length);

/* Writes the CRC of `length` bytes behind them. */
void library_crc_write(const IMB_MGR *m, uint8_t *data, size_t length);

/* Whether the last four of `length_with_crc` bytes are right. False for fewer than five bytes. */
bool library_crc_good(const IMB_MGR *m, const uint8_t *data, size_t length_with_crc);
