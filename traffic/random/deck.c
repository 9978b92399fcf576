/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds decks; deck_draw() shuffles them while it draws. */
#include "random/deck.h"

#include <stdlib.h>

static uint64_t common_divisor(uint64_t a, uint64_t b) {
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int deck_create(struct deck *d, const uint32_t *weights, unsigned kinds) {
	uint64_t divisor = 0;
	uint64_t total = 0;

	d->cards = NULL;
	d->next = 0;
	d->size = 0;
	for (unsigned i = 0; i < kinds; i++) {
		divisor = common_divisor(divisor, weights[i]);
		total += weights[i];
	}
	if (divisor == 0 || total / divisor > DECK_MAX_CARDS)
		return -1;
	d->cards = calloc(total / divisor, sizeof(*d->cards));
	if (d->cards == NULL)
		return -1;
	for (unsigned i = 0; i < kinds; i++) {
		for (uint64_t n = 0; n < weights[i] / divisor; n++)
			d->cards[d->size++] = (uint16_t)i;
	}
	return 0;
}

void deck_free(struct deck *d) {
	free(d->cards);
	d->cards = NULL;
	d->size = 0;
}
