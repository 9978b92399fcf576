/* SPDX-License-Identifier: BSD-3-Clause */
/* IP addresses, in network byte order. */
#pragma once

#include <stdint.h>

struct ip_address {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16]; /* network order; IPv4 uses the first four */
};

struct ip_prefix {
	struct ip_address address;
	uint8_t length; /* bits; 0 matches everything of the family */
};
