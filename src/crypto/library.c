/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/library.h"

#include <stdio.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32.h"

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

bool library_runs_here(void) {
	return __builtin_cpu_supports("aes") != 0;
}

IMB_MGR *library_manager(enum crypto_isa isa) {
	IMB_MGR *m = alloc_mb_mgr(flags_of(isa));
	const char *why = "it has no code for that";

	if (m == NULL || manager_init(m, isa)) {
		if (m != NULL && imb_get_errno(m) == 0 && library_code(m) != NULL)
			return m;
		why = imb_get_strerror(imb_get_errno(m));
	}
	if (!library_runs_here())
		why = "it needs AES-NI, which this CPU does not have (a device such as "
		      "crypto_openssl0 does not)";
	fprintf(stderr, "crypto ipsec-mb: version %s cannot be used with --crypto-isa %s: %s\n",
		imb_get_version_str(), crypto_isa_name(isa), why);
	if (m != NULL)
		free_mb_mgr(m);
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

uint32_t library_crc(const IMB_MGR *m, const uint8_t *data, size_t length) {
	return IMB_CRC32_ETHERNET_FCS(m, data, length);
}

void library_crc_write(const IMB_MGR *m, uint8_t *data, size_t length) {
	store_le32(data + length, library_crc(m, data, length));
}

bool library_crc_good(const IMB_MGR *m, const uint8_t *data, size_t length_with_crc) {
	size_t length = length_with_crc - ETHERNET_CRC_SIZE;

	return length_with_crc > ETHERNET_CRC_SIZE &&
	       load_le32(data + length) == library_crc(m, data, length);
}
