/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `validate`: outer headers, session to upstream channel. */
#pragma once

#include <stdint.h>

#include "model/group/address.h"

/* From whom to whom packets must be. */
struct us_validate {
	struct ip_address core_ip; /* ours */
	struct ip_address rpd_ip;
};
