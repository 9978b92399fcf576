/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/loader.h"

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

void reload_open(struct reload *r, struct instance *i, const char *path) {
	*r = (struct reload){.instance = i, .path = path};
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->answered, NULL);
}

/* "2 service flows, 1 channel" */
static void count_text(const struct reload_changes *changes, char *text, size_t size) {
	static const char *const names[QOS_OBJECTS] = {
		[QOS_RATE_LIMIT] = "rate limit", [QOS_CHANNEL] = "channel",
		[QOS_GROUP] = "bonding group",	 [QOS_MODEM] = "modem",
		[QOS_FLOW] = "service flow",
	};
	size_t used = 0;

	snprintf(text, size, "nothing");
	for (unsigned o = 0; o < QOS_OBJECTS; o++) {
		size_t count = changes->by_object[o];

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

/* By the upper MAC's worker, which owns the scheduler; this thread waits. */
static bool reload_apply(struct reload *r, const struct service_group *next,
			 const struct reload_changes *changes) {
	struct reload_job job = {.downstream = r->instance->downstream,
				 .now = r->instance->qos,
				 .next = next,
				 .changes = changes};
	struct worker_task task = {reload_step, &job};
	char object[64];

	if (changes->count > 0)
		worker_do(&r->instance->workers[0], &task);
	if (job.why == NULL)
		return true;
	name_object(next, &changes->list[job.refused], object, sizeof(object));
	snprintf(r->line, sizeof(r->line), "%s: %s: %s; nothing was changed", r->path, object,
		 job.why);
	return false;
}

static bool load(struct reload *r, struct service_group *next) {
	char *said = NULL;
	size_t size;
	FILE *errors = open_memstream(&said, &size);
	int mistakes = errors == NULL ? 1 : service_group_load(r->path, next, errors);

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

/* Compares and applies; then `next` is what is in service. */
static bool reload_take(struct reload *r, struct service_group *next) {
	struct reload_changes changes;
	char text[256];
	bool good = reload_compare(r->instance->qos, next, &changes, text, sizeof(text));

	if (!good) {
		snprintf(r->line, sizeof(r->line), "%s: %s; nothing was changed", r->path, text);
	} else if ((good = reload_apply(r, next, &changes))) {
		count_text(&changes, text, sizeof(text));
		snprintf(r->line, sizeof(r->line), "%s: read again: %s changed", r->path, text);
	}
	free(changes.list);
	return good;
}

static bool load_and_take(struct reload *r) {
	struct service_group *next = &r->loaded[1 - r->turn], *before = &r->loaded[r->turn];

	if (!load(r, next))
		return false;
	if (!reload_take(r, next)) {
		service_group_free(next);
		return false;
	}
	instance_set_qos(r->instance, next);
	service_group_free(before); /* harmless the first time: what began is the caller's */
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
	service_group_free(&r->loaded[0]);
	service_group_free(&r->loaded[1]);
}
