/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/library.h"

#include <stdlib.h>

#include "platform/log/log.h"
#include "wire/bytes.h"
#include "wire/crc32.h"

struct code {
	IMB_ARCH arch;
	void (*init)(IMB_MGR *m);
	uint64_t cpu; /* flags that the CPU must have: the library does not check all of them */
};

static void init_auto(IMB_MGR *m) {
	init_mb_mgr_auto(m, NULL);
}

/* NULL if this version lacks the code: 2.0 has none for AVX alone, and none for CPUs without
 * AES-NI. */
static const struct code *code_of(enum crypto_isa isa) {
	static const struct code codes[CRYPTO_ISAS] = {
		[CRYPTO_ISA_AUTO] = {.init = init_auto},
		[CRYPTO_ISA_AVX512] = {IMB_ARCH_AVX512, init_mb_mgr_avx512, IMB_CPUFLAGS_AVX512},
		[CRYPTO_ISA_AVX2] = {IMB_ARCH_AVX2, init_mb_mgr_avx2, IMB_CPUFLAGS_AVX2},
		[CRYPTO_ISA_SSE] = {IMB_ARCH_SSE, init_mb_mgr_sse, IMB_CPUFLAGS_SSE},
#if IMB_VERSION_NUM < IMB_VERSION(2, 0, 0)
		[CRYPTO_ISA_AVX] = {IMB_ARCH_AVX, init_mb_mgr_avx, IMB_CPUFLAGS_AVX},
		[CRYPTO_ISA_PLAIN] = {IMB_ARCH_NOAESNI, init_auto,
				      IMB_CPUFLAGS_NO_AESNI}, /* selected by its flag */
#endif
	};

	return codes[isa].init != NULL ? &codes[isa] : NULL;
}

static uint64_t flags_of(enum crypto_isa isa) {
#if IMB_VERSION_NUM < IMB_VERSION(2, 0, 0)
	return isa == CRYPTO_ISA_PLAIN ? IMB_FLAG_AESNI_OFF : 0;
#else
	(void)isa;
	return 0;
#endif
}

bool library_cpu_is_supported(void) {
	return __builtin_cpu_supports("aes") != 0;
}

/* Initializes the manager. Returns NULL, or the reason why it is unusable. It checks the CPU
 * first, as code for a missing instruction set must not run. */
static const char *manager_init(IMB_MGR *m, enum crypto_isa isa) {
	const struct code *code = code_of(isa);

	if (code == NULL)
		return "the library has no code for it";
	if ((m->features & code->cpu) != code->cpu)
		return "this CPU does not have these instructions (auto takes what it has)";
	code->init(m);
	if (imb_get_errno(m) != 0)
		return imb_get_strerror(imb_get_errno(m));
	if (library_code(m) == NULL ||
	    (isa != CRYPTO_ISA_AUTO && m->used_arch != (uint32_t)code->arch))
		return "the library selected other code";
	return NULL;
}

/* Replaces `auto` by the value of the environment variable, if set. */
static bool isa_of_environment(enum crypto_isa *isa) {
	const char *name = getenv(CRYPTO_ISA_VARIABLE);

	if (*isa != CRYPTO_ISA_AUTO || name == NULL || crypto_isa_parse(name, isa))
		return true;
	log_error("crypto", LOG_NO_FIELDS,
		  "crypto ipsec-mb: " CRYPTO_ISA_VARIABLE
		  ": found \"%s\", allowed: " CRYPTO_ISA_NAMES,
		  name);
	return false;
}

IMB_MGR *library_manager(enum crypto_isa isa) {
	const char *why;
	IMB_MGR *m;

	if (!isa_of_environment(&isa))
		return NULL;
	m = alloc_mb_mgr(flags_of(isa));
	why = m != NULL ? manager_init(m, isa) : imb_get_strerror(imb_get_errno(NULL));
	if (why == NULL)
		return m;
	if (!library_cpu_is_supported())
		why = "the library needs AES-NI, which this CPU does not have; use a device "
		      "such as crypto_openssl0";
	log_error("crypto", LOG_NO_FIELDS,
		  "crypto ipsec-mb: version %s cannot be used with --crypto-isa %s: %s",
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
