/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses packet mixes. */
#include "core/mix.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lines.h"

/*
 * Published mixes. All papers of 2021 and 2023 agree on the downstream. The paper of 2017 gives 8 % for 256
 * bytes, which sums to 98 %; its mean of 998 bytes is that of 10 %. It has no upstream mix.
 */
#define IMIX "84:15,256:10,1280:75"
#define UPSTREAM_IMIX_84 "84:65,256:18,1280:17"
#define UPSTREAM_IMIX_70 "70:65,256:18,1280:17" /* IPv4 acknowledgements without options */

static const struct {
	const char *name;
	const char *table;
} published[] = {
	{"imix", IMIX},
	{"imix-2017", IMIX},
	{"imix-2021", IMIX},
	{"imix-2023", IMIX},
	{"upstream-imix", UPSTREAM_IMIX_84},
	{"upstream-imix-2021", UPSTREAM_IMIX_84},
	{"upstream-imix-70", UPSTREAM_IMIX_70},
	{"upstream-imix-2023", UPSTREAM_IMIX_70},
};

/* Accepts digits only; strtoul() would also accept spaces and signs. */
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

/* State while a mix is parsed. */
struct reading {
	struct mix *mix;
	uint32_t max_size;
	char allowed[96];
};

/* Parses SIZE or SIZE:WEIGHT; in files also SIZE WEIGHT. Returns NULL, or what is allowed. */
static const char *mix_part(struct reading *r, const char *text, const char *between) {
	struct mix *m = r->mix;
	uint32_t size, weight = 1;

	if (!number(&text, UINT32_MAX, &size))
		return MIX_WORDS;
	if (*text != '\0' && strchr(between, *text) != NULL) {
		text += strspn(text, between);
		if (!number(&text, DECK_MAX_CARDS, &weight) || weight == 0)
			return "a whole number of 1..10000 as weight";
	}
	if (*text != '\0')
		return MIX_WORDS;
	if (size < MIX_MIN_SIZE || size > r->max_size) {
		snprintf(r->allowed, sizeof(r->allowed), "sizes of %u..%u bytes", MIX_MIN_SIZE,
			 r->max_size);
		return r->allowed;
	}
	if (m->count == MIX_MAX_SIZES)
		return "at most 256 sizes";
	m->sizes[m->count] = size;
	m->weights[m->count++] = weight;
	return NULL;
}

static const char *mix_record(char *text, void *context) {
	const char *allowed = mix_part(context, text, ": \t,");

	return allowed == NULL || strcmp(allowed, MIX_WORDS) != 0 ? allowed
								  : "a size and a weight, as 84 15";
}

static const char *mix_check(const struct mix *m) {
	uint64_t total = 0;

	for (unsigned i = 0; i < m->count; i++)
		total += m->weights[i];
	if (total > DECK_MAX_CARDS)
		return "weights that add up to at most 10000";
	return total == 0 ? "a size and a weight, as 84 15" : NULL;
}

static int mix_complain(char *error, size_t size, const char *text, const char *allowed) {
	snprintf(error, size, "found \"%.80s\", allowed: %s", text, allowed);
	return -1;
}

static int parse_table(struct reading *r, const char *text, char *error, size_t error_size) {
	char words[MIX_MAX_SIZES * 16];
	char *rest = words;
	char *word;

	if (strlen(text) >= sizeof(words))
		return mix_complain(error, error_size, text, "at most 256 sizes; or a file: @FILE");
	strcpy(words, text);
	while ((word = strsep(&rest, ",")) != NULL) {
		const char *allowed = mix_part(r, word, ":");

		if (allowed != NULL)
			return mix_complain(error, error_size, *word == '\0' ? text : word,
					    allowed);
	}
	return 0;
}

/* The table of a named mix; any other text is returned as it is. */
static const char *table(const char *text) {
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		if (strcmp(text, published[i].name) == 0)
			return published[i].table;
	}
	return text;
}

int mix_parse(const char *text, uint32_t max_size, struct mix *out, char *error,
	      size_t error_size) {
	struct reading r = {.mix = out, .max_size = max_size};
	char wrong[LINES_ERROR];
	const char *allowed;

	out->count = 0;
	if (strcmp(text, "largest") == 0) {
		*out = (struct mix){.sizes = {max_size}, .weights = {1}, .count = 1};
		return 0;
	}
	if (*text == '@') {
		if (!lines_read(text + 1, mix_record, &r, wrong)) {
			snprintf(error, error_size, "%s", wrong);
			return -1;
		}
	} else if (parse_table(&r, table(text), error, error_size) != 0) {
		return -1;
	}
	allowed = mix_check(out);
	return allowed == NULL ? 0 : mix_complain(error, error_size, text, allowed);
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
