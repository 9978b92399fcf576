/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the words for packet mixes. */
#include "mix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMIX "84:15,256:10,1280:75"
#define UPSTREAM_IMIX "84:65,256:18,1280:17"
#define UPSTREAM_IMIX_70 "70:65,256:18,1280:17" /* acknowledgements without options, of IPv4 */

/* Digits only, as strtoul() would also take spaces and signs. */
static bool number(const char **text, uint32_t max, uint32_t *out) {
	uint64_t value = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > max)
			return false;
	}
	*out = (uint32_t)value;
	*text = p;
	return true;
}

static bool part(const char **text, struct mix *m) {
	uint32_t *weight = &m->weights[m->count];

	if (!number(text, UINT32_MAX, &m->sizes[m->count]))
		return false;
	*weight = 1;
	if (**text == ':') {
		(*text)++;
		if (!number(text, DECK_MAX_CARDS, weight) || *weight == 0)
			return false;
	}
	m->count++;
	return true;
}

static int complain(char *error, size_t size, const char *text, const char *allowed) {
	snprintf(error, size, "%s: allowed: %s", text, allowed);
	return -1;
}

static int check(const struct mix *m, const char *text, uint32_t max_size, char *error,
		 size_t size) {
	uint64_t total = 0;
	char allowed[64];

	for (unsigned i = 0; i < m->count; i++) {
		total += m->weights[i];
		if (m->sizes[i] < MIX_MIN_SIZE || m->sizes[i] > max_size) {
			snprintf(allowed, sizeof(allowed), "sizes of %u..%u bytes", MIX_MIN_SIZE,
				 max_size);
			return complain(error, size, text, allowed);
		}
	}
	if (total > DECK_MAX_CARDS)
		return complain(error, size, text, "weights that add up to at most 10000");
	return 0;
}

/* What stands behind a name. */
static const char *table(const char *text) {
	if (strcmp(text, "imix") == 0)
		return IMIX;
	if (strcmp(text, "upstream-imix-70") == 0)
		return UPSTREAM_IMIX_70;
	return strcmp(text, "upstream-imix") == 0 ? UPSTREAM_IMIX : text;
}

int mix_parse(const char *text, uint32_t max_size, struct mix *out, char *error,
	      size_t error_size) {
	const char *p = table(text);

	out->count = 0;
	for (;;) {
		if (out->count == MIX_MAX_SIZES)
			return complain(error, error_size, text, "at most 16 sizes");
		if (!part(&p, out) || (*p != ',' && *p != '\0'))
			return complain(error, error_size, text,
					"imix, upstream-imix, upstream-imix-70, a size in bytes, "
					"or a table SIZE:WEIGHT,SIZE:WEIGHT");
		if (*p == '\0')
			return check(out, text, max_size, error, error_size);
		p++;
	}
}

double mix_mean(const struct mix *m) {
	uint64_t bytes = 0;
	uint64_t packets = 0;

	for (unsigned i = 0; i < m->count; i++) {
		bytes += (uint64_t)m->sizes[i] * m->weights[i];
		packets += m->weights[i];
	}
	return (double)bytes / (double)packets;
}

uint32_t mix_largest(const struct mix *m) {
	uint32_t largest = 0;

	for (unsigned i = 0; i < m->count; i++) {
		if (m->sizes[i] > largest)
			largest = m->sizes[i];
	}
	return largest;
}

int mix_deck(const struct mix *m, struct deck *d) {
	return deck_create(d, m->weights, m->count);
}
