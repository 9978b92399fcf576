/* SPDX-License-Identifier: BSD-3-Clause */
/* CPE limit: the addresses of a modem that may receive packets at the same time. */
#pragma once

#include <stdbool.h>

#include "model/group/modems.h"

/* Whether the address `index` is within the modem's CPE limit for its family. */
static inline bool modem_admits(const struct modem *m, size_t index) {
	uint8_t family = m->addresses[index].family;
	size_t before = 0;

	for (size_t a = 0; a < index; a++)
		before += m->addresses[a].family == family;
	return before < (family == 4 ? m->cpe_limit : m->cpe_limit_ipv6);
}
