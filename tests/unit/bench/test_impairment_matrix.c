/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests matrix.c: a result that differs from the expectation is reported, in each of its cells. */
#include "test_main.h"

#include "matrix.h"

static struct box_result result;
static struct row row;

/* Sets `result` to a run whose counts equal the expected ones. */
static void set_matching_result(void) {
	memset(&result, 0, sizeof(result));
	result.traffic.sent = 100;
	result.traffic.proven = 90;
	result.traffic.lost = result.traffic.expected.lost = 7;
	result.traffic.corrupted = result.traffic.expected.corrupted = 3;
	result.traffic.hits[IMPAIR_PSP_LOSS] = 2;
	result.traffic.hits[IMPAIR_CLEAR] = 1;
	for (unsigned i = 0; i < DROP_REASONS; i++)
		result.counters.drops[i] = result.traffic.expected.drops[i] = i;
	for (unsigned i = 0; i < COUNTERS; i++)
		result.counters.values[i] = result.traffic.expected.counters[i] = 1000 + i;
	for (unsigned unit = 0; unit < UNITS; unit++) {
		result.in[unit] = 50;
		result.out[unit] = 40;
		result.dropped[unit] = 10;
	}
}

static unsigned differences(void) {
	row_fill(&row, "test", &result);
	return row_differences(&row);
}

TEST(each_differing_cell_is_counted) {
	set_matching_result();
	assert_int_equal(differences(), 0);
	assert_int_equal(row.hits, 3);
	for (unsigned i = 0; i < DROP_REASONS; i++) {
		set_matching_result();
		result.counters.drops[i]++;
		assert_int_equal(differences(), drop_in((enum drop_reason)i, DIRECTION_UP));
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		set_matching_result();
		result.traffic.expected.counters[i]--;
		assert_int_equal(differences(), shadow_predicts((enum counter)i));
	}
	for (unsigned unit = 0; unit < UNITS; unit++) {
		set_matching_result();
		result.pending[unit] = 1;
		result.out[unit]++;
		assert_int_equal(differences(), 2);
	}
}

TEST(each_differing_packet_count_is_counted) {
	uint64_t *const counts[] = {
		&result.traffic.proven,
		&result.traffic.lost,
		&result.traffic.corrupted,
		&result.traffic.duplicated,
		&result.traffic.reordered,
		&result.traffic.survived,
		&result.traffic.unexpected[UPLINK_UNEXPECTED_FOREIGN],
	};

	for (unsigned i = 0; i < ARRAY_COUNT(counts); i++) {
		set_matching_result();
		(*counts[i])++;
		assert_int_equal(differences(), 1);
	}
}

TEST(differing_cells_are_printed) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	set_matching_result();
	result.counters.drops[DROP_FRAME_GAP]++;
	row_fill(&row, "test", &result);
	row_print(out, &row, true);
	fclose(out);
	assert_non_null(strstr(text, "frame_gap"));
	assert_non_null(strstr(text, "differs"));
	assert_null(strstr(text, "frame_hcs"));
	free(text);
}

TEST(sum_of_a_row_has_its_differences) {
	char *text = NULL, expected[80];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	set_matching_result();
	result.counters.drops[DROP_FRAME_GAP]++;
	row_fill(&row, "test", &result);
	row_print_sum(out, &row);
	fclose(out);
	snprintf(expected, sizeof(expected), "%-30s %6" PRIu64 " %9u %9u\n", "test", row.hits,
		 row.count, 1U);
	assert_string_equal(text, expected);
	free(text);
}
