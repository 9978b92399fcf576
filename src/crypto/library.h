/* SPDX-License-Identifier: BSD-3-Clause */
/* intel-ipsec-mb itself: which of its code runs on this CPU, and the Ethernet CRC as it makes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-ipsec-mb.h>

/* The most that the library may use of a CPU; it may have less. */
enum crypto_isa {
	CRYPTO_ISA_AUTO, /* all that there is */
	CRYPTO_ISA_AVX512,
	CRYPTO_ISA_AVX2,
	CRYPTO_ISA_AVX,
	CRYPTO_ISA_SSE,
	CRYPTO_ISA_PLAIN, /* without AES-NI, which the library plays: slow */
	CRYPTO_ISAS
};

/* As `--crypto-isa` takes them: auto, avx512, avx2, avx, sse, plain. */
const char *crypto_isa_name(enum crypto_isa isa);

/* Returns false where the name is none of these. */
bool crypto_isa_parse(const char *name, enum crypto_isa *isa);

/*
 * A manager with its lanes, of one queue. NULL after a message: this version of the library has no such code, the CPU
 * does not run it, or there is no memory. To be given to free_mb_mgr().
 */
IMB_MGR *library_manager(enum crypto_isa isa);

/* What runs: "AVX512". */
const char *library_code(const IMB_MGR *m);

/* Writes the CRC of `length` bytes behind them. */
void library_crc_write(const IMB_MGR *m, uint8_t *data, size_t length);

/* Whether the last four of `length_with_crc` bytes are right. False for fewer than five bytes. */
bool library_crc_good(const IMB_MGR *m, const uint8_t *data, size_t length_with_crc);
