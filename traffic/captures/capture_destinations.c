/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps captured destinations to modem addresses with a hash table that doubles. */
#include "captures/capture_destinations.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/admits.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define SLOTS_FIRST 1024

struct captured_destination {
	uint8_t bytes[16];
	uint8_t family; /* 0: free */
	uint32_t address; /* index in the family's list */
};

static unsigned destinations_list_of(unsigned family) {
	return family == 4 ? 0 : 1;
}

/* The number of addresses within the modem's CPE limits. */
static size_t admitted(const struct modem *m) {
	size_t count = 0;

	for (size_t a = 0; a < m->address_count; a++)
		count += modem_admits(m, a);
	return count;
}

int capture_destinations_create(struct capture_destinations *d, const struct service_group *sg) {
	size_t total = 0;

	*d = (struct capture_destinations){.slots = SLOTS_FIRST};
	for (size_t m = 0; m < sg->modem_count; m++)
		total += admitted(&sg->modems[m]);
	d->seen = calloc(d->slots, sizeof(*d->seen));
	d->addresses[0] = calloc(total + 1, sizeof(**d->addresses));
	d->addresses[1] = calloc(total + 1, sizeof(**d->addresses));
	if (d->seen == NULL || d->addresses[0] == NULL || d->addresses[1] == NULL)
		return -1;
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		for (size_t a = 0; a < sg->modems[m].address_count; a++) {
			const struct ip_address *address = &sg->modems[m].addresses[a];
			unsigned list = destinations_list_of(address->family);

			if (!modem_admits(&sg->modems[m], a))
				continue;
			d->addresses[list][d->address_count[list]++] =
				(struct modem_address){m, address};
		}
	}
	return 0;
}

void capture_destinations_free(struct capture_destinations *d) {
	free(d->seen);
	free(d->addresses[0]);
	free(d->addresses[1]);
	*d = (struct capture_destinations){0};
}

static struct captured_destination *slot_of(struct captured_destination *seen, uint32_t slots,
					    const struct captured_destination *key) {
	uint64_t hash = key->family;
	uint32_t slot;

	for (int i = 0; i < 16; i += 4)
		hash = (hash ^ load_be32(key->bytes + i)) * 0x9e3779b97f4a7c15ull;
	slot = (uint32_t)(hash >> 32) & (slots - 1);
	while (seen[slot].family != 0 &&
	       (seen[slot].family != key->family || memcmp(seen[slot].bytes, key->bytes, 16) != 0))
		slot = (slot + 1) & (slots - 1);
	return &seen[slot];
}

static bool destinations_grow(struct capture_destinations *d) {
	uint32_t slots = 2 * d->slots;
	struct captured_destination *seen = calloc(slots, sizeof(*seen));

	if (seen == NULL)
		return false;
	for (uint32_t i = 0; i < d->slots; i++) {
		if (d->seen[i].family != 0)
			*slot_of(seen, slots, &d->seen[i]) = d->seen[i];
	}
	free(d->seen);
	d->seen = seen;
	d->slots = slots;
	return true;
}

enum destination_found capture_destinations_find(struct capture_destinations *d, unsigned family,
						 const uint8_t *destination,
						 struct modem_address *out) {
	struct captured_destination key = {.family = (uint8_t)family};
	unsigned list = destinations_list_of(family);
	struct captured_destination *slot;

	if (d->address_count[list] == 0)
		return DESTINATION_NONE;
	memcpy(key.bytes, destination, ip_address_size(family));
	slot = slot_of(d->seen, d->slots, &key);
	if (slot->family == 0) {
		key.address = d->next[list]++ % d->address_count[list];
		*slot = key;
		d->count++;
		*out = d->addresses[list][key.address];
		return 2 * d->count < d->slots || destinations_grow(d) ? DESTINATION_FOUND
								       : DESTINATION_NO_MEMORY;
	}
	*out = d->addresses[list][slot->address];
	return DESTINATION_FOUND;
}
