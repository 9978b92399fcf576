/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests metrics.get: selection by name, group and modem, histograms, and pages. */
#include "test_main.h"

#include "control/methods/metrics_methods.h"
#include "methods_kit.h"
#include "scheduler/report.h"
#include "telemetry/metrics/histogram.h"

#define MAC "02:01:00:00:00:02"
#define WITH_MODEM "modem: '" MAC "'"

/* Returns the only sample of this name with the label `label` = `value` (`label` NULL: any) and with the label
 * `le` = `bound` (NULL: any, "": no such label). Fails if none or several match. */
static const json_t *get_sample(const json_t *answer, const char *name, const char *label,
				const char *value, const char *bound) {
	const json_t *match = NULL;
	json_t *sample;
	size_t i;

	json_array_foreach(get(answer, "samples"), i, sample) {
		const json_t *labels = get(sample, "labels");
		const char *actual = label != NULL ? get_str(labels, label) : NULL;
		const char *le = get_str(labels, "le");

		if (strcmp(get_str(sample, "name"), name) != 0 ||
		    (label != NULL && (actual == NULL || strcmp(actual, value) != 0)) ||
		    (bound != NULL && strcmp(le != NULL ? le : "", bound) != 0))
			continue;
		assert_null(match);
		match = sample;
	}
	if (match == NULL)
		fail_msg("no sample of %s with the label value %s", name, value);
	return match;
}

static int64_t get_value(const json_t *answer, const char *name, const char *label,
			 const char *value) {
	return get_int(get_sample(answer, name, label, value, NULL), "value");
}

/* `samples`: how many samples of the result have a name that begins with `prefix`. Both groups have the modem. */
TEST(parameters_select_samples) {
	static const struct {
		const char *params, *prefix;
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
		{"{first: 9007199254740991}", "", 0}, /* after the last sample */
	};

	for (size_t n = 0; n < ARRAY_COUNT(all); n++) {
		json_t *answer = call_ok("metrics.get", all[n].params), *sample;
		unsigned count = 0;
		size_t i;

		json_array_foreach(get(answer, "samples"), i, sample) count +=
			strncmp(get_str(sample, "name"), all[n].prefix, strlen(all[n].prefix)) == 0;
		if (count != all[n].samples)
			fail_msg("%s: %u samples of %s*, expected %u", all[n].params, count,
				 all[n].prefix, all[n].samples);
	}
}

/* Precedes all tests that pass packets: it expects the server's first packet. */
TEST(group_selects_its_samples) {
	json_t *all = call_ok("metrics.get", "{}"), *one, *counters;
	const json_t *sample;
	size_t i;

	assert_true(json_real_value(get(all, "uptime")) >= 0);
	expect_members(get_sample(all, "vcmts_tsc_hz", NULL, NULL, NULL), "labels=[0]");
	pass_packets(1, 200);
	one = call_ok("metrics.get", "{group: 2}");
	counters = call_ok("counters.get", "{group: 2}");
	assert_true(json_array_size(get(one, "samples")) > 100);
	json_array_foreach(get(one, "samples"), i, sample)
		assert_string_equal(get_str(sample, "labels.service_group"), "2");
	assert_int_equal(get_value(one, "vcmts_downstream_received_packets_total", NULL, NULL), 1);
	assert_int_equal(get_value(one, "vcmts_downstream_received_bytes_total", NULL, NULL),
			 get_int(counters, "groups.0.downstream.counters.received_bytes"));
}

/* Frees the modem's slot in group 1. The method refuses a request for group 1, and without a group finds group 2. */
TEST(modem_is_found_without_its_group) {
	struct modem *modem = &bench->server.groups[0].live.sg.modems[1];
	json_t *one;

	modem->service_flow_count = 0; /* a free slot */
	expect_error("metrics.get", "{group: 1, " WITH_MODEM "}", RPC_REFUSED,
		     "no modem " MAC " in service group 1");
	one = call_ok("metrics.get", "{" WITH_MODEM "}");
	modem->service_flow_count = 1;
	assert_int_equal(get_value(one, "vcmts_flow_packets_total", NULL, NULL), 0);
}

#define DELAYS "vcmts_scheduler_delay_seconds"

TEST(histogram_is_split_into_samples) {
	struct scheduler_delay_report r;
	struct metric_histogram h;
	const json_t *sample;
	json_t *delays;

	pass_packets(120, 1400);
	scheduler_report_delay(bench->server.groups[1].downstream->upper.scheduler, 0, &r);
	histogram_of_delays(&h, &r);
	assert_true(h.below[0] < h.below[h.buckets - 1]);
	delays = call_ok("metrics.get", "{group: 2, names: ['" DELAYS "']}");
	assert_int_equal(json_array_size(get(delays, "samples")),
			 SCHEDULER_PRIORITIES * (h.buckets + 3));
	for (unsigned b = 0; b <= h.buckets; b++) {
		char le[METRICS_SECONDS_TEXT] = "+Inf";

		if (b < h.buckets)
			metrics_seconds_text(le, h.bounds[b]);
		sample = get_sample(delays, DELAYS "_bucket", "priority", "0", le);
		assert_int_equal(get_int(sample, "value"), b < h.buckets ? h.below[b] : h.count);
	}
	assert_int_equal(get_value(delays, DELAYS "_count", "priority", "0"), h.count);
	sample = get_sample(delays, DELAYS "_sum", "priority", "0", "");
	assert_float_equal(json_real_value(get(sample, "value")), (double)h.sum_ns / 1e9, 1e-12);
}

/* A page of at most `count` samples from index *next on. Sets *next to the next page's start; -1: none. */
static const json_t *get_page(const char *params, int64_t *next, unsigned count) {
	char all[160];
	const json_t *page;

	snprintf(all, sizeof(all), "{modems: true, flows: true, first: %" PRId64 ", count: %u%s}",
		 *next, count, params);
	page = call_ok("metrics.get", all);
	*next = get(page, "next") != NULL ? get_int(page, "next") : -1;
	return page;
}

TEST(pages_contain_all_samples) {
	static const unsigned counts[] = {1, 7, 1000, 5000};
	json_t *all = call_ok("metrics.get", "{modems: true, flows: true}");
	const json_t *samples = json_object_get(all, "samples");

	assert_true(json_array_size(samples) > 500);
	assert_null(json_object_get(all, "next"));
	for (unsigned c = 0; c < ARRAY_COUNT(counts); c++) {
		int64_t next = 0;
		size_t seen = 0;

		while (next >= 0) {
			const json_t *page = get_page("", &next, counts[c]);

			assert_true(next < 0 || json_array_size(get(page, "samples")) == counts[c]);
			for (size_t i = 0; i < json_array_size(get(page, "samples")); i++, seen++) {
				const json_t *one = json_array_get(get(page, "samples"), i);
				const json_t *other = json_array_get(samples, seen);

				assert_string_equal(get_str(one, "name"), get_str(other, "name"));
				assert_true(json_equal(get(one, "labels"), get(other, "labels")));
			}
			if (counts[c] == 1 && seen == 300)
				break; /* all pages of one sample take long */
		}
		assert_int_equal(seen, counts[c] == 1 ? 300 : json_array_size(samples));
	}
}

/* Calls of scheduler_report_flow(), which the linker option --wrap redirects. */
static unsigned flows_read;

__typeof__(scheduler_report_flow) __wrap_scheduler_report_flow, __real_scheduler_report_flow;

void __wrap_scheduler_report_flow(const struct scheduler *s, uint32_t flow,
				  struct scheduler_flow_report *r) {
	flows_read++;
	__real_scheduler_report_flow(s, flow, r);
}

/* Each modem has one flow. A page does not read the flows of the samples before it. */
TEST(page_reads_only_its_own_flows) {
	int64_t next = 0;
	unsigned pages = 0;

	for (; next >= 0; pages++) {
		flows_read = 0;
		get_page(", names: [vcmts_flow_, vcmts_modem_]", &next, 1);
		assert_in_range(flows_read, 0, 1);
	}
	assert_true(pages > 50);
}

ALL_TESTS(start_server, stop_server)
