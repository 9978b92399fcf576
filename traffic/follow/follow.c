/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

void follow_options(struct traffic_options *o, const struct service_group *sg) {
	o->streams = follow_room_downstream(sg);
	o->upstream_streams = follow_room_upstream(sg);
}

int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz) {
	*f = (struct follow){.all = all, .generation = -1};
	server_link_init(&f->link, path);
	for (; f->count < all->count; f->count++) {
		f->ids[f->count] = sgs[f->count].id;
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
	f->count = 0;
	server_link_close(&f->link);
}

/* Said once, and again when it had answered in between. */
static bool trouble(struct follow *f) {
	if (!f->silent)
		fprintf(stderr, "traffic: --follow %s: %s\n", f->link.path,
			f->link.trouble != NULL ? f->link.trouble : "it does not tell its changes");
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

static bool config_load(struct follow *f, json_t *answer) {
	char *text = json_dumps(json_object_get(answer, "config"), JSON_COMPACT);
	struct server_config config;
	bool good = text != NULL && server_config_load_text("server", text, strlen(text), NULL,
							    NULL, &config, stderr) == 0;

	free(text);
	if (!good) {
		f->link.trouble = "its configuration cannot be read";
		return trouble(f);
	}
	differences_find(f, &config);
	server_config_free(&config);
	return true;
}

/* What could not be read once is not asked for again: there is nothing new in it. */
static bool config_get(struct follow *f) {
	json_t *answer = server_link_call(&f->link, "config.get", json_pack("{s:b}", "keys", 1));
	bool good;

	if (answer == NULL)
		return trouble(f);
	good = config_load(f, answer);
	f->generation = json_integer_value(json_object_get(answer, "generation"));
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
	if (!told)
		return trouble(f);
	if (generation != f->generation && !config_get(f))
		return false;
	f->silent = false;
	return true;
}

void follow_look(struct follow *f) {
	uint64_t since = rte_rdtsc();
	bool known = true;

	for (unsigned i = 0; i < f->count; i++) {
		if (!follow_group_settle(&f->groups[i]))
			return; /* between two rounds of the traffic, soon */
	}
	for (unsigned i = 0; i < f->count; i++)
		follow_group_look(&f->groups[i]);
	if (!server_ask(f))
		return;
	for (unsigned i = 0; i < f->count; i++) {
		if (!f->groups[i].dirty)
			continue;
		known = false;
		f->changes += follow_group_offer(&f->groups[i], rte_rdtsc());
	}
	for (unsigned i = 0; known && i < f->count; i++)
		follow_group_known(&f->groups[i], since);
}
