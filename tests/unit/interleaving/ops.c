/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates random objects and requests. Most are valid; the server must refuse the others. */

#include "server_simulation.h"

#include "test.h"

#define NUMBERS 4 /* possible numbers of added objects per kind, besides modems */
#define FIRST_NUMBER 3
#define RELOAD_OPS 6
#define SAID_SHARED 60 /* SAID that several modems use */
#define BASE_MODEMS 2 /* of a group at the start */

static void random_hex(struct simulation *sim, char *text, unsigned bytes) {
	for (unsigned i = 0; i < bytes; i++)
		sprintf(text + 2 * i, "%02x", sim_random(sim, 256));
}

static json_t *random_addresses(struct simulation *sim, unsigned group, unsigned modem) {
	static const unsigned counts[] = {1, 1, 2, 5, 20, 64};
	unsigned first = sim_random(sim, 190), count = counts[sim_random(sim, 6)];
	json_t *list = json_array();

	for (unsigned a = 0; a < count; a++)
		json_array_append_new(list,
				      json_sprintf("10.%u.%u.%u", 100 + group, modem, first + a));
	if (sim_random(sim, 4) == 0 && count < 64)
		json_array_append_new(list, json_sprintf("2001:db8:%x::%x", group, modem));
	return list;
}

/* A copy of the shared security association, or NULL if no modem of the model has it. */
static json_t *shared_security(const json_t *group) {
	json_t *modem;
	size_t i;

	json_array_foreach(json_object_get(group, "modems"), i, modem) {
		json_t *sa = json_object_get(modem, "security");

		if (json_integer_value(json_object_get(sa, "said")) == SAID_SHARED)
			return json_deep_copy(sa);
	}
	return NULL;
}

static json_t *random_security(struct simulation *sim, const json_t *group, unsigned modem) {
	unsigned said = sim_random(sim, 4) == 0 ? SAID_SHARED : 100 + modem;
	json_t *shared = said == SAID_SHARED ? shared_security(group) : NULL;
	char key[33], iv[33];

	if (shared != NULL)
		return shared;
	if (sim_random(sim, 5) == 0 && said != SAID_SHARED)
		return json_pack("{s:i,s:s}", "said", said, "cipher", "none");
	random_hex(sim, key, 16);
	random_hex(sim, iv, 16);
	return json_pack("{s:i,s:s,s:s,s:s,s:i}", "said", said, "cipher", "aes-128", "key", key,
			 "iv", iv, "key_sequence", sim_random(sim, 16));
}

/* The ID of a random object of the list in the model; NULL if it is empty. */
static json_t *random_id(struct simulation *sim, const json_t *group, enum live_object object) {
	const json_t *list = json_object_get(group, model_list(object));
	size_t count = json_array_size(list);
	json_t *item = count == 0 ? NULL : json_array_get(list, sim_random(sim, (unsigned)count));

	return json_incref(json_object_get(item, model_key(object)));
}

static json_t *random_flows(struct simulation *sim, unsigned modem) {
	unsigned count = 1 + sim_random(sim, 3);
	json_t *list = json_array();

	for (unsigned f = 0; f < count; f++)
		json_array_append_new(list,
				      json_pack("{s:i,s:i,s:i,s:s}", "id", 1000 + modem * 8 + f,
						"dsid", 1000 + modem * 8 + f, "priority",
						sim_random(sim, 8), "buffer", "20 kB"));
	return list;
}

static json_t *random_upstream_flows(struct simulation *sim, const json_t *group, unsigned modem) {
	json_t *channel = random_id(sim, group, LIVE_UPSTREAM_CHANNEL);

	if (channel == NULL || sim_random(sim, 3) == 0) {
		json_decref(channel);
		return json_array();
	}
	return json_pack("[{s:i,s:b,s:[{s:i,s:[{s:o,s:i}]}]}]", "id", 5000 + modem,
			 "segment_header", (int)sim_random(sim, 2), "sid_clusters", "id", 0, "sids",
			 "channel", channel, "sid", 100 + sim_random(sim, 2) * 100 + modem);
}

static json_t *random_modem(struct simulation *sim, unsigned id, const json_t *group,
			    unsigned modem) {
	json_t *item = json_object(), *list = random_flows(sim, modem);

	json_object_set_new(item, "mac", json_sprintf("02:05:00:00:%02x:%02x", id, modem));
	json_object_set_new(item, "addresses", random_addresses(sim, id, modem));
	json_object_set_new(item, "cpe_limit", json_integer(64));
	json_object_set_new(item, "bonding_group", random_id(sim, group, LIVE_BONDING_GROUP));
	json_object_set_new(item, "security", random_security(sim, group, modem));
	if (json_array_size(list) > 1)
		json_object_set_new(item, "classifiers",
				    json_pack("[{s:s,s:s,s:i,s:O}]", "family", "ipv4", "protocol",
					      "udp", "destination_ports", 4000 + sim_random(sim, 4),
					      "service_flow",
					      json_object_get(json_array_get(list, 1), "id")));
	json_object_set_new(item, "service_flows", list);
	json_object_set_new(item, "upstream_service_flows",
			    random_upstream_flows(sim, group, modem));
	if (sim_random(sim, 2) == 0) {
		json_t *filter = random_id(sim, group, LIVE_FILTER_GROUP);

		json_object_set_new(item, "filter_groups", json_pack("[o]", filter));
	}
	return item;
}

/* The kit ignores DEPI frames of these sessions. */
static json_t *random_channel(struct simulation *sim, unsigned id, unsigned number) {
	return json_pack("{s:i,s:s,s:s,s:i}", "id", number, "type", "ofdm", "rate",
			 sim_random(sim, 2) ? "200 Mbps" : "300 Mbps", "session",
			 0x30000 + id * 256 + number * 4 + sim_random(sim, 4));
}

static json_t *random_upstream_channel(struct simulation *sim, unsigned id, unsigned number) {
	json_t *item =
		json_pack("{s:i,s:s,s:s,s:i}", "id", number, "type", "ofdma", "rate", "30 Mbps",
			  "session", 0x40000 + id * 256 + number * 4 + sim_random(sim, 4));

	if (sim_random(sim, 2))
		json_object_set_new(
			item, "request_session",
			json_integer(0x50000 + id * 256 + number * 4 + sim_random(sim, 4)));
	return item;
}

static json_t *random_bonding_group(struct simulation *sim, const json_t *group, unsigned number) {
	json_t *first = random_id(sim, group, LIVE_CHANNEL),
	       *second = random_id(sim, group, LIVE_CHANNEL);
	json_t *item = json_pack("{s:i,s:[o]}", "id", number, "channels", first);

	if (!json_equal(first, second))
		json_array_append(json_object_get(item, "channels"), second);
	json_decref(second);
	return item;
}

static json_t *random_filter_group(struct simulation *sim, unsigned number) {
	return json_pack("{s:i,s:[{s:s,s:s,s:s,s:i}]}", "id", number, "rules", "family", "ipv4",
			 "action", "deny", "protocol", "udp", "destination_ports",
			 2000 + sim_random(sim, 5));
}

static json_t *create_item(struct simulation *sim, const struct op *op, unsigned number) {
	const json_t *group = sim->groups[op->group];

	switch (op->object) {
	case LIVE_CHANNEL: return random_channel(sim, op->group, number);
	case LIVE_UPSTREAM_CHANNEL: return random_upstream_channel(sim, op->group, number);
	case LIVE_BONDING_GROUP: return random_bonding_group(sim, group, number);
	case LIVE_FILTER_GROUP: return random_filter_group(sim, number);
	default: return random_modem(sim, op->group, group, number);
	}
}

/* Method names by kind. For objects, only the verb; the name of the object precedes it. */
static const char *const methods[OP_KINDS] = {
	[OP_ADD] = "add",
	[OP_REPLACE] = "replace",
	[OP_SET] = "set",
	[OP_REMOVE] = "remove",
	[OP_KEY_INSTALL] = "key.install",
	[OP_KEY_USE] = "key.use",
	[OP_KEY_REMOVE] = "key.remove",
	[OP_GROUP_SET] = "group.set",
	[OP_GROUP_ADD] = "group.add",
	[OP_GROUP_REMOVE] = "group.remove",
	[OP_RELOAD] = "config.reload",
	[OP_WORKER_DRAIN] = "worker.drain",
	[OP_WORKER_RESUME] = "worker.resume",
};

/* The name of the list without its plural s. */
static const char *object_name(const struct op *op, char name[32]) {
	const char *list = model_list(op->object);

	snprintf(name, 32, "%.*s", (int)strlen(list) - 1, list);
	return name;
}

static json_t *object_key(const struct op *op, unsigned number) {
	return op->object == LIVE_MODEM ? json_sprintf("02:05:00:00:%02x:%02x", op->group, number)
					: json_integer(number);
}

/* Some keys of the object, for OP_SET; NULL if the kind does not support it. */
static json_t *create_patch(struct simulation *sim, const struct op *op, unsigned number) {
	json_t *key = object_key(op, number);

	switch (op->object) {
	case LIVE_CHANNEL:
		return json_pack("{s:o,s:s}", "id", key, "rate",
				 sim_random(sim, 2) ? "250 Mbps" : "350 Mbps");
	case LIVE_MODEM:
		return json_pack("{s:o,s:o}", "mac", key, "addresses",
				 random_addresses(sim, op->group, number));
	default: json_decref(key); return NULL;
	}
}

/* Adds an object that does not exist, or removes or changes an existing one. */
static void random_object_op(struct simulation *sim, struct op *op) {
	static const enum live_object kinds[] = {LIVE_CHANNEL, LIVE_UPSTREAM_CHANNEL,
						 LIVE_UPSTREAM_CHANNEL, LIVE_BONDING_GROUP,
						 LIVE_FILTER_GROUP};
	unsigned number = FIRST_NUMBER, choice;
	json_t *key;
	bool exists;

	choice = sim_random(sim, 2 * RTE_DIM(kinds));
	op->object = choice < RTE_DIM(kinds) ? kinds[choice] : LIVE_MODEM;
	number += sim_random(sim, op->object == LIVE_MODEM ? SIM_MODEMS - 4 : NUMBERS);
	key = object_key(op, number);
	exists = model_find(sim->groups[op->group], op->object, key) != NULL;
	json_decref(key);
	choice = sim_random(sim, 8);
	op->kind = exists ? choice < 3 ? OP_REMOVE : choice < 5 ? OP_REPLACE : OP_SET : OP_ADD;
	if (op->kind == OP_SET)
		op->item = create_patch(sim, op, number);
	if (op->kind == OP_SET && op->item == NULL)
		op->kind = OP_REPLACE;
	if (op->kind == OP_REMOVE)
		op->item = json_pack("{s:o}", model_key(op->object), object_key(op, number));
	else if (op->item == NULL)
		op->item = create_item(sim, op, number);
}

static void random_key_op(struct simulation *sim, struct op *op) {
	const json_t *modems = json_object_get(sim->groups[op->group], "modems");
	const json_t *modem =
		json_array_get(modems, sim_random(sim, (unsigned)json_array_size(modems)));
	const json_t *sa = json_object_get(modem, "security");
	char key[33], iv[33];
	unsigned step = json_object_get(sa, "next_key") == NULL		    ? 0
			: json_is_true(json_object_get(sa, "use_next_key")) ? 2
									    : 1;

	if (sim_random(sim, 10) == 0)
		step = sim_random(sim, 3);
	op->kind = OP_KEY_INSTALL + step;
	op->said = (uint16_t)json_integer_value(json_object_get(sa, "said"));
	op->item = json_pack("{s:i}", "said", op->said);
	if (step == 0) {
		random_hex(sim, key, 16);
		random_hex(sim, iv, 16);
		json_object_set_new(op->item, "key", json_string(key));
		json_object_set_new(op->item, "iv", json_string(iv));
	}
}

static void random_group_set(struct simulation *sim, struct op *op) {
	op->kind = OP_GROUP_SET;
	op->item =
		sim_random(sim, 2)
			? json_pack("{s:s}", "rate_limit", sim_random(sim, 2) ? "2 Gbps" : "3 Gbps")
			: json_pack("{s:s}", "cpe_timeout", sim_random(sim, 2) ? "5s" : "7s");
}

static void random_group_op(struct simulation *sim, struct op *op) {
	bool remove = sim_random(sim, 2) == 0;

	op->group = SIM_PERMANENT + 1 + sim_random(sim, SIM_GROUPS - SIM_PERMANENT);
	for (unsigned id = SIM_PERMANENT + 1; remove && id <= SIM_GROUPS; id++) {
		if (sim->groups[id] != NULL)
			op->group = id;
	}
	if (sim->groups[op->group] != NULL) {
		op->kind = OP_GROUP_REMOVE;
		return;
	}
	op->kind = OP_GROUP_ADD;
	op->item = sim_create_group(op->group);
	assert_int_equal(json_dump_file(op->item, sim->group_file, 0), 0);
}

/* Swaps the addresses of two modems. The initial modems, first in the list, swap only with each
 * other: their addresses always receive packets, and the other modems may be removed. */
static void swap_addresses(struct simulation *sim, const json_t *group) {
	const json_t *modems = json_object_get(group, "modems");
	unsigned count = (unsigned)json_array_size(modems), first = sim_random(sim, count);
	unsigned second = first < BASE_MODEMS ? sim_random(sim, BASE_MODEMS)
					      : BASE_MODEMS + sim_random(sim, count - BASE_MODEMS);
	json_t *one = json_array_get(modems, first), *other = json_array_get(modems, second);
	json_t *addresses = json_incref(json_object_get(one, "addresses"));

	json_object_set(one, "addresses", json_object_get(other, "addresses"));
	json_object_set_new(other, "addresses", addresses);
}

/* Writes a configuration file with random changes of objects in any groups. */
static void random_reload(struct simulation *sim, struct op *op) {
	json_t *groups[LIFE_IDS] = {NULL}, *file;

	for (unsigned id = 1; id <= SIM_GROUPS; id++)
		groups[id] = json_deep_copy(sim->groups[id]);
	for (unsigned n = 0; n < RELOAD_OPS; n++) {
		struct op part = {.group = 1 + sim_random(sim, SIM_GROUPS)};

		if (groups[part.group] == NULL)
			continue;
		random_object_op(sim, &part);
		/* removals of referenced objects would be refused */
		if (part.kind != OP_REMOVE || part.object == LIVE_MODEM || sim_random(sim, 8) == 0)
			op_apply_to_model(groups, &part);
		op_free(&part);
		if (sim_random(sim, 2) == 0)
			swap_addresses(sim, groups[part.group]);
	}
	op->kind = OP_RELOAD;
	op->item = json_array();
	for (unsigned id = 1; id <= SIM_GROUPS; id++) {
		if (groups[id] != NULL)
			json_array_append_new(op->item, groups[id]);
	}
	file = json_pack("{s:i,s:O}", "max_groups", SIM_GROUPS, "service_groups", op->item);
	assert_int_equal(json_dump_file(file, sim->file, 0), 0);
	json_decref(file);
}

void sim_random_op(struct simulation *sim, struct op *op) {
	bool idle = !sim_has_pending_request(sim) && sim->completed_count == 0;
	unsigned choice = sim_random(sim, 40);

	*op = (struct op){.group = 1 + sim_random(sim, SIM_GROUPS)};
	if (sim->groups[op->group] == NULL)
		op->group = 1 + sim_random(sim, SIM_PERMANENT);
	if (choice < 10 && idle) {
		random_group_op(sim, op);
	} else if (choice < 16 && idle) {
		random_reload(sim, op);
	} else if (choice < 2) {
		op->kind = OP_WORKER_DRAIN + sim_random(sim, 2);
		op->said = (uint16_t)sim_random(sim, LIFE_WORKERS);
	} else if (choice < 10) {
		random_key_op(sim, op);
	} else if (choice == 10) {
		random_group_set(sim, op);
	} else {
		random_object_op(sim, op);
	}
}

static json_t *create_params(const struct simulation *sim, const struct op *op) {
	char name[32];

	switch (op->kind) {
	case OP_RELOAD: return json_pack("{s:b}", "force", 1);
	case OP_GROUP_ADD: return json_pack("{s:s}", "file", sim->group_file);
	case OP_GROUP_REMOVE: return json_pack("{s:i,s:s}", "group", op->group, "limit", "20ms");
	case OP_GROUP_SET: return json_pack("{s:i,s:O}", "group", op->group, "values", op->item);
	case OP_WORKER_DRAIN:
		return json_pack("{s:i,s:i}", "core", LIFE_FIRST_CORE + op->said, "to",
				 LIFE_FIRST_CORE + (op->said + 1) % LIFE_WORKERS);
	case OP_WORKER_RESUME: return json_pack("{s:i}", "core", LIFE_FIRST_CORE + op->said);
	case OP_KEY_INSTALL:
	case OP_KEY_USE:
	case OP_KEY_REMOVE:
		json_object_set_new(op->item, "group", json_integer(op->group));
		return json_incref(op->item);
	case OP_REMOVE: {
		json_t *params = json_copy(op->item);

		json_object_set_new(params, "group", json_integer(op->group));
		return params;
	}
	default: return json_pack("{s:i,s:O}", "group", op->group, object_name(op, name), op->item);
	}
}

json_t *sim_create_request(const struct simulation *sim, const struct op *op) {
	char method[64], name[32];

	if (op->kind <= OP_REMOVE)
		snprintf(method, sizeof(method), "%s.%s", object_name(op, name), methods[op->kind]);
	else
		snprintf(method, sizeof(method), "%s", methods[op->kind]);
	return json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params",
			 create_params(sim, op));
}
