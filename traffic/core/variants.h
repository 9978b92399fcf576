/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerates the variants of one packet that have the same evaluation: source ports first, then the
 * last two bytes of the source address, then destination ports. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/candidates.h"

enum variant_field {
	VARIANT_SOURCE_PORT,
	VARIANT_SOURCE_LOW,
	VARIANT_DESTINATION_PORT,
	VARIANT_FIELDS,
};

#define VARIANT_SPANS_MAX 64 /* at most so many ranges are searched */

/* Values of one field with which the evaluation stays the same, while the other fields are the
 * packet's own. */
struct variant_values {
	struct {
		uint16_t low, high;
	} spans[VARIANT_SPANS_MAX];
	uint32_t span_count;
	uint32_t total; /* number of values in the spans */
	uint32_t own; /* number of the packet's own value */
};

struct variants {
	const struct service_group *sg;
	const struct modem *modem;
	const struct packet_address *packet;
	const struct evaluation *evaluation; /* of the packet */
	struct variant_values values[VARIANT_FIELDS];
	uint64_t total; /* combinations; variants_get() may reject some */
};

/* Finds the values of each field. Searches fields other than the source port only if fewer than
 * `enough` combinations exist without them. The pointers must outlive `v`. */
void variants_create(struct variants *v, const struct service_group *sg, const struct modem *modem,
		     const struct packet_address *packet, const struct evaluation *evaluation,
		     uint64_t enough);

/* Gets combination `number`, below `total`. Returns whether its evaluation equals the packet's. */
bool variants_get(const struct variants *v, uint64_t number, struct packet_variant *out);

/* Writes the variant's fields to the packet. */
void variant_apply(const struct packet_variant *variant, struct packet_address *packet);
