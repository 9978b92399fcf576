/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/layouts.h"
#include "platform/log/log.h"

#define NO_WORKER (~0U)
#define NAMED_GROUPS 4 /* with more groups, a name has only their number */

struct group_slots group_slots_of(const struct server_config *config) {
	struct group_slots slots = {.count = (unsigned)config->group_count};

	for (size_t g = 0; g < config->group_count; g++)
		slots.list[g] = &config->groups[g];
	return slots;
}

bool layout_has_upstream(const struct service_group *sg) {
	return sg->upstream_channel_count > 0;
}

/* The worker of the core; adds one if there is none. */
static unsigned worker_of(struct layout *l, unsigned core) {
	unsigned w = 0;

	while (w < l->worker_count && l->cores[w] != core)
		w++;
	if (w == PLATFORM_MAX_WORKERS)
		return NO_WORKER;
	if (w == l->worker_count)
		l->cores[l->worker_count++] = core;
	return w;
}

static bool group_assign(struct layout *l, struct layout_group *g, const struct service_group *sg) {
	struct group_cores at = layouts_group_cores(sg);

	g->upper = worker_of(l, at.upper_mac);
	g->lower = worker_of(l, at.lower_mac);
	g->upstream = worker_of(l, at.upstream);
	return g->upper != NO_WORKER && g->lower != NO_WORKER && g->upstream != NO_WORKER;
}

int layout_make(struct layout *l, const struct server_config *config) {
	memset(l, 0, sizeof(*l));
	for (size_t g = 0; g < config->group_count; g++) {
		if (group_assign(l, &l->groups[g], &config->groups[g]))
			continue;
		log_error("config", LOG_NO_FIELDS,
			  "service group %u: threads: more than %d cores of all groups",
			  config->groups[g].id, PLATFORM_MAX_WORKERS);
		return -1;
	}
	return 0;
}

struct layout_group layout_find(const struct layout *l, const struct service_group *sg) {
	struct layout known = *l;
	struct layout_group at;

	group_assign(&known, &at, sg);
	return at;
}

unsigned layout_parts(const struct layout *l, const struct group_slots *groups, size_t group,
		      unsigned worker) {
	const struct layout_group *g = &l->groups[group];
	const struct service_group *sg = groups->list[group];

	if (sg == NULL)
		return 0;
	return (g->upper == worker ? PART_UPPER : 0) | (g->lower == worker ? PART_LOWER : 0) |
	       (g->upstream == worker && layout_has_upstream(sg) ? PART_UPSTREAM : 0);
}

/* A text that is truncated to the buffer's size. */
struct text {
	char *at;
	size_t space;
};

static __attribute__((format(printf, 2, 3))) void put(struct text *t, const char *format, ...) {
	va_list list;
	int size;

	va_start(list, format);
	size = vsnprintf(t->at, t->space, format, list);
	va_end(list);
	if (size > 0 && t->space > 0) {
		size_t used = (size_t)size < t->space ? (size_t)size : t->space - 1;

		t->at += used;
		t->space -= used;
	}
}

/* " of group 1", " of groups 1, 2", " of 28 groups": those of which the worker runs exactly these
 * parts. */
static void put_groups(struct text *t, const struct layout *l, const struct group_slots *groups,
		       unsigned worker, unsigned parts) {
	unsigned count = 0, named = 0;

	for (size_t g = 0; g < groups->count; g++)
		count += layout_parts(l, groups, g, worker) == parts;
	if (count > NAMED_GROUPS) {
		put(t, " of %u groups", count);
		return;
	}
	for (size_t g = 0; g < groups->count; g++) {
		if (layout_parts(l, groups, g, worker) == parts)
			put(t, "%s%u",
			    named++ > 0	 ? ", "
			    : count == 1 ? " of group "
					 : " of groups ",
			    groups->list[g]->id);
	}
}

void layout_name(const struct layout *l, const struct group_slots *groups, unsigned worker,
		 char *name, size_t size) {
	static const char *const names[PARTS] = {
		[PART_UPPER] = "upper MAC",
		[PART_LOWER] = "lower MAC",
		[PART_UPPER | PART_LOWER] = "upper and lower MAC",
		[PART_UPSTREAM] = "upstream",
		[PART_UPPER | PART_UPSTREAM] = "upper MAC, upstream",
		[PART_LOWER | PART_UPSTREAM] = "lower MAC, upstream",
		[PART_UPPER | PART_LOWER | PART_UPSTREAM] = "upper and lower MAC, upstream",
	};
	struct text t = {name, size};
	bool several = groups->count > 1;
	bool named[PARTS] = {[0] = true};

	for (size_t g = 0; g < groups->count; g++) {
		unsigned parts = layout_parts(l, groups, g, worker);

		if (named[parts])
			continue;
		put(&t, "%s%s", t.at == name ? "" : "; ", names[parts]);
		if (several)
			put_groups(&t, l, groups, worker, parts);
		named[parts] = true;
	}
	if (t.at == name)
		put(&t, "nothing");
}
