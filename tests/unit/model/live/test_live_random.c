/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies random edits of a configuration to a group in service, by reload and by requests. The group must then equal
 * a new copy of the configuration, and give the same answers to requests. */
#include "failing_allocations.h"
#include "live_kit.h"
#include "random.h"
#include "test_main.h"

#include "model/live/group_json.h"
#include "model/live/live_index.h"

#define EDITS 400
#define MAX_MODEMS 12
#define CHANNELS 6
#define GROUPS 4
#define SAIDS 3

/* A configuration in small numbers, so that random values often repeat. write_plan() writes it as YAML. */
struct plan_modem {
	unsigned group, filter, flows, rate, address, upstream, said;
};

struct plan {
	unsigned limit;
	unsigned channels[CHANNELS]; /* rate; 0: no channel */
	unsigned sessions[CHANNELS];
	unsigned groups[GROUPS]; /* channels as bits; 0: no bonding group */
	unsigned filters[GROUPS]; /* protocol of its rule; 0: no filter group */
	unsigned upstream[GROUPS]; /* rate; 0: no upstream channel */
	unsigned keys[SAIDS]; /* key sequence numbers */
	struct plan_modem modems[MAX_MODEMS]; /* flows 0: no modem */
	unsigned values[MAX_MODEMS]; /* from which its addresses and identifiers are derived */
};

static void randomize_modem(struct random *r, struct plan *p, unsigned i) {
	p->modems[i] = (struct plan_modem){
		.group = random_below(r, GROUPS),
		.filter = random_below(r, GROUPS + 1),
		.flows = i == 0 ? 1 : random_below(r, 5),
		.rate = random_below(r, 4),
		.address = random_below(r, 3),
		.upstream = random_below(r, GROUPS + 1),
		.said = random_below(r, SAIDS),
	};
}

static unsigned random_group(struct random *r, unsigned i) {
	return i > 0 && random_below(r, 4) == 0 ? 0 : random_between(r, 1, (1 << CHANNELS) - 1);
}

static void randomize_plan(struct random *r, struct plan *p) {
	p->limit = random_below(r, 3);
	for (unsigned i = 0; i < SAIDS; i++)
		p->keys[i] = random_below(r, 4) == 0;
	for (unsigned i = 0; i < CHANNELS; i++) {
		p->channels[i] = i == 0 ? 1 : random_below(r, 4);
		p->sessions[i] = i + 1;
	}
	for (unsigned i = 0; i < GROUPS; i++) {
		p->groups[i] = random_group(r, i);
		p->filters[i] = random_below(r, 4);
		p->upstream[i] = i == 0 ? 1 : random_below(r, 3);
	}
	for (unsigned i = 0; i < MAX_MODEMS; i++) {
		randomize_modem(r, p, i);
		p->values[i] = i;
	}
}

/* Exchanges the values of two objects. */
static void swap_values(struct random *r, unsigned *values, unsigned count) {
	unsigned one = random_below(r, count), other = random_below(r, count);
	unsigned value = values[one];

	values[one] = values[other];
	values[other] = value;
}

/* Makes a few random edits. */
static void edit_plan(struct random *r, struct plan *p) {
	for (unsigned n = random_below(r, random_below(r, 8) == 0 ? 40 : 4); n > 0; n--) {
		unsigned i = random_below(r, GROUPS);

		switch (random_below(r, 9)) {
		case 0: p->limit = random_below(r, 3); break;
		case 1: p->channels[random_between(r, 1, CHANNELS - 1)] = random_below(r, 4); break;
		case 2: p->groups[i] = random_group(r, i); break;
		case 3: p->filters[i] = random_below(r, 4); break;
		case 4: p->upstream[random_between(r, 1, GROUPS - 1)] = random_below(r, 3); break;
		case 5: swap_values(r, p->sessions, CHANNELS); break;
		case 6: swap_values(r, p->values, MAX_MODEMS); break;
		case 7: p->keys[random_below(r, SAIDS)] ^= 1; break;
		default: randomize_modem(r, p, random_below(r, MAX_MODEMS));
		}
	}
}

static void write_flows(FILE *out, const struct plan_modem *m, unsigned values) {
	for (unsigned f = 0; f < m->flows; f++)
		fprintf(out, "%s{id: %u, dsid: %u, priority: %u}", f > 0 ? ", " : "",
			100 * values + f + 1, 100 * values + f + 1, m->rate);
}

static void write_modem(FILE *out, const struct plan *p, unsigned i) {
	const struct plan_modem *m = &p->modems[i];
	unsigned values = p->values[i];

	if (m->flows == 0)
		return;
	fprintf(out, "  - mac: \"02:01:00:00:00:%02x\"\n    addresses: [10.0.%u.%u", i + 1,
		m->address, values + 1);
	if (m->address == 1)
		fprintf(out, ", \"2001:db8::%u\"", values + 1);
	fprintf(out, "]\n    bonding_group: %u\n", p->groups[m->group] > 0 ? m->group + 1 : 1);
	if (m->filter < GROUPS && p->filters[m->filter] > 0)
		fprintf(out, "    filter_groups: [%u]\n", m->filter + 1);
	fprintf(out, "    security: {said: %u, cipher: none, key_sequence: %u}\n", m->said + 1,
		p->keys[m->said]);
	if (m->rate > 0)
		fprintf(out, "    max_aggregate_rate: %u Mbps\n", 10 * m->rate);
	fprintf(out, "    service_flows: [");
	write_flows(out, m, values);
	fprintf(out, "]\n    classifiers: [{family: ipv4, protocol: %u, service_flow: %u}]\n",
		m->rate, 100 * values + m->flows);
	if (m->upstream < GROUPS && p->upstream[m->upstream] > 0)
		fprintf(out,
			"    upstream_service_flows: [{id: %u, sid_clusters: [{id: 0, sids: "
			"[{channel: %u, sid: %u}]}]}]\n",
			100 * values + 50, m->upstream + 1, values + 1);
}

static void write_channel(FILE *out, const struct plan *p, unsigned i) {
	if (p->channels[i] > 0)
		fprintf(out, "  - {id: %u, type: ofdm, rate: %u Gbps, session: %u}\n", i + 1,
			p->channels[i], p->sessions[i]);
}

static void write_upstream_channel(FILE *out, const struct plan *p, unsigned i) {
	if (p->upstream[i] > 0)
		fprintf(out, "  - {id: %u, type: ofdma, rate: %u Mbps, session: %u}\n", i + 1,
			p->upstream[i], i + 1);
}

static void write_bonding_group(FILE *out, const struct plan *p, unsigned i) {
	if (p->groups[i] == 0)
		return;
	fprintf(out, "  - {id: %u, channels: [1", i + 1);
	for (unsigned c = 1; c < CHANNELS; c++) {
		if ((p->groups[i] >> c & 1) != 0 && p->channels[c] > 0)
			fprintf(out, ", %u", c + 1);
	}
	fprintf(out, "]}\n");
}

static void write_filter_group(FILE *out, const struct plan *p, unsigned i) {
	if (i == GROUPS)
		fprintf(out, "  - {id: 9, rules: [{family: ipv6, action: deny}]}\n");
	else if (p->filters[i] > 0)
		fprintf(out, "  - {id: %u, rules: [{family: ipv4, protocol: %u, action: deny}]}\n",
			i + 1, p->filters[i]);
}

/* The plan as YAML. Lists begin at a random item, as their order must not matter. The caller frees the text. */
static char *write_plan(struct random *r, const struct plan *p) {
	static const struct {
		const char *name;
		unsigned count;
		void (*write)(FILE *out, const struct plan *p, unsigned i);
	} lists[] = {
		{"channels", CHANNELS, write_channel},
		{"upstream_channels", GROUPS, write_upstream_channel},
		{"bonding_groups", GROUPS, write_bonding_group},
		{"filter_groups", GROUPS + 1, write_filter_group},
		{"modems", MAX_MODEMS, write_modem},
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "name: sg\nmax_modems: 25\nrate_limit: %u Gbps\n", p->limit + 1);
	for (unsigned n = 0; n < ARRAY_COUNT(lists); n++) {
		unsigned first = random_below(r, lists[n].count);

		fprintf(out, "%s:\n", lists[n].name);
		for (unsigned i = 0; i < lists[n].count; i++)
			lists[n].write(out, p, (first + i) % lists[n].count);
	}
	fclose(out);
	return text;
}

static struct service_group load_plan(struct random *r, const struct plan *p) {
	char *text = write_plan(r, p);
	struct service_group sg = load_valid(text);

	free(text);
	return sg;
}

static struct live_group make_random_group(struct random *r, struct plan *p) {
	struct live_group l;
	char *text;

	randomize_plan(r, p);
	text = write_plan(r, p);
	l = make_live_group(text);
	free(text);
	return l;
}

/* A new group, loaded from the configuration that the group reports. */
static struct live_group reload_group(const struct live_group *l) {
	json_t *json = group_json(l, true);
	char *text = json_dumps(json, 0);
	struct service_group sg = load_valid(text);
	struct live_group fresh;

	assert_int_equal(live_group_create(&fresh, &sg, &l->capacity, (char[LIVE_LINE]){0}), 0);
	service_group_free(&sg);
	free(text);
	json_decref(json);
	return fresh;
}

/* Length of an answer before what depends on the order of modems: text in parentheses, who else has a SAID. */
static size_t comparable(const char *answer) {
	return strstr(answer, "security.said: modem ") != NULL ? 0 : strcspn(answer, "(");
}

/* Prepares a request; asserts that a reloaded group gives the same answer. */
static bool prepare_request(const struct live_group *l, enum live_verb verb,
			    enum live_object object, json_t *value, struct live_changes *changes) {
	struct live_group fresh = reload_group(l);
	json_t *same = json_deep_copy(value);
	struct live_changes fresh_changes;
	char why[LIVE_LINE] = "", other[LIVE_LINE] = "", text[512], other_text[512];
	bool valid = live_request(l, verb, object, value, changes, why);

	assert_int_equal(live_request(&fresh, verb, object, same, &fresh_changes, other), valid);
	assert_int_equal(comparable(why), comparable(other));
	assert_memory_equal(why, other, comparable(why));
	live_changes_text(l, changes, text, sizeof(text));
	live_changes_text(&fresh, &fresh_changes, other_text, sizeof(other_text));
	assert_string_equal(text, other_text);
	live_changes_free(&fresh_changes);
	live_group_free(&fresh);
	json_decref(same);
	return valid;
}

/* The order of application: objects are added before others refer to them, and removed after. */
static unsigned order_of(const struct live_group *l, const struct live_change *c) {
	static const unsigned added[LIVE_OBJECTS] = {
		[LIVE_GROUP] = 0,	  [LIVE_FILTER_GROUP] = 1,
		[LIVE_CHANNEL] = 2,	  [LIVE_UPSTREAM_CHANNEL] = 3,
		[LIVE_BONDING_GROUP] = 4, [LIVE_MODEM] = 7,
	};

	if (c->object == LIVE_MODEM && c->next != NULL)
		return l->blocks[LIVE_MODEM][c->slot] != NULL ? 6 : 7;
	if (c->object == LIVE_MODEM)
		return 5;
	return c->next != NULL ? added[c->object] : 12 - added[c->object];
}

/* Asserts the order of changes and that each slot occurs once. A new modem must not use the slot of a removed one. */
static void expect_order_and_slots(const struct live_group *l, const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		const void *block = c->object != LIVE_GROUP ? l->blocks[c->object][c->slot] : NULL;

		assert_true(i == 0 || order_of(l, c - 1) <= order_of(l, c));
		for (size_t k = 0; k < i; k++)
			assert_false(changes->list[k].object == c->object &&
				     changes->list[k].slot == c->slot);
		if (c->object == LIVE_MODEM && block != NULL && c->next != NULL)
			assert_memory_equal(((const struct modem *)block)->mac, c->modem->mac, 6);
	}
}

/* The slot of the modem by its MAC address; IDENTITY_NONE if it does not exist. */
static uint32_t modem_slot(const struct live_group *l, unsigned modem) {
	const uint8_t mac[6] = {2, 1, 0, 0, 0, (uint8_t)(modem + 1)};
	const struct identity identity = identity_of_mac(mac);

	return live_index_find(l->index, &identity);
}

struct step {
	const struct live_group *l;
	const struct service_group *next;
};

static bool try_difference(void *context) {
	const struct step *step = context;
	struct live_changes changes;
	char why[LIVE_LINE] = "";
	bool valid = live_difference(step->l, step->next, &changes, why);

	assert_true(valid || strstr(why, "no memory left") != NULL);
	live_changes_free(&changes);
	return valid;
}

/* Changes the group to `next`, optionally after a run with each allocation failing. Modems keep their slots. */
static void change_to(struct live_group *l, const struct service_group *next, bool failing_memory) {
	struct step step = {l, next};
	struct live_changes changes;
	uint32_t slots[MAX_MODEMS];
	char why[LIVE_LINE] = "";

	for (unsigned i = 0; i < MAX_MODEMS; i++)
		slots[i] = modem_slot(l, i);
	if (failing_memory)
		fail_each_allocation(try_difference, &step);
	if (!live_difference(l, next, &changes, why))
		fail_msg("%s", why);
	expect_order_and_slots(l, &changes);
	live_changes_apply(l, &changes);
	live_changes_free(&changes);
	expect_equals(l, next);
	expect_consistent(l);
	for (unsigned i = 0; i < MAX_MODEMS; i++) {
		if (slots[i] != IDENTITY_NONE && modem_slot(l, i) != IDENTITY_NONE)
			assert_int_equal(modem_slot(l, i), slots[i]);
	}
}

/* Requests a random verb for a random object of the present or the next configuration, and applies the change on
 * demand. Returns whether the request had an effect. */
static bool request_random(struct live_group *l, const struct live_group *next, struct random *r,
			   bool apply) {
	enum live_object object = random_between(r, LIVE_CHANNEL, LIVE_MODEM);
	uint32_t i = random_below(r, live_capacity(&next->capacity, object));
	const struct live_group *from =
		random_below(r, 2) == 0 || next->blocks[object][i] == NULL ? l : next;
	enum live_verb verb = random_below(r, LIVE_REMOVE + 1);
	struct live_changes changes;
	json_t *value;
	bool valid;

	i = random_below(r, live_capacity(&from->capacity, object));
	if (from->blocks[object][i] == NULL || (verb == LIVE_REMOVE && l->modems < 2))
		return false; /* a group needs a modem */
	value = object_json(from, object, i, true);
	valid = prepare_request(l, verb, object, value, &changes);
	json_decref(value);
	if (from == l && verb != LIVE_ADD && verb != LIVE_REMOVE)
		assert_true(valid && changes.count == 0); /* equals the present object */
	i = valid ? (uint32_t)changes.count : 0;
	if (valid && apply)
		live_changes_apply(l, &changes);
	live_changes_free(&changes);
	return i > 0;
}

TEST(reload_equals_new_load) {
	struct random r = {0x5eed};
	struct plan plan, anything;
	struct live_group l = make_random_group(&r, &plan), other;

	for (unsigned n = 0; n < EDITS; n++) {
		struct service_group next, same;
		struct live_changes changes;

		edit_plan(&r, &plan);
		next = load_plan(&r, &plan);
		change_to(&l, &next, n % 100 == 0);
		same = load_plan(&r, &plan); /* in another order */
		assert_true(live_difference(&l, &same, &changes, (char[LIVE_LINE]){0}));
		assert_int_equal(changes.count, 0);
		live_changes_free(&changes);
		service_group_free(&next);
		service_group_free(&same);
		other = make_random_group(&r, &anything);
		for (unsigned i = 0; i < 4; i++)
			request_random(&l, &other, &r, false);
		live_group_free(&other);
	}
	live_group_free(&l);
}

TEST(random_requests_keep_group_consistent) {
	struct random r = {0xcafe};
	struct plan plan;
	struct live_group l = make_random_group(&r, &plan);
	unsigned done = 0;

	for (unsigned n = 0; n < EDITS / 4; n++) {
		struct live_group next = make_random_group(&r, &plan);

		for (unsigned i = 0; i < 60; i++)
			done += request_random(&l, &next, &r, true);
		expect_consistent(&l);
		live_group_free(&next);
	}
	assert_true(done > 100);
	live_group_free(&l);
}
