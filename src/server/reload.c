/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool forwards(struct reload_job *job) {
	const struct reload_changes *all = job->changes;

	for (unsigned n = 0; n < RELOAD_STEP && job->done < all->count; n++) {
		job->why = qos_apply(job->downstream, job->next, &all->list[job->done]);
		if (job->why != NULL) {
			job->refused = job->done;
			return job->done == 0;
		}
		job->done++;
	}
	return job->done == all->count;
}

/* What was good a moment ago is taken again. */
static bool backwards(struct reload_job *job) {
	for (unsigned n = 0; n < RELOAD_STEP && job->done > 0; n++)
		qos_apply(job->downstream, job->now, &job->changes->list[--job->done]);
	return job->done == 0;
}

bool reload_step(void *arg) {
	struct reload_job *job = arg;

	return job->why == NULL ? forwards(job) : backwards(job);
}

void reload_open(struct reload *r, struct server *s, const char *path,
		 const struct server_devices *devices) {
	*r = (struct reload){.server = s, .path = path, .devices = *devices};
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->answered, NULL);
}

/* "2 service flows, 1 channel" */
static void count_text(const size_t by_object[QOS_OBJECTS], char *text, size_t size) {
	static const char *const names[QOS_OBJECTS] = {
		[QOS_RATE_LIMIT] = "rate limit", [QOS_CHANNEL] = "channel",
		[QOS_GROUP] = "bonding group",	 [QOS_MODEM] = "modem",
		[QOS_FLOW] = "service flow",
	};
	size_t used = 0;

	snprintf(text, size, "nothing");
	for (unsigned o = 0; o < QOS_OBJECTS; o++) {
		size_t count = by_object[o];

		if (count > 0 && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%zu %s%s",
						 used > 0 ? ", " : "", count, names[o],
						 count == 1 ? "" : "s");
	}
}

/* The object of a change, by the ids that the configuration gives. */
static void name_object(const struct service_group *sg, const struct qos_change *c, char *text,
			size_t size) {
	switch (c->object) {
	case QOS_CHANNEL: snprintf(text, size, "channel %u", sg->channels[c->index].id); break;
	case QOS_GROUP:
		snprintf(text, size, "bonding group %u", sg->bonding_groups[c->index].id);
		break;
	case QOS_MODEM: snprintf(text, size, "modems[%u]", c->index); break;
	case QOS_FLOW:
		snprintf(text, size, "service flow %u",
			 sg->modems[c->modem].service_flows[c->flow].id);
		break;
	default: snprintf(text, size, "rate_limit");
	}
}

/* Of a group: by the upper MAC's worker, which owns the scheduler; this thread waits. */
static void job_do(const struct reload *r, size_t group, struct reload_job *job) {
	struct worker_task task = {reload_step, job};

	if (job->changes->count > 0)
		worker_do(r->server->groups[group].upper, &task);
}

static void group_back(const struct reload *r, size_t group, struct reload_job *job) {
	job->why = "another group refused";
	if (job->done > 0)
		job_do(r, group, job);
}

/* Where there are several groups, which one it is about. */
static void name_group(const struct server_config *config, size_t group, char *text, size_t size) {
	text[0] = '\0';
	if (config->group_count > 1)
		snprintf(text, size, "service group %u: ", config->groups[group].id);
}

/* All groups, or none. */
static bool reload_apply(struct reload *r, const struct server_config *next,
			 const struct reload_changes *changes) {
	struct reload_job jobs[SERVER_MAX_GROUPS];
	char object[64], name[32];

	for (size_t g = 0; g < next->group_count; g++) {
		const struct served_group *group = &r->server->groups[g];
		struct reload_job *job = &jobs[g];

		*job = (struct reload_job){.downstream = group->downstream,
					   .now = group->qos,
					   .next = &next->groups[g],
					   .changes = &changes[g]};
		job_do(r, g, job);
		if (job->why == NULL)
			continue;
		name_object(job->next, &changes[g].list[job->refused], object, sizeof(object));
		name_group(next, g, name, sizeof(name));
		snprintf(r->line, sizeof(r->line), "%s: %s%s: %s; nothing was changed", r->path,
			 name, object, job->why);
		while (g-- > 0)
			group_back(r, g, &jobs[g]);
		return false;
	}
	return true;
}

static bool load(struct reload *r, struct server_config *next) {
	char *said = NULL;
	size_t size;
	FILE *errors = open_memstream(&said, &size);
	int mistakes =
		errors == NULL ? 1 : server_config_load_on(r->path, &r->devices, next, errors);

	if (errors != NULL)
		fclose(errors);
	if (mistakes > 0) {
		fprintf(stderr, "%s", said != NULL ? said : "");
		snprintf(r->line, sizeof(r->line), "%s: %d mistake%s, nothing was changed: %.*s",
			 r->path, mistakes, mistakes == 1 ? "" : "s",
			 said != NULL ? (int)strcspn(said, "\n") : 0, said != NULL ? said : "");
	}
	free(said);
	return mistakes == 0;
}

/* What differs in each group. Returns false where something takes a new start, with the line. */
static bool compare_groups(struct reload *r, const struct server_config *next,
			   struct reload_changes *changes) {
	const struct server *s = r->server;
	char text[256], name[32];

	if (next->group_count != s->group_count) {
		snprintf(r->line, sizeof(r->line),
			 "%s: has another number of service groups, which takes a new start; "
			 "nothing was changed",
			 r->path);
		return false;
	}
	for (size_t g = 0; g < next->group_count; g++) {
		if (reload_compare(s->groups[g].qos, &next->groups[g], &changes[g], text,
				   sizeof(text)))
			continue;
		name_group(next, g, name, sizeof(name));
		snprintf(r->line, sizeof(r->line), "%s: %s%s; nothing was changed", r->path, name,
			 text);
		return false;
	}
	return true;
}

static void say_changed(struct reload *r, const struct reload_changes *changes, size_t groups) {
	size_t by_object[QOS_OBJECTS] = {0};
	char text[256];

	for (size_t g = 0; g < groups; g++) {
		for (unsigned o = 0; o < QOS_OBJECTS; o++)
			by_object[o] += changes[g].by_object[o];
	}
	count_text(by_object, text, sizeof(text));
	snprintf(r->line, sizeof(r->line), "%s: read again: %s changed", r->path, text);
}

/* Compares and applies; then `next` is what is in service. */
static bool reload_take(struct reload *r, const struct server_config *next) {
	struct reload_changes changes[SERVER_MAX_GROUPS] = {0};
	bool good = compare_groups(r, next, changes) && reload_apply(r, next, changes);

	if (good)
		say_changed(r, changes, next->group_count);
	for (size_t g = 0; g < next->group_count; g++)
		free(changes[g].list);
	return good;
}

static bool load_and_take(struct reload *r) {
	struct server_config *next = &r->loaded[1 - r->turn], *before = &r->loaded[r->turn];

	if (!load(r, next))
		return false;
	if (!reload_take(r, next)) {
		server_config_free(next);
		return false;
	}
	for (size_t g = 0; g < next->group_count; g++)
		served_group_set_qos(&r->server->groups[g], &next->groups[g]);
	server_config_free(before); /* harmless the first time: what began is the caller's */
	r->turn = 1 - r->turn;
	return true;
}

bool reload_run(struct reload *r) {
	unsigned long asked;
	bool good;

	pthread_mutex_lock(&r->lock);
	asked = r->asked;
	pthread_mutex_unlock(&r->lock);
	good = load_and_take(r);
	fprintf(stderr, "vcmtsd: %s\n", r->line);
	pthread_mutex_lock(&r->lock);
	r->good = good;
	r->answers = asked;
	memcpy(r->answer, r->line, sizeof(r->answer));
	pthread_cond_broadcast(&r->answered);
	pthread_mutex_unlock(&r->lock);
	return good;
}

bool reload_is_asked(struct reload *r) {
	bool asked;

	pthread_mutex_lock(&r->lock);
	asked = r->asked != r->answers;
	pthread_mutex_unlock(&r->lock);
	return asked;
}

bool reload_ask(struct reload *r, char *line, size_t size) {
	unsigned long mine;
	bool good = false;

	pthread_mutex_lock(&r->lock);
	mine = ++r->asked;
	while (!r->closed && r->answers < mine)
		pthread_cond_wait(&r->answered, &r->lock);
	if (r->answers >= mine) {
		good = r->good;
		snprintf(line, size, "%s", r->answer);
	} else {
		snprintf(line, size, "vcmtsd is stopping; nothing was changed");
	}
	pthread_mutex_unlock(&r->lock);
	return good;
}

void reload_close(struct reload *r) {
	pthread_mutex_lock(&r->lock);
	r->closed = true;
	pthread_cond_broadcast(&r->answered);
	pthread_mutex_unlock(&r->lock);
}

void reload_free(struct reload *r) {
	pthread_cond_destroy(&r->answered);
	pthread_mutex_destroy(&r->lock);
	server_config_free(&r->loaded[0]);
	server_config_free(&r->loaded[1]);
}
