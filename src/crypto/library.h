/* SPDX-License-Identifier: BSD-3-Clause */
/* intel-ipsec-mb: selects its code for this CPU, and computes Ethernet CRCs with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-ipsec-mb.h>

#include "crypto/isa.h"

/* The library's manager of one queue. Returns NULL after an error message: the library lacks code
 * for `isa`, the CPU cannot run it, or there is no memory. The caller frees it by free_mb_mgr(). */
IMB_MGR *library_manager(enum crypto_isa isa);

/* Whether this CPU has AES-NI, which the library of distributions requires. */
bool library_cpu_is_supported(void);

/* The instruction set in use: "AVX512". */
const char *library_code(const IMB_MGR *m);

/* The Ethernet CRC of `length` bytes. */
uint32_t library_crc(const IMB_MGR *m, const uint8_t *data, size_t length);

/* Writes the CRC of the first `length` bytes of `data` behind them. */
void library_crc_write(const IMB_MGR *m, uint8_t *data, size_t length);

/* Whether the last four of `length_with_crc` bytes are the CRC. False for fewer than five bytes. */
bool library_crc_good(const IMB_MGR *m, const uint8_t *data, size_t length_with_crc);
