/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests summary.h: JSON and table of results. For send-only runs see test_traffic_alone.py. */
#include "summary/summary.h"

#include "test_main.h"

/* Asserts members of an object, as JSON with single quotes and no braces. Frees the object. */
static void assert_has(json_t *o, const char *members) {
	char text[512];
	json_t *expected, *merged = json_deep_copy(o);

	snprintf(text, sizeof(text), "{%s}", members);
	for (char *p = text; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	expected = json_loads(text, 0, NULL);
	assert_non_null(expected);
	json_object_update_recursive(merged, expected);
	assert_true(json_equal(merged, o));
	json_decref(expected);
	json_decref(merged);
	json_decref(o);
}

TEST(summary_has_directions_that_ran) {
	const struct uplink_result up = {
		.sent = 10,
		.proven = 7,
		.lost = 2,
		.corrupted = 1,
		.duplicated = 4,
		.reordered = 5,
		.latency_unknown = 6,
		.first_tsc = 8,
		.last_tsc = 9,
		.corrupted_by = {[UPLINK_CORRUPTION_TRUNCATED] = 1},
		.counts = {.packets = 11, .fragments = 12},
	};
	const struct traffic_result down = {.sent = 20};
	const char *path = "test-traffic-upstream.json";
	json_t *o;

	for (int directions = 1; directions <= 3; directions++) {
		struct summary s = {
			.downstream = directions & 1 ? &down : NULL,
			.upstream = directions & 2 ? &up : NULL,
		};

		assert_int_equal(summary_write(path, &s), 0);
		o = json_load_file(path, 0, NULL);
		assert_int_equal(json_object_get(o, "downstream") != NULL, directions & 1);
		assert_int_equal(json_object_get(o, "upstream") != NULL, directions >> 1);
		json_decref(o);
	}
	remove(path);
	assert_has(summary_upstream(&up), "'sent': 10, 'proven': 7, 'lost': 2, 'corrupted': 1, "
					  "'duplicated': 4, 'reordered': 5, 'sent_tsc': [8, 9], "
					  "'latency_unknown': 6, 'corrupted_by': {'cut': 1}, "
					  "'uepi_packets': 11, 'fragments': "
					  "12, "
					  "'latency_us': null, 'gbps': 0.0");
}

static char *make_table(const struct summary *s) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	summary_table(out, s);
	fclose(out);
	return text;
}

TEST(unbalanced_account_is_reported) {
	struct traffic_result down = {
		.sent = 20, .proven = 10, .undecipherable = 3, .overtaken = 2, .unaccounted = 5};
	struct summary s = {.downstream = &down};
	char *text;

	assert_has(summary_downstream(&down),
		   "'undecipherable': 3, 'overtaken': 2, 'unaccounted': 5");
	text = make_table(&s);
	assert_non_null(strstr(text, "undecipherable"));
	assert_non_null(strstr(text, "packets unaccounted for"));
	free(text);
	down = (struct traffic_result){.sent = 20, .proven = 20};
	text = make_table(&s);
	assert_null(strstr(text, "undecipherable"));
	free(text);
}

/* 90,000 packets of 50 us, 9,990 of 2 ms, 10 of 0.3 s. */
TEST(latency_percentiles_are_reported) {
	static const struct {
		const char *key;
		double us;
	} expected[] = {{"mean", 274.8}, {"p50", 50},	   {"p90", 50},	     {"p99", 2000},
			{"p99_9", 2000}, {"p99_99", 2000}, {"p99_999", 3e5}, {"max", 3e5}};
	static const double buckets[][2] = {{50, 90000}, {2000, 9990}, {3e5, 10}};
	struct hdr_histogram *times = percentiles_create();
	struct traffic_result down = {.latency = times};
	json_t *o, *latency, *histogram;

	hdr_record_values(times, 50000, 90000);
	hdr_record_values(times, 2000000, 9990);
	hdr_record_values(times, 300100000, 10);
	o = summary_downstream(&down);
	latency = json_object_get(o, "latency_us");
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
		assert_float_equal(json_real_value(json_object_get(latency, expected[i].key)) /
					   expected[i].us,
				   1, 0.002);
	histogram = json_object_get(latency, "histogram");
	assert_int_equal(json_array_size(histogram), ARRAY_COUNT(buckets));
	for (size_t i = 0; i < ARRAY_COUNT(buckets); i++) {
		const json_t *pair = json_array_get(histogram, i);

		assert_float_equal(json_real_value(json_array_get(pair, 0)), buckets[i][0], 0.001);
		assert_int_equal(json_integer_value(json_array_get(pair, 1)), buckets[i][1]);
	}
	assert_int_equal(json_object_size(latency), ARRAY_COUNT(expected) + 1);
	json_decref(o);
	hdr_close(times);
}

TEST(table_has_a_line_per_group) {
	const struct traffic_result down[2] = {{.sent = 10, .proven = 7},
					       {.sent = 20, .proven = 20}};
	const struct summary_group groups[] = {
		{.id = 7, .name = "seven", .downstream = &down[0]},
		{.id = 9, .name = "nine", .downstream = &down[1]},
	};
	struct summary s = {.downstream = &down[1], .groups = groups};

	for (s.group_count = 1; s.group_count <= 2; s.group_count++) {
		char *text = make_table(&s), *line = strstr(text, "seven");

		assert_int_equal(line != NULL, s.group_count == 2);
		if (line != NULL) {
			unsigned long sent, missing;

			assert_int_equal(sscanf(line, "seven %lu %lu", &sent, &missing), 2);
			assert_int_equal(sent, 10);
			assert_int_equal(missing, 3);
		}
		free(text);
	}
}

static void assert_verdict(const struct traffic_result *down, const struct uplink_result *up,
			   bool good, const char *expected) {
	struct summary s = {.downstream = down, .upstream = up};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	summary_verdict(out, &s, good);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

TEST(verdict_begins_with_pass_or_fail_and_has_reasons) {
	struct traffic_result down = {.sent = 27208797, .proven = 27208797};
	struct uplink_result up = {.sent = 10, .proven = 10};

	assert_verdict(&down, &up, true, "PASS: 27,208,807 of 27,208,807 packets proven, 0 lost\n");
	down.proven -= 94;
	down.overtaken = 51;
	down.corrupted = 43;
	assert_verdict(&down, NULL, false,
		       "FAIL: 43 corrupted, 51 overtaken by changes (allowed), 0 lost; 27,208,703 "
		       "of 27,208,797 packets proven\n");
	down = (struct traffic_result){
		.sent = 4, .proven = 4, .undecipherable = 1, .duplicated = 2};
	down.violations[0] = 3;
	down.unexpected[UNEXPECTED_MANAGEMENT] = 6;
	up = (struct uplink_result){.sent = 10, .proven = 5, .lost = 5, .reordered = 1};
	assert_verdict(&down, &up, false,
		       "FAIL: 2 duplicated, 1 reordered, 1 undecipherable, 6 unexpected frames, 3 "
		       "violations of DEPI, 5 lost; 9 of 14 packets proven\n");
}

TEST(verdict_allows_what_impairments_must_cause) {
	struct uplink_result up = {
		.sent = 10,
		.proven = 6,
		.lost = 3,
		.corrupted = 1,
		.impaired = true,
		.expected = {.lost = 2, .corrupted = 1},
	};

	assert_verdict(NULL, &up, false,
		       "FAIL: 3 lost or corrupted by --impair (allowed), 1 lost; 6 of 10 packets "
		       "proven\n");
}
