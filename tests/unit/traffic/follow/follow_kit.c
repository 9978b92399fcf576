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
struct rig_errors follow_errors;
static unsigned collected;

json_t *follow_parse_json(const char *text) {
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

static json_t *make_result(struct fake_server *s, const char *method) {
	if (s->answers_invalid)
		return json_object();
	if (strcmp(method, "config.get") != 0)
		return json_pack("{s:i, s:i}", "sequence", s->sequence, "generation",
				 s->generation);
	s->config_requests++;
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
	return make_result(&follow_server, method);
}

static void send_answer(struct fake_server *s, json_int_t id) {
	json_array_append_new(s->messages, json_pack("{s:I, s:o}", "id", id, "result",
						     make_result(s, "server.info")));
}

uint64_t __wrap_server_link_send(struct server_link *l, const char *method, json_t *params) {
	assert_string_equal(method, "server.info");
	follow_server.info_requests++;
	if (follow_server.busy)
		follow_server.pending_info = (json_int_t)++l->id;
	else
		send_answer(&follow_server, (json_int_t)++l->id);
	return l->id;
}

json_t *__wrap_server_link_next(struct server_link *l, int wait_ms) {
	json_t *message = l->fd < 0 ? NULL : json_array_get(follow_server.messages, 0);

	l->error = l->fd < 0 ? "the server closed the connection" : NULL;
	json_incref(message);
	if (message != NULL)
		json_array_remove(follow_server.messages, 0);
	return message;
}

void follow_answer_info(void) {
	follow_server.busy = false;
	if (follow_server.pending_info != 0)
		send_answer(&follow_server, follow_server.pending_info);
	follow_server.pending_info = 0;
}

/* Sends an event, and takes ownership of it. */
static void send_event(const char *name, json_t *event) {
	struct fake_server *s = &follow_server;

	json_object_set_new(event, "event", json_string(name));
	json_object_set_new(event, "change", json_integer(s->change));
	json_object_set_new(event, "sequence", json_integer(s->sequence));
	s->sequence += strcmp(name, "missed") != 0;
	if (s->loses_events && strcmp(name, "missed") != 0)
		json_decref(event);
	else
		json_array_append_new(s->messages,
				      json_pack("{s:s, s:o}", "method", "event", "params", event));
}

static void send_missed(int first) {
	if (follow_server.loses_events)
		send_event("missed",
			   json_pack("{s:i, s:i}", "first", first, "next", follow_server.sequence));
}

void follow_add_event(unsigned group, const char *kind, const char *action, json_t *object) {
	json_array_append_new(follow_server.objects,
			      json_pack("{s:i, s:s, s:s, s:o}", "group", group, "kind", kind,
					"action", action, "object", json_deep_copy(object)));
}

void follow_add_modem_event(const char *action, json_t *modem) {
	follow_add_event(1, "modem", action, modem);
}

void follow_change_modem(size_t index) {
	follow_add_modem_event("changed", follow_modem(index));
	follow_commit_change();
}

void follow_prepare_change(void) {
	struct fake_server *s = &follow_server;
	int first = s->sequence;
	json_t *object;
	size_t i;

	s->change++;
	s->generation++;
	send_event("prepared", json_pack("{s:i, s:i}", "generation", s->generation, "objects",
					 (int)json_array_size(s->objects)));
	json_array_foreach(s->objects, i, object) send_event("object", json_incref(object));
	json_array_clear(s->objects);
	send_missed(first);
}

void follow_apply_change(void) {
	int first = follow_server.sequence;

	send_event("applied", json_pack("{s:i}", "generation", follow_server.generation));
	send_event("retired", json_object());
	send_missed(first);
}

/* Reconfigures the rig to the server's configuration. */
static void rig_apply_config(void) {
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
	assert_int_equal(json_object_set_new(object, key, follow_parse_json(text)), 0);
}

void step_apply(unsigned n) {
	follow_apply_change();
	rig_apply_config();
}

void follow_commit_change(void) {
	follow_prepare_change();
	step_apply(0);
}

/* Applies pending changes in rounds without packets. */
static void run_rounds(struct traffic *t) {
	struct rte_mbuf *packets[32];
	uint16_t n;

	traffic_change_round(t, rte_rdtsc());
	traffic_receive(t);
	traffic_change_round(t, rte_rdtsc());
	n = rte_eth_rx_burst(rig.network[1], 0, packets, 32);
	assert_int_equal(n, 0);
}

void step_update(unsigned n) {
	for (unsigned i = 0; i < RTE_MAX(n, 1u); i++) {
		following.sample_at = 0;
		follow_step(&following, 0);
		run_rounds(rig.traffic);
	}
}

void step_resolve(unsigned n) {
	for (int i = 0; i < 20000 && follow_group_unresolved(&following.groups[0]); i++) {
		follow_step(&following, 1);
		run_rounds(rig.traffic);
	}
	assert_false(follow_group_unresolved(&following.groups[0]));
	traffic_receive(rig.traffic);
	step_assert_resolved(0);
}

void follow_start_server(void) {
	follow_server = (struct fake_server){
		.config = follow_parse_json(rig_config),
		.objects = json_array(),
		.messages = json_array(),
		.generation = 1,
		.sequence = 41,
	};
	rig_apply_config();
	rig.follows = true;
}

void follow_join(void) {
	assert_int_equal(
		follow_create(&following, "server", &rig.groups, &rig.sg, rte_get_tsc_hz()), 0);
}

void follow_stop_server(void) {
	follow_free(&following);
	json_decref(follow_server.config);
	json_decref(follow_server.objects);
	json_decref(follow_server.messages);
	rig.follows = false;
}

int follow_set_up(void **state) {
	follow_start_server();
	rig_start(&rig, "256", 1);
	rig_groups(&rig);
	follow_join();
	step_update(4);
	follow_errors = (struct rig_errors){0};
	collected = 0;
	return 0;
}

int follow_tear_down(void **state) {
	follow_stop_server();
	traffic_free(rig.traffic);
	rig.traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	return 0;
}

static void finish(const struct follow_case *c) {
	struct traffic_result r;

	follow_errors.overtaken = rig.unmatched;
	r = rig_end_run(&rig);
	rig_assert_result(&r, follow_errors);
	assert_int_equal(rig.unmatched > 0, c->overtaken);
	assert_int_equal(r.corrupted_by[c->corruption], follow_errors.corrupted);
	if (r.proven + r.overtaken == r.sent)
		assert_int_equal(traffic_unexpected(&r, NULL), 0);
}

void follow_run_cases(void **state, const struct follow_case *cases, size_t count) {
	for (size_t i = 0; i < count; i++) {
		print_message("  %s\n", cases[i].name);
		follow_tear_down(state);
		follow_set_up(state);
		for (const struct follow_step *s = cases[i].steps; s->run != NULL; s++)
			s->run(s->n);
		finish(&cases[i]);
	}
}

void step_collect(unsigned n) {
	n = RTE_MAX(n, 1u) * FOLLOW_PACKETS;
	assert_true(collected + n <= ARRAY_COUNT(follow_frames));
	rig_collect(&rig, follow_frames + collected, n, NULL);
	collected += n;
}

void step_send(unsigned n) {
	rig_send_frames(&rig, follow_frames, collected);
	collected = 0;
}

void step_collect_and_send(unsigned n) {
	step_collect(n);
	step_send(0);
}

unsigned follow_count_frames(uint32_t modem) {
	unsigned count = 0;

	for (unsigned i = 0; i < collected; i++)
		count += follow_frames[i].size > 0 && follow_frames[i].modem == modem;
	return count;
}

void step_assert_frames(unsigned n) {
	assert_true(follow_count_frames(n) > 0);
}

void step_restart_sequences(unsigned n) {
	memset(rig.sequences[0], 0, sizeof(rig.sequences[0]));
}

void step_assert_unresolved(unsigned n) {
	assert_true(rig.traffic->downlink->follow->frames.count > 0);
}

void step_assert_resolved(unsigned n) {
	assert_int_equal(rig.traffic->downlink->follow->frames.count, 0);
}

#define NEW_MODEM                                                                           \
	"{'mac': '02:01:00:00:00:04', 'addresses': ['10.0.0.4'], 'cpe_limit': 4, "          \
	"'filter_groups': [1], 'bonding_group': 1, 'security': {'said': 4, 'cipher': "      \
	"'aes-128', 'key': '4f0e0d0c0b0a09080706050403020100', 'iv': "                      \
	"'101112131415161718191a1b1c1d1e1f', 'key_sequence': 7}, 'service_flows': [{'id': " \
	"9, 'priority': 0, 'dsid': 9, 'buffer': '512 kB'}]}"

static void insert_modem(size_t at, json_t *modem) {
	follow_add_modem_event("added", modem);
	json_array_insert(modems(), at, modem);
	json_decref(modem);
	follow_commit_change();
}

/* Removes a modem and returns it. The caller frees it. */
static json_t *remove_modem(size_t at) {
	json_t *modem = json_incref(json_array_get(modems(), at));

	follow_add_modem_event("removed", modem);
	json_array_remove(modems(), at);
	return modem;
}

void step_add_modem(unsigned n) {
	memset(rig.sequences[3], 0, sizeof(rig.sequences[3]));
	insert_modem(json_array_size(modems()), follow_parse_json(NEW_MODEM));
}

void step_prepare_removal(unsigned n) {
	json_decref(remove_modem(json_array_size(modems()) - 1));
	follow_prepare_change();
}

void step_remove_modem(unsigned n) {
	step_prepare_removal(0);
	step_apply(0);
}

void follow_replace_first_modem(void (*edit)(json_t *modem, unsigned n), unsigned n) {
	json_t *first = remove_modem(0);

	follow_commit_change();
	edit(first, n);
	insert_modem(0, first);
}
