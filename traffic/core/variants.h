/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variants of one packet that filters and classifiers treat alike, counted through: source ports
 * first, then the last two bytes of the source address, then destination ports.
 */
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

#define VARIANT_SPANS_MAX 64 /* more are not looked for */

/* Values of one field, the other ones being the packet's own, with which nothing changes. */
struct variant_values {
	struct {
		uint16_t low, high;
	} spans[VARIANT_SPANS_MAX];
	uint32_t span_count;
	uint32_t total; /* values in them */
	uint32_t own; /* which of them the packet's own value is */
};

struct variants {
	const struct service_group *sg;
	const struct modem *modem;
	const struct packet_address *packet;
	const struct evaluation *evaluation; /* of the packet */
	struct variant_values values[VARIANT_FIELDS];
	uint64_t total; /* combinations; not each of them need do */
};

/*
 * Finds which values there are. Of other fields than the source port only when fewer than `enough`
 * combinations are found without.
 */
void variants_create(struct variants *v, const struct service_group *sg, const struct modem *modem,
		     const struct packet_address *packet, const struct evaluation *evaluation,
		     uint64_t enough);

/* Combination `number`, below `total`. Returns whether the evaluator says the same of it. */
bool variants_get(const struct variants *v, uint64_t number, struct packet_variant *out);

/* The packet with the variant's fields. */
void variant_apply(const struct packet_variant *variant, struct packet_address *packet);
