/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client is told of metrics, and what it may choose of them. */
#include "test_main.h"

#include "control/methods/metrics_methods.h"
#include "methods_kit.h"
#include "scheduler/report.h"
#include "telemetry/metrics/histogram.h"

#define MAC "02:01:00:00:00:02"
#define WITH_MODEM "modem: '" MAC "'"

/* The only sample with this name and, where they are not NULL, these values of labels; `bound` "": without a bound. */
static const json_t *sample_of(const json_t *answer, const char *name, const char *label,
			       const char *value, const char *bound) {
	const json_t *found = NULL;
	json_t *sample;
	size_t i;

	json_array_foreach(at(answer, "samples"), i, sample) {
		const json_t *labels = at(sample, "labels");
		const char *is = label != NULL ? word(labels, label) : NULL;
		const char *le = word(labels, "le");

		if (strcmp(word(sample, "name"), name) != 0 ||
		    (label != NULL && (is == NULL || strcmp(is, value) != 0)) ||
		    (bound != NULL && strcmp(le != NULL ? le : "", bound) != 0))
			continue;
		assert_null(found);
		found = sample;
	}
	if (found == NULL)
		fail_msg("no %s of %s", name, value);
	return found;
}

static int64_t value_of(const json_t *answer, const char *name, const char *label,
			const char *value) {
	return number(sample_of(answer, name, label, value, NULL), "value");
}

/* What is asked for, and how many samples then have names that begin so. */
TEST(what_is_chosen) {
	static const struct {
		const char *params, *begin;
		unsigned samples;
	} all[] = {
		{"{}", "vcmts_build_info", 1},
		{"{}", "vcmts_modem_", 0},
		{"{}", "vcmts_flow_", 0},
		{"{names: ['vcmts_service_group_modems', 'vcmts_tsc']}", "", GROUPS + 1},
		{"{names: ['vcmts_nothing', 'ts']}", "", 0},
		{"{group: 1, " WITH_MODEM "}", "vcmts_modem_downstream_packets_total", 1},
		{"{group: 1, " WITH_MODEM "}", "vcmts_flow_packets_total", 1},
		{"{" WITH_MODEM "}", "vcmts_flow_packets_total", GROUPS},
		{"{" WITH_MODEM "}", "vcmts_worker_info", 3},
		{"{modems: true}", "vcmts_modem_downstream_packets_total", 2 * GROUPS},
		{"{modems: true}", "vcmts_flow_", 0},
		{"{flows: true, group: 2}", "vcmts_flow_packets_total", 2},
		{"{flows: true, group: 2}", "vcmts_modem_", 0},
		{"{first: 9007199254740991}", "", 0}, /* behind the last */
	};

	for (size_t n = 0; n < ARRAY_COUNT(all); n++) {
		json_t *answer = told("metrics.get", all[n].params), *sample;
		unsigned found = 0;
		size_t i;

		json_array_foreach(at(answer, "samples"), i, sample) found +=
			strncmp(word(sample, "name"), all[n].begin, strlen(all[n].begin)) == 0;
		if (found != all[n].samples)
			fail_msg("%s: %u samples of %s", all[n].params, found, all[n].begin);
	}
}

TEST(of_one_group) {
	json_t *all = told("metrics.get", "{}"), *one, *counters;
	const json_t *sample;
	size_t i;

	assert_true(json_real_value(at(all, "uptime")) >= 0);
	expect_members(sample_of(all, "vcmts_tsc_hz", NULL, NULL, NULL), "labels=[0]");
	pass_packets(1, 200);
	one = told("metrics.get", "{group: 2}");
	counters = told("counters.get", "{group: 2}");
	assert_true(json_array_size(at(one, "samples")) > 100);
	json_array_foreach(at(one, "samples"), i, sample)
		assert_string_equal(word(sample, "labels.service_group"), "2");
	assert_int_equal(value_of(one, "vcmts_downstream_received_packets_total", NULL, NULL), 1);
	assert_int_equal(value_of(one, "vcmts_downstream_received_bytes_total", NULL, NULL),
			 number(counters, "groups.0.downstream.counters.received_bytes"));
}

/* In the other group there is one. */
TEST(of_a_modem_that_is_elsewhere) {
	struct modem *modem = &bench->server.groups[0].live.sg.modems[1];
	json_t *one;

	modem->service_flow_count = 0;
	refused("metrics.get", "{group: 1, " WITH_MODEM "}", RPC_REFUSED,
		"modem: service group 1 has no modem " MAC);
	one = told("metrics.get", "{" WITH_MODEM "}");
	modem->service_flow_count = 1;
	assert_int_equal(value_of(one, "vcmts_flow_packets_total", NULL, NULL), 0);
}

#define DELAYS "vcmts_scheduler_delay_seconds"

TEST(histograms_in_parts) {
	struct scheduler_delay_report r;
	struct metric_histogram h;
	const json_t *sample;
	json_t *delays;

	pass_packets(120, 1400);
	scheduler_report_delay(bench->server.groups[1].downstream->upper.scheduler, 0, &r);
	histogram_of_delays(&h, &r);
	assert_true(h.below[0] < h.below[h.buckets - 1]);
	delays = told("metrics.get", "{group: 2, names: ['" DELAYS "']}");
	assert_int_equal(json_array_size(at(delays, "samples")),
			 SCHEDULER_PRIORITIES * (h.buckets + 3));
	for (unsigned b = 0; b <= h.buckets; b++) {
		char le[METRICS_SECONDS_TEXT] = "+Inf";

		if (b < h.buckets)
			metrics_seconds_text(le, h.bounds[b]);
		sample = sample_of(delays, DELAYS "_bucket", "priority", "0", le);
		assert_int_equal(number(sample, "value"), b < h.buckets ? h.below[b] : h.count);
	}
	assert_int_equal(value_of(delays, DELAYS "_count", "priority", "0"), h.count);
	sample = sample_of(delays, DELAYS "_sum", "priority", "0", "");
	assert_float_equal(json_real_value(at(sample, "value")), (double)h.sum_ns / 1e9, 1e-12);
}

/* The page of at most `count` samples from number *next on, which becomes that of the next page; -1: there is none. */
static const json_t *page_of(const char *params, int64_t *next, unsigned count) {
	char all[160];
	const json_t *page;

	snprintf(all, sizeof(all), "{modems: true, flows: true, first: %" PRId64 ", count: %u%s}",
		 *next, count, params);
	page = told("metrics.get", all);
	*next = at(page, "next") != NULL ? number(page, "next") : -1;
	return page;
}

TEST(all_in_pages) {
	static const unsigned counts[] = {1, 7, 1000, 5000};
	json_t *all = told("metrics.get", "{modems: true, flows: true}");
	const json_t *samples = json_object_get(all, "samples");

	assert_true(json_array_size(samples) > 500);
	assert_null(json_object_get(all, "next"));
	for (unsigned c = 0; c < ARRAY_COUNT(counts); c++) {
		int64_t next = 0;
		size_t seen = 0;

		while (next >= 0) {
			const json_t *page = page_of("", &next, counts[c]);

			assert_true(next < 0 || json_array_size(at(page, "samples")) == counts[c]);
			for (size_t i = 0; i < json_array_size(at(page, "samples")); i++, seen++) {
				const json_t *one = json_array_get(at(page, "samples"), i);
				const json_t *other = json_array_get(samples, seen);

				assert_string_equal(word(one, "name"), word(other, "name"));
				assert_true(json_equal(at(one, "labels"), at(other, "labels")));
			}
			if (counts[c] == 1 && seen == 300)
				break; /* it takes long */
		}
		assert_int_equal(seen, counts[c] == 1 ? 300 : json_array_size(samples));
	}
}

static unsigned flows_read;

__typeof__(scheduler_report_flow) __wrap_scheduler_report_flow, __real_scheduler_report_flow;

void __wrap_scheduler_report_flow(const struct scheduler *s, uint32_t flow,
				  struct scheduler_flow_report *r) {
	flows_read++;
	__real_scheduler_report_flow(s, flow, r);
}

/* For a page of one sample, no more is read than the flow of its modem. */
TEST(a_page_reads_what_it_has) {
	int64_t next = 0;
	unsigned pages = 0;

	for (; next >= 0; pages++) {
		flows_read = 0;
		page_of(", names: [vcmts_flow_, vcmts_modem_]", &next, 1);
		assert_in_range(flows_read, 0, 1);
	}
	assert_true(pages > 50);
}

ALL_TESTS(begin, end)
