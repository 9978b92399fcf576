/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which address of a modem takes the place of which captured one: in order of appearance, each new
 * address of the capture gets the next of the modems' addresses of its family, again and again.
 */
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
	uint32_t next[2];
	struct captured_destination *seen;
	uint32_t slots; /* a power of two */
	uint32_t count; /* different destinations in the capture */
};

/* `sg` must live on. Returns 0, or -1 when memory is short. To be freed in either case. */
int capture_destinations_create(struct capture_destinations *d, const struct service_group *sg);

void capture_destinations_free(struct capture_destinations *d);

enum destination_found {
	DESTINATION_FOUND,
	DESTINATION_NONE, /* no modem has an address of the family */
	DESTINATION_NO_MEMORY,
};

/* What takes the place of `destination`, 4 or 16 bytes as `family` says. */
enum destination_found capture_destinations_find(struct capture_destinations *d, unsigned family,
						 const uint8_t *destination,
						 struct modem_address *out);
