/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever the loader accepts, the upstream scheduler accepts: a group that is checked starts, but for promises that
 * are more than its channels have. */
#include "test_main.h"

#include <stdarg.h>

#include "model/load/loader.h"
#include "random.h"
#include "upstream/grant.h"
#include "upstream/grant_ucd.h"

#define GROUPS RANDOM_TURNS(3000)
#define FLOWS 3

static struct random dice = {.state = 20261123};
static char text[8192];
static size_t length;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
	va_list list;

	va_start(list, format);
	length += (size_t)vsnprintf(text + length, sizeof(text) - length, format, list);
	va_end(list);
	assert_true(length < sizeof(text));
}

/* A key of a map in one line, once in four. */
static void maybe(const char *key, uint32_t low, uint32_t high, const char *unit) {
	if (random_below(&dice, 4) == 0)
		say("%s: %u%s, ", key, random_between(&dice, low, high), unit);
}

#define ONE_OF(...) one_of((const char *const[]){__VA_ARGS__, NULL})
static const char *one_of(const char *const *all) {
	uint32_t count = 0;

	while (all[count] != NULL)
		count++;
	return all[random_below(&dice, count)];
}

static void say_regions(void) {
	say("contention: {");
	maybe("request_minislots", 1, random_below(&dice, 2) ? 16 : 3, "");
	maybe("request_opportunities", 1, random_below(&dice, 4) ? 60 : 1024, "");
	say("}, maintenance: {");
	maybe("initial_minislots", 1, random_below(&dice, 2) ? 60 : 4096, "");
	maybe("station_minislots", 1, random_below(&dice, 2) ? 60 : 1024, "");
	maybe("initial_interval", 0, random_below(&dice, 2) ? 0 : 2000, " ms");
	say("}}\n");
}

static void say_channels(void) {
	say("upstream_channels:\n  - {id: 1, type: sc-qam, rate: %u kbps, session: 0x20001, "
	    "physical: {",
	    random_between(&dice, 1, 1u << random_between(&dice, 1, 30)));
	if (random_below(&dice, 4) == 0)
		say("minislot_ticks: %u, ", 1u << random_below(&dice, 8));
	if (random_below(&dice, 2) == 0)
		say("modulation: %s, ", ONE_OF("qpsk", "16-qam", "64-qam"));
	maybe("minislot_bytes", 1, random_below(&dice, 2) ? 200 : 4096, "");
	maybe("burst_minislots", 0, random_below(&dice, 2) ? 20 : 255, "");
	say("}, ");
	say_regions();
	say("  - {id: 2, type: ofdma, rate: %u kbps, session: 0x20002, physical: {",
	    random_between(&dice, 1, 1u << random_between(&dice, 1, 30)));
	maybe("minislot_bytes", 1, random_below(&dice, 2) ? 200 : 4096, "");
	maybe("bits", 1, 12, "");
	maybe("frame_minislots", 1, 237, "");
	maybe("frame_symbols", 6, 18, "");
	if (random_below(&dice, 4) == 0)
		say("subcarrier_spacing: 25, cyclic_prefix: %s, ", ONE_OF("96", "640"));
	say("}, ");
	say_regions();
}

static void say_service(void) {
	const char *type = ONE_OF("unsolicited-grant", "unsolicited-grant-activity",
				  "proactive-grant", "real-time-polling");

	if (random_below(&dice, 3) == 0)
		return;
	say("scheduling: %s, ", type);
	if (strcmp(type, "real-time-polling") != 0)
		say("nominal_grant_interval: %u us, ",
		    random_between(&dice, 500, random_below(&dice, 2) ? 20000 : 1000000));
	if (strcmp(type, "proactive-grant") == 0)
		say("guaranteed_grant_rate: %u kbps, ", random_between(&dice, 1, 1000000));
	else if (strcmp(type, "real-time-polling") != 0)
		say("unsolicited_grant_size: %u, ",
		    random_between(&dice, 16, random_below(&dice, 2) ? 2000 : 65535));
	if (strcmp(type, "unsolicited-grant-activity") == 0 ||
	    strcmp(type, "real-time-polling") == 0)
		say("nominal_polling_interval: %u ms, ", random_between(&dice, 1, 10000));
}

static void say_flow(unsigned i) {
	bool header = random_below(&dice, 3) > 0;

	say("      - {id: %u, segment_header: %s, ", 10 + i, header ? "true" : "false");
	say_service();
	maybe("max_concatenated_burst", 128, random_below(&dice, 2) ? 2000 : 65535, "");
	if (random_below(&dice, 3) == 0) {
		uint32_t rate = random_between(&dice, 1, 1000000000);

		say("max_sustained_rate: %u kbps, ", rate);
		maybe("max_traffic_burst", 1522, 100000000, "");
		maybe("peak_rate", rate, 1000000000, " kbps");
		maybe("min_reserved_rate", 1, rate, " kbps");
	}
	say("sid_clusters: [{id: 0, sids: [{channel: %u, sid: %u}]}", 1 + random_below(&dice, 2),
	    1 + i);
	if (header)
		say(", {id: 3, sids: [{channel: 1, sid: %u}, {channel: 2, sid: %u}]}", 11 + i,
		    11 + i);
	say("]}\n");
}

static void say_group(void) {
	length = 0;
	say("upstream: {scheduler: {map_interval: %u us, ",
	    random_between(&dice, 500, random_below(&dice, 2) ? 2500 : 20000));
	maybe("round_trip", 0, random_below(&dice, 2) ? 800 : 10000, " us");
	maybe("cmts_processing", 0, 10000, " us");
	maybe("request_processing", 1, 10000, " us");
	say("}}\nchannels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 7}]\n"
	    "bonding_groups: [{id: 1, channels: [1]}]\n");
	say_channels();
	say("modems:\n  - mac: \"02:01:00:00:00:01\"\n    addresses: [10.0.0.1]\n"
	    "    bonding_group: 1\n    security: {said: 1, cipher: none}\n"
	    "    service_flows: [{id: 1}]\n    upstream_service_flows:\n");
	for (unsigned i = 0; i < FLOWS; i++)
		say_flow(i);
}

static bool is_capacity(const char *why) {
	return strcmp(why,
		      "unsolicited grants or polls are more than a channel of the flow has left") ==
		       0 ||
	       strcmp(why, "a reserved rate is more than the channels of the flow have left") == 0;
}

/* cmocka cuts long texts. */
static void say_what_failed(const char *why) {
	fputs(text, stderr);
	fail_msg("%s", why);
}

/* Returns how many flows were taken. */
static unsigned flows_set(struct maps *m, const struct service_group *sg) {
	unsigned taken = 0;

	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct upstream_service_flow *f = &sg->modems[0].upstream_flows[i];
		struct us_grant_flow *g = malloc(us_grant_flow_size(f));
		const char *why;

		assert_non_null(g);
		us_grant_flow_fill(g, f);
		why = maps_set_flow(m, i, &g->settings, 0);
		if (why != NULL && !is_capacity(why))
			say_what_failed(why);
		taken += why == NULL;
		free(g);
	}
	return taken;
}

/* Of a rate a hundredth of a second, where no burst is given; without a rate none. */
TEST(bursts_of_a_rate) {
	static const struct {
		uint64_t rate;
		uint32_t given, burst;
	} rows[] = {
		{80000000, 0, 100000},
		{80000000, 5000, 5000},
		{80000000, UINT32_MAX, MAPS_BURST_MAX},
		{0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct upstream_service_flow f = {
			.grants = {.sustained_rate = rows[i].rate, .traffic_burst = rows[i].given}};
		struct us_grant_flow *g = malloc(us_grant_flow_size(&f));

		assert_non_null(g);
		us_grant_flow_fill(g, &f);
		assert_int_equal(g->settings.sustained_burst, rows[i].burst);
		free(g);
	}
}

static unsigned group_starts(const struct service_group *sg) {
	static const uint8_t source[6] = {2, 0, 0, 0, 0, 1};
	uint8_t frame[MANAGEMENT_FRAME_MAX];
	struct maps_channel channels[2];
	struct maps_config config = {.channels = channels, .channel_count = 2, .flows = FLOWS};
	const char *why = "";
	struct maps *m;
	unsigned taken;

	for (unsigned c = 0; c < 2; c++) {
		channels[c] = us_grant_channel_settings(sg, &sg->upstream_channels[c]);
		assert_true(us_ucd_write(sg, &sg->upstream_channels[c], source, frame) > 0);
	}
	m = maps_create(&config, &why);
	if (m == NULL)
		say_what_failed(why);
	taken = flows_set(m, sg);
	maps_free(m);
	return taken;
}

TEST(what_is_accepted_starts) {
	unsigned accepted = 0, taken = 0;

	for (unsigned i = 0; i < GROUPS; i++) {
		struct service_group sg;
		char *said = NULL;
		size_t size;
		FILE *errors = open_memstream(&said, &size);

		assert_non_null(errors);
		say_group();
		if (service_group_load_text("sg.yaml", text, length, &sg, errors) == 0) {
			accepted++;
			taken += group_starts(&sg);
			service_group_free(&sg);
		}
		fclose(errors);
		free(said);
	}
	/* neither all mistakes nor none, neither all refused nor none */
	assert_in_range(accepted, GROUPS / 10, GROUPS * 9 / 10);
	assert_in_range(taken, accepted, FLOWS * accepted - GROUPS / 30);
}
