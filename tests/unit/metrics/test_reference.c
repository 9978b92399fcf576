/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference's names: what they are made of is there, and what becomes of samples. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telemetry/metrics/endpoint/reference.h"
#include "telemetry/metrics/endpoint/reference_terms.h"

static struct reference *reference;
static struct metrics_sink sink;

static const struct metric *metric_named(const char *name) {
	for (unsigned m = 0; m < metrics_count(); m++) {
		if (strcmp(metrics_at(m)->name, name) == 0)
			return metrics_at(m);
	}
	return NULL;
}

static bool has_label(const struct metric *m, const char *name) {
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		if (strcmp(m->labels[l], name) == 0)
			return true;
	}
	return false;
}

static void all_is_made_of_what_there_is(void **state) {
	unsigned count;
	struct reference_term *terms = reference_terms(&count);

	(void)state;
	assert_non_null(terms);
	assert_true(count > reference_rows());
	for (unsigned t = 0; t < count; t++) {
		const struct metric *m = metric_named(terms[t].metric);

		if (m == NULL)
			fail_msg("%s: no metric %s", reference_name(terms[t].row), terms[t].metric);
		assert_true(has_label(m, "service_group"));
		assert_int_equal(m->type == METRIC_HISTOGRAM, terms[t].part != TERM_VALUE);
		for (unsigned l = 0; l < terms[t].label_count; l++)
			assert_true(has_label(m, terms[t].labels[l].name));
	}
	free(terms);
}

static bool is_reason(const char *name) {
	for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
		if (strcmp(drop_name(r), name) == 0)
			return true;
	}
	return false;
}

/* How many terms have this stage. */
static unsigned terms_of_stage(const struct reference_term *terms, unsigned count,
			       const char *direction, const char *stage) {
	unsigned found = 0;

	for (unsigned t = 0; t < count; t++)
		found += terms[t].label_count == 2 &&
			 strcmp(terms[t].labels[0].value, direction) == 0 &&
			 strcmp(terms[t].labels[1].value, stage) == 0;
	return found;
}

static unsigned check_stages(const struct reference_term *terms, unsigned count,
			     const char *direction, const struct stage_list *list) {
	for (unsigned s = 0; s < list->count; s++)
		assert_int_equal(terms_of_stage(terms, count, direction, list->stages[s].name), 1);
	return list->count;
}

/* The cycles of each stage are in one row. Only that of bandwidth requests, behind the ring, is in none. */
static void labels_have_values_that_there_are(void **state) {
	unsigned count, stages = 0, of_stages = 0;
	struct reference_term *terms = reference_terms(&count);

	(void)state;
	assert_non_null(terms);
	for (unsigned l = 0; l < DS_PIPELINES; l++)
		stages += check_stages(terms, count, "downstream", &ds_lists[l]);
	stages += check_stages(terms, count, "upstream", &us_lists[0]);
	for (unsigned t = 0; t < count; t++) {
		for (unsigned l = 0; l < terms[t].label_count; l++) {
			of_stages += strcmp(terms[t].labels[l].name, "stage") == 0;
			if (strcmp(terms[t].labels[l].name, "reason") == 0 &&
			    !is_reason(terms[t].labels[l].value))
				fail_msg("no reason %s", terms[t].labels[l].value);
		}
	}
	assert_int_equal(of_stages, stages);
	free(terms);
}

static void names_are_told_apart(void **state) {
	(void)state;
	for (unsigned a = 0; a < reference_rows(); a++) {
		bool by = reference_table[a].kind == REFERENCE_RATIO ||
			  reference_table[a].kind == REFERENCE_QUOTIENT;

		assert_int_equal(by, *reference_made_of(a, true) != '\0');
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(reference_name(a), reference_name(b));
	}
}

/* One sample; labels behind that of the group. */
static void put(const char *name, const char *group, const char *second, const char *third,
		uint64_t value) {
	const struct metric *m = metric_named(name);

	assert_non_null(m);
	sink.begin(sink.arg, m);
	sink.sample(sink.arg, m,
		    &(struct metric_sample){.labels = {group, second, third}, .integer = value});
}

static char *page;

/* Returns whether it was written. */
static bool end_page(void) {
	size_t size;
	FILE *out;
	bool good;

	free(page);
	out = open_memstream(&page, &size);
	assert_non_null(out);
	good = reference_end(reference, out);
	fclose(out);
	return good;
}

static void has(const char *line) {
	const char *at = strstr(page, line);

	if (at == NULL || (at != page && at[-1] != '\n'))
		fail_msg("not there: %s", line);
}

static void has_not(const char *text) {
	if (strstr(page, text) != NULL)
		fail_msg("there: %s", text);
}

static void feed(double now, uint64_t packets, uint64_t bytes) {
	reference_begin(reference, now);
	put("vcmts_downstream_received_packets_total", "4", NULL, NULL, packets);
	put("vcmts_downstream_received_bytes_total", "4", NULL, NULL, bytes);
	put("vcmts_stage_cycles_total", "4", "downstream", "receive", 10 * packets);
	put("vcmts_stage_cycles_total", "4", "downstream", "parse", 20 * packets);
	put("vcmts_stage_cycles_total", "4", "upstream", "receive", 1000 * packets);
	put("vcmts_service_group_active_modems", "4", NULL, NULL, 5);
	put("vcmts_service_group_active_addresses", "4", NULL, NULL, 12);
	put("vcmts_downstream_encrypted_frames_total", "4", NULL, NULL, packets / 2);
	assert_true(end_page());
}

static void rates_are_of_two_pages(void **state) {
	(void)state;
	feed(10, 1000, 64000);
	has_not("bits_per_second_rx_total{");
	has("collectd_downstream_active_cms_per_second_total{exported_instance=\"4\"} 5\n");
	has("collectd_downstream_ip_addr_per_cm{exported_instance=\"4\"} 2.3999999999999999\n");
	has("# TYPE collectd_downstream_bits_per_second_rx_total gauge\n");
	feed(14, 3000, 1064000);
	has("collectd_downstream_bits_per_second_rx_total{exported_instance=\"4\"} 2000000\n");
	has("collectd_downstream_packets_per_second_rx_total{exported_instance=\"4\"} 500\n");
	has("collectd_downstream_average_frame_size_per_second_rx{exported_instance=\"4\"} 500\n");
	has("collectd_downstream_downstream_cycles_rx{exported_instance=\"4\"} 30\n");
	has("collectd_downstream_downstream_cycles_sub_mgmt{exported_instance=\"4\"} 0\n");
	has("collectd_downstream_times_n_psp_seg_per_depi_0{exported_instance=\"4\"} 0\n");
}

/* A page soon after another one is of the same beginning; counters that stand still give 0. */
static void a_window_is_a_second_at_least(void **state) {
	(void)state;
	feed(10, 0, 0);
	feed(11, 100, 1000);
	feed(11.5, 250, 1000);
	has("collectd_downstream_packets_per_second_rx_total{exported_instance=\"4\"} "
	    "166.66666666666666\n");
	feed(12, 300, 1000);
	has("collectd_downstream_packets_per_second_rx_total{exported_instance=\"4\"} 200\n");
	feed(13, 300, 1000);
	has("collectd_downstream_packets_per_second_rx_total{exported_instance=\"4\"} 0\n");
	has("collectd_downstream_average_frame_size_per_second_rx{exported_instance=\"4\"} 0\n");
	feed(14, 300, 2000); /* as they are read one after the other */
	has("collectd_downstream_average_frame_size_per_second_rx{exported_instance=\"4\"} 0\n");
}

/* Terms with a sign and without, and one that is taken away from what is taken away. */
static void terms_have_signs(void **state) {
	(void)state;
	for (uint64_t t = 0; t < 2; t++) {
		reference_begin(reference, 1 + (double)t);
		put("vcmts_upstream_psp_segments_total", "4", NULL, NULL, 100 * t);
		put("vcmts_upstream_bursts_total", "4", NULL, NULL, 20 * t);
		put("vcmts_upstream_dropped_total", "4", "burst_headless", "bursts", 5 * t);
		put("vcmts_upstream_segments_total", "4", NULL, NULL, 10 * t);
		put("vcmts_upstream_no_bursts_total", "4", NULL, NULL, 2 * t);
		put("vcmts_requests_total", "4", "record", NULL, 3 * t);
		put("vcmts_requests_total", "4", "piggyback", NULL, 50 * t);
		assert_true(end_page());
	}
	has("collectd_upstream_content_per_uepi_psp_header{exported_instance=\"4\"} 15\n");
	has("collectd_upstream_content_per_uepi_psp_trailer{exported_instance=\"4\"} 12\n");
	has("collectd_upstream_content_per_uepi_other{exported_instance=\"4\"} 3\n");
	has("collectd_upstream_content_per_uepi_psp_data{exported_instance=\"4\"} 70\n");
}

static void who_encrypts(void **state) {
	static const char *const providers[] = {"ipsec-mb", "0000:01:00.0"};

	(void)state;
	for (unsigned p = 0; p < 2; p++) {
		for (unsigned i = 0; i < 2; i++) {
			reference_begin(reference, 10 * p + 2 * i);
			put("vcmts_service_group_cipher_modems", "4", "aes-128", providers[p], 3);
			put("vcmts_downstream_encrypted_frames_total", "4", NULL, NULL,
			    100 * (2 * p + i));
			assert_true(end_page());
		}
		has(p == 0 ? "collectd_downstream_crypto_accel_aesni{exported_instance=\"4\"} 50\n"
			   : "collectd_downstream_crypto_accel_aesni{exported_instance=\"4\"} 0\n");
		has(p == 0 ? "collectd_downstream_crypto_accel_qat{exported_instance=\"4\"} 0\n"
			   : "collectd_downstream_crypto_accel_qat{exported_instance=\"4\"} 50\n");
	}
}

/* By their places in the group, whatever their IDs are. */
static void channels_have_lines(void **state) {
	static const char *const ids[] = {"11", "12", "31"};
	const struct metric *m = metric_named("vcmts_downstream_channel_bytes_total");

	(void)state;
	for (uint64_t t = 0; t < 2; t++) {
		reference_begin(reference, 1 + (double)t);
		sink.begin(sink.arg, m);
		for (uint64_t c = 0; c < 3; c++)
			sink.sample(sink.arg, m,
				    &(struct metric_sample){.labels = {"4", ids[c]},
							    .integer = t * (c + 1)});
		assert_true(end_page());
	}
#define CHANNEL(c)                                                                  \
	"collectd_ds_per_channel_channel_bits_per_second_total{ds_per_channel=\"" c \
	"\",exported_instance=\"4\"} "
	has(CHANNEL("0") "8\n");
	has(CHANNEL("1") "16\n");
	has(CHANNEL("2") "24\n");
	has_not(CHANNEL("3"));
}

/* A group that is gone has no lines, and begins anew when it comes again. */
static void groups_come_and_go(void **state) {
	char id[16];

	(void)state;
	feed(10, 0, 0);
	feed(12, 100, 1000);
	has("collectd_downstream_packets_per_second_rx_total{exported_instance=\"4\"} 50\n");
	reference_begin(reference, 14);
	put("vcmts_downstream_received_packets_total", "5", NULL, NULL, 7);
	assert_true(end_page());
	has_not("exported_instance=\"4\"");
	has("collectd_downstream_active_cms_per_second_total{exported_instance=\"5\"} 0\n");
	feed(16, 100, 1000);
	has_not("packets_per_second_rx_total{");
	reference_begin(reference, 18);
	for (unsigned g = 0; g <= SERVER_MAX_GROUPS; g++) {
		snprintf(id, sizeof(id), "%u", g + 1000);
		put("vcmts_downstream_received_packets_total", id, NULL, NULL, 1);
	}
	assert_false(end_page());
	feed(20, 100, 1000);
	feed(22, 300, 1000);
	has("collectd_downstream_packets_per_second_rx_total{exported_instance=\"4\"} 100\n");
}

static int begin(void **state) {
	(void)state;
	reference = reference_open();
	if (reference == NULL)
		return -1;
	sink = reference_sink(reference);
	return 0;
}

static int end(void **state) {
	(void)state;
	reference_close(reference);
	free(page);
	page = NULL;
	return 0;
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_made_of_what_there_is),
		cmocka_unit_test(labels_have_values_that_there_are),
		cmocka_unit_test(names_are_told_apart),
		cmocka_unit_test_setup_teardown(rates_are_of_two_pages, begin, end),
		cmocka_unit_test_setup_teardown(a_window_is_a_second_at_least, begin, end),
		cmocka_unit_test_setup_teardown(terms_have_signs, begin, end),
		cmocka_unit_test_setup_teardown(who_encrypts, begin, end),
		cmocka_unit_test_setup_teardown(channels_have_lines, begin, end),
		cmocka_unit_test_setup_teardown(groups_come_and_go, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
