/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "secret/secret_memory.h"

void follow_options(struct traffic_options *o, const struct service_group *sg) {
	o->streams = follow_room_downstream(sg);
	o->upstream_streams = follow_room_upstream(sg);
}

int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz) {
	*f = (struct follow){.all = all, .generation = -1, .tsc_hz = tsc_hz};
	server_link_init(&f->link, path);
	for (; f->count < all->count; f->count++) {
		f->ids[f->count] = sgs[f->count].id;
		f->names[f->count] = sgs[f->count].name;
		if (follow_group_create(&f->groups[f->count], &sgs[f->count], all->all[f->count],
					tsc_hz) != 0) {
			f->count++;
			return -1;
		}
	}
	return 0;
}

void follow_free(struct follow *f) {
	for (unsigned i = 0; i < f->count; i++)
		follow_group_free(&f->groups[i]);
	if (!groups_took(f->all)) { /* nobody took the last one, and so nobody frees it */
		traffic_free(f->offer.traffic);
		groups_offer(f->all, NULL);
	}
	while (f->kept_count > 0)
		server_config_free(&f->kept[--f->kept_count]);
	f->count = 0;
	server_link_close(&f->link);
}

/* Said once, and again when it had answered in between. */
static bool trouble(struct follow *f) {
	if (!f->silent)
		fprintf(stderr, "traffic: --follow %s: %s\n", f->link.path, f->link.trouble);
	f->silent = true;
	return false;
}

static const struct service_group *group_find(const struct server_config *config, uint32_t id) {
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->groups[g].id == id)
			return &config->groups[g];
	}
	return NULL;
}

static void differences_find(struct follow *f, const struct server_config *config) {
	for (unsigned i = 0; i < f->count; i++)
		follow_group_differs(&f->groups[i], group_find(config, f->ids[i]));
}

static bool is_among(const uint32_t *ids, unsigned count, uint32_t id) {
	for (unsigned i = 0; i < count; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/* Said once of each. */
static void group_refuse(struct follow *f, uint32_t id) {
	if (f->refused_count < SERVER_MAX_GROUPS)
		f->refused[f->refused_count++] = id;
}

static bool group_come(struct follow *f, const struct service_group *sg) {
	struct traffic *t =
		groups_prepare(f->all, sg, follow_room_downstream(sg), follow_room_upstream(sg));
	struct follow_group *g = &f->groups[f->count];

	if (t == NULL)
		return false;
	if (follow_group_create(g, sg, t, f->tsc_hz) != 0) {
		follow_group_free(g);
		traffic_free(t);
		return false;
	}
	f->ids[f->count] = sg->id;
	f->names[f->count] = sg->name;
	f->count++;
	f->offer = (struct groups_offer){t, sg};
	groups_offer(f->all, &f->offer);
	f->changes++;
	return true;
}

/* The first one that is new. Others are for the next look. Returns whether the configuration is to be kept, as
 * the traffic refers to it. */
static bool groups_come(struct follow *f, const struct server_config *config, bool *more) {
	*more = false;
	for (size_t g = 0; g < config->group_count; g++) {
		const struct service_group *sg = &config->groups[g];

		if (is_among(f->ids, f->count, sg->id) ||
		    is_among(f->refused, f->refused_count, sg->id))
			continue;
		if (group_come(f, sg)) {
			*more = true;
			return true;
		}
		group_refuse(f, sg->id);
	}
	return false;
}

static bool config_load(struct follow *f, json_t *answer, bool *more) {
	char *text = json_dumps(json_object_get(answer, "config"), JSON_COMPACT);
	struct server_config config;
	bool good = text != NULL && server_config_load_text("server", text, strlen(text), NULL,
							    NULL, &config, stderr) == 0;

	secret_free(text);
	if (!good) {
		f->link.trouble = "its configuration cannot be read";
		return trouble(f);
	}
	differences_find(f, &config);
	if (groups_come(f, &config, more))
		f->kept[f->kept_count++] = config;
	else
		server_config_free(&config);
	return true;
}

/* What could not be read once is not asked for again: there is nothing new in it. */
static bool config_get(struct follow *f) {
	json_t *answer = server_link_call(&f->link, "config.get", json_pack("{s:b}", "keys", 1));
	bool good, more = false;

	if (answer == NULL)
		return trouble(f);
	good = config_load(f, answer, &more);
	f->generation = more ? -1 : json_integer_value(json_object_get(answer, "generation"));
	json_decref(answer);
	return good;
}

/* Returns whether the groups are as the server is. */
static bool server_ask(struct follow *f) {
	json_t *info = server_link_call(&f->link, "server.info", NULL);
	json_t *number = json_object_get(info, "generation");
	int64_t generation = json_integer_value(number);
	bool told = json_is_integer(number);

	json_decref(info);
	if (info == NULL)
		return trouble(f);
	if (!told)
		return false; /* it cannot change */
	if (generation != f->generation && !config_get(f))
		return false;
	f->silent = false;
	return true;
}

void follow_look(struct follow *f) {
	uint64_t since = rte_rdtsc();
	bool known = true;

	if (!groups_took(f->all))
		return;
	for (unsigned i = 0; i < f->count; i++) {
		if (!follow_group_settle(&f->groups[i]))
			return; /* between two rounds of the traffic, soon */
	}
	for (unsigned i = 0; i < f->count; i++)
		follow_group_look(&f->groups[i]);
	if (!server_ask(f))
		return;
	known = groups_took(f->all);
	for (unsigned i = 0; i < f->count; i++) {
		if (!f->groups[i].dirty)
			continue;
		known = false;
		f->changes += follow_group_offer(&f->groups[i], rte_rdtsc());
	}
	for (unsigned i = 0; known && i < f->count; i++)
		follow_group_known(&f->groups[i], since);
}
