/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/crc.h"

#include <stdlib.h>

#include <rte_net_crc.h>
#include <rte_version.h>

#ifndef VCMTS_NO_IPSEC_MB
#include "crypto/library.h"
#endif
#include "wire/bytes.h"
#include "wire/crc32.h"

struct crypto_crc {
	void *library; /* IMB_MGR; NULL: DPDK computes the CRC */
};

static bool library_init(struct crypto_crc *c) {
#ifndef VCMTS_NO_IPSEC_MB
	if (!library_cpu_is_supported())
		return true;
	c->library = library_manager(CRYPTO_ISA_AUTO);
	return c->library != NULL;
#else
	c->library = NULL;
	return true;
#endif
}

struct crypto_crc *crypto_crc_open(void) {
	struct crypto_crc *c = calloc(1, sizeof(*c));

	if (c != NULL && library_init(c))
		return c;
	free(c);
	return NULL;
}

void crypto_crc_close(struct crypto_crc *c) {
#ifndef VCMTS_NO_IPSEC_MB
	if (c->library != NULL)
		free_mb_mgr(c->library);
#endif
	free(c);
}

/* DPDK uses PMULL or PCLMULQDQ if the CPU has it. Since 25.03 its function has other arguments. */
static uint32_t crc_of(const struct crypto_crc *c, const uint8_t *data, size_t length) {
#ifndef VCMTS_NO_IPSEC_MB
	if (c->library != NULL)
		return library_crc(c->library, data, length);
#else
	(void)c;
#endif
#if RTE_VERSION < RTE_VERSION_NUM(25, 3, 0, 0)
	return rte_net_crc_calc(data, (uint32_t)length, RTE_NET_CRC32_ETH);
#else
	return ethernet_crc(data, length);
#endif
}

void crypto_crc_write(const struct crypto_crc *c, uint8_t *data, size_t length) {
	store_le32(data + length, crc_of(c, data, length));
}

bool crypto_crc_good(const struct crypto_crc *c, const uint8_t *data, size_t length_with_crc) {
	size_t length = length_with_crc - ETHERNET_CRC_SIZE;

	return length_with_crc > ETHERNET_CRC_SIZE &&
	       load_le32(data + length) == crc_of(c, data, length);
}
