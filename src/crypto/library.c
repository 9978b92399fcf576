/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/library.h"

#include <stdio.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32.h"

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

/* Returns whether this version has such code: 2.0 has none for AVX alone, and none for CPUs without AES-NI. */
static bool manager_init(IMB_MGR *m, enum crypto_isa isa) {
	switch (isa) {
	case CRYPTO_ISA_AVX512: init_mb_mgr_avx512(m); return true;
	case CRYPTO_ISA_AVX2: init_mb_mgr_avx2(m); return true;
	case CRYPTO_ISA_SSE: init_mb_mgr_sse(m); return true;
#if IMB_VERSION_NUM < IMB_VERSION(2, 0, 0)
	case CRYPTO_ISA_AVX: init_mb_mgr_avx(m); return true;
#else
	case CRYPTO_ISA_AVX:
	case CRYPTO_ISA_PLAIN: return false;
#endif
	default: init_mb_mgr_auto(m, NULL); return true; /* CRYPTO_ISA_PLAIN: by its flag */
	}
}

static uint64_t flags_of(enum crypto_isa isa) {
#if IMB_VERSION_NUM < IMB_VERSION(2, 0, 0)
	return isa == CRYPTO_ISA_PLAIN ? IMB_FLAG_AESNI_OFF : 0;
#else
	(void)isa;
	return 0;
#endif
}

IMB_MGR *library_manager(enum crypto_isa isa) {
	IMB_MGR *m = alloc_mb_mgr(flags_of(isa));
	const char *why = "it has no code for that";

	if (m == NULL || manager_init(m, isa)) {
		if (m != NULL && imb_get_errno(m) == 0 && library_code(m) != NULL)
			return m;
		why = imb_get_strerror(imb_get_errno(m));
	}
	if (m != NULL)
		free_mb_mgr(m);
	fprintf(stderr, "crypto ipsec-mb: version %s cannot be used with --crypto-isa %s: %s\n",
		imb_get_version_str(), crypto_isa_name(isa), why);
	return NULL;
}

const char *library_code(const IMB_MGR *m) {
	switch (m->used_arch) {
#if IMB_VERSION_NUM < IMB_VERSION(2, 0, 0)
	case IMB_ARCH_NOAESNI: return "no AES-NI";
	case IMB_ARCH_AVX: return "AVX";
#endif
	case IMB_ARCH_SSE: return "SSE";
	case IMB_ARCH_AVX2: return "AVX2";
	case IMB_ARCH_AVX512: return "AVX512";
	default: return NULL;
	}
}

void library_crc_write(const IMB_MGR *m, uint8_t *data, size_t length) {
	store_le32(data + length, IMB_CRC32_ETHERNET_FCS(m, data, length));
}

bool library_crc_good(const IMB_MGR *m, const uint8_t *data, size_t length_with_crc) {
	size_t length = length_with_crc - ETHERNET_CRC_SIZE;

	return length_with_crc > ETHERNET_CRC_SIZE &&
	       load_le32(data + length) == IMB_CRC32_ETHERNET_FCS(m, data, length);
}
