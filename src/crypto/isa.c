/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/isa.h"

#include <string.h>

#ifndef VCMTS_NO_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

static const char *const isa_names[CRYPTO_ISAS] = {
	[CRYPTO_ISA_AUTO] = "auto", [CRYPTO_ISA_AVX512] = "avx512", [CRYPTO_ISA_AVX2] = "avx2",
	[CRYPTO_ISA_AVX] = "avx",   [CRYPTO_ISA_SSE] = "sse",	    [CRYPTO_ISA_PLAIN] = "plain",
};

const char *crypto_isa_name(enum crypto_isa isa) {
	return isa_names[isa];
}

bool crypto_isa_parse(const char *name, enum crypto_isa *isa) {
	for (unsigned i = 0; i < CRYPTO_ISAS; i++) {
		if (strcmp(name, isa_names[i]) == 0) {
			*isa = (enum crypto_isa)i;
			return true;
		}
	}
	return false;
}

const char *crypto_library_version(void) {
#ifndef VCMTS_NO_IPSEC_MB
	return imb_get_version_str();
#else
	return "none";
#endif
}
