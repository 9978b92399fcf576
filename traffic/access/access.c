/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees the simulated modems that request bandwidth; run.c runs them. */
#include "access/access.h"

#include <stdlib.h>
#include <string.h>

#include "access/access_parts.h"

#define GRANTS_AHEAD 8 /* full MAPs of each channel whose grants can be known at a time */

static const char *mistake(const struct access_config *c) {
	if (c->channel_count == 0 || c->channel_count > ACCESS_MAX_CHANNELS)
		return "channels: 1 to 64 are needed";
	if (c->modems == 0 || c->flows == 0 || c->flows >= 1u << 28 || c->modems >= 1u << 28)
		return "there is capacity for no modem or no flow, or for too many";
	for (size_t i = 0; i < c->channel_count; i++) {
		const struct access_channel *l = &c->channels[i];

		if (l->frame == 0 || l->frame_minislots == 0 || l->minislot_bytes == 0 ||
		    l->request_minislots == 0)
			return "a channel's frame, minislots, their bytes and requests must not be "
			       "0";
	}
	return NULL;
}

static bool reserve_lines(struct access *a, const struct access_config *c) {
	for (size_t i = 0; i < c->channel_count; i++) {
		struct access_line *l = &a->lines[i];

		l->set = c->channels[i];
		l->flows = malloc(ACCESS_SIDS * sizeof(*l->flows));
		l->regions = calloc(ACCESS_REGIONS, sizeof(*l->regions));
		if (l->flows == NULL || l->regions == NULL)
			return false;
		memset(l->flows, 0xff, ACCESS_SIDS * sizeof(*l->flows));
	}
	return true;
}

static bool reserve(struct access *a, const struct access_config *c) {
	uint32_t grants = (uint32_t)c->channel_count * MAP_ELEMENTS_5 * GRANTS_AHEAD;

	a->lines = calloc(c->channel_count, sizeof(*a->lines));
	a->modems = calloc(c->modems, sizeof(*a->modems));
	a->flows = calloc(c->flows, sizeof(*a->flows));
	a->grants = calloc(grants, sizeof(*a->grants));
	a->groups = calloc(c->flows, sizeof(*a->groups));
	a->picks = calloc(c->flows, sizeof(*a->picks));
	a->out = calloc((size_t)c->flows + 1, sizeof(*a->out));
	if (a->lines == NULL || a->modems == NULL || a->flows == NULL || a->grants == NULL ||
	    a->groups == NULL || a->picks == NULL || a->out == NULL)
		return false;
	a->line_count = (uint32_t)c->channel_count;
	a->modem_count = c->modems;
	a->flow_count = c->flows;
	a->grant_count = grants;
	return due_reserve(&a->due, grants + c->flows + a->line_count) && reserve_lines(a, c);
}

struct access *access_create(const struct access_config *config, const char **why) {
	const char *wrong = mistake(config);
	struct access *a = wrong == NULL ? calloc(1, sizeof(*a)) : NULL;

	if (why != NULL)
		*why = wrong == NULL ? "memory is short" : wrong;
	if (a == NULL)
		return NULL;
	if (!reserve(a, config)) {
		access_free(a);
		return NULL;
	}
	a->start = config->start;
	a->random.state = config->seed;
	a->min = INT64_MAX;
	for (uint32_t i = 0; i < a->grant_count; i++)
		a->grants[i].next = i + 1 < a->grant_count ? i + 1 : ACCESS_NONE;
	for (uint32_t i = 0; i < a->flow_count; i++) {
		a->flows[i].number = i;
		a->flows[i].chance = ACCESS_NONE;
	}
	return a;
}

void access_free(struct access *a) {
	if (a == NULL)
		return;
	for (uint32_t i = 0; i < a->line_count; i++) {
		free(a->lines[i].flows);
		free(a->lines[i].regions);
	}
	for (uint32_t i = 0; i < a->flow_count; i++)
		free(a->flows[i].sids);
	for (uint32_t i = 0; i < a->group_count; i++) {
		due_free(&a->groups[i].contenders);
		due_free(&a->groups[i].waiting);
	}
	due_free(&a->due);
	free(a->lines);
	free(a->modems);
	free(a->flows);
	free(a->grants);
	free(a->groups);
	free(a->picks);
	free(a->out);
	free(a);
}
