/* SPDX-License-Identifier: BSD-3-Clause */
/* The model: JSON as in a file, and what each request makes of it. Clients that ask, wait and are answered; and the model
 * beside the server once all are. */

#include "server/changes.h"

#include "world.h"

#include "test.h"

#define LAST_PASSES 200 /* in which all packets arrive */

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

static json_t *list_of(const json_t *group, enum live_object object) {
	return json_object_get(group, model_list(object));
}

static size_t index_of(const json_t *group, enum live_object object, const json_t *key) {
	const json_t *list = list_of(group, object);
	size_t i = 0;

	while (i < json_array_size(list) &&
	       !json_equal(json_object_get(json_array_get(list, i), model_key(object)), key))
		i++;
	return i;
}

json_t *model_find(const json_t *group, enum live_object object, const json_t *key) {
	return json_array_get(list_of(group, object), index_of(group, object, key));
}

static void apply_object(json_t *group, const struct op *op) {
	const json_t *key = json_object_get(op->item, model_key(op->object));
	json_t *list = list_of(group, op->object);
	size_t i = index_of(group, op->object, key);

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

/* Of a security association, whose members are those of one of its modems. */
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

	for (unsigned id = 1; id <= WORLD_GROUPS; id++) {
		json_decref(groups[id]);
		groups[id] = NULL;
	}
	json_array_foreach(list, i, group)
		groups[json_integer_value(json_object_get(group, "service_group"))] =
			json_deep_copy(group);
}

void op_apply(json_t **groups, const struct op *op) {
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

static bool op_touches(const struct op *op, unsigned group, const char *mac) {
	const json_t *key = json_object_get(op->item, "mac");

	if (op->kind == OP_RELOAD)
		return true;
	return op->group == group && op->object == LIVE_MODEM && key != NULL &&
	       strcmp(json_string_value(key), mac) == 0;
}

static bool some_touches(const struct op *ops, unsigned count, unsigned group, const char *mac) {
	for (unsigned i = 0; i < count; i++) {
		if (op_touches(&ops[i], group, mac))
			return true;
	}
	return false;
}

bool world_is_touched(const struct world *w, unsigned group, const char *mac) {
	bool touched = some_touches(w->done, w->done_count, group, mac);

	for (unsigned c = 0; c < WORLD_CLIENTS; c++)
		touched |= some_touches(w->clients[c].ops, w->clients[c].count, group, mac);
	return touched;
}

static void ask(struct world *w, struct client *c) {
	json_t *batch = json_array();
	char *text;

	world_wait_for_packets(w);
	for (unsigned i = 0; i < c->count; i++) {
		json_t *request = world_request(w, &c->ops[i]);

		json_object_set_new(request, "id", json_integer(i));
		json_array_append_new(batch, request);
	}
	text = json_dumps(batch, 0);
	c->work = rpc_begin(&w->rpc, text, strlen(text));
	assert_non_null(c->work);
	free(text);
	json_decref(batch);
}

static void client_asks(struct world *w, struct client *c) {
	static const unsigned counts[] = {1, 1, 2, 4, 12};
	unsigned count = counts[world_roll(w, 5)];

	c->count = 0;
	while (c->count < count) {
		struct op *op = &c->ops[c->count];
		bool alone;

		world_op(w, op);
		alone = op->kind >= OP_GROUP_ADD; /* of groups, or of a whole file */
		if (alone && c->count > 0) {
			op_free(op);
			continue;
		}
		c->count++;
		if (alone)
			break;
	}
	ask(w, c);
}

static void op_answered(struct world *w, struct op *op, const json_t *answer) {
	const json_t *result = json_object_get(answer, "result");
	const json_t *generation = json_object_get(result, "generation");

	if (result == NULL) {
		const json_t *error = json_object_get(answer, "error");

		if (getenv("INTERLEAVING_VERBOSE") != NULL)
			fprintf(stderr, "refused: %s\n",
				json_string_value(json_object_get(error, "message")));
		w->refused[op->kind]++;
		op_free(op);
		return;
	}
	w->taken[op->kind]++;
	op->generation = generation != NULL ? (uint64_t)json_integer_value(generation)
					    : w->bench.server.generation;
	op->answer = w->answers++;
	assert_true(w->done_count < RTE_DIM(w->done));
	w->done[w->done_count++] = *op;
}

static void client_answered(struct world *w, struct client *c) {
	struct answer_text text = {0};
	json_t *answers;

	rpc_end(c->work, &text);
	answers = answer_text_parse(&text);
	assert_int_equal(json_array_size(answers), c->count);
	for (unsigned i = 0; i < c->count; i++)
		op_answered(w, &c->ops[i], json_array_get(answers, i));
	json_decref(answers);
	c->work = NULL;
	c->count = 0;
}

static int by_generation(const void *a, const void *b) {
	const struct op *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return x->answer < y->answer ? -1 : 1;
}

bool world_waits(const struct world *w) {
	for (unsigned c = 0; c < WORLD_CLIENTS; c++) {
		if (w->clients[c].work != NULL)
			return true;
	}
	return false;
}

/* Where nobody waits, the model follows: in the order in which the changes were taken. */
static void model_follow(struct world *w) {
	if (world_waits(w))
		return;
	qsort(w->done, w->done_count, sizeof(w->done[0]), by_generation);
	for (unsigned i = 0; i < w->done_count; i++) {
		op_apply(w->groups, &w->done[i]);
		op_free(&w->done[i]);
	}
	w->done_count = 0;
}

/* Takes all, until the next one has to wait. */
static void client_is_served(struct world *w, struct client *c) {
	uint64_t before = w->bench.server.generation;
	unsigned leaving = server_changes_retiring(&w->bench.server);

	if (rpc_continue(c->work))
		client_answered(w, c);
	w->overlaps += leaving > 0 && w->bench.server.generation > before;
	model_follow(w);
}

void world_step(struct world *w) {
	struct client *c = &w->clients[world_roll(w, WORLD_CLIENTS)];
	uint64_t before = w->bench.server.generation;
	unsigned what = world_roll(w, 8);

	if (what < 4 && c->work != NULL)
		client_is_served(w, c);
	else if (what < 4 &&
		 w->done_count + WORLD_BATCH * WORLD_CLIENTS < RTE_DIM(w->done) + WORLD_BATCH)
		client_asks(w, c);
	else if (what < 7)
		world_pass(w);
	else
		server_changes_retire(&w->bench.server);
	if (!w->threads && (w->bench.server.generation != before || world_roll(w, 8) == 0))
		world_check_tables(w);
}

/* What a server that is started with the model has, is in service. */
static void compare(const struct server *s, const struct service_group *model) {
	const struct served_group *g = s->groups;
	struct live_changes changes;
	char why[LIVE_LINE], text[LIVE_LINE];

	while (g < s->groups + s->group_count && (!g->there || g->sg->id != model->id))
		g++;
	assert_true(g < s->groups + s->group_count);
	if (!live_difference(&g->live, model, &changes, why))
		fail_msg("group %u: %s", model->id, why);
	live_changes_text(&g->live, &changes, text, sizeof(text));
	if (changes.count > 0)
		fail_msg("group %u differs from the model: %s", model->id, text);
	live_changes_free(&changes);
}

static void model_compare(const struct world *w) {
	json_t *list = json_array(), *file = json_pack("{s:O}", "service_groups", list);
	struct server_config config;
	unsigned there = 0;
	char *text;

	for (unsigned id = 1; id <= WORLD_GROUPS; id++)
		json_array_append(list, w->groups[id]);
	text = json_dumps(file, 0);
	assert_int_equal(
		server_config_load_text("model", text, strlen(text), NULL, NULL, &config, stderr),
		0);
	for (size_t g = 0; g < config.group_count; g++)
		compare(&w->bench.server, &config.groups[g]);
	for (unsigned g = 0; g < w->bench.server.group_count; g++)
		there += w->bench.server.groups[g].there;
	assert_int_equal(there, config.group_count);
	server_config_free(&config);
	free(text);
	json_decref(file);
	json_decref(list);
}

void world_settle(struct world *w) {
	while (world_waits(w)) {
		for (unsigned c = 0; c < WORLD_CLIENTS; c++) {
			if (w->clients[c].work != NULL)
				client_is_served(w, &w->clients[c]);
		}
		world_pass(w);
	}
	server_changes_settle(&w->bench.server);
	w->silent = true;
	for (unsigned i = 0; i < LAST_PASSES; i++)
		world_pass(w);
	w->silent = false;
	world_check_tables(w);
	if (!w->threads) /* which count meanwhile */
		world_check_drops(w);
	model_compare(w);
}
