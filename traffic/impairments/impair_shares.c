/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of impairments, and the parser of their shares. */
#include "impairments/impair_shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum impair_target target;
} kinds[IMPAIRMENTS] = {
#define IMPAIRMENT(enumerator, name, target, meaning) {name, IMPAIR_##target},
#include "impairments/impairment.def"
#undef IMPAIRMENT
};

const char *impair_name(enum impairment kind) {
	return kinds[kind].name;
}

enum impair_target impair_target(enum impairment kind) {
	return kinds[kind].target;
}

bool impair_any(const struct impair_shares *shares) {
	for (int i = 0; i < IMPAIRMENTS; i++) {
		if (shares->share[i] > 0)
			return true;
	}
	return false;
}

bool impair_any_of(const struct impair_shares *shares, enum impair_target target) {
	for (int i = 0; i < IMPAIRMENTS; i++) {
		if (shares->share[i] > 0 && kinds[i].target == target)
			return true;
	}
	return false;
}

static enum impairment shares_find(const char *name, size_t length) {
	int i = 0;

	while (i < IMPAIRMENTS &&
	       (strlen(kinds[i].name) != length || strncmp(name, kinds[i].name, length) != 0))
		i++;
	return (enum impairment)i;
}

/* Returns the rest of the text, or NULL. Digits only: strtod() would accept "inf" and "0x1". */
static const char *share_read(const char *text, double *share) {
	size_t digits = strspn(text, "0123456789.");
	char *end;

	*share = strtod(text, &end);
	if (digits == 0 || end != text + digits)
		return NULL;
	if (*end == '%') {
		*share /= 100;
		end++;
	}
	return *share <= 1 && (*end == ',' || *end == '\0') ? end : NULL;
}

static bool sums_fit(const struct impair_shares *s) {
	double sums[IMPAIR_ACCESS + 1] = {0};

	for (int i = 0; i < IMPAIRMENTS; i++)
		sums[kinds[i].target] += s->share[i];
	/* Shares of MAPs, requests and modems do not add up with each other. */
	if (s->share[IMPAIR_MAP_LOSS] + s->share[IMPAIR_MAP_LATE] > 1 ||
	    s->share[IMPAIR_SILENT_MODEM] + s->share[IMPAIR_BEYOND_GRANT] +
			    s->share[IMPAIR_ENDLESS_REQUESTS] >
		    1)
		return false;
	return sums[IMPAIR_PACKET] <= 1 && sums[IMPAIR_BURST] <= 1 && sums[IMPAIR_FRAME] <= 1;
}

static bool unknown(const char *name, size_t length, char *error, size_t size) {
	int used =
		snprintf(error, size, "unknown impairment \"%.*s\"; allowed:", (int)length, name);

	for (int i = 0; i < IMPAIRMENTS && used >= 0 && (size_t)used < size; i++)
		used += snprintf(error + used, size - (size_t)used, "%s %s", i > 0 ? "," : "",
				 kinds[i].name);
	return false;
}

bool impair_parse(const char *text, struct impair_shares *out, char *error, size_t size) {
	bool given[IMPAIRMENTS] = {0};

	*out = (struct impair_shares){0};
	for (const char *p = text; p != NULL; p = *p == ',' ? p + 1 : NULL) {
		size_t length = strcspn(p, "=,");
		enum impairment kind = shares_find(p, length);

		if (kind == IMPAIRMENTS)
			return unknown(p, length, error, size);
		if (given[kind]) {
			snprintf(error, size, "%s: given twice", kinds[kind].name);
			return false;
		}
		given[kind] = true;
		p = p[length] == '=' ? share_read(p + length + 1, &out->share[kind]) : NULL;
		if (p == NULL) {
			snprintf(error, size, "%s: a share is needed, as 0.1%% or 0.001, up to 1",
				 kinds[kind].name);
			return false;
		}
	}
	if (sums_fit(out))
		return true;
	snprintf(error, size,
		 "the shares of packets, bursts, frames, MAPs or modems sum up to more than 1");
	return false;
}
