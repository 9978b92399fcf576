/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry_metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/units.h"
#include "telemetry/telemetry_answer.h"

#define METRIC_PREFIX "vcmts_"
#define NAME RTE_TEL_MAX_STRING_LEN /* bytes of a key */
#define PARAMS 256 /* bytes */
#define FILTERS 4
#define ENTRIES 200 /* values per response: DPDK 22.11 allows 256 dictionary entries .. */
#define BYTES 14000 /* .. and 16 kB of text */
#define NUMBER_BYTES 26 /* bytes of a value, with the separators around the value and its key */

struct filter {
	const char *label, *value;
};

struct flat {
	struct rte_tel_data *d;
	struct filter filters[FILTERS];
	unsigned filter_count;
	const char *prefix;
	uint64_t from;
	uint64_t seen; /* selected samples so far */
	unsigned put; /* selected samples in the response */
	size_t bytes;
	bool full;
};

/* DPDK allows letters, digits, _ and / in keys. */
static size_t key_add(char key[NAME], size_t used, const char *text) {
	for (; *text != '\0' && used + 1 < NAME; text++)
		key[used++] = (char)(isalnum((unsigned char)*text) ? *text : '_');
	key[used] = '\0';
	return used;
}

static size_t key_add_label(char key[NAME], size_t used, const char *label, const char *value) {
	const char *const words[] = {label, value};

	for (size_t w = 0; w < RTE_DIM(words) && used + 1 < NAME; w++) {
		key[used++] = '/';
		used = key_add(key, used, words[w]);
	}
	return used;
}

/* Seconds become nanoseconds, ratios become parts per million, and the name states the unit. */
static const struct flat_unit {
	const char *is, *becomes;
	double factor;
} units[] = {{"_seconds", "_nanoseconds", 1e9}, {"_ratio", "_ppm", 1e6}};

static size_t key_add_name(char key[NAME], const char *name) {
	char unit[NAME];
	size_t used;

	for (size_t u = 0; u < RTE_DIM(units); u++) {
		const char *at = strstr(name, units[u].is);

		if (at == NULL)
			continue;
		snprintf(unit, sizeof(unit), "%.*s", (int)(at - name), name);
		used = key_add(key, 0, unit);
		used = key_add(key, used, units[u].becomes);
		return key_add(key, used, at + strlen(units[u].is));
	}
	return key_add(key, 0, name);
}

static struct filter *filter_of(struct flat *f, const char *label) {
	for (unsigned i = 0; i < f->filter_count; i++) {
		if (strcmp(f->filters[i].label, label) == 0)
			return &f->filters[i];
	}
	return NULL;
}

/* Whether a filter determines the label's value. */
static bool label_is_implied(struct flat *f, const char *label) {
	static const struct filter pairs[] = {
		{"worker", "core"}, {"port", "role"}, {"modem", "service_group"}};

	if (filter_of(f, label) != NULL)
		return true;
	for (size_t p = 0; p < RTE_DIM(pairs); p++) {
		if (strcmp(pairs[p].value, label) == 0 && filter_of(f, pairs[p].label) != NULL)
			return true;
	}
	return false;
}

/* Whether the sample matches all filters. */
static bool sample_is_wanted(struct flat *f, const struct metric *m,
			     const struct metric_sample *s) {
	unsigned met = 0;

	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		const struct filter *fixed = filter_of(f, m->labels[l]);

		if (fixed != NULL && strcmp(fixed->value, s->labels[l]) != 0)
			return false;
		met += fixed != NULL;
	}
	return met == f->filter_count;
}

static void flat_put(struct flat *f, const char *key, uint64_t value) {
	size_t bytes = strlen(key) + NUMBER_BYTES;

	if (f->seen++ < f->from || f->full)
		return;
	if (f->put == ENTRIES || f->bytes + bytes > BYTES) {
		/* also omits later samples that would fit, so that the next request with `from`
		 * misses none */
		f->full = true;
		return;
	}
	telemetry_put(f->d, key, value);
	f->put++;
	f->bytes += bytes;
}

/* The sample in the unit of its key, rounded. */
static uint64_t flat_number(const struct metric *m, const struct metric_sample *s) {
	double number = s->number;

	if (!s->real)
		return s->integer;
	for (size_t u = 0; u < RTE_DIM(units); u++) {
		if (strstr(m->name, units[u].is) != NULL)
			number *= units[u].factor;
	}
	return (uint64_t)(number + 0.5);
}

static void key_make(struct flat *f, const struct metric *m, const struct metric_sample *s,
		     const char *end, char key[NAME]) {
	size_t used = key_add_name(key, m->name + strlen(METRIC_PREFIX));

	used = key_add(key, used, end);
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		if (label_is_implied(f, m->labels[l]))
			continue;
		used = key_add_label(key, used, m->labels[l], s->labels[l]);
	}
}

static bool is_info(const struct metric *m) {
	size_t size = strlen(m->name), end = strlen("_info");

	return size > end && strcmp(m->name + size - end, "_info") == 0;
}

static void flat_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct flat *f = arg;
	char key[NAME];

	if (is_info(m) || !sample_is_wanted(f, m, s))
		return;
	if (s->histogram == NULL) {
		key_make(f, m, s, "", key);
		flat_put(f, key, flat_number(m, s));
		return;
	}
	key_make(f, m, s, "_sum", key);
	flat_put(f, key, s->histogram->sum_ns);
	key_make(f, m, s, "_count", key);
	flat_put(f, key, s->histogram->count);
}

/* Splits `text` into filters. Returns NULL, or the fault. */
static const char *params_read(struct flat *f, char *text) {
	char *rest = text, *word;

	f->prefix = "";
	while ((word = strsep(&rest, ",")) != NULL) {
		char *value = strchr(word, '=');

		if (value == NULL) {
			f->prefix = word;
			continue;
		}
		*value++ = '\0';
		if (strcmp(word, "from") == 0) {
			if (!telemetry_number(value, UINT32_MAX, &f->from))
				return "from: found no number";
			continue;
		}
		if (f->filter_count == FILTERS)
			return "found more than 4 labels";
		f->filters[f->filter_count++] = (struct filter){word, value};
	}
	return NULL;
}

struct flat_modem {
	uint8_t mac[6];
	char text[UNITS_TEXT_SIZE];
};

/* Derives the selection from the filters. Returns false for an invalid value. */
static bool selection_make(struct flat *f, struct metrics_selection *s, struct flat_modem *m) {
	const struct filter *group = filter_of(f, "service_group");
	struct filter *modem = filter_of(f, "modem");
	uint64_t id = 0;

	if (group != NULL && (!telemetry_number(group->value, KEYS_MAX_ID, &id) || id == 0))
		return false;
	s->group = (uint32_t)id;
	if (modem != NULL) {
		if (!units_parse_mac(modem->value, m->mac))
			return false;
		units_format_mac(m->mac, m->text);
		modem->value = m->text; /* in the format of samples */
		s->modem = m->mac;
		s->flows = true;
	}
	return true;
}

static void put_fixed(const struct flat *f) {
	for (unsigned i = 0; i < f->filter_count; i++) {
		char key[NAME];

		key_add(key, 0, f->filters[i].label);
		telemetry_put_text(f->d, key, f->filters[i].value);
	}
}

int telemetry_metrics(const struct metrics_source *source, const char *params,
		      struct rte_tel_data *d) {
	struct flat f = {.d = d};
	char text[PARAMS], name[PARAMS];
	const char *names[] = {name}, *wrong;
	struct metrics_selection selection = {.names = names, .name_count = 1};
	struct flat_modem modem;

	if (params != NULL && strlen(params) >= sizeof(text))
		return telemetry_error(d, "found more than 255 characters");
	snprintf(text, sizeof(text), "%s", params != NULL ? params : "");
	wrong = params_read(&f, text);
	if (wrong != NULL)
		return telemetry_error(d, wrong);
	if (!selection_make(&f, &selection, &modem))
		return telemetry_error(d, "found a service_group or modem that cannot be");
	snprintf(name, sizeof(name), METRIC_PREFIX "%.*s",
		 (int)(sizeof(name) - sizeof(METRIC_PREFIX)), f.prefix);
	rte_tel_data_start_dict(d);
	put_fixed(&f);
	metrics_walk(source, &selection, &(struct metrics_sink){.sample = flat_sample, .arg = &f});
	return 0;
}
