/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random edits of a configuration, as a file read again and as requests: the group in service is then what a fresh
 * copy of the configuration is, and answers as that does.
 */
#include "live_kit.h"
#include "memory_runs_out.h"
#include "random.h"
#include "test_main.h"

#include "model/live/group_json.h"
#include "model/live/live_index.h"

#define ROUNDS 400
#define MOST 12 /* modems */
#define CHANNELS 6
#define GROUPS 4
#define SAIDS 3

/* A configuration by numbers: small ones, so that much of it comes back. */
struct plan_modem {
	unsigned group, filter, flows, rate, address, upstream, said;
};

struct plan {
	unsigned limit;
	unsigned channels[CHANNELS]; /* rate; 0: there is none */
	unsigned sessions[CHANNELS];
	unsigned groups[GROUPS]; /* channels as bits; 0: there is none */
	unsigned filters[GROUPS]; /* rules; 0: there is none */
	unsigned upstream[GROUPS]; /* rate; 0: there is none */
	unsigned keys[SAIDS]; /* key sequence numbers */
	struct plan_modem modems[MOST]; /* flows 0: there is none */
	unsigned values[MOST]; /* what is behind its addresses and identifiers */
};

static void plan_modem_random(struct random *r, struct plan *p, unsigned i) {
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

static unsigned group_random(struct random *r, unsigned i) {
	return i > 0 && random_below(r, 4) == 0 ? 0 : random_between(r, 1, (1 << CHANNELS) - 1);
}

static void plan_random(struct random *r, struct plan *p) {
	p->limit = random_below(r, 3);
	for (unsigned i = 0; i < SAIDS; i++)
		p->keys[i] = random_below(r, 4) == 0;
	for (unsigned i = 0; i < CHANNELS; i++) {
		p->channels[i] = i == 0 ? 1 : random_below(r, 4);
		p->sessions[i] = i + 1;
	}
	for (unsigned i = 0; i < GROUPS; i++) {
		p->groups[i] = group_random(r, i);
		p->filters[i] = random_below(r, 4);
		p->upstream[i] = i == 0 ? 1 : random_below(r, 3);
	}
	for (unsigned i = 0; i < MOST; i++) {
		plan_modem_random(r, p, i);
		p->values[i] = i;
	}
}

/* Values move from one object to another one. */
static void swap_two(struct random *r, unsigned *values, unsigned count) {
	unsigned one = random_below(r, count), other = random_below(r, count);
	unsigned value = values[one];

	values[one] = values[other];
	values[other] = value;
}

/* A few things become others. */
static void plan_edit(struct random *r, struct plan *p) {
	for (unsigned n = random_below(r, random_below(r, 8) == 0 ? 40 : 4); n > 0; n--) {
		unsigned i = random_below(r, GROUPS);

		switch (random_below(r, 9)) {
		case 0: p->limit = random_below(r, 3); break;
		case 1: p->channels[random_between(r, 1, CHANNELS - 1)] = random_below(r, 4); break;
		case 2: p->groups[i] = group_random(r, i); break;
		case 3: p->filters[i] = random_below(r, 4); break;
		case 4: p->upstream[random_between(r, 1, GROUPS - 1)] = random_below(r, 3); break;
		case 5: swap_two(r, p->sessions, CHANNELS); break;
		case 6: swap_two(r, p->values, MOST); break;
		case 7: p->keys[random_below(r, SAIDS)] ^= 1; break;
		default: plan_modem_random(r, p, random_below(r, MOST));
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

/* Where each list begins is another place each time: their order means nothing. */
static char *plan_text(struct random *r, const struct plan *p) {
	static const struct {
		const char *name;
		unsigned count;
		void (*write)(FILE *out, const struct plan *p, unsigned i);
	} lists[] = {
		{"channels", CHANNELS, write_channel},
		{"upstream_channels", GROUPS, write_upstream_channel},
		{"bonding_groups", GROUPS, write_bonding_group},
		{"filter_groups", GROUPS + 1, write_filter_group},
		{"modems", MOST, write_modem},
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

static struct service_group planned(struct random *r, const struct plan *p) {
	char *text = plan_text(r, p);
	struct service_group sg = sg_of(text);

	free(text);
	return sg;
}

static struct live_group live_planned(struct random *r, struct plan *p) {
	struct live_group l;
	char *text;

	plan_random(r, p);
	text = plan_text(r, p);
	l = live_of(text);
	free(text);
	return l;
}

/* The group, made again of what it tells. */
static struct live_group remade(const struct live_group *l) {
	json_t *told = group_json(l, true);
	char *text = json_dumps(told, 0);
	struct service_group sg = sg_of(text);
	struct live_group fresh;

	assert_int_equal(live_group_create(&fresh, &sg, &l->capacity, (char[LIVE_LINE]){0}), 0);
	service_group_free(&sg);
	free(text);
	json_decref(told);
	return fresh;
}

/* The group answers as one does that is made again, whatever became of it. Of several that have a SAID another one may be
 * named. */
static bool asked(const struct live_group *l, enum live_verb verb, enum live_object object,
		  json_t *value, struct live_changes *changes) {
	struct live_group fresh = remade(l);
	json_t *same = json_deep_copy(value);
	struct live_changes others;
	char why[LIVE_LINE] = "", other[LIVE_LINE] = "", text[512], other_text[512];
	bool good = live_request(l, verb, object, value, changes, why);

	assert_int_equal(live_request(&fresh, verb, object, same, &others, other), good);
	assert_int_equal(strcspn(why, "("), strcspn(other, "("));
	assert_memory_equal(why, other, strcspn(why, "("));
	live_changes_text(l, changes, text, sizeof(text));
	live_changes_text(&fresh, &others, other_text, sizeof(other_text));
	assert_string_equal(text, other_text);
	live_changes_free(&others);
	live_group_free(&fresh);
	json_decref(same);
	return good;
}

/* When a change may be made: what others refer to comes before them and goes after them. */
static unsigned rank_of(const struct live_group *l, const struct live_change *c) {
	static const unsigned comes[LIVE_OBJECTS] = {
		[LIVE_GROUP] = 0,	  [LIVE_FILTER_GROUP] = 1,
		[LIVE_CHANNEL] = 2,	  [LIVE_UPSTREAM_CHANNEL] = 3,
		[LIVE_BONDING_GROUP] = 4, [LIVE_MODEM] = 7,
	};

	if (c->object == LIVE_MODEM && c->next != NULL)
		return l->blocks[LIVE_MODEM][c->slot] != NULL ? 6 : 7;
	if (c->object == LIVE_MODEM)
		return 5;
	return c->next != NULL ? comes[c->object] : 12 - comes[c->object];
}

/* Each object once, and what comes where nothing is: also not what goes in the same list. */
static void expect_order_and_places(const struct live_group *l,
				    const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		const void *there = c->object != LIVE_GROUP ? l->blocks[c->object][c->slot] : NULL;

		assert_true(i == 0 || rank_of(l, c - 1) <= rank_of(l, c));
		for (size_t k = 0; k < i; k++)
			assert_false(changes->list[k].object == c->object &&
				     changes->list[k].slot == c->slot);
		if (c->object == LIVE_MODEM && there != NULL && c->next != NULL)
			assert_memory_equal(((const struct modem *)there)->mac, c->modem->mac, 6);
	}
}

static uint32_t place_of(const struct live_group *l, unsigned modem) {
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
	bool good = live_difference(step->l, step->next, &changes, why);

	assert_true(good || strstr(why, "no memory left") != NULL);
	live_changes_free(&changes);
	return good;
}

/* In some rounds, memory runs out at every allocation there is before it suffices. */
static void read_again(struct live_group *l, const struct service_group *next, bool little_memory) {
	struct step step = {l, next};
	struct live_changes changes;
	uint32_t places[MOST];
	char why[LIVE_LINE] = "";

	for (unsigned i = 0; i < MOST; i++)
		places[i] = place_of(l, i);
	if (little_memory)
		with_little_memory(try_difference, &step);
	if (!live_difference(l, next, &changes, why))
		fail_msg("%s", why);
	expect_order_and_places(l, &changes);
	live_changes_apply(l, &changes);
	live_changes_free(&changes);
	expect_same_as(l, next);
	expect_sound(l);
	for (unsigned i = 0; i < MOST; i++) {
		if (places[i] != IDENTITY_NONE && place_of(l, i) != IDENTITY_NONE)
			assert_int_equal(place_of(l, i), places[i]);
	}
}

/* One object of the next configuration as a request: it is done where all that it needs is there. */
static bool ask_for(struct live_group *l, const struct live_group *next, struct random *r,
		    bool take) {
	enum live_object object = random_between(r, LIVE_CHANNEL, LIVE_MODEM);
	uint32_t i = random_below(r, live_capacity(&next->capacity, object));
	const struct live_group *of =
		random_below(r, 2) == 0 || next->blocks[object][i] == NULL ? l : next;
	enum live_verb verb = random_below(r, LIVE_REMOVE + 1);
	struct live_changes changes;
	json_t *value;
	bool good;

	i = random_below(r, live_capacity(&of->capacity, object));
	if (of->blocks[object][i] == NULL || (verb == LIVE_REMOVE && l->modems < 2))
		return false; /* without modems it is no configuration */
	value = object_json(of, object, i, true);
	good = asked(l, verb, object, value, &changes);
	json_decref(value);
	if (of == l && verb != LIVE_ADD && verb != LIVE_REMOVE)
		assert_true(good && changes.count == 0); /* it is so already */
	i = good ? (uint32_t)changes.count : 0;
	if (good && take)
		live_changes_apply(l, &changes);
	live_changes_free(&changes);
	return i > 0;
}

TEST(files_read_again) {
	struct random r = {0x5eed};
	struct plan plan, anything;
	struct live_group l = live_planned(&r, &plan), other;

	for (unsigned n = 0; n < ROUNDS; n++) {
		struct service_group next, same;
		struct live_changes changes;

		plan_edit(&r, &plan);
		next = planned(&r, &plan);
		read_again(&l, &next, n % 100 == 0);
		same = planned(&r, &plan); /* in another order */
		assert_true(live_difference(&l, &same, &changes, (char[LIVE_LINE]){0}));
		assert_int_equal(changes.count, 0);
		live_changes_free(&changes);
		service_group_free(&next);
		service_group_free(&same);
		other = live_planned(&r, &anything);
		for (unsigned i = 0; i < 4; i++)
			ask_for(&l, &other, &r, false);
		live_group_free(&other);
	}
	live_group_free(&l);
}

TEST(requests_in_any_order) {
	struct random r = {0xcafe};
	struct plan plan;
	struct live_group l = live_planned(&r, &plan);
	unsigned done = 0;

	for (unsigned n = 0; n < ROUNDS / 4; n++) {
		struct live_group next = live_planned(&r, &plan);

		for (unsigned i = 0; i < 60; i++)
			done += ask_for(&l, &next, &r, true);
		expect_sound(&l);
		live_group_free(&next);
	}
	assert_true(done > 100);
	live_group_free(&l);
}
