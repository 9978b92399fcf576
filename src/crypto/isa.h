/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the instruction sets to which intel-ipsec-mb can be limited, also in builds without it;
 * and its version. */
#pragma once

#include <stdbool.h>

/* The limit of the library; the CPU may have less. */
enum crypto_isa {
	CRYPTO_ISA_AUTO, /* no limit */
	CRYPTO_ISA_AVX512,
	CRYPTO_ISA_AVX2,
	CRYPTO_ISA_AVX,
	CRYPTO_ISA_SSE,
	CRYPTO_ISA_PLAIN, /* without AES-NI, which the library emulates: slow */
	CRYPTO_ISAS
};

/* The values of `--crypto-isa`, for messages. */
#define CRYPTO_ISA_NAMES "auto, avx512, avx2, avx, sse or plain"
/* Environment variable that replaces `auto`, for tests and for programs without the option. */
#define CRYPTO_ISA_VARIABLE "VCMTS_CRYPTO_ISA"

/* The value of `--crypto-isa`: "avx2". */
const char *crypto_isa_name(enum crypto_isa isa);

/* Returns false for any other name. */
bool crypto_isa_parse(const char *name, enum crypto_isa *isa);

/* Version of the library in use; "none" in a build without it. */
const char *crypto_library_version(void);
