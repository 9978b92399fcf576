/* SPDX-License-Identifier: BSD-3-Clause */
/* What intel-ipsec-mb may use of a CPU, by its names, which a build without it knows too; and its version. */
#pragma once

#include <stdbool.h>

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

/* As `--crypto-isa` takes them, for messages. */
#define CRYPTO_ISA_NAMES "auto, avx512, avx2, avx, sse or plain"
/* Environment variable that says what `auto` stands for: for tests, and for programs without such an option. */
#define CRYPTO_ISA_VARIABLE "VCMTS_CRYPTO_ISA"

/* As `--crypto-isa` takes it: "avx2". */
const char *crypto_isa_name(enum crypto_isa isa);

/* Returns false where the name is none of these. */
bool crypto_isa_parse(const char *name, enum crypto_isa *isa);

/* Of the library that was found at the start of the process; "none" where this build is without it. */
const char *crypto_library_version(void);
