/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/request.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define WHOLE 1000u /* q=1 */
#define SPACE " \t"

enum { SPECIFIC_ALL = 1, SPECIFIC_TYPE, SPECIFIC_SUBTYPE };

static const char *const types[] = {
	[METRICS_PROMETHEUS] = "text/plain",
	[METRICS_OPEN] = "application/openmetrics-text",
};

const char *request_path(const char *target) {
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t s = 0; s < sizeof(schemes) / sizeof(schemes[0]); s++) {
		const char *path;

		if (strncasecmp(target, schemes[s], strlen(schemes[s])) != 0)
			continue;
		path = strchr(target + strlen(schemes[s]), '/');
		return path != NULL ? path : "/";
	}
	return target;
}

/* Bytes of a list element: up to a comma or `end` outside of quotes, or the end of the text. */
static size_t element_size(const char *text, char end) {
	bool quoted = false;
	size_t i = 0;

	for (; text[i] != '\0' && (quoted || (text[i] != ',' && text[i] != end)); i++) {
		if (text[i] == '"')
			quoted = !quoted;
		else if (quoted && text[i] == '\\' && text[i + 1] != '\0')
			i++;
	}
	return i;
}

static size_t trimmed(const char **text, size_t size) {
	while (size > 0 && strchr(SPACE, **text) != NULL) {
		(*text)++;
		size--;
	}
	while (size > 0 && strchr(SPACE, (*text)[size - 1]) != NULL)
		size--;
	return size;
}

/* A qvalue: "0" or "1" with up to three decimals. Returns false otherwise. */
static bool weight_parse(const char *text, size_t size, unsigned *permille) {
	unsigned scale = 100;

	if (size == 0 || size > 5 || (text[0] != '0' && text[0] != '1') ||
	    (size > 1 && text[1] != '.'))
		return false;
	*permille = text[0] == '1' ? WHOLE : 0;
	for (size_t i = 2; i < size; i++, scale /= 10) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		*permille += (unsigned)(text[i] - '0') * scale;
	}
	return *permille <= WHOLE;
}

/* The parameters of a media range; only the weight q is used. */
static bool parameters_parse(const char *text, const char *end, unsigned *permille) {
	*permille = WHOLE;
	while (text < end) { /* at a semicolon */
		const char *one = text + 1;
		size_t length = element_size(one, ';'), size = trimmed(&one, length);

		if (size >= 2 && tolower((unsigned char)one[0]) == 'q' && one[1] == '=')
			return weight_parse(one + 2, size - 2, permille);
		text += 1 + length;
	}
	return true;
}

/* How specifically a media range matches a type; 0: no match. */
static unsigned specific(const char *range, size_t size, const char *type) {
	size_t slash = (size_t)(strchr(type, '/') - type);

	if (size == 3 && memcmp(range, "*/*", 3) == 0)
		return SPECIFIC_ALL;
	if (size == slash + 2 && strncasecmp(range, type, slash + 1) == 0 &&
	    range[slash + 1] == '*')
		return SPECIFIC_TYPE;
	return size == strlen(type) && strncasecmp(range, type, size) == 0 ? SPECIFIC_SUBTYPE : 0;
}

static void range_add(struct request_accept *a, const char *text, const char *end) {
	const char *range = text;
	size_t length = element_size(text, ';'), size = trimmed(&range, length);
	unsigned permille;

	if (size == 0 || !parameters_parse(text + length, end, &permille))
		return;
	for (unsigned f = 0; f <= METRICS_OPEN; f++) {
		unsigned fits = specific(range, size, types[f]);

		if (fits == 0 || fits < a->of[f].specific)
			continue;
		if (fits > a->of[f].specific || permille > a->of[f].permille)
			a->of[f].permille = permille;
		a->of[f].specific = fits;
	}
}

void request_accept_add(struct request_accept *a, const char *value) {
	for (;;) {
		size_t size = element_size(value, ',');

		range_add(a, value, value + size);
		if (value[size] == '\0')
			return;
		value += size + 1;
	}
}

enum metrics_format request_format(const struct request_accept *a) {
	unsigned prometheus = a->of[METRICS_PROMETHEUS].permille;
	unsigned open = a->of[METRICS_OPEN].permille;
	bool named = a->of[METRICS_OPEN].specific == SPECIFIC_SUBTYPE;

	return open > prometheus || (named && open > 0 && open == prometheus) ? METRICS_OPEN
									      : METRICS_PROMETHEUS;
}
