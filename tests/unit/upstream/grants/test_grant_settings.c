/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with random configurations that the upstream scheduler accepts each group that the loader
 * accepts. It may refuse only guarantees that exceed the capacity of a channel. */
#include "test_main.h"

#include <stdarg.h>

#include "model/load/loader.h"
#include "random.h"
#include "upstream/grant.h"
#include "upstream/grant_ucd.h"

#define GROUPS RANDOM_ITERATIONS(3000)
#define FLOWS 3

static struct random rng = {.state = 20261123};
static char text[8192];
static size_t length;

static void add_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add_text(const char *format, ...) {
	va_list list;

	va_start(list, format);
	length += (size_t)vsnprintf(text + length, sizeof(text) - length, format, list);
	va_end(list);
	assert_true(length < sizeof(text));
}

/* Adds a key to a map in one line, with probability 1/4. */
static void maybe_add(const char *key, uint32_t low, uint32_t high, const char *unit) {
	if (random_below(&rng, 4) == 0)
		add_text("%s: %u%s, ", key, random_between(&rng, low, high), unit);
}

#define PICK(...) pick((const char *const[]){__VA_ARGS__, NULL})
static const char *pick(const char *const *all) {
	uint32_t count = 0;

	while (all[count] != NULL)
		count++;
	return all[random_below(&rng, count)];
}

static void add_regions(void) {
	add_text("contention: {");
	maybe_add("request_minislots", 1, random_below(&rng, 2) ? 16 : 3, "");
	maybe_add("request_opportunities", 1, random_below(&rng, 4) ? 60 : 1024, "");
	add_text("}, maintenance: {");
	maybe_add("initial_minislots", 1, random_below(&rng, 2) ? 60 : 4096, "");
	maybe_add("station_minislots", 1, random_below(&rng, 2) ? 60 : 1024, "");
	maybe_add("initial_interval", 0, random_below(&rng, 2) ? 0 : 2000, " ms");
	add_text("}}\n");
}

static void add_channels(void) {
	add_text("upstream_channels:\n  - {id: 1, type: sc-qam, rate: %u kbps, session: 0x20001, "
		 "physical: {",
		 random_between(&rng, 1, 1u << random_between(&rng, 1, 30)));
	if (random_below(&rng, 4) == 0)
		add_text("minislot_ticks: %u, ", 1u << random_below(&rng, 8));
	if (random_below(&rng, 2) == 0)
		add_text("modulation: %s, ", PICK("qpsk", "16-qam", "64-qam"));
	maybe_add("minislot_bytes", 1, random_below(&rng, 2) ? 200 : 4096, "");
	maybe_add("burst_minislots", 0, random_below(&rng, 2) ? 20 : 255, "");
	add_text("}, ");
	add_regions();
	add_text("  - {id: 2, type: ofdma, rate: %u kbps, session: 0x20002, physical: {",
		 random_between(&rng, 1, 1u << random_between(&rng, 1, 30)));
	maybe_add("minislot_bytes", 1, random_below(&rng, 2) ? 200 : 4096, "");
	maybe_add("bits", 1, 12, "");
	maybe_add("frame_minislots", 1, 237, "");
	maybe_add("frame_symbols", 6, 18, "");
	if (random_below(&rng, 4) == 0)
		add_text("subcarrier_spacing: 25, cyclic_prefix: %s, ", PICK("96", "640"));
	add_text("}, ");
	add_regions();
}

static void add_service(void) {
	const char *type = PICK("unsolicited-grant", "unsolicited-grant-activity",
				"proactive-grant", "real-time-polling");

	if (random_below(&rng, 3) == 0)
		return;
	add_text("scheduling: %s, ", type);
	if (strcmp(type, "real-time-polling") != 0)
		add_text("nominal_grant_interval: %u us, ",
			 random_between(&rng, 500, random_below(&rng, 2) ? 20000 : 1000000));
	if (strcmp(type, "proactive-grant") == 0)
		add_text("guaranteed_grant_rate: %u kbps, ", random_between(&rng, 1, 1000000));
	else if (strcmp(type, "real-time-polling") != 0)
		add_text("unsolicited_grant_size: %u, ",
			 random_between(&rng, 16, random_below(&rng, 2) ? 2000 : 65535));
	if (strcmp(type, "unsolicited-grant-activity") == 0 ||
	    strcmp(type, "real-time-polling") == 0)
		add_text("nominal_polling_interval: %u ms, ", random_between(&rng, 1, 10000));
}

static void add_flow(unsigned i) {
	bool header = random_below(&rng, 3) > 0;

	add_text("      - {id: %u, segment_header: %s, ", 10 + i, header ? "true" : "false");
	add_service();
	maybe_add("max_concatenated_burst", 128, random_below(&rng, 2) ? 2000 : 65535, "");
	if (random_below(&rng, 3) == 0) {
		uint32_t rate = random_between(&rng, 1, 1000000000);

		add_text("max_sustained_rate: %u kbps, ", rate);
		maybe_add("max_traffic_burst", 1522, 100000000, "");
		maybe_add("peak_rate", rate, 1000000000, " kbps");
		maybe_add("min_reserved_rate", 1, rate, " kbps");
	}
	add_text("sid_clusters: [{id: 0, sids: [{channel: %u, sid: %u}]}",
		 1 + random_below(&rng, 2), 1 + i);
	if (header)
		add_text(", {id: 3, sids: [{channel: 1, sid: %u}, {channel: 2, sid: %u}]}", 11 + i,
			 11 + i);
	add_text("]}\n");
}

static void write_group(void) {
	length = 0;
	add_text("upstream: {scheduler: {map_interval: %u us, ",
		 random_between(&rng, 500, random_below(&rng, 2) ? 2500 : 20000));
	maybe_add("round_trip", 0, random_below(&rng, 2) ? 800 : 10000, " us");
	maybe_add("cmts_processing", 0, 10000, " us");
	maybe_add("request_processing", 1, 10000, " us");
	add_text("}}\nchannels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 7}]\n"
		 "bonding_groups: [{id: 1, channels: [1]}]\n");
	add_channels();
	add_text("modems:\n  - mac: \"02:01:00:00:00:01\"\n    addresses: [10.0.0.1]\n"
		 "    bonding_group: 1\n    security: {said: 1, cipher: none}\n"
		 "    service_flows: [{id: 1}]\n    upstream_service_flows:\n");
	for (unsigned i = 0; i < FLOWS; i++)
		add_flow(i);
}

static bool is_capacity_error(const char *why) {
	return strcmp(why,
		      "unsolicited grants or polls are more than a channel of the flow has left") ==
		       0 ||
	       strcmp(why, "a reserved rate is more than the channels of the flow have left") == 0;
}

/* cmocka truncates long messages, so the configuration goes to stderr. */
static void fail_with_config(const char *why) {
	fputs(text, stderr);
	fail_msg("%s", why);
}

/* Returns how many flows the scheduler accepted. */
static unsigned set_flows(struct maps *m, const struct service_group *sg) {
	unsigned admitted = 0;

	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct upstream_service_flow *f = &sg->modems[0].upstream_flows[i];
		struct us_grant_flow *g = malloc(us_grant_flow_size(f));
		const char *why;

		assert_non_null(g);
		us_grant_flow_fill(g, f);
		why = maps_set_flow(m, i, &g->settings, 0);
		if (why != NULL && !is_capacity_error(why))
			fail_with_config(why);
		admitted += why == NULL;
		free(g);
	}
	return admitted;
}

/* By default the burst is 10 ms of the rate. Without a rate it is 0. */
TEST(default_burst_is_10_ms_of_rate) {
	static const struct {
		uint64_t rate;
		uint32_t given, burst;
	} cases[] = {
		{80000000, 0, 100000},
		{80000000, 5000, 5000},
		{80000000, UINT32_MAX, MAPS_BURST_MAX},
		{0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct upstream_service_flow f = {.grants = {.sustained_rate = cases[i].rate,
							     .traffic_burst = cases[i].given}};
		struct us_grant_flow *g = malloc(us_grant_flow_size(&f));

		assert_non_null(g);
		us_grant_flow_fill(g, &f);
		assert_int_equal(g->settings.sustained_burst, cases[i].burst);
		free(g);
	}
}

static unsigned start_group(const struct service_group *sg) {
	static const uint8_t source[6] = {2, 0, 0, 0, 0, 1};
	uint8_t frame[MANAGEMENT_FRAME_MAX];
	struct maps_channel channels[2];
	struct maps_config config = {.channels = channels, .channel_count = 2, .flows = FLOWS};
	const char *why = "";
	struct maps *m;
	unsigned admitted;

	for (unsigned c = 0; c < 2; c++) {
		channels[c] = us_grant_channel_settings(sg, &sg->upstream_channels[c]);
		assert_true(us_ucd_write(sg, &sg->upstream_channels[c], source, frame) > 0);
	}
	m = maps_create(&config, &why);
	if (m == NULL)
		fail_with_config(why);
	admitted = set_flows(m, sg);
	maps_free(m);
	return admitted;
}

TEST(scheduler_accepts_what_loader_accepts) {
	unsigned accepted = 0, admitted = 0;

	for (unsigned i = 0; i < GROUPS; i++) {
		struct service_group sg;
		char *error_text = NULL;
		size_t size;
		FILE *errors = open_memstream(&error_text, &size);

		assert_non_null(errors);
		write_group();
		if (service_group_load_text("sg.yaml", text, length, &sg, errors) == 0) {
			accepted++;
			admitted += start_group(&sg);
			service_group_free(&sg);
		}
		fclose(errors);
		free(error_text);
	}
	/* some configurations are invalid, and some flows are refused */
	assert_in_range(accepted, GROUPS / 10, GROUPS * 9 / 10);
	assert_in_range(admitted, accepted, FLOWS * accepted - GROUPS / 30);
}
