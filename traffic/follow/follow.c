/* SPDX-License-Identifier: BSD-3-Clause */
/* Subscribes to the events of vcmtsd and offers its changes to the traffic, on a thread that does not poll. */
#include "follow/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "follow/follow_events.h"
#include "platform/secret/secret_memory.h"

#define SAMPLE_MS 100 /* between samples of the received packets */
#define RETRY_MS 100 /* between a failed request and its repetition */

void follow_options(struct traffic_options *o, const struct service_group *sg) {
	o->streams = follow_capacity_downstream(sg);
	o->upstream_streams = follow_capacity_upstream(sg);
}

int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz) {
	*f = (struct follow){.all = all, .tsc_hz = tsc_hz};
	server_link_init(&f->link, path);
	if (follow_times_create(&f->times, tsc_hz) != 0)
		return -1;
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
	if (!groups_applied(f->all)) { /* the last change was not applied */
		traffic_free(f->offer.traffic);
		groups_offer(f->all, NULL);
	}
	while (f->kept_count > 0)
		server_config_free(&f->kept[--f->kept_count]);
	f->count = 0;
	server_link_close(&f->link);
	follow_times_free(&f->times);
}

json_t *follow_json(const struct follow *f) {
	uint64_t held = 0;

	for (unsigned i = 0; i < f->count; i++)
		held = RTE_MAX(held, f->groups[i].traffic->apply_longest);
	return follow_times_json(&f->times, f->changes, held);
}

/* Prints the first error since the last subscription, and schedules a retry. Returns false. */
static bool error(struct follow *f) {
	f->retry_at = rte_rdtsc() + f->tsc_hz / 1000 * RETRY_MS;
	if (!f->error_printed)
		fprintf(stderr, "traffic: --follow %s: %s\n", f->link.path, f->link.error);
	f->error_printed = true;
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

/* Remembers a group that gets no traffic, so that its error is reported only once. */
static void group_refuse(struct follow *f, uint32_t id) {
	if (f->without_traffic_count < SERVER_MAX_GROUPS)
		f->without_traffic[f->without_traffic_count++] = id;
}

static bool new_group_offer(struct follow *f, const struct service_group *sg) {
	struct traffic *t = groups_prepare(f->all, sg, follow_capacity_downstream(sg),
					   follow_capacity_upstream(sg));
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

/* Offers the first new group; if `more`, the caller must request the configuration again for
 * others. Returns whether to keep `config`, as the new group's traffic refers to it. */
static bool new_groups_offer(struct follow *f, const struct server_config *config, bool *more) {
	*more = false;
	for (size_t g = 0; g < config->group_count; g++) {
		const struct service_group *sg = &config->groups[g];

		if (is_among(f->ids, f->count, sg->id) ||
		    is_among(f->without_traffic, f->without_traffic_count, sg->id))
			continue;
		if (new_group_offer(f, sg)) {
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
		f->link.error = "the server's configuration cannot be read";
		return error(f);
	}
	differences_find(f, &config);
	if (new_groups_offer(f, &config, more))
		f->kept[f->kept_count++] = config;
	else
		server_config_free(&config);
	return true;
}

/* Compares the groups with the configuration in service, and continues with the first event after
 * it. Does not request a configuration again that cannot be read, as it would be the same. */
static bool config_get(struct follow *f) {
	json_t *answer = server_link_call(&f->link, "config.get", json_pack("{s:b}", "keys", 1));
	json_t *sequence = json_object_get(answer, "sequence");
	bool good, more = false;

	if (answer == NULL)
		return error(f);
	good = config_load(f, answer, &more);
	if (json_is_integer(sequence))
		f->sequence = json_integer_value(sequence);
	json_decref(answer);
	f->lost = more;
	f->change_reported = true;
	return good;
}

/*
 * Subscribes to events. The traffic was created from the server's start configuration, which is in
 * service until the first change (generation 0 to 1): only after that, the configuration is
 * requested.
 */
static bool join(struct follow *f) {
	json_t *answer, *sequence, *generation;
	bool reported;

	answer = server_link_call(&f->link, "events.subscribe", json_pack("{s:b}", "keys", 1));
	sequence = json_object_get(answer, "sequence");
	generation = json_object_get(answer, "generation");
	reported = json_is_integer(sequence) && json_is_integer(generation);
	if (answer != NULL && !reported)
		f->link.error = "the server reports no sequence number of its events";
	if (reported) {
		f->sequence = json_integer_value(sequence);
		f->lost = f->joined_before || json_integer_value(generation) != 0;
		f->joined = f->joined_before = true;
		f->in_change = f->error_printed = false;
		f->request_id = f->complete_until = 0;
	}
	json_decref(answer);
	return reported || error(f);
}

/* Whether a difference must be offered before later events are read, as a modem that is added again restarts. */
static bool has_urgent(const struct follow *f) {
	for (unsigned i = 0; !f->in_change && i < f->count; i++) {
		if (f->groups[i].must_apply)
			return true;
	}
	return false;
}

/* Records the pending events, up to a change that must be offered first. Returns false if the connection is closed. */
static bool events_read(struct follow *f, int wait_ms) {
	json_t *message;

	while (!has_urgent(f) && (message = server_link_next(&f->link, wait_ms)) != NULL) {
		follow_event(f, message);
		json_decref(message);
		wait_ms = 0;
	}
	f->joined = f->link.fd >= 0;
	return f->joined || error(f);
}

static bool is_joined(struct follow *f, int wait_ms) {
	if (f->joined || (rte_rdtsc() >= f->retry_at && join(f)))
		return true;
	rte_delay_us_sleep((unsigned)wait_ms * 1000);
	return false;
}

/* If events are missing, requests the configuration, once per added group, until complete. */
static bool is_complete(struct follow *f) {
	if (!f->lost)
		return true;
	if (!groups_applied(f->all) || rte_rdtsc() < f->retry_at)
		return false;
	return config_get(f) && !f->lost;
}

/* Frees changes that are done. Returns whether the traffic of all groups has applied all offered changes. */
static bool groups_settle(struct follow *f) {
	bool applied = groups_applied(f->all);

	for (unsigned i = 0; i < f->count; i++)
		applied = follow_group_settle(&f->groups[i]) && applied;
	return applied;
}

static bool groups_dirty(const struct follow *f) {
	for (unsigned i = 0; i < f->count; i++) {
		if (follow_group_has_differences(&f->groups[i]))
			return true;
	}
	return false;
}

static void groups_sample(struct follow *f) {
	f->sample_at = rte_rdtsc() + f->tsc_hz / 1000 * SAMPLE_MS;
	f->change_reported = false;
	for (unsigned i = 0; i < f->count; i++)
		follow_group_sample(&f->groups[i]);
}

static void samples_valid(struct follow *f) {
	for (unsigned i = 0; !f->change_reported && i < f->count; i++)
		follow_group_sample_valid(&f->groups[i]);
}

static void changes_offer(struct follow *f) {
	for (unsigned i = 0; i < f->count; i++) {
		struct follow_group *g = &f->groups[i];

		if (follow_group_has_differences(g) && traffic_applied(g->traffic))
			f->changes += follow_group_offer(g, rte_rdtsc());
	}
}

/* Tells the traffic of each group that it lacks no change made before TSC `since`. */
static void groups_known(struct follow *f, uint64_t since) {
	for (unsigned i = 0; i < f->count; i++)
		follow_group_confirm(&f->groups[i], since);
}

static bool frames_unresolved(const struct follow *f) {
	for (unsigned i = 0; i < f->count; i++) {
		if (follow_group_unresolved(&f->groups[i]))
			return true;
	}
	return false;
}

/* Sends a request if frames are unresolved: changes that may explain them precede the response. */
static void server_request(struct follow *f) {
	if (f->request_id != 0 || f->complete_until != 0 || !frames_unresolved(f))
		return;
	f->requested_at = rte_rdtsc();
	f->request_id = server_link_send(&f->link, "server.info", NULL);
}

static bool changes_read(struct follow *f, int wait_ms) {
	bool quiet = !f->in_change && groups_settle(f) && !groups_dirty(f);

	if (quiet && rte_rdtsc() >= f->sample_at) {
		groups_sample(f);
		if (!events_read(f, 0))
			return false;
		samples_valid(f);
	}
	return events_read(f, quiet && !frames_unresolved(f) ? wait_ms : 1);
}

void follow_step(struct follow *f, int wait_ms) {
	bool complete;

	if (!is_joined(f, wait_ms) || !changes_read(f, wait_ms)) {
		groups_known(f, rte_rdtsc()); /* no server can report changes */
		return;
	}
	if (f->in_change)
		return;
	complete = is_complete(f);
	groups_settle(f);
	changes_offer(f);
	if (!complete || groups_dirty(f) || !groups_settle(f))
		return;
	follow_times_current(&f->times, rte_rdtsc());
	if (f->complete_until != 0)
		groups_known(f, f->complete_until);
	f->complete_until = 0;
	server_request(f);
}
