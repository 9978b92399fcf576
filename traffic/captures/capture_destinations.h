/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces captured addresses by addresses of modems. In order of appearance, each new address of
 * the capture gets the next modem address of its family, in round robin. */
#pragma once

#include <stdint.h>

#include "model/service_group.h"

struct modem_address {
	uint32_t modem; /* index in the service group */
	const struct ip_address *address;
};

struct captured_destination;

struct capture_destinations {
	struct modem_address *addresses[2]; /* IPv4, IPv6 */
	uint32_t address_count[2];
	uint32_t next[2]; /* number of destinations that got an address, by family */
	struct captured_destination *seen; /* hash table of `slots` */
	uint32_t slots; /* a power of two */
	uint32_t count; /* distinct destinations in the capture */
};

/* `sg` must outlive `d`. Returns 0, or -1 if memory is short. The caller frees it in either case. */
int capture_destinations_create(struct capture_destinations *d, const struct service_group *sg);

void capture_destinations_free(struct capture_destinations *d);

enum destination_found {
	DESTINATION_FOUND,
	DESTINATION_NONE, /* no modem has an address of the family */
	DESTINATION_NO_MEMORY,
};

/* Finds the modem address that replaces `destination`, which has 4 or 16 bytes by `family`. */
enum destination_found capture_destinations_find(struct capture_destinations *d, unsigned family,
						 const uint8_t *destination,
						 struct modem_address *out);
