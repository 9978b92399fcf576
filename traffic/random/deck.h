/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact random shares: a deck of cards is drawn to its end and shuffled again. After each whole
 * deck, every kind was drawn as often as its weight says, in another order each time. */
#pragma once

#include <stdint.h>

#include "random/random.h"

#define DECK_MAX_CARDS 10000

struct deck {
	uint16_t *cards; /* index of a kind */
	uint32_t size;
	uint32_t next; /* cards before this one are drawn */
};

/*
 * Makes a deck in which kind i of `kinds` (at most 65,535) has weights[i] cards, divided by the common
 * divisor of all weights. Returns 0, or -1 if all weights are 0, the deck would exceed DECK_MAX_CARDS or
 * memory is short.
 */
int deck_create(struct deck *d, const uint32_t *weights, unsigned kinds);

void deck_free(struct deck *d);

/* Draws a card. Returns its kind. */
static inline uint16_t deck_draw(struct deck *d, struct random *r) {
	uint32_t pick = d->next + random_below(r, d->size - d->next);
	uint16_t kind = d->cards[pick];

	d->cards[pick] = d->cards[d->next];
	d->cards[d->next] = kind;
	d->next = d->next + 1 == d->size ? 0 : d->next + 1;
	return kind;
}
