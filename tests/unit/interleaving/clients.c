/* SPDX-License-Identifier: BSD-3-Clause */
/* The model, which is the configuration as JSON, and the effect of each request on it. Clients,
 * which send batches of requests. Compares the server with the model when no request is pending. */

#include "server/changes.h"

#include "server_simulation.h"

#include "test.h"

#define FINAL_ROUNDS 200 /* enough for all packets to arrive */

const char *model_list(enum live_object object) {
	static const char *const names[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = "channels",
		[LIVE_UPSTREAM_CHANNEL] = "upstream_channels",
		[LIVE_BONDING_GROUP] = "bonding_groups",
		[LIVE_FILTER_GROUP] = "filter_groups",
		[LIVE_MODEM] = "modems",
	};

	return names[object];
}

const char *model_key(enum live_object object) {
	return object == LIVE_MODEM ? "mac" : "id";
}

static json_t *group_list(const json_t *group, enum live_object object) {
	return json_object_get(group, model_list(object));
}

static size_t find_index(const json_t *group, enum live_object object, const json_t *key) {
	const json_t *list = group_list(group, object);
	size_t i = 0;

	while (i < json_array_size(list) &&
	       !json_equal(json_object_get(json_array_get(list, i), model_key(object)), key))
		i++;
	return i;
}

json_t *model_find(const json_t *group, enum live_object object, const json_t *key) {
	return json_array_get(group_list(group, object), find_index(group, object, key));
}

static void apply_object(json_t *group, const struct op *op) {
	const json_t *key = json_object_get(op->item, model_key(op->object));
	json_t *list = group_list(group, op->object);
	size_t i = find_index(group, op->object, key);

	if (list == NULL) {
		list = json_array();
		json_object_set_new(group, model_list(op->object), list);
	}
	switch (op->kind) {
	case OP_ADD: json_array_append_new(list, json_deep_copy(op->item)); break;
	case OP_REPLACE: json_array_set_new(list, i, json_deep_copy(op->item)); break;
	case OP_SET: json_object_update(json_array_get(list, i), op->item); break;
	default: json_array_remove(list, i); break;
	}
}

/* Applies a key operation to a security association. */
static void apply_key(json_t *sa, const struct op *op) {
	json_t *sequence = json_object_get(sa, "key_sequence");

	switch (op->kind) {
	case OP_KEY_INSTALL:
		json_object_set(sa, "next_key", json_object_get(op->item, "key"));
		json_object_set(sa, "next_iv", json_object_get(op->item, "iv"));
		return;
	case OP_KEY_USE: json_object_set_new(sa, "use_next_key", json_true()); return;
	default: break;
	}
	json_object_set(sa, "key", json_object_get(sa, "next_key"));
	json_object_set(sa, "iv", json_object_get(sa, "next_iv"));
	json_object_set_new(sa, "key_sequence",
			    json_integer((json_integer_value(sequence) + 1) % 16));
	json_object_del(sa, "next_key");
	json_object_del(sa, "next_iv");
	json_object_del(sa, "use_next_key");
}

static void apply_keys(const json_t *group, const struct op *op) {
	json_t *modem;
	size_t i;

	json_array_foreach(json_object_get(group, "modems"), i, modem) {
		json_t *sa = json_object_get(modem, "security");

		if (json_integer_value(json_object_get(sa, "said")) == op->said)
			apply_key(sa, op);
	}
}

static void apply_file(json_t **groups, const json_t *list) {
	json_t *group;
	size_t i;

	for (unsigned id = 1; id <= SIM_GROUPS; id++) {
		json_decref(groups[id]);
		groups[id] = NULL;
	}
	json_array_foreach(list, i, group)
		groups[json_integer_value(json_object_get(group, "service_group"))] =
			json_deep_copy(group);
}

void op_apply_to_model(json_t **groups, const struct op *op) {
	switch (op->kind) {
	case OP_ADD:
	case OP_REPLACE:
	case OP_SET:
	case OP_REMOVE: apply_object(groups[op->group], op); break;
	case OP_KEY_INSTALL:
	case OP_KEY_USE:
	case OP_KEY_REMOVE: apply_keys(groups[op->group], op); break;
	case OP_GROUP_SET: json_object_update(groups[op->group], op->item); break;
	case OP_GROUP_ADD: groups[op->group] = json_deep_copy(op->item); break;
	case OP_GROUP_REMOVE:
		json_decref(groups[op->group]);
		groups[op->group] = NULL;
		break;
	case OP_RELOAD: apply_file(groups, op->item); break;
	default: break;
	}
}

void op_free(struct op *op) {
	json_decref(op->item);
	op->item = NULL;
}

static bool op_affects(const struct op *op, unsigned group, const char *mac) {
	const json_t *key = json_object_get(op->item, "mac");

	if (op->kind == OP_RELOAD)
		return true;
	return op->group == group && op->object == LIVE_MODEM && key != NULL &&
	       strcmp(json_string_value(key), mac) == 0;
}

static bool any_op_affects(const struct op *ops, unsigned count, unsigned group, const char *mac) {
	for (unsigned i = 0; i < count; i++) {
		if (op_affects(&ops[i], group, mac))
			return true;
	}
	return false;
}

bool sim_is_affected(const struct simulation *sim, unsigned group, const char *mac) {
	bool affected = any_op_affects(sim->completed, sim->completed_count, group, mac);

	for (unsigned c = 0; c < SIM_CLIENTS; c++)
		affected |= any_op_affects(sim->clients[c].ops, sim->clients[c].count, group, mac);
	return affected;
}

static void send_requests(struct simulation *sim, struct client *c) {
	json_t *batch = json_array();
	char *text;

	sim_wait_for_packets(sim);
	for (unsigned i = 0; i < c->count; i++) {
		json_t *request = sim_create_request(sim, &c->ops[i]);

		json_object_set_new(request, "id", json_integer(i));
		json_array_append_new(batch, request);
	}
	text = json_dumps(batch, 0);
	c->work = rpc_begin(&sim->rpc, text, strlen(text));
	assert_non_null(c->work);
	free(text);
	json_decref(batch);
}

static void client_send(struct simulation *sim, struct client *c) {
	static const unsigned counts[] = {1, 1, 2, 4, 12};
	unsigned count = counts[sim_random(sim, 5)];

	c->count = 0;
	while (c->count < count) {
		struct op *op = &c->ops[c->count];
		bool single;

		sim_random_op(sim, op);
		single = op->kind >= OP_GROUP_ADD; /* changes a whole group or file */
		if (single && c->count > 0) {
			op_free(op);
			continue;
		}
		c->count++;
		if (single)
			break;
	}
	send_requests(sim, c);
}

static void handle_response(struct simulation *sim, struct op *op, const json_t *response) {
	const json_t *result = json_object_get(response, "result");
	const json_t *generation = json_object_get(result, "generation");

	if (result == NULL) {
		const json_t *error = json_object_get(response, "error");

		if (getenv("INTERLEAVING_VERBOSE") != NULL)
			fprintf(stderr, "refused: %s\n",
				json_string_value(json_object_get(error, "message")));
		sim->refused[op->kind]++;
		op_free(op);
		return;
	}
	sim->accepted[op->kind]++;
	op->generation = generation != NULL ? (uint64_t)json_integer_value(generation)
					    : sim->kit.server.generation;
	op->response = sim->response_count++;
	assert_true(sim->completed_count < RTE_DIM(sim->completed));
	sim->completed[sim->completed_count++] = *op;
}

static void client_receive(struct simulation *sim, struct client *c) {
	struct answer_text text = {0};
	json_t *responses;

	rpc_end(c->work, &text);
	responses = answer_text_parse(&text);
	assert_int_equal(json_array_size(responses), c->count);
	for (unsigned i = 0; i < c->count; i++)
		handle_response(sim, &c->ops[i], json_array_get(responses, i));
	json_decref(responses);
	c->work = NULL;
	c->count = 0;
}

static int compare_generations(const void *a, const void *b) {
	const struct op *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return x->response < y->response ? -1 : 1;
}

bool sim_has_pending_request(const struct simulation *sim) {
	for (unsigned c = 0; c < SIM_CLIENTS; c++) {
		if (sim->clients[c].work != NULL)
			return true;
	}
	return false;
}

/* Once no request is pending, applies completed operations to the model in their order. */
static void apply_completed(struct simulation *sim) {
	if (sim_has_pending_request(sim))
		return;
	qsort(sim->completed, sim->completed_count, sizeof(sim->completed[0]), compare_generations);
	for (unsigned i = 0; i < sim->completed_count; i++) {
		op_apply_to_model(sim->groups, &sim->completed[i]);
		op_free(&sim->completed[i]);
	}
	sim->completed_count = 0;
}

/* Processes requests of the client until one has to wait. */
static void serve_client(struct simulation *sim, struct client *c) {
	uint64_t before = sim->kit.server.generation;
	unsigned retiring = server_changes_retiring(&sim->kit.server);

	if (rpc_continue(c->work))
		client_receive(sim, c);
	sim->overlaps += retiring > 0 && sim->kit.server.generation > before;
	apply_completed(sim);
}

void sim_step(struct simulation *sim) {
	struct client *c = &sim->clients[sim_random(sim, SIM_CLIENTS)];
	uint64_t before = sim->kit.server.generation;
	unsigned action = sim_random(sim, 8);

	if (action < 4 && c->work != NULL)
		serve_client(sim, c);
	else if (action < 4 && sim->completed_count + SIM_BATCH * SIM_CLIENTS <
				       RTE_DIM(sim->completed) + SIM_BATCH)
		client_send(sim, c);
	else if (action < 7)
		sim_advance(sim);
	else
		server_changes_retire(&sim->kit.server);
	if (!sim->threads && (sim->kit.server.generation != before || sim_random(sim, 8) == 0))
		sim_check_tables(sim);
}

/* Checks that the server has the same objects in the group as the model. */
static void compare_group(const struct server *s, const struct service_group *model) {
	const struct served_group *g = s->groups;
	struct live_changes changes;
	char why[LIVE_LINE], text[LIVE_LINE];

	while (g < s->groups + s->group_count && (!g->in_service || g->sg->id != model->id))
		g++;
	assert_true(g < s->groups + s->group_count);
	if (!live_difference(&g->live, model, &changes, why))
		fail_msg("group %u: %s", model->id, why);
	live_changes_text(&g->live, &changes, text, sizeof(text));
	if (changes.count > 0)
		fail_msg("group %u differs from the model: %s", model->id, text);
	live_changes_free(&changes);
}

static void model_compare(const struct simulation *sim) {
	json_t *list = json_array(), *file = json_pack("{s:O}", "service_groups", list);
	struct server_config config;
	unsigned group_count = 0;
	char *text;

	for (unsigned id = 1; id <= SIM_GROUPS; id++)
		json_array_append(list, sim->groups[id]);
	text = json_dumps(file, 0);
	assert_int_equal(
		server_config_load_text("model", text, strlen(text), NULL, NULL, &config, stderr),
		0);
	for (size_t g = 0; g < config.group_count; g++)
		compare_group(&sim->kit.server, &config.groups[g]);
	for (unsigned g = 0; g < sim->kit.server.group_count; g++)
		group_count += sim->kit.server.groups[g].in_service;
	assert_int_equal(group_count, config.group_count);
	server_config_free(&config);
	free(text);
	json_decref(file);
	json_decref(list);
}

void sim_settle(struct simulation *sim) {
	while (sim_has_pending_request(sim)) {
		for (unsigned c = 0; c < SIM_CLIENTS; c++) {
			if (sim->clients[c].work != NULL)
				serve_client(sim, &sim->clients[c]);
		}
		sim_advance(sim);
	}
	server_changes_settle(&sim->kit.server);
	sim->silent = true;
	for (unsigned i = 0; i < FINAL_ROUNDS; i++)
		sim_advance(sim);
	sim->silent = false;
	sim_check_tables(sim);
	if (!sim->threads) /* threads still change the counters */
		sim_check_drops(sim);
	model_compare(sim);
}
