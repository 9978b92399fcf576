/* SPDX-License-Identifier: BSD-3-Clause */
/* Each counter has one metric, and is one of a stage's; names are as Prometheus wants them. */
#include "test_main.h"

#include <ctype.h>

#include <jansson.h>

#include "downstream/downstream.h"
#include "telemetry/metrics/describe.h"
#include "telemetry/metrics/metrics.h"
#include "upstream/upstream.h"

#define NAME_MOST 64 /* bytes that metrics.get takes of a name */

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

/* How many metrics are of this counter. */
static unsigned metrics_of(enum counter c, unsigned d) {
	const struct metric *wanted = metrics_of_counter(c, directions[d].direction);
	unsigned found = 0;

	for (unsigned i = 0; i < metrics_count(); i++)
		found += metrics_at(i) == wanted;
	return found;
}

static void counter_has_one(enum counter c, unsigned d) {
	const struct metric *m = metrics_of_counter(c, directions[d].direction);

	assert_non_null(m);
	assert_true(begins(m->name, directions[d].prefix));
	assert_int_equal(m->type, METRIC_COUNTER);
	assert_string_equal(m->unit, counted_name(counter_counts(c)));
	assert_string_equal(m->help, counter_meaning(c));
	assert_string_equal(m->labels[0], directions[d].label);
	assert_null(m->labels[1]);
}

TEST(each_counter_has_one_in_each_direction) {
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		for (enum counter c = 0; c < COUNTERS; c++) {
			bool there = counter_in(c, directions[d].direction);

			assert_int_equal(metrics_of(c, d), there);
			if (there)
				counter_has_one(c, d);
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

/* The name without _total, which is what OpenMetrics calls a counter. */
static const char *family_of(const struct metric *m) {
	static char family[NAME_MOST + 1];

	snprintf(family, sizeof(family), "%s", m->name);
	if (ends(family, "_total"))
		family[strlen(family) - strlen("_total")] = '\0';
	return family;
}

static bool unit_is_the_end(const struct metric *m) {
	char end[NAME_MOST + 1];

	snprintf(end, sizeof(end), "_%s", m->unit);
	return *m->unit == '\0' || ends(family_of(m), end);
}

static bool is_of_a_histogram(const char *name) {
	return ends(name, "_bucket") || ends(name, "_sum") || ends(name, "_count") ||
	       ends(name, "_created");
}

static const char *fault_of_labels(const struct metric *m) {
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		if (!is_word(m->labels[l]) || strcmp(m->labels[l], "le") == 0)
			return "a label of another kind";
		for (unsigned before = 0; before < l; before++) {
			if (strcmp(m->labels[before], m->labels[l]) == 0)
				return "a label again";
		}
	}
	return NULL;
}

/* What a name, label or help is that it is not to be; NULL: it is all right. */
static const char *fault_of(const struct metric *m) {
	const bool counter = m->type == METRIC_COUNTER;
	const struct {
		bool wrong;
		const char *fault;
	} rules[] = {
		{!begins(m->name, "vcmts_") || !is_word(m->name), "the name has other letters"},
		{strlen(m->name) > NAME_MOST, "the name is too long"},
		{ends(m->name, "_total") != counter, "_total is of counters"},
		{ends(m->name, "_info") && m->type != METRIC_GAUGE, "_info is of gauges"},
		{is_of_a_histogram(m->name), "an end of series of histograms"},
		{!unit_is_the_end(m), "its unit is not its end"},
		{m->type == METRIC_HISTOGRAM && strcmp(m->unit, "seconds") != 0,
		 "a histogram is of seconds"},
		{strlen(m->help) < 5 || isspace((unsigned char)m->help[0]), "no help"},
		{ends(m->help, ".") || ends(m->help, " "), "help ends in a dot"},
		{strpbrk(m->help, "\n\\\"") != NULL, "help of several lines, or with quotes"},
	};

	for (unsigned r = 0; r < ARRAY_COUNT(rules); r++) {
		if (rules[r].wrong)
			return rules[r].fault;
	}
	return fault_of_labels(m);
}

TEST(names_are_conventional) {
	for (unsigned i = 0; i < metrics_count(); i++) {
		const char *fault = fault_of(metrics_at(i));

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
			assert_string_not_equal(family_of(metrics_at(a)), metrics_at(b)->name);
		}
	}
}

/* Where a metric is of modems or service flows, it is not told unasked. */
TEST(all_are_described) {
	json_t *list = metrics_describe();

	assert_int_equal(json_array_size(list), metrics_count());
	for (unsigned i = 0; i < metrics_count(); i++) {
		const json_t *told = json_array_get(list, i);
		const struct metric *m = metrics_at(i);
		const char *wanted = begins(m->name, "vcmts_modem_")  ? "modems"
				     : begins(m->name, "vcmts_flow_") ? "flows"
								      : "always";
		unsigned labels = 0;

		while (labels < METRIC_LABELS && m->labels[labels] != NULL)
			labels++;
#define TOLD(key) json_string_value(json_object_get(told, key))
		assert_string_equal(TOLD("name"), m->name);
		assert_string_equal(TOLD("type"), metric_type_name(m->type));
		assert_string_equal(TOLD("unit"), m->unit);
		assert_string_equal(TOLD("help"), m->help);
		assert_string_equal(TOLD("wanted"), wanted);
		assert_int_equal(json_array_size(json_object_get(told, "labels")), labels);
	}
	json_decref(list);
}

static const struct {
	const struct stage_list *lists;
	unsigned list_count;
	enum direction direction;
} ways[] = {
	{ds_lists, DS_PIPELINES, DIRECTION_DOWN},
	{us_lists, US_PIPELINES, DIRECTION_UP},
};

/* What the rows of a direction declare. */
struct declared {
	bool drops[DROP_REASONS], counts[COUNTERS];
};

static void row_add(struct declared *d, const struct stage *s) {
	assert_non_null(s->run);
	assert_true(strlen(s->about) > 5 && strlen(s->dpdk) > 0);
	assert_int_equal(s->open == NULL, s->close == NULL);
	assert_true(!s->pulls || (s->polls && s->from != 0));
	if (s->pending != NULL) /* what is pending has an end with a reason */
		assert_true(s->stop != NULL && s->drops != NULL);
	for (const enum drop_reason *r = s->drops; r != NULL && *r != DROP_NONE; r++)
		d->drops[*r] = true;
	for (const enum counter *c = s->counters; c != NULL && *c != COUNTERS; c++)
		d->counts[*c] = true;
}

/* Each row is whole, and a direction's reasons and counters are those of its rows, no more and no fewer. */
TEST(rows_declare_what_a_direction_counts) {
	for (unsigned i = 0; i < ARRAY_COUNT(ways); i++) {
		struct declared d = {0};

		for (unsigned l = 0; l < ways[i].list_count; l++) {
			for (unsigned s = 0; s < ways[i].lists[l].count; s++)
				row_add(&d, &ways[i].lists[l].stages[s]);
		}
		for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
			if (d.drops[r] != drop_in(r, ways[i].direction))
				fail_msg("%s of direction %d", drop_name(r), ways[i].direction);
		}
		for (enum counter c = 0; c < COUNTERS; c++) {
			if (d.counts[c] != counter_in(c, ways[i].direction))
				fail_msg("%s of direction %d", counter_name(c), ways[i].direction);
		}
	}
}
