/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader on the upstream: every field, every default, mistakes, and size. */
#include "test_main.h"
#include "test_model.h"

#define KEY "00112233445566778899aabbccddeeff"
#define CHANNELS                                                                 \
	"upstream_channels:\n"                                                   \
	"  - {id: 65535, type: sc-qam, rate: 30.72 Mbps, session: 0xffffffff,\n" \
	"     request_session: 5, ranging_session: 6}\n"                         \
	"  - {id: 3, type: ofdma, rate: 1 Gbps, session: 7}\n"
#define HEAD SMALL_HEAD CHANNELS
#define MODEM_AS(number, security)                         \
	"  - mac: \"02:01:00:00:00:0" number "\"\n"        \
	"    addresses: [10.0.0." number "]\n"             \
	"    bonding_group: 1\n"                           \
	"    security: {said: " number ", " security "}\n" \
	"    service_flows: [{id: " number "}]\n"
#define MODEM(number) MODEM_AS(number, "cipher: none")

static const char full[] =
	"ports: {control: {device: net_tap0, queue_size: 64}}\n"
	"threads: {upstream_core: 9}\n"
	"upstream: {verify_source: false, verify_crc: true, psp_numbering: session,\n"
	"  reorder_timeout: 0 s, frame_timeout: 60 s, held_by_modem: 16 MB, held: 16 MB}\n" HEAD
	"modems:\n" MODEM_AS(
		"1",
		"key: " KEY ", iv: " KEY ", key_sequence: 15,\n"
		"      next_key: f0112233445566778899aabbccddeeff, next_iv: \"" KEY
		"\"") "    upstream_service_flows:\n"
		      "      - id: 0xffffffff\n"
		      "        sid_clusters:\n"
		      "          - {id: 7, sids: [{channel: 3, sid: 0x3ffe}, {channel: 65535, sid: "
		      "1}]}\n"
		      "          - {id: 0, sids: [{channel: 3, sid: 1}]}\n"
		      "      - {id: 9, segment_header: false,\n"
		      "         sid_clusters: [{id: 2, sids: [{channel: 65535, sid: 2}]}]}\n" MODEM(
			      "2");

TEST(every_field) {
	struct loaded loaded = load_text(full);
	const struct service_group *sg = &loaded.sg;
	const struct upstream_config *upstream = &sg->upstream;
	const struct upstream_channel *channel = sg->upstream_channels;

	assert_string_equal(loaded.said, "");
	assert_string_equal(sg->control_port.device, "net_tap0");
	assert_int_equal(sg->control_port.queue_size, 64);
	assert_int_equal(sg->threads.upstream_core, 9);
	assert_false(upstream->verify_source);
	assert_true(upstream->verify_crc);
	assert_int_equal(upstream->psp_numbering, PSP_NUMBERING_SESSION);
	assert_int_equal(upstream->reorder_timeout_ns, 0);
	assert_int_equal(upstream->frame_timeout_ns, 60000000000);
	assert_int_equal(upstream->held_by_modem, 16000000);
	assert_int_equal(upstream->held, 16000000);
	assert_int_equal(sg->upstream_channel_count, 2);
	assert_int_equal(channel[0].id, 65535);
	assert_int_equal(channel[0].type, UPSTREAM_SC_QAM);
	assert_int_equal(channel[0].rate, 30720000);
	assert_int_equal(channel[0].session, 0xffffffff);
	assert_int_equal(channel[0].request_session, 5);
	assert_int_equal(channel[0].ranging_session, 6);
	assert_int_equal(channel[1].id, 3);
	assert_int_equal(channel[1].type, UPSTREAM_OFDMA);
	assert_int_equal(channel[1].session, 7); /* as that of the downstream channel */
	assert_int_equal(channel[1].request_session, 0);
	assert_int_equal(channel[1].ranging_session, 0);
	unload(&loaded);
}

TEST(service_flows) {
	struct loaded loaded = load_text(full);
	const struct modem *modem = loaded.sg.modems;
	const struct upstream_service_flow *flow = modem->upstream_flows;
	const struct sid_cluster *cluster = flow->clusters;

	assert_int_equal(modem->upstream_flow_count, 2);
	assert_int_equal(flow[0].id, 0xffffffff);
	assert_true(flow[0].segment_header);
	assert_int_equal(flow[0].cluster_count, 2);
	assert_int_equal(cluster[0].id, 7);
	assert_int_equal(cluster[0].sid_count, 2);
	assert_int_equal(cluster[0].sids[0].channel, 1);
	assert_int_equal(cluster[0].sids[0].sid, SG_MAX_SID);
	assert_int_equal(cluster[0].sids[1].channel, 0);
	assert_int_equal(cluster[0].sids[1].sid, 1);
	assert_int_equal(cluster[1].id, 0);
	assert_int_equal(cluster[1].sid_count, 1);
	assert_int_equal(cluster[1].sids[0].channel, 1);
	assert_int_equal(flow[1].id, 9);
	assert_false(flow[1].segment_header);
	assert_int_equal(flow[1].cluster_count, 1);
	assert_int_equal(flow[1].clusters[0].id, 2);
	assert_int_equal(flow[1].clusters[0].sids[0].channel, 0);
	assert_int_equal(flow[1].clusters[0].sids[0].sid, 2);
	assert_int_equal(loaded.sg.modems[1].upstream_flow_count, 0);
	unload(&loaded);
}

TEST(the_following_key) {
	struct loaded loaded = load_text(full);
	const struct security_association *security = &loaded.sg.modems[0].security;
	static const uint8_t iv[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
				     0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

	assert_int_equal(security->key_sequence, 15);
	assert_true(security->has_next_key);
	assert_int_equal(security->next_key[0], 0xf0);
	assert_int_equal(security->next_key[1], 0x11);
	assert_memory_equal(security->next_iv, iv, sizeof(iv));
	assert_false(loaded.sg.modems[1].security.has_next_key);
	unload(&loaded);
}

TEST(without_a_word_of_the_upstream) {
	struct loaded loaded = load_text(SMALL);
	const struct upstream_config *upstream = &loaded.sg.upstream;

	assert_string_equal(loaded.said, "");
	assert_null(loaded.sg.control_port.device);
	assert_int_equal(loaded.sg.control_port.queue_size, 0);
	assert_int_equal(loaded.sg.threads.upstream_core, 1);
	assert_true(upstream->verify_source);
	assert_false(upstream->verify_crc);
	assert_int_equal(upstream->psp_numbering, PSP_NUMBERING_FLOW);
	assert_int_equal(upstream->reorder_timeout_ns, 5000000);
	assert_int_equal(upstream->frame_timeout_ns, 2000000000);
	assert_int_equal(upstream->held_by_modem, 256000);
	assert_int_equal(upstream->held, 4000000);
	assert_int_equal(loaded.sg.upstream_channel_count, 0);
	assert_int_equal(loaded.sg.modems[0].upstream_flow_count, 0);
	assert_false(loaded.sg.modems[0].security.has_next_key);
	unload(&loaded);
}

TEST(defaults_of_what_is_given) {
	struct loaded loaded =
		load_text("ports: {control: {device: x}}\nupstream: {}\n"
			  "upstream_channels: []\n" SMALL "    upstream_service_flows: []\n");

	assert_string_equal(loaded.said, "");
	assert_int_equal(loaded.sg.control_port.queue_size, 512);
	assert_true(loaded.sg.upstream.verify_source);
	unload(&loaded);
}

TEST(next_keys_are_shared_with_the_said) {
	static const char modems[] = SMALL_HEAD
		"modems:\n" MODEM_AS("1", "key: " KEY ", iv: " KEY ", next_key: " KEY
					  ", next_iv: " KEY) "  - mac: \"02:01:00:00:00:02\"\n"
							     "    addresses: [10.0.0.2]\n"
							     "    bonding_group: 1\n"
							     "    service_flows: [{id: 2}]\n"
							     "    security: {said: 1, key: " KEY
							     ", iv: " KEY "%s}\n";
	static const char *const others[] = {
		"",
		(", next_key: " KEY ", next_iv: 00000000000000000000000000000000"),
		(", next_key: 00000000000000000000000000000000, next_iv: " KEY),
	};
	char text[2000];

	snprintf(text, sizeof(text), modems, ", next_key: " KEY ", next_iv: " KEY);
	expect_mistakes(text, 0, "");
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		snprintf(text, sizeof(text), modems, others[i]);
		expect_mistakes(text, 1,
				"sg.yaml:13: modems[1].security.said: found \"1\", allowed: a said "
				"of its own, or the same keys, ivs, cipher and key_sequence as the "
				"modems that share it\n");
	}
}

/* Keys are for nobody's eyes: one that is well formed never stands in a message. */
TEST(a_good_key_is_not_shown) {
	struct loaded loaded = load_text(SMALL_HEAD "modems:\n" MODEM_AS(
		"1", "cipher: none, next_key: " KEY ", next_iv: " KEY));

	assert_int_equal(loaded.mistakes, 2);
	assert_null(strstr(loaded.said, "00112233"));
	unload(&loaded);
}

TEST(as_many_as_there_may_be) {
	static char text[20000];
	char *end = text + snprintf(text, sizeof(text), SMALL_HEAD "upstream_channels:\n");
	struct loaded loaded;

	for (int c = 1; c <= SG_MAX_UPSTREAM_CHANNELS; c++)
		end += sprintf(end, "  - {id: %d, type: ofdma, rate: 1 Gbps, session: %d}\n", c, c);
	end += sprintf(end,
		       "modems:\n%s    upstream_service_flows:\n      - id: 9\n"
		       "        sid_clusters:\n",
		       MODEM("1"));
	for (int cluster = 0; cluster < SG_MAX_SID_CLUSTERS; cluster++) {
		end += sprintf(end, "          - {id: %d, sids: [", cluster);
		for (int c = 1; c <= SG_MAX_UPSTREAM_CHANNELS; c++)
			end += sprintf(end, "{channel: %d, sid: %d},", c, cluster + 1);
		end += sprintf(end, "]}\n");
	}
	loaded = load_text(text);
	assert_string_equal(loaded.said, "");
	assert_int_equal(loaded.sg.modems[0].upstream_flows[0].cluster_count, 8);
	assert_int_equal(loaded.sg.modems[0].upstream_flows[0].clusters[7].sids[63].channel, 63);
	unload(&loaded);
}

TEST(many_modems_are_loaded) {
	const int modems = 30000;
	size_t room = (size_t)modems * 400;
	char *text = malloc(room), *end = text;
	struct loaded loaded;

	assert_non_null(text);
	end += sprintf(end, "%smodems:\n", HEAD);
	for (int m = 0; m < modems; m++)
		end += sprintf(end,
			       "  - mac: \"02:01:00:00:%02x:%02x\"\n"
			       "    addresses: [10.1.%d.%d]\n"
			       "    bonding_group: 1\n"
			       "    security: {said: 1, cipher: none}\n"
			       "    service_flows: [{id: %d}]\n"
			       "    upstream_service_flows:\n"
			       "      - {id: %d, sid_clusters: [{id: 0, sids: "
			       "[{channel: %d, sid: %d}]}]}\n",
			       m >> 8, m & 255, m >> 8, m & 255, m + 1, 100000 + m,
			       m % 2 ? 3 : 65535, m / 2 % 15000 + 1);
	loaded = load_bytes(text, (size_t)(end - text));
	assert_string_equal(loaded.said, "");
	assert_int_equal(loaded.sg.modem_count, modems);
	unload(&loaded);
	free(text);
}
