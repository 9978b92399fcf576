/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the registry of metrics against counters, stages and naming conventions of Prometheus; and the descriptions. */
#include "test_main.h"

#include <ctype.h>

#include <jansson.h>

#include "downstream/downstream.h"
#include "telemetry/metrics/describe.h"
#include "telemetry/metrics/metrics.h"
#include "upstream/upstream.h"

#define MAX_NAME 64 /* longest name that metrics.get accepts */

static const struct {
	enum direction direction;
	const char *prefix, *label;
} directions[] = {
	{DIRECTION_DOWN, "vcmts_downstream_", "service_group"},
	{DIRECTION_UP, "vcmts_upstream_", "service_group"},
	{DIRECTION_PORT, "vcmts_port_", "port"},
};
#define DIRECTIONS (sizeof(directions) / sizeof(directions[0]))

static bool begins(const char *text, const char *begin) {
	return strncmp(text, begin, strlen(begin)) == 0;
}

static bool ends(const char *text, const char *end) {
	size_t size = strlen(text), tail = strlen(end);

	return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* The number of metrics of a counter; `d` is an index of `directions`. */
static unsigned count_metrics(enum counter c, unsigned d) {
	const struct metric *expected = metrics_of_counter(c, directions[d].direction);
	unsigned count = 0;

	for (unsigned i = 0; i < metrics_count(); i++)
		count += metrics_at(i) == expected;
	return count;
}

static void check_metric(enum counter c, unsigned d) {
	const struct metric *m = metrics_of_counter(c, directions[d].direction);

	assert_non_null(m);
	assert_true(begins(m->name, directions[d].prefix));
	assert_int_equal(m->type, METRIC_COUNTER);
	assert_string_equal(m->unit, counted_name(counter_counts(c)));
	assert_string_equal(m->help, counter_meaning(c));
	assert_string_equal(m->labels[0], directions[d].label);
	assert_null(m->labels[1]);
}

TEST(counter_has_one_metric_per_direction) {
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		for (enum counter c = 0; c < COUNTERS; c++) {
			bool counted = counter_in(c, directions[d].direction);

			assert_int_equal(count_metrics(c, d), counted);
			if (counted)
				check_metric(c, d);
			else
				assert_null(metrics_of_counter(c, directions[d].direction));
		}
	}
	assert_null(metrics_of_counter(COUNTER_RECEIVED, DIRECTION_BOTH));
}

static bool is_word(const char *text) {
	if (!islower((unsigned char)text[0]))
		return false;
	for (; *text != '\0'; text++) {
		if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) &&
		    (*text != '_' || text[1] == '_' || text[1] == '\0'))
			return false;
	}
	return true;
}

/* The name of the metric family in OpenMetrics: without _total. */
static const char *family_name(const struct metric *m) {
	static char family[MAX_NAME + 1];

	snprintf(family, sizeof(family), "%s", m->name);
	if (ends(family, "_total"))
		family[strlen(family) - strlen("_total")] = '\0';
	return family;
}

static bool ends_in_unit(const struct metric *m) {
	char end[MAX_NAME + 1];

	snprintf(end, sizeof(end), "_%s", m->unit);
	return *m->unit == '\0' || ends(family_name(m), end);
}

static bool is_histogram_series(const char *name) {
	return ends(name, "_bucket") || ends(name, "_sum") || ends(name, "_count") ||
	       ends(name, "_created");
}

static const char *find_label_fault(const struct metric *m) {
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		if (!is_word(m->labels[l]) || strcmp(m->labels[l], "le") == 0)
			return "a label is `le` or not lower case";
		for (unsigned before = 0; before < l; before++) {
			if (strcmp(m->labels[before], m->labels[l]) == 0)
				return "a label appears twice";
		}
	}
	return NULL;
}

/* The first convention that the metric breaks; NULL if it breaks none. */
static const char *find_fault(const struct metric *m) {
	const bool counter = m->type == METRIC_COUNTER;
	const struct {
		bool wrong;
		const char *fault;
	} rules[] = {
		{!begins(m->name, "vcmts_") || !is_word(m->name), "the name has other letters"},
		{strlen(m->name) > MAX_NAME, "the name is longer than 64 bytes"},
		{ends(m->name, "_total") != counter, "counters alone end in _total"},
		{ends(m->name, "_info") && m->type != METRIC_GAUGE, "_info is for gauges"},
		{is_histogram_series(m->name), "the suffix belongs to histograms"},
		{!ends_in_unit(m), "the name does not end in the unit"},
		{m->type == METRIC_HISTOGRAM && strcmp(m->unit, "seconds") != 0,
		 "histograms must be in seconds"},
		{strlen(m->help) < 5 || isspace((unsigned char)m->help[0]), "the help is missing"},
		{ends(m->help, ".") || ends(m->help, " "), "the help ends in a dot"},
		{strpbrk(m->help, "\n\\\"") != NULL, "the help has a newline, quote or backslash"},
	};

	for (unsigned r = 0; r < ARRAY_COUNT(rules); r++) {
		if (rules[r].wrong)
			return rules[r].fault;
	}
	return find_label_fault(m);
}

TEST(names_follow_conventions) {
	for (unsigned i = 0; i < metrics_count(); i++) {
		const char *fault = find_fault(metrics_at(i));

		if (fault != NULL)
			fail_msg("%s: %s", metrics_at(i)->name, fault);
	}
}

TEST(names_are_unique) {
	for (unsigned a = 0; a < metrics_count(); a++) {
		for (unsigned b = 0; b < metrics_count(); b++) {
			if (a == b)
				continue;
			assert_string_not_equal(metrics_at(a)->name, metrics_at(b)->name);
			assert_string_not_equal(family_name(metrics_at(a)), metrics_at(b)->name);
		}
	}
}

/* Metrics of modems and service flows are visited on request only: `wanted` is "modems" or "flows". */
TEST(descriptions_equal_metrics) {
	json_t *list = metrics_describe();

	assert_int_equal(json_array_size(list), metrics_count());
	for (unsigned i = 0; i < metrics_count(); i++) {
		const json_t *description = json_array_get(list, i);
		const struct metric *m = metrics_at(i);
		const char *wanted = begins(m->name, "vcmts_modem_")  ? "modems"
				     : begins(m->name, "vcmts_flow_") ? "flows"
								      : "always";
		unsigned labels = 0;

		while (labels < METRIC_LABELS && m->labels[labels] != NULL)
			labels++;
#define VALUE(key) json_string_value(json_object_get(description, key))
		assert_string_equal(VALUE("name"), m->name);
		assert_string_equal(VALUE("type"), metric_type_name(m->type));
		assert_string_equal(VALUE("unit"), m->unit);
		assert_string_equal(VALUE("help"), m->help);
		assert_string_equal(VALUE("wanted"), wanted);
		assert_int_equal(json_array_size(json_object_get(description, "labels")), labels);
	}
	json_decref(list);
}

static const struct {
	const struct stage_list *lists;
	unsigned list_count;
	enum direction direction;
} dirs[] = {
	{ds_lists, DS_PIPELINES, DIRECTION_DOWN},
	{us_lists, US_PIPELINES, DIRECTION_UP},
};

/* Drop reasons and counters that the stages of a direction declare. */
struct declared {
	bool drops[DROP_REASONS], counts[COUNTERS];
};

static void add_stage(struct declared *d, const struct stage *s) {
	assert_non_null(s->run);
	assert_true(strlen(s->about) > 5 && strlen(s->dpdk) > 0);
	assert_int_equal(s->open == NULL, s->close == NULL);
	assert_true(!s->pulls_input || (s->polls && s->input_queue != 0));
	if (s->pending != NULL) /* stop() drops pending packets with a reason */
		assert_true(s->stop != NULL && s->drops != NULL);
	for (const enum drop_reason *r = s->drops; r != NULL && *r != DROP_NONE; r++)
		d->drops[*r] = true;
	for (const enum counter *c = s->counters; c != NULL && *c != COUNTERS; c++)
		d->counts[*c] = true;
}

/* Each stage is complete. The drop reasons and counters of a direction are exactly those that its stages declare. */
TEST(stages_declare_drops_and_counters_of_direction) {
	for (unsigned i = 0; i < ARRAY_COUNT(dirs); i++) {
		struct declared d = {0};

		for (unsigned l = 0; l < dirs[i].list_count; l++) {
			for (unsigned s = 0; s < dirs[i].lists[l].count; s++)
				add_stage(&d, &dirs[i].lists[l].stages[s]);
		}
		for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
			if (d.drops[r] != drop_in(r, dirs[i].direction))
				fail_msg("%s: stages differ from direction %d", drop_name(r),
					 dirs[i].direction);
		}
		for (enum counter c = 0; c < COUNTERS; c++) {
			if (d.counts[c] != counter_in(c, dirs[i].direction))
				fail_msg("%s: stages differ from direction %d", counter_name(c),
					 dirs[i].direction);
		}
	}
}
