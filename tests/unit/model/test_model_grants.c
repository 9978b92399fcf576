/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader on the upstream scheduler: defaults, what they come to in time and bytes, and mistakes. */
#include "test_model.h"

#include "model/grants_times.h"
#include "model/live/object_copy.h"

#define SCHEDULER "upstream: {scheduler: {}}\n"
#define CHANNELS(sc_qam, ofdma)                                                       \
	"upstream_channels:\n"                                                        \
	"  - {id: 1, type: sc-qam, rate: 30.72 Mbps, session: 0x20001, " sc_qam "}\n" \
	"  - {id: 2, type: ofdma, rate: 668 Mbps, session: 0x20002, " ofdma "}\n"
#define FLOW(settings)                  \
	"    upstream_service_flows:\n" \
	"      - {id: 9, " settings     \
	"sid_clusters: [{id: 0, sids: [{channel: 1, sid: 1}, {channel: 2, sid: 1}]}]}\n"
#define PLAIN SCHEDULER SMALL_HEAD CHANNELS("", "") "modems:\n" SMALL_MODEM FLOW("")
#define US UINT64_C(1000)

static void nothing_is_scheduled(void **state) {
	struct loaded loaded = load_text(SMALL_HEAD CHANNELS("", "") "modems:\n" SMALL_MODEM);

	(void)state;
	assert_string_equal(loaded.said, "");
	assert_false(loaded.sg.upstream.scheduled);
	assert_int_equal(loaded.sg.upstream.scheduler.map_interval, 0);
	unload(&loaded);
}

/* An empty map is all it takes. */
static void defaults(void **state) {
	struct loaded loaded = load_text(PLAIN);
	const struct upstream_channel *c = loaded.sg.upstream_channels;
	const struct grants_config *g = &loaded.sg.upstream.scheduler;
	struct grants_times sc_qam, ofdma;

	(void)state;
	assert_string_equal(loaded.said, "");
	assert_true(loaded.sg.upstream.scheduled);
	sc_qam = grants_times_of(g, &c[0]);
	ofdma = grants_times_of(g, &c[1]);
	/* 64 symbols of 6 bits */
	assert_int_equal(sc_qam.frame, 2 * GRANTS_TICK);
	assert_int_equal(sc_qam.frame_minislots, 1);
	assert_int_equal(sc_qam.minislot_bytes, 48);
	assert_int_equal(sc_qam.minislots, 160);
	assert_int_equal(sc_qam.lead, grants_samples(1091 * US));
	assert_int_equal(sc_qam.ack_delay, grants_samples(1091 * US) + grants_samples(200 * US) +
						   grants_samples(100 * US) + sc_qam.frame);
	assert_int_equal(sc_qam.initial_minislots, 23); /* 280 us */
	assert_int_equal(sc_qam.station_minislots, 16);
	/* six symbols of 22.5 us */
	assert_int_equal(ofdma.frame, 27648);
	assert_int_equal(ofdma.frame_minislots, 237);
	assert_int_equal(ofdma.minislot_bytes, 47);
	assert_int_equal(ofdma.interval, 15 * 27648);
	assert_int_equal(ofdma.minislots, 15 * 237);
	assert_int_equal(ofdma.lead, grants_samples(1091 * US) + 27648 + 4608);
	assert_int_equal(ofdma.ack_delay, ofdma.lead + 3 * 27648 + grants_samples(100 * US));
	assert_int_equal(ofdma.initial_minislots, 237);
	assert_int_equal(grants_map_session(&c[1]), 0x00030002);
	assert_int_equal(grants_map_channel(&loaded.sg, &c[0], 0), 1);
	assert_int_equal(grants_map_channel(&loaded.sg, &c[0], 1), 0);
	assert_int_equal(loaded.sg.modems[0].upstream_flows[0].grants.request_multiplier, 4);
	unload(&loaded);
}

static void what_is_given(void **state) {
	struct loaded loaded = load_text(
		"upstream: {scheduler: {map_interval: 1 ms, request_processing: 1 ms, psp_flow: "
		"3}}\n" SMALL_HEAD CHANNELS("physical: {minislot_ticks: 1, symbol_rate: 2560, "
					    "modulation: qpsk},"
					    " map_session: 9, map_channels: [1]",
					    "physical: {bits: 8, subcarrier_spacing: 25, "
					    "cyclic_prefix: 96,"
					    " frame_symbols: 9, frame_minislots: 100},"
					    " maintenance: {initial_interval: 0 s, "
					    "station_minislots: 7}") "modems:\n" SMALL_MODEM
			FLOW("scheduling: unsolicited-grant, unsolicited_grant_size: 232, "
			     "priority: 7,"
			     " nominal_grant_interval: 10 ms, max_sustained_rate: 1 Mbps, "));
	const struct upstream_channel *c = loaded.sg.upstream_channels;
	struct grants_times t;

	(void)state;
	assert_string_equal(loaded.said, "");
	t = grants_times_of(&loaded.sg.upstream.scheduler, &c[0]);
	assert_int_equal(t.frame, GRANTS_TICK);
	assert_int_equal(t.minislot_bytes, 4); /* 16 symbols of 2 bits */
	assert_int_equal(t.ack_delay - t.lead,
			 grants_samples(1000 * US) + grants_samples(100 * US) + t.frame);
	assert_int_equal(grants_map_session(&c[0]), 9);
	t = grants_times_of(&loaded.sg.upstream.scheduler, &c[1]);
	assert_int_equal(t.frame, 9 * (8192 + 192));
	assert_int_equal(t.minislot_bytes, 16 * 9);
	assert_int_equal(t.minislots, 3 * 100); /* 1 ms is 2.7 frames */
	assert_int_equal(t.station_minislots, 7);
	assert_int_equal(loaded.sg.upstream.scheduler.psp_flow, 3);
	unload(&loaded);
}

#define AT(what) "sg.yaml:" what
#define WITH(sc_qam, ofdma, flow) \
	SCHEDULER SMALL_HEAD CHANNELS(sc_qam, ofdma) "modems:\n" SMALL_MODEM FLOW(flow)

static void mistakes_of_channels(void **state) {
	(void)state;
	expect_mistakes(
		WITH("physical: {bits: 3, minislot_ticks: 3}", "map_channels: [1, 1, 7]", ""), 4,
		AT("5: upstream_channels[0].physical.bits: found \"3\", allowed: nothing without "
		   "type: "
		   "ofdma\n") AT("5: upstream_channels[0].physical.minislot_ticks: found \"3\", "
				 "allowed: 1, 2, 4, 8, "
				 "16, 32, 64 or 128\n")
			AT("6: upstream_channels[1].map_channels[1]: found \"1\", allowed: each "
			   "channel once\n") AT("6: upstream_channels[1].map_channels[2]: found "
						"\"7\", allowed: the id of a channel "
						"of this file\n"));
	expect_mistakes(
		WITH("contention: {backoff_start: 5, backoff_end: 4}",
		     "maintenance: {backoff_start: 5}", ""),
		2,
		AT("5: upstream_channels[0].contention.backoff_end: found \"4\", allowed: at "
		   "least backoff_start\n") AT("6: upstream_channels[1].maintenance.backoff_end: "
					       "found nothing, allowed: at "
					       "least backoff_start\n"));
	expect_mistakes(
		WITH("contention: {request_opportunities: 81}", "physical: {cyclic_prefix: 100}",
		     ""),
		2,
		AT("5: upstream_channels[0].contention.request_opportunities: found \"81\", "
		   "allowed: at most 80, with request_minislots half of a MAP's minislots\n")
			AT("6: upstream_channels[1].physical.cyclic_prefix: found \"100\", "
			   "allowed: 96, "
			   "128, 160, 192, 224, 256, 288, 320, 384, 512 or 640\n"));
	expect_mistakes(
		WITH("map_session: 7", "physical: {data_iuc: 8}", ""), 2,
		AT("5: upstream_channels[0].map_session: found \"7\" again, allowed: it once "
		   "(first on line 2)\n") AT("6: upstream_channels[1].physical.data_iuc: found "
					     "\"8\", allowed: 5, 6 or 9 to "
					     "13\n"));
}

static void mistakes_of_intervals(void **state) {
	(void)state;
	expect_mistakes(
		"upstream: {scheduler: {map_interval: 20 ms}}\n" SMALL_HEAD CHANNELS(
			"", "") "modems:\n" SMALL_MODEM,
		1,
		AT("6: upstream_channels[1].physical: found nothing, allowed: at most 16383 "
		   "minislots in upstream.scheduler.map_interval\n"));
	expect_mistakes(
		"upstream: {scheduler: {map_interval: 21 ms, psp_flow: 8}}\n" SMALL, 2,
		AT("1: upstream.scheduler.map_interval: found \"21 ms\", allowed: a time such as "
		   "\"50 us\", 500 us to 20 ms\n") AT("1: upstream.scheduler.psp_flow: found "
						      "\"8\", allowed: a number, 0 to 7\n"));
}

/* What a MAP has room for, and what not: told where it stands, and not by the scheduler when it starts. */
static const struct {
	const char *interval, *sc_qam, *ofdma;
	const char *said; /* NULL: nothing */
} cases[] = {
	{"800 us", "", "", NULL},
	{"500 us", "", "", NULL},
	{"500 us", "maintenance: {initial_interval: 0 s, initial_minislots: 4096}", "", NULL},
	{"1 ms", "contention: {request_opportunities: 32}", "", NULL},
	{"1 ms", "", "physical: {frame_symbols: 36}", NULL}, /* a frame is a MAP */
	{"500 us", "maintenance: {initial_minislots: 28, station_minislots: 28}", "", NULL},
	{"500 us", "maintenance: {initial_minislots: 29}", "",
	 "5: upstream_channels[0].maintenance.initial_minislots: found \"29\", allowed: at "
	 "most 28, as a MAP has beside requests and a grant\n"},
	{"500 us", "maintenance: {station_minislots: 29}", "",
	 "5: upstream_channels[0].maintenance.station_minislots: found \"29\", allowed: at "
	 "most 28, as a MAP has beside requests and a grant\n"},
	{"500 us",
	 "physical: {minislot_ticks: 4}, contention: {request_minislots: 16, "
	 "request_opportunities: 1}",
	 "",
	 "5: upstream_channels[0].contention.request_minislots: found \"16\", allowed: at "
	 "most 10, half of a MAP's minislots\n"},
	{"500 us", "physical: {minislot_ticks: 128}", "",
	 "5: upstream_channels[0].physical: found a map, allowed: minislots of which a "
	 "MAP has some for requests, ranging and 128 bytes\n"},
	{"2 ms", "physical: {burst_minislots: 150}", "",
	 "5: upstream_channels[0].contention.request_opportunities: found nothing, "
	 "allowed: "
	 "at most 6, as a MAP has beside ranging and a grant\n"},
	{"2 ms", "", "physical: {minislot_bytes: 4096}",
	 "6: upstream_channels[1].physical.minislot_bytes: found \"4096\", allowed: at "
	 "most "
	 "2359, as a MAP describes at most 8 MiB\n"},
};

static void room_in_maps(void **state) {
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		char text[1024], said[256] = "";

		snprintf(text, sizeof(text),
			 "upstream: {scheduler: {map_interval: %s}}\n" SMALL_HEAD CHANNELS(
				 "%s", "%s") "modems:\n" SMALL_MODEM FLOW(""),
			 cases[i].interval, cases[i].sc_qam, cases[i].ofdma);
		if (cases[i].said != NULL)
			snprintf(said, sizeof(said), AT("%s"), cases[i].said);
		expect_mistakes(text, cases[i].said != NULL, said);
	}
}

static void rates_beyond_maps(void **state) {
	(void)state;
	expect_mistakes(
		SCHEDULER SMALL_HEAD
		"upstream_channels: [{id: 2, type: ofdma, rate: 40 Gbps, session: 0x20002}]\n"
		"modems:\n" SMALL_MODEM,
		1,
		AT("4: upstream_channels[0].rate: found \"40 Gbps\", allowed: at most 33144 Mbps, "
		   "as "
		   "a MAP describes at most 8 MiB\n"));
	expect_mistakes(
		SCHEDULER SMALL_HEAD
		"upstream_channels: [{id: 2, type: sc-qam, rate: 40 Gbps, session: 0x20002}]\n"
		"modems:\n" SMALL_MODEM,
		1,
		AT("4: upstream_channels[0].rate: found \"40 Gbps\", allowed: at most 33554 Mbps, "
		   "as "
		   "a MAP describes at most 8 MiB\n"));
	expect_mistakes(
		"upstream: {scheduler: {map_interval: 500 us}}\n" SMALL_HEAD
		"upstream_channels: [{id: 2, type: sc-qam, rate: 40 Gbps, session: 0x20002}]\n"
		"modems:\n" SMALL_MODEM,
		1,
		AT("4: upstream_channels[0].rate: found \"40 Gbps\", allowed: at most 38400 Mbps, "
		   "as "
		   "a grant has at most 60000 bytes\n"));
}

/* Grants that come by themselves are no longer than one may be, and proactive ones not far apart. */
static void mistakes_of_services(void **state) {
#define GIVEN "scheduling: unsolicited-grant, nominal_grant_interval: 10 ms, "
	(void)state;
	expect_mistakes(WITH("", "", GIVEN "unsolicited_grant_size: 59993, "), 1,
			AT("14: modems[0].upstream_service_flows[0].unsolicited_grant_size: found "
			   "\"59993\", allowed: at most 59992, as a grant has beside a segment "
			   "header\n"));
	expect_mistakes(WITH("", "",
			     GIVEN "unsolicited_grant_size: 1001, max_concatenated_burst: 1000, "
				   "segment_header: false, "),
			1,
			AT("14: modems[0].upstream_service_flows[0].unsolicited_grant_size: found "
			   "\"1001\", allowed: at most 1000, as max_concatenated_burst has\n"));
	expect_mistakes(
		WITH("", "", GIVEN "unsolicited_grant_size: 992, max_concatenated_burst: 1000, "),
		0, "");
	expect_mistakes(
		WITH("", "",
		     "scheduling: proactive-grant, nominal_grant_interval: 101 ms, "
		     "guaranteed_grant_rate: 1 Mbps, "),
		1,
		AT("14: modems[0].upstream_service_flows[0].nominal_grant_interval: found \"101 "
		   "ms\", allowed: at most 100 ms with proactive-grant\n"));
#undef GIVEN
}

static void mistakes_of_flows(void **state) {
	(void)state;
	expect_mistakes(
		WITH("", "", "scheduling: unsolicited-grant, peak_rate: 1 Mbps, "), 3,
		AT("14: modems[0].upstream_service_flows[0].peak_rate: found \"1 Mbps\", "
		   "allowed: nothing without max_sustained_rate\n")
			AT("14: modems[0].upstream_service_flows[0].nominal_grant_interval: found "
			   "nothing, allowed: a value, which this scheduling needs\n")
				AT("14: "
				   "modems[0].upstream_service_flows[0].unsolicited_grant_size: "
				   "found "
				   "nothing, allowed: a value, which this scheduling needs\n"));
	expect_mistakes(
		WITH("", "", "request_multiplier: 3, active_timeout: 1 s, "), 2,
		AT("14: modems[0].upstream_service_flows[0].request_multiplier: found \"3\", "
		   "allowed: 1, 2, 4, 8 or 16\n")
			AT("14: modems[0].upstream_service_flows[0].active_timeout: found \"1 s\", "
			   "allowed: nothing without scheduling: unsolicited-grant-activity\n"));
	expect_mistakes(WITH("", "",
			     "max_sustained_rate: 1 Mbps, peak_rate: 900 kbps, min_reserved_rate: "
			     "2 Mbps, "),
			2,
			AT("14: modems[0].upstream_service_flows[0].peak_rate: found \"900 kbps\", "
			   "allowed: at least max_sustained_rate\n")
				AT("14: modems[0].upstream_service_flows[0].min_reserved_rate: "
				   "found \"2 Mbps\", "
				   "allowed: at most max_sustained_rate\n"));
	expect_mistakes(WITH("", "",
			     "scheduling: proactive-grant, nominal_grant_interval: 2 ms, "
			     "guaranteed_grant_rate: none, "),
			1,
			AT("14: modems[0].upstream_service_flows[0].guaranteed_grant_rate: found "
			   "\"none\", allowed: a rate, which this scheduling needs\n"));
}

/* A flow that has other settings is another one for who compares groups. */
static void settings_are_compared(void **state) {
	struct loaded a = load_text(PLAIN), b = load_text(WITH("", "", "priority: 1, "));
	struct loaded c = load_text(WITH("contention: {request_opportunities: 9}", "", ""));

	(void)state;
	assert_string_equal(b.said, "");
	assert_true(object_same(LIVE_MODEM, &a.sg.modems[0], &a.sg.modems[0]));
	assert_false(object_same(LIVE_MODEM, &a.sg.modems[0], &b.sg.modems[0]));
	assert_false(object_same(LIVE_UPSTREAM_CHANNEL, &a.sg.upstream_channels[0],
				 &c.sg.upstream_channels[0]));
	assert_true(object_same(LIVE_UPSTREAM_CHANNEL, &a.sg.upstream_channels[1],
				&c.sg.upstream_channels[1]));
	unload(&a);
	unload(&b);
	unload(&c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_scheduled),	 cmocka_unit_test(defaults),
		cmocka_unit_test(what_is_given),	 cmocka_unit_test(mistakes_of_channels),
		cmocka_unit_test(mistakes_of_intervals), cmocka_unit_test(mistakes_of_flows),
		cmocka_unit_test(room_in_maps),		 cmocka_unit_test(rates_beyond_maps),
		cmocka_unit_test(mistakes_of_services),	 cmocka_unit_test(settings_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
