/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader on the upstream scheduler: defaults, what they come to in time and bytes, and mistakes. */
#include "test_main.h"
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

TEST(nothing_is_scheduled) {
	struct loaded loaded = load_text(SMALL_HEAD CHANNELS("", "") "modems:\n" SMALL_MODEM);

	assert_string_equal(loaded.said, "");
	assert_false(loaded.sg.upstream.scheduled);
	assert_int_equal(loaded.sg.upstream.scheduler.map_interval, 0);
	unload(&loaded);
}

/* An empty map is all it takes. */
TEST(defaults) {
	struct loaded loaded = load_text(PLAIN);
	const struct upstream_channel *c = loaded.sg.upstream_channels;
	const struct grants_config *g = &loaded.sg.upstream.scheduler;
	struct grants_times sc_qam, ofdma;

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

TEST(what_is_given) {
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

TEST(room_in_maps) {
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

/* A flow that has other settings is another one for who compares groups. */
TEST(settings_are_compared) {
	struct loaded a = load_text(PLAIN), b = load_text(WITH("", "", "priority: 1, "));
	struct loaded c = load_text(WITH("contention: {request_opportunities: 9}", "", ""));

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
