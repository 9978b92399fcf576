/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow_rig.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "model/load/loader.h"
#include "model/server_config.h"
#include "test.h"
#include "traffic_rig_config.h"

struct rig_frame follow_frames[8 * FOLLOW_PACKETS];
struct fake_server follow_server;
struct follow following;
struct rig_wrong follow_wrong;
static unsigned taken;

json_t *follow_read(const char *text) {
	char *quoted = strdup(text);
	json_t *value;

	for (char *p = quoted; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	value = json_loads(quoted, JSON_DECODE_ANY, NULL);
	assert_non_null(value);
	free(quoted);
	return value;
}

/* What the rig does from now on is what the server's configuration says. */
static void rig_obey(void) {
	char *text = json_dumps(follow_server.config, 0);
	struct server_config config;

	assert_int_equal(
		server_config_load_text("test", text, strlen(text), NULL, NULL, &config, stderr),
		0);
	service_group_free(&rig.sg);
	rig.sg = config.groups[0];
	free(config.groups);
	free(config.name);
	free(text);
}

json_t *follow_modem(json_t *config, size_t index) {
	return json_array_get(json_object_get(config, "modems"), index);
}

void follow_set_json(json_t *object, const char *key, const char *text) {
	assert_int_equal(json_object_set_new(object, key, follow_read(text)), 0);
}

void follow_change_end(void) {
	fake_server_end(&follow_server);
	rig_obey();
}

/* Between two rounds in which nothing arrives. */
static void round_of(struct traffic *t) {
	struct rte_mbuf *packets[32];
	uint16_t n;

	traffic_change_round(t, rte_rdtsc());
	traffic_receive(t);
	traffic_change_round(t, rte_rdtsc());
	n = rte_eth_rx_burst(rig.network[1], 0, packets, 32);
	assert_int_equal(n, 0);
}

void follow_learn(unsigned n) {
	for (unsigned i = 0; i < RTE_MAX(n, 1u); i++) {
		following.look_at = 0;
		follow_look(&following, 0);
		round_of(rig.traffic);
	}
}

void follow_judge(unsigned n) {
	for (int i = 0; i < 20000 && follow_group_waits(&following.groups[0]); i++) {
		follow_look(&following, 1);
		round_of(rig.traffic);
	}
	assert_false(follow_group_waits(&following.groups[0]));
	traffic_receive(rig.traffic);
	follow_none_waits(0);
}

int follow_begin(void **state) {
	fake_server_open(&follow_server, follow_read(rig_config));
	rig_obey();
	rig.follows = true;
	rig_start(&rig, "256", 1);
	rig_groups(&rig);
	assert_int_equal(follow_create(&following, follow_server.path, &rig.groups, &rig.sg,
				       rte_get_tsc_hz()),
			 0);
	follow_learn(4);
	follow_wrong = (struct rig_wrong){0};
	taken = 0;
	return 0;
}

int follow_end(void **state) {
	follow_free(&following);
	traffic_free(rig.traffic);
	rig.traffic = NULL;
	fake_server_close(&follow_server);
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	rig.follows = false;
	return 0;
}

static void finish(const struct follow_case *c) {
	struct traffic_result r;

	follow_wrong.overtaken = rig.unknown;
	r = rig_result(&rig);
	rig_expect(&r, follow_wrong);
	assert_int_equal(rig.unknown > 0, c->strangers);
	assert_int_equal(r.corrupted_by[c->corruption], follow_wrong.corrupted);
	if (r.proven + r.overtaken == r.sent)
		assert_int_equal(traffic_unexpected(&r, NULL), 0);
}

void follow_play(void **state, const struct follow_case *cases, size_t count) {
	for (size_t i = 0; i < count; i++) {
		print_message("  %s\n", cases[i].name);
		follow_end(state);
		follow_begin(state);
		for (const struct follow_step *s = cases[i].steps; s->what != NULL; s++)
			s->what(s->n);
		finish(&cases[i]);
	}
}

void follow_take(unsigned n) {
	n = RTE_MAX(n, 1u) * FOLLOW_PACKETS;
	assert_true(taken + n <= ARRAY_COUNT(follow_frames));
	rig_take(&rig, follow_frames + taken, n, NULL);
	taken += n;
}

void follow_send(unsigned n) {
	rig_send_frames(&rig, follow_frames, taken);
	taken = 0;
}

void follow_both(unsigned n) {
	follow_take(n);
	follow_send(0);
}

unsigned follow_count(uint32_t modem) {
	unsigned count = 0;

	for (unsigned i = 0; i < taken; i++)
		count += follow_frames[i].size > 0 && follow_frames[i].modem == modem;
	return count;
}

void follow_has(unsigned n) {
	assert_true(follow_count(n) > 0);
}

void follow_numbers_restart(unsigned n) {
	memset(rig.numbers[0], 0, sizeof(rig.numbers[0]));
}

void follow_frames_wait(unsigned n) {
	assert_true(rig.traffic->downlink->follow->frames.count > 0);
}

void follow_none_waits(unsigned n) {
	assert_int_equal(rig.traffic->downlink->follow->frames.count, 0);
}

#define NEW_MODEM                                                                           \
	"{'mac': '02:01:00:00:00:04', 'addresses': ['10.0.0.4'], 'cpe_limit': 4, "          \
	"'filter_groups': [1], 'bonding_group': 1, 'security': {'said': 4, 'cipher': "      \
	"'aes-128', 'key': '4f0e0d0c0b0a09080706050403020100', 'iv': "                      \
	"'101112131415161718191a1b1c1d1e1f', 'key_sequence': 7}, 'service_flows': [{'id': " \
	"9, 'priority': 0, 'dsid': 9, 'buffer': '512 kB'}]}"

void follow_tell(const char *kind, const char *action, json_t *object) {
	fake_server_tell(&follow_server, 1, kind, action, object);
}

void follow_modem_add(unsigned n) {
	json_t *modems = json_object_get(fake_server_begin(&follow_server), "modems");
	json_t *modem = follow_read(NEW_MODEM);

	json_array_append_new(modems, modem);
	memset(rig.numbers[3], 0, sizeof(rig.numbers[3]));
	follow_tell("modem", "added", modem);
	follow_change_end();
}

void follow_modem_remove(unsigned n) {
	json_t *modems = json_object_get(fake_server_begin(&follow_server), "modems");
	size_t last = json_array_size(modems) - 1;

	follow_tell("modem", "removed", json_array_get(modems, last));
	json_array_remove(modems, last);
	follow_change_end();
}
