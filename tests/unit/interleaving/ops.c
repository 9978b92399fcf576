/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects at random, with the keys of a file, and requests. Most can be made; some cannot, and must leave everything as it is. */

#include "world.h"

#include "test.h"

#define NUMBERS 4 /* of objects that come beside those of the start, of each kind */
#define FIRST_NUMBER 3
#define RELOAD_OPS 6
#define SAID_SHARED 60 /* of several modems */
#define BASE_MODEMS 2 /* of a group at the start */

static void item_hex(struct world *w, char *text, unsigned bytes) {
	for (unsigned i = 0; i < bytes; i++)
		sprintf(text + 2 * i, "%02x", world_roll(w, 256));
}

static json_t *item_addresses(struct world *w, unsigned group, unsigned modem) {
	static const unsigned counts[] = {1, 1, 2, 5, 20, 64};
	unsigned first = world_roll(w, 190), count = counts[world_roll(w, 6)];
	json_t *list = json_array();

	for (unsigned a = 0; a < count; a++)
		json_array_append_new(list,
				      json_sprintf("10.%u.%u.%u", 100 + group, modem, first + a));
	if (world_roll(w, 4) == 0 && count < 64)
		json_array_append_new(list, json_sprintf("2001:db8:%x::%x", group, modem));
	return list;
}

/* That of modems which share an association, where one has it in the model. */
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

static json_t *security(struct world *w, const json_t *group, unsigned modem) {
	unsigned said = world_roll(w, 4) == 0 ? SAID_SHARED : 100 + modem;
	json_t *shared = said == SAID_SHARED ? shared_security(group) : NULL;
	char key[33], iv[33];

	if (shared != NULL)
		return shared;
	if (world_roll(w, 5) == 0 && said != SAID_SHARED)
		return json_pack("{s:i,s:s}", "said", said, "cipher", "none");
	item_hex(w, key, 16);
	item_hex(w, iv, 16);
	return json_pack("{s:i,s:s,s:s,s:s,s:i}", "said", said, "cipher", "aes-128", "key", key,
			 "iv", iv, "key_sequence", world_roll(w, 16));
}

/* An id of the list in the model, any. */
static json_t *some_id(struct world *w, const json_t *group, enum live_object object) {
	const json_t *list = json_object_get(group, model_list(object));
	size_t count = json_array_size(list);
	json_t *item = count == 0 ? NULL : json_array_get(list, world_roll(w, (unsigned)count));

	return json_incref(json_object_get(item, model_key(object)));
}

static json_t *flows(struct world *w, unsigned modem) {
	unsigned count = 1 + world_roll(w, 3);
	json_t *list = json_array();

	for (unsigned f = 0; f < count; f++)
		json_array_append_new(list,
				      json_pack("{s:i,s:i,s:i,s:s}", "id", 1000 + modem * 8 + f,
						"dsid", 1000 + modem * 8 + f, "priority",
						world_roll(w, 8), "buffer", "20 kB"));
	return list;
}

static json_t *upstream_flows(struct world *w, const json_t *group, unsigned modem) {
	json_t *channel = some_id(w, group, LIVE_UPSTREAM_CHANNEL);

	if (channel == NULL || world_roll(w, 3) == 0) {
		json_decref(channel);
		return json_array();
	}
	return json_pack("[{s:i,s:b,s:[{s:i,s:[{s:o,s:i}]}]}]", "id", 5000 + modem,
			 "segment_header", (int)world_roll(w, 2), "sid_clusters", "id", 0, "sids",
			 "channel", channel, "sid", 100 + world_roll(w, 2) * 100 + modem);
}

static json_t *modem_item(struct world *w, unsigned id, const json_t *group, unsigned modem) {
	json_t *item = json_object(), *list = flows(w, modem);

	json_object_set_new(item, "mac", json_sprintf("02:05:00:00:%02x:%02x", id, modem));
	json_object_set_new(item, "addresses", item_addresses(w, id, modem));
	json_object_set_new(item, "cpe_limit", json_integer(64));
	json_object_set_new(item, "bonding_group", some_id(w, group, LIVE_BONDING_GROUP));
	json_object_set_new(item, "security", security(w, group, modem));
	if (json_array_size(list) > 1)
		json_object_set_new(item, "classifiers",
				    json_pack("[{s:s,s:s,s:i,s:O}]", "family", "ipv4", "protocol",
					      "udp", "destination_ports", 4000 + world_roll(w, 4),
					      "service_flow",
					      json_object_get(json_array_get(list, 1), "id")));
	json_object_set_new(item, "service_flows", list);
	json_object_set_new(item, "upstream_service_flows", upstream_flows(w, group, modem));
	if (world_roll(w, 2) == 0) {
		json_t *filter = some_id(w, group, LIVE_FILTER_GROUP);

		json_object_set_new(item, "filter_groups", json_pack("[o]", filter));
	}
	return item;
}

/* Sessions of channels that come are no data sessions to the kit. */
static json_t *channel_item(struct world *w, unsigned id, unsigned number) {
	return json_pack("{s:i,s:s,s:s,s:i}", "id", number, "type", "ofdm", "rate",
			 world_roll(w, 2) ? "200 Mbps" : "300 Mbps", "session",
			 0x30000 + id * 256 + number * 4 + world_roll(w, 4));
}

static json_t *upstream_channel_item(struct world *w, unsigned id, unsigned number) {
	json_t *item =
		json_pack("{s:i,s:s,s:s,s:i}", "id", number, "type", "ofdma", "rate", "30 Mbps",
			  "session", 0x40000 + id * 256 + number * 4 + world_roll(w, 4));

	if (world_roll(w, 2))
		json_object_set_new(
			item, "request_session",
			json_integer(0x50000 + id * 256 + number * 4 + world_roll(w, 4)));
	return item;
}

static json_t *bonding_group_item(struct world *w, const json_t *group, unsigned number) {
	json_t *first = some_id(w, group, LIVE_CHANNEL), *second = some_id(w, group, LIVE_CHANNEL);
	json_t *item = json_pack("{s:i,s:[o]}", "id", number, "channels", first);

	if (!json_equal(first, second))
		json_array_append(json_object_get(item, "channels"), second);
	json_decref(second);
	return item;
}

static json_t *filter_group_item(struct world *w, unsigned number) {
	return json_pack("{s:i,s:[{s:s,s:s,s:s,s:i}]}", "id", number, "rules", "family", "ipv4",
			 "action", "deny", "protocol", "udp", "destination_ports",
			 2000 + world_roll(w, 5));
}

static json_t *item_make(struct world *w, const struct op *op, unsigned number) {
	const json_t *group = w->groups[op->group];

	switch (op->object) {
	case LIVE_CHANNEL: return channel_item(w, op->group, number);
	case LIVE_UPSTREAM_CHANNEL: return upstream_channel_item(w, op->group, number);
	case LIVE_BONDING_GROUP: return bonding_group_item(w, group, number);
	case LIVE_FILTER_GROUP: return filter_group_item(w, number);
	default: return modem_item(w, op->group, group, number);
	}
}

/* The methods by kind; those of objects are named by what follows, and one of these verbs. */
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

/* Without the s of the list. */
static const char *object_name(const struct op *op, char name[32]) {
	const char *list = model_list(op->object);

	snprintf(name, 32, "%.*s", (int)strlen(list) - 1, list);
	return name;
}

static json_t *key_of(const struct op *op, unsigned number) {
	return op->object == LIVE_MODEM ? json_sprintf("02:05:00:00:%02x:%02x", op->group, number)
					: json_integer(number);
}

/* Some of its keys. */
static json_t *patch_of(struct world *w, const struct op *op, unsigned number) {
	json_t *key = key_of(op, number);

	switch (op->object) {
	case LIVE_CHANNEL:
		return json_pack("{s:o,s:s}", "id", key, "rate",
				 world_roll(w, 2) ? "250 Mbps" : "350 Mbps");
	case LIVE_MODEM:
		return json_pack("{s:o,s:o}", "mac", key, "addresses",
				 item_addresses(w, op->group, number));
	default: json_decref(key); return NULL;
	}
}

/* An object that is not there comes; one that is goes or changes. */
static void object_op(struct world *w, struct op *op) {
	static const enum live_object others[] = {LIVE_CHANNEL, LIVE_UPSTREAM_CHANNEL,
						  LIVE_UPSTREAM_CHANNEL, LIVE_BONDING_GROUP,
						  LIVE_FILTER_GROUP};
	unsigned number = FIRST_NUMBER, what;
	json_t *key;
	bool there;

	what = world_roll(w, 2 * RTE_DIM(others));
	op->object = what < RTE_DIM(others) ? others[what] : LIVE_MODEM;
	number += world_roll(w, op->object == LIVE_MODEM ? WORLD_MODEMS - 4 : NUMBERS);
	key = key_of(op, number);
	there = model_find(w->groups[op->group], op->object, key) != NULL;
	json_decref(key);
	what = world_roll(w, 8);
	op->kind = there ? what < 3 ? OP_REMOVE : what < 5 ? OP_REPLACE : OP_SET : OP_ADD;
	if (op->kind == OP_SET)
		op->item = patch_of(w, op, number);
	if (op->kind == OP_SET && op->item == NULL)
		op->kind = OP_REPLACE;
	if (op->kind == OP_REMOVE)
		op->item = json_pack("{s:o}", model_key(op->object), key_of(op, number));
	else if (op->item == NULL)
		op->item = item_make(w, op, number);
}

static void key_op(struct world *w, struct op *op) {
	const json_t *modems = json_object_get(w->groups[op->group], "modems");
	const json_t *modem =
		json_array_get(modems, world_roll(w, (unsigned)json_array_size(modems)));
	const json_t *sa = json_object_get(modem, "security");
	char key[33], iv[33];
	unsigned step = json_object_get(sa, "next_key") == NULL		    ? 0
			: json_is_true(json_object_get(sa, "use_next_key")) ? 2
									    : 1;

	if (world_roll(w, 10) == 0)
		step = world_roll(w, 3);
	op->kind = OP_KEY_INSTALL + step;
	op->said = (uint16_t)json_integer_value(json_object_get(sa, "said"));
	op->item = json_pack("{s:i}", "said", op->said);
	if (step == 0) {
		item_hex(w, key, 16);
		item_hex(w, iv, 16);
		json_object_set_new(op->item, "key", json_string(key));
		json_object_set_new(op->item, "iv", json_string(iv));
	}
}

static void group_set(struct world *w, struct op *op) {
	op->kind = OP_GROUP_SET;
	op->item =
		world_roll(w, 2)
			? json_pack("{s:s}", "rate_limit", world_roll(w, 2) ? "2 Gbps" : "3 Gbps")
			: json_pack("{s:s}", "cpe_timeout", world_roll(w, 2) ? "5s" : "7s");
}

static void group_life(struct world *w, struct op *op) {
	bool goes = world_roll(w, 2) == 0;

	op->group = WORLD_STAY + 1 + world_roll(w, WORLD_GROUPS - WORLD_STAY);
	for (unsigned id = WORLD_STAY + 1; goes && id <= WORLD_GROUPS; id++) {
		if (w->groups[id] != NULL)
			op->group = id;
	}
	if (w->groups[op->group] != NULL) {
		op->kind = OP_GROUP_REMOVE;
		return;
	}
	op->kind = OP_GROUP_ADD;
	op->item = world_new_group(op->group);
	assert_int_equal(json_dump_file(op->item, w->group_file, 0), 0);
}

/* Two modems have each other's addresses from now on. Those of the start, which are the first of the list, swap with each
 * other only: packets are sent to their addresses all the time, and the other modems may be removed. */
static void addresses_swap(struct world *w, const json_t *group) {
	const json_t *modems = json_object_get(group, "modems");
	unsigned count = (unsigned)json_array_size(modems), first = world_roll(w, count);
	unsigned second = first < BASE_MODEMS ? world_roll(w, BASE_MODEMS)
					      : BASE_MODEMS + world_roll(w, count - BASE_MODEMS);
	json_t *one = json_array_get(modems, first), *other = json_array_get(modems, second);
	json_t *addresses = json_incref(json_object_get(one, "addresses"));

	json_object_set(one, "addresses", json_object_get(other, "addresses"));
	json_object_set_new(other, "addresses", addresses);
}

/* A file in which some objects differ, of any groups. */
static void reload(struct world *w, struct op *op) {
	json_t *groups[LIFE_IDS] = {NULL}, *file;

	for (unsigned id = 1; id <= WORLD_GROUPS; id++)
		groups[id] = json_deep_copy(w->groups[id]);
	for (unsigned n = 0; n < RELOAD_OPS; n++) {
		struct op part = {.group = 1 + world_roll(w, WORLD_GROUPS)};

		if (groups[part.group] == NULL)
			continue;
		object_op(w, &part);
		if (part.kind != OP_REMOVE || part.object == LIVE_MODEM || world_roll(w, 8) == 0)
			op_apply(groups, &part); /* a reference to what went would be a mistake */
		op_free(&part);
		if (world_roll(w, 2) == 0)
			addresses_swap(w, groups[part.group]);
	}
	op->kind = OP_RELOAD;
	op->item = json_array();
	for (unsigned id = 1; id <= WORLD_GROUPS; id++) {
		if (groups[id] != NULL)
			json_array_append_new(op->item, groups[id]);
	}
	file = json_pack("{s:i,s:O}", "max_groups", WORLD_GROUPS, "service_groups", op->item);
	assert_int_equal(json_dump_file(file, w->file, 0), 0);
	json_decref(file);
}

void world_op(struct world *w, struct op *op) {
	bool alone = !world_waits(w) && w->done_count == 0;
	unsigned what = world_roll(w, 40);

	*op = (struct op){.group = 1 + world_roll(w, WORLD_GROUPS)};
	if (w->groups[op->group] == NULL)
		op->group = 1 + world_roll(w, WORLD_STAY);
	if (what < 10 && alone) {
		group_life(w, op);
	} else if (what < 16 && alone) {
		reload(w, op);
	} else if (what < 2) {
		op->kind = OP_WORKER_DRAIN + world_roll(w, 2);
		op->said = (uint16_t)world_roll(w, LIFE_WORKERS);
	} else if (what < 10) {
		key_op(w, op);
	} else if (what == 10) {
		group_set(w, op);
	} else {
		object_op(w, op);
	}
}

static json_t *params_of(const struct world *w, const struct op *op) {
	char name[32];

	switch (op->kind) {
	case OP_RELOAD: return json_object();
	case OP_GROUP_ADD: return json_pack("{s:s}", "file", w->group_file);
	case OP_GROUP_REMOVE: return json_pack("{s:i,s:s}", "group", op->group, "limit", "20ms");
	case OP_GROUP_SET: return json_pack("{s:i,s:O}", "group", op->group, "values", op->item);
	case OP_WORKER_DRAIN:
		return json_pack("{s:i,s:i}", "core", LIFE_CORE + op->said, "to",
				 LIFE_CORE + (op->said + 1) % LIFE_WORKERS);
	case OP_WORKER_RESUME: return json_pack("{s:i}", "core", LIFE_CORE + op->said);
	case OP_KEY_INSTALL:
	case OP_KEY_USE:
	case OP_KEY_REMOVE:
		json_object_set_new(op->item, "group", json_integer(op->group));
		return json_incref(op->item);
	default: return json_pack("{s:i,s:O}", "group", op->group, object_name(op, name), op->item);
	}
}

json_t *world_request(const struct world *w, const struct op *op) {
	char method[64], name[32];

	if (op->kind <= OP_REMOVE)
		snprintf(method, sizeof(method), "%s.%s", object_name(op, name), methods[op->kind]);
	else
		snprintf(method, sizeof(method), "%s", methods[op->kind]);
	return json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params",
			 params_of(w, op));
}
