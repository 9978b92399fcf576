/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests service_group_set_defaults(): a group built in memory gets the defaults that the loader uses for missing keys. */
#include "group_defaults.h"
#include "model_kit.h"
#include "test_main.h"

/* One object of each kind, with required keys only. */
static const char text[] =
	"upstream: {scheduler: {}}\n" SMALL_HEAD
	"filter_groups: [{id: 1, rules: [{family: ipv4, action: deny}]}]\n"
	"upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, session: 9}]\n"
	"modems:\n" SMALL_MODEM "    classifiers: [{family: ipv4, service_flow: 1}]\n"
	"    upstream_service_flows: [{id: 2, sid_clusters: [{id: 0, sids: [{channel: 1, sid: "
	"1}]}]}]\n";

/* The same objects, built in memory. */
static struct channel channel;
static struct filter_rule rule;
static struct filter_group filters = {.rules = &rule, .rule_count = 1};
static struct upstream_channel upstream_channel;
static struct service_flow flow;
static struct classifier classifier;
static struct upstream_service_flow upstream_flow;
static struct modem modem = {
	.service_flows = &flow,
	.service_flow_count = 1,
	.classifiers = &classifier,
	.classifier_count = 1,
	.upstream_flows = &upstream_flow,
	.upstream_flow_count = 1,
};
static struct service_group sg = {
	.channels = &channel,
	.channel_count = 1,
	.filter_groups = &filters,
	.filter_group_count = 1,
	.upstream.scheduled = true,
	.upstream_channels = &upstream_channel,
	.upstream_channel_count = 1,
	.modems = &modem,
	.modem_count = 1,
};

#define assert_same(a, b, member) \
	assert_memory_equal(&(a)->member, &(b)->member, sizeof((a)->member))

TEST(defaults_equal_those_of_the_loader) {
	struct loaded loaded = load_bytes(text, sizeof(text) - 1);
	const struct service_group *file = &loaded.sg;
	const struct modem *m = file->modems;

	assert_string_equal(loaded.messages, "");
	service_group_set_defaults(&sg);
	assert_same(&sg, file, max_frame);
	assert_same(&sg, file, rate_limit);
	assert_same(&sg, file, rphy);
	assert_same(&sg, file, upstream.pending);
	assert_same(&sg, file, upstream.pending_given);
	assert_same(&sg, file, upstream.scheduler);
	assert_same(&channel, file->channels, pseudowire);
	assert_same(&rule, file->filter_groups[0].rules, match.source_ports);
	assert_same(&upstream_channel, file->upstream_channels, grants.physical);
	assert_same(&upstream_channel, file->upstream_channels, grants.contention);
	assert_same(&upstream_channel, file->upstream_channels, grants.maintenance);
	assert_same(&modem, m, cpe_limit);
	assert_same(&flow, m->service_flows, weight);
	assert_same(&flow, m->service_flows, buffer);
	assert_same(&flow, m->service_flows, latency_target_ns);
	assert_same(&classifier, m->classifiers, match.destination_ports);
	assert_same(&upstream_flow, m->upstream_flows, grants);
	unload(&loaded);
}

TEST(set_values_are_kept) {
	struct service_group other = {.max_frame = 1000, .modems = &modem, .modem_count = 1};

	flow.weight = 7;
	flow.active = false;
	modem.security.cipher = CIPHER_NONE;
	service_group_set_defaults(&other);
	assert_int_equal(other.max_frame, 1000);
	assert_false(other.upstream.verify_source);
	assert_int_equal(other.upstream.scheduler.map_interval, 0); /* without a scheduler */
	assert_int_equal(flow.weight, 7);
	assert_false(flow.active);
	assert_int_equal(modem.security.cipher, CIPHER_NONE);
	assert_int_equal(modem.cpe_limit, 16);
}
