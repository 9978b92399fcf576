/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds groups in service from YAML text, and compares them as JSON that does not depend on slots. Changes them by
 * another text or by requests, and checks the changes. */
#pragma once

#include "model_kit.h"

#include <jansson.h>

#include "model/live/difference.h"
#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "model/live/request.h"

#include "short_json.h"

/* A configuration with two modems, which have objects of all kinds. */
#define LIVE_TOP                                                                       \
	"name: sg\n"                                                                   \
	"channels:\n"                                                                  \
	"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 11}\n"                         \
	"  - {id: 2, type: ofdm, rate: 1 Gbps, session: 12}\n"                         \
	"  - {id: 3, type: sc-qam, rate: 37.5 Mbps, session: 13, psp_extra: static}\n" \
	"upstream_channels:\n"                                                         \
	"  - {id: 1, type: ofdma, rate: 100 Mbps, session: 21, request_session: 22}\n" \
	"  - {id: 2, type: sc-qam, rate: 30 Mbps, session: 23, ranging_session: 24}\n" \
	"bonding_groups:\n"                                                            \
	"  - {id: 1, channels: [1, 2]}\n"                                              \
	"  - {id: 2, channels: [3]}\n"                                                 \
	"filter_groups:\n"                                                             \
	"  - {id: 1, rules: [{family: ipv4, action: deny, tos: 0x20/0xf0}]}\n"         \
	"  - {id: 2, rules: [{family: llc, action: deny, ethertype: 0x86dd}]}\n"
#define LIVE_MODEM_1                                                                             \
	"  - mac: \"02:01:00:00:00:01\"\n"                                                       \
	"    addresses: [10.0.0.1, \"2001:db8::1\"]\n"                                           \
	"    filter_groups: [2, 1]\n"                                                            \
	"    bonding_group: 1\n"                                                                 \
	"    max_aggregate_rate: 100 Mbps\n"                                                     \
	"    security: {said: 1, key: \"000102030405060708090a0b0c0d0e0f\", "                    \
	"iv: \"000102030405060708090a0b0c0d0e0e\"}\n"                                            \
	"    service_flows:\n"                                                                   \
	"      - {id: 1, dsid: 1, priority: 3, max_sustained_rate: 20 Mbps, "                    \
	"min_reserved_rate: 1 Mbps, min_reserved_packet: 128, aqm: wred, "                       \
	"wred: {max_probability_inverse: 33, weight: 4, min_threshold: 7000}}\n"                 \
	"      - {id: 2, bonding_group: 2, aqm: docsis-pie, latency_target: 20 ms, "             \
	"min_buffer: 5000}\n"                                                                    \
	"    classifiers: [{family: ipv6, source: \"2001:db8:1::/48\", protocol: tcp, "          \
	"source_ports: 80, destination_ports: \"1-99\", service_flow: 2}]\n"                     \
	"    upstream_service_flows:\n"                                                          \
	"      - {id: 3, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 1}, {channel: 2, sid: " \
	"1}]}]}\n"
#define LIVE_MODEM_2                                                                              \
	"  - mac: \"02:01:00:00:00:02\"\n"                                                        \
	"    addresses: [10.0.0.2]\n"                                                             \
	"    bonding_group: 2\n"                                                                  \
	"    security: {said: 2, cipher: none}\n"                                                 \
	"    service_flows: [{id: 4}, {id: 5, state: provisioned}]\n"                             \
	"    upstream_service_flows:\n"                                                           \
	"      - {id: 6, segment_header: false, sid_clusters: [{id: 3, sids: [{channel: 1, sid: " \
	"2}]}]}\n"
#define LIVE_SMALL LIVE_TOP "modems:\n" LIVE_MODEM_1 LIVE_MODEM_2

/* Loads a valid configuration; the caller frees the group. */
static inline struct service_group load_valid(const char *text) {
	struct loaded loaded = load_text(text);

	assert_string_equal(loaded.messages, "");
	free(loaded.messages);
	return loaded.sg;
}

/* The caller frees it by live_group_free(). */
static inline struct live_group make_live_group(const char *text) {
	struct service_group sg = load_valid(text);
	struct group_capacity capacity = group_capacity(&sg);
	struct live_group l;

	assert_int_equal(live_group_create(&l, &sg, &capacity, (char[LIVE_LINE]){0}), 0);
	service_group_free(&sg); /* the group has its own copy */
	return l;
}

/* All objects with their secrets as JSON, by name; the caller frees the text. */
static inline char *live_group_text(const struct live_group *l) {
	json_t *all = json_object();
	char name[64], *text;

	json_object_set_new(all, "group", object_json(l, LIVE_GROUP, 0, true));
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t i = 0; i < live_capacity(&l->capacity, o); i++) {
			if (l->blocks[o][i] == NULL)
				continue;
			live_name(o, live_item(&l->sg, o, i), name, sizeof(name));
			assert_null(json_object_get(all, name));
			json_object_set_new(all, name, object_json(l, o, i, true));
		}
	}
	text = json_dumps(all, JSON_INDENT(1) | JSON_SORT_KEYS);
	assert_non_null(text);
	json_decref(all);
	return text;
}

/* Asserts that live_group_text() of the group is `before`, and frees that. */
static inline void expect_unchanged(const struct live_group *l, char *before) {
	char *now = live_group_text(l);

	assert_string_equal(now, before);
	free(now);
	free(before);
}

/* Asserts that the group equals a new copy of the configuration. */
static inline void expect_equals(const struct live_group *l, const struct service_group *sg) {
	struct live_group fresh;

	assert_int_equal(live_group_create(&fresh, sg, &l->capacity, (char[LIVE_LINE]){0}), 0);
	expect_unchanged(l, live_group_text(&fresh));
	live_group_free(&fresh);
}

/* Asserts that object lists, blocks and first free slots agree. */
static inline void expect_consistent(const struct live_group *l) {
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		uint32_t slots = live_capacity(&l->capacity, o), first_free = 0;

		assert_int_equal(live_count(&l->sg, o), slots);
		for (uint32_t i = 0; i < slots; i++) {
			const void *item = live_item(&l->sg, o, i);
			const bool in_use[LIVE_OBJECTS] = {
				[LIVE_CHANNEL] = o == LIVE_CHANNEL && channel_exists(item),
				[LIVE_UPSTREAM_CHANNEL] =
					o == LIVE_UPSTREAM_CHANNEL && upstream_channel_exists(item),
				[LIVE_BONDING_GROUP] =
					o == LIVE_BONDING_GROUP && bonding_group_exists(item),
				[LIVE_FILTER_GROUP] =
					o == LIVE_FILTER_GROUP && filter_group_exists(item),
				[LIVE_MODEM] = o == LIVE_MODEM && modem_exists(item),
			};

			assert_int_equal(in_use[o], l->blocks[o][i] != NULL);
			if (in_use[o])
				assert_memory_equal(item, l->blocks[o][i], live_kinds[o].size);
			if (in_use[o] && first_free == i)
				first_free++;
		}
		assert_int_equal(l->first_free[o], first_free);
	}
}

/* LIVE_SMALL with `from` replaced by `to`; the caller frees it. */
static inline char *replace_text(const char *from, const char *to) {
	const char *text = LIVE_SMALL, *position = strstr(text, from);
	char *made = malloc(strlen(text) + strlen(to) + 1);

	assert_non_null(position);
	assert_non_null(made);
	sprintf(made, "%.*s%s%s", (int)(position - text), text, to, position + strlen(from));
	return made;
}

/* A configuration with `first` addresses per modem in the first half of its modems, `second` in the other. Free it. */
static inline char *modems_text(unsigned modems, unsigned first, unsigned second) {
	unsigned address = 0;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "max_modems: %u\n" LIVE_TOP "modems:\n", modems);
	for (unsigned m = 0; m < modems; m++) {
		fprintf(out,
			"  - mac: '02:01:00:00:%02x:%02x'\n"
			"    bonding_group: 2\n"
			"    security: {said: 3, cipher: none}\n"
			"    service_flows: [{id: %u}]\n"
			"    addresses: [",
			2 + m / 256, m % 256, 1000 + m);
		for (unsigned a = m < modems / 2 ? first : second; a > 0; a--, address++)
			fprintf(out, "10.9.%u.%u%s", address / 256, address % 256,
				a > 1 ? ", " : "]\n");
	}
	fclose(out);
	return text;
}

/* Applies the changes; asserts their description before and after, and frees them. */
static inline void expect_applied(struct live_group *l, struct live_changes *changes,
				  const char *expected) {
	char text[512];

	live_changes_text(l, changes, text, sizeof(text));
	assert_string_equal(text, expected);
	live_changes_apply(l, changes);
	live_changes_text(l, changes, text, sizeof(text));
	assert_string_equal(text, expected);
	live_changes_free(changes);
	expect_consistent(l);
}

/* Changes the group to the configuration `text`; asserts the description of the changes. */
static inline void expect_changes(struct live_group *l, const char *text, const char *expected) {
	struct service_group next = load_valid(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "";

	assert_true(live_difference(l, &next, &changes, why));
	expect_applied(l, &changes, expected);
	expect_equals(l, &next);
	service_group_free(&next);
}

/* Asserts that a change to the configuration `text` is refused with `line`, and changes nothing. */
static inline void expect_refused(const struct live_group *l, const char *text, const char *line) {
	struct service_group next = load_valid(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "", *before = live_group_text(l);

	assert_false(live_difference(l, &next, &changes, why));
	assert_string_equal(why, line);
	assert_null(changes.list);
	expect_unchanged(l, before);
	service_group_free(&next);
}

/* Prepares the changes of a request, given in the form of short_json.h. Returns false with the reason in `why`. */
static inline bool request_change(const struct live_group *l, enum live_verb verb,
				  enum live_object object, const char *text,
				  struct live_changes *changes, char why[LIVE_LINE]) {
	json_t *value = json_of(text);
	bool valid;

	why[0] = '\0';
	valid = live_request(l, verb, object, value, changes, why);
	json_decref(value);
	return valid;
}
