/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow_kit.h"

#include <fcntl.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "model/load/loader.h"
#include "model/server_config.h"
#include "test.h"
#include "traffic_kit_config.h"

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

json_t *__wrap_server_link_call(struct server_link *l, const char *method, json_t *params);
uint64_t __wrap_server_link_send(struct server_link *l, const char *method, json_t *params);
json_t *__wrap_server_link_next(struct server_link *l, int wait_ms);

static json_t *result_of(struct fake_server *s, const char *method) {
	if (s->rude)
		return json_object();
	if (strcmp(method, "config.get") != 0)
		return json_pack("{s:i, s:i}", "sequence", s->sequence, "generation",
				 s->generation);
	s->asked++;
	return json_pack("{s:i, s:i, s:O}", "generation", s->generation, "sequence", s->sequence,
			 "config", s->config);
}

json_t *__wrap_server_link_call(struct server_link *l, const char *method, json_t *params) {
	assert_true(json_is_true(json_object_get(params, "keys")));
	json_decref(params);
	if (l->fd < 0)
		l->fd = open("/dev/null", O_RDONLY);
	if (strcmp(method, "events.subscribe") == 0)
		json_array_clear(follow_server.messages);
	return result_of(&follow_server, method);
}

static void answer_send(struct fake_server *s, json_int_t id) {
	json_array_append_new(s->messages, json_pack("{s:I, s:o}", "id", id, "result",
						     result_of(s, "server.info")));
}

uint64_t __wrap_server_link_send(struct server_link *l, const char *method, json_t *params) {
	assert_string_equal(method, "server.info");
	follow_server.infos++;
	if (follow_server.busy)
		follow_server.unanswered = (json_int_t)++l->id;
	else
		answer_send(&follow_server, (json_int_t)++l->id);
	return l->id;
}

json_t *__wrap_server_link_next(struct server_link *l, int wait_ms) {
	json_t *message = l->fd < 0 ? NULL : json_array_get(follow_server.messages, 0);

	l->trouble = l->fd < 0 ? "it has gone" : NULL;
	json_incref(message);
	if (message != NULL)
		json_array_remove(follow_server.messages, 0);
	return message;
}

void follow_answer(void) {
	follow_server.busy = false;
	if (follow_server.unanswered != 0)
		answer_send(&follow_server, follow_server.unanswered);
	follow_server.unanswered = 0;
}

/* Takes the event over. */
static void event_send(const char *name, json_t *event) {
	struct fake_server *s = &follow_server;

	json_object_set_new(event, "event", json_string(name));
	json_object_set_new(event, "change", json_integer(s->change));
	json_object_set_new(event, "sequence", json_integer(s->sequence));
	s->sequence += strcmp(name, "missed") != 0;
	if (s->slow && strcmp(name, "missed") != 0)
		json_decref(event);
	else
		json_array_append_new(s->messages,
				      json_pack("{s:s, s:o}", "method", "event", "params", event));
}

static void missed_send(int first) {
	if (follow_server.slow)
		event_send("missed",
			   json_pack("{s:i, s:i}", "first", first, "next", follow_server.sequence));
}

void follow_tell(unsigned group, const char *kind, const char *action, json_t *object) {
	json_array_append_new(follow_server.objects,
			      json_pack("{s:i, s:s, s:s, s:o}", "group", group, "kind", kind,
					"action", action, "object", json_deep_copy(object)));
}

void follow_tell_modem(const char *action, json_t *modem) {
	follow_tell(1, "modem", action, modem);
}

void follow_modem_changed(size_t index) {
	follow_tell_modem("changed", follow_modem(index));
	follow_change_end();
}

void follow_change_prepare(void) {
	struct fake_server *s = &follow_server;
	int first = s->sequence;
	json_t *object;
	size_t i;

	s->change++;
	s->generation++;
	event_send("prepared", json_pack("{s:i, s:i}", "generation", s->generation, "objects",
					 (int)json_array_size(s->objects)));
	json_array_foreach(s->objects, i, object) event_send("object", json_incref(object));
	json_array_clear(s->objects);
	missed_send(first);
}

void follow_change_apply(void) {
	int first = follow_server.sequence;

	event_send("applied", json_pack("{s:i}", "generation", follow_server.generation));
	event_send("retired", json_object());
	missed_send(first);
}

/* What the kit does from now on is what the server's configuration says. */
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

static json_t *modems(void) {
	return json_object_get(follow_server.config, "modems");
}

json_t *follow_modem(size_t index) {
	return json_array_get(modems(), index);
}

void follow_set_json(json_t *object, const char *key, const char *text) {
	assert_int_equal(json_object_set_new(object, key, follow_read(text)), 0);
}

void follow_applied(unsigned n) {
	follow_change_apply();
	rig_obey();
}

void follow_change_end(void) {
	follow_change_prepare();
	follow_applied(0);
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
	for (int i = 0; i < 20000 && follow_group_unresolved(&following.groups[0]); i++) {
		follow_look(&following, 1);
		round_of(rig.traffic);
	}
	assert_false(follow_group_unresolved(&following.groups[0]));
	traffic_receive(rig.traffic);
	follow_none_waits(0);
}

void follow_serve(void) {
	follow_server = (struct fake_server){
		.config = follow_read(rig_config),
		.objects = json_array(),
		.messages = json_array(),
		.generation = 1,
		.sequence = 41,
	};
	rig_obey();
	rig.follows = true;
}

void follow_join(void) {
	assert_int_equal(
		follow_create(&following, "server", &rig.groups, &rig.sg, rte_get_tsc_hz()), 0);
}

void follow_leave(void) {
	follow_free(&following);
	json_decref(follow_server.config);
	json_decref(follow_server.objects);
	json_decref(follow_server.messages);
	rig.follows = false;
}

int follow_begin(void **state) {
	follow_serve();
	rig_start(&rig, "256", 1);
	rig_groups(&rig);
	follow_join();
	follow_learn(4);
	follow_wrong = (struct rig_wrong){0};
	taken = 0;
	return 0;
}

int follow_end(void **state) {
	follow_leave();
	traffic_free(rig.traffic);
	rig.traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
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

static void modem_insert(size_t at, json_t *modem) {
	follow_tell_modem("added", modem);
	json_array_insert(modems(), at, modem);
	json_decref(modem);
	follow_change_end();
}

/* Returns it; to be freed. */
static json_t *modem_take(size_t at) {
	json_t *modem = json_incref(json_array_get(modems(), at));

	follow_tell_modem("removed", modem);
	json_array_remove(modems(), at);
	return modem;
}

void follow_modem_add(unsigned n) {
	memset(rig.numbers[3], 0, sizeof(rig.numbers[3]));
	modem_insert(json_array_size(modems()), follow_read(NEW_MODEM));
}

void follow_removal_prepared(unsigned n) {
	json_decref(modem_take(json_array_size(modems()) - 1));
	follow_change_prepare();
}

void follow_modem_remove(unsigned n) {
	follow_removal_prepared(0);
	follow_applied(0);
}

void follow_first_again(void (*edit)(json_t *modem, unsigned n), unsigned n) {
	json_t *first = modem_take(0);

	follow_change_end();
	edit(first, n);
	modem_insert(0, first);
}
