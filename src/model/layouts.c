/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/layouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct layout {
	const char *name;
	enum downstream_layout downstream;
	bool combined; /* the upstream runs on the upper MAC's core */
	bool shared_downstream, shared_upstream; /* by the threads of two groups */
} layouts[] = {
	[LAYOUT_1US1T_1DS1T] = {.name = "1us1t_1ds1t"},
	[LAYOUT_1US1T_1DS2T] = {.name = "1us1t_1ds2t", .downstream = LAYOUT_1DS2T},
	[LAYOUT_2US1T_1DS2T] = {.name = "2us1t_1ds2t",
				.downstream = LAYOUT_1DS2T,
				.shared_upstream = true},
	[LAYOUT_COMBINED] = {.name = "combined", .combined = true},
	[LAYOUT_COMBINED2] = {.name = "combined2", .combined = true, .shared_downstream = true},
};

enum downstream_layout layouts_downstream(enum thread_layout layout) {
	return layouts[layout].downstream;
}

const char *layouts_name(enum thread_layout layout) {
	return layouts[layout].name;
}

/* A core for the threads of two groups; `open` while it has those of one. */
struct half_used {
	bool open;
	uint32_t core;
};

/* A list of cores, and how many the groups need, which may be more than it has. */
struct core_list {
	const uint16_t *cores;
	size_t count;
	size_t used;
	struct half_used downstream, upstream;
	size_t groups;
	enum thread_layout layout; /* of its first group */
	bool mixed; /* other groups have other layouts */
};

/* The next core of the list. 0 if none is left, which report_short() reports. */
static uint32_t deal_core(struct core_list *list) {
	size_t index = list->used++;

	return index < list->count ? list->cores[index] : 0;
}

/* Assigns one core to two groups: every second call returns the core of the call before. */
static uint32_t deal_half(struct core_list *list, struct half_used *half) {
	half->open = !half->open;
	if (half->open)
		half->core = deal_core(list);
	return half->core;
}

static void deal_group(struct core_list *list, struct service_group *sg) {
	struct thread_config *threads = &sg->threads;
	const struct thread_request *requested = &threads->requested;
	const struct layout *layout = &layouts[requested->layout];

	threads->downstream = layout->downstream;
	if (!requested->upper_mac_core)
		threads->upper_mac_core = layout->shared_downstream
						  ? deal_half(list, &list->downstream)
						  : deal_core(list);
	if (!requested->lower_mac_core && layout->downstream == LAYOUT_1DS2T)
		threads->lower_mac_core = deal_core(list);
	if (requested->upstream_core)
		return;
	if (layout->combined || sg->upstream_channel_count == 0)
		threads->upstream_core = threads->upper_mac_core;
	else
		threads->upstream_core = layout->shared_upstream ? deal_half(list, &list->upstream)
								 : deal_core(list);
}

/* Reports that the list has too few cores. */
static void report_short(const struct core_list *list, const struct placed_group *first,
			 struct errors *errors) {
	struct path threads = {.key = "threads"}, path = {.up = &threads, .key = "cores"};
	char found[64], allowed[160];

	snprintf(found, sizeof(found), "%zu core%s", list->count, list->count == 1 ? "" : "s");
	snprintf(allowed, sizeof(allowed), "%zu or more, as %zu service group%s of %s need%s",
		 list->used, list->groups, list->groups == 1 ? "" : "s",
		 list->mixed ? "these layouts" : layouts[list->layout].name,
		 list->groups == 1 ? "s" : "");
	errors_add(errors, first->cores_line != 0 ? first->cores_line : first->layout_line, &path,
		   found, allowed);
}

/* A core with a key of its own may equal one from the list. */
static void check_downstream(const struct placed_group *group, struct errors *errors) {
	struct path threads = {.key = "threads"}, path = {.up = &threads, .key = "lower_mac_core"};
	const struct thread_config *config = &group->sg->threads;
	char found[16];

	if (config->downstream != LAYOUT_1DS2T || config->lower_mac_core != config->upper_mac_core)
		return;
	snprintf(found, sizeof(found), "%" PRIu32, config->lower_mac_core);
	errors_add(errors, group->layout_line, &path, found,
		   "another core than upper_mac_core in 1ds2t");
}

/* Assigns the list of the group `first` to it and to later groups whose list has the same line.
 * Earlier groups have other lines. */
static void deal_list(const struct placed_group *groups, size_t count, size_t first,
		      struct errors *errors) {
	const struct thread_request *requested = &groups[first].sg->threads.requested;
	struct core_list list = {
		.cores = requested->cores,
		.count = requested->core_count,
		.layout = requested->layout,
	};

	for (size_t g = first; g < count; g++) {
		struct service_group *sg = groups[g].sg;

		if (sg->threads.requested.layout == LAYOUT_NONE ||
		    groups[g].cores_line != groups[first].cores_line)
			continue;
		list.groups++;
		list.mixed = list.mixed || sg->threads.requested.layout != list.layout;
		deal_group(&list, sg);
	}
	if (list.used > list.count) {
		report_short(&list, &groups[first], errors);
		return;
	}
	for (size_t g = first; g < count; g++) {
		if (groups[g].sg->threads.requested.layout != LAYOUT_NONE &&
		    groups[g].cores_line == groups[first].cores_line)
			check_downstream(&groups[g], errors);
	}
}

static void deal_main_core(const struct placed_group *groups, size_t count, struct errors *errors) {
	struct path threads = {.key = "threads"}, path = {.up = &threads, .key = "main_core"};
	const struct placed_group *first = NULL;
	char found[16], where[ERRORS_WHERE_SIZE], allowed[512];

	for (size_t g = 0; g < count; g++) {
		const struct thread_config *config = &groups[g].sg->threads;

		if (!config->requested.main_core)
			continue;
		if (first == NULL)
			first = &groups[g];
		if (config->main_core == first->sg->threads.main_core)
			continue;
		snprintf(found, sizeof(found), "%" PRIu32, config->main_core);
		errors_where(errors, first->main_core_line, groups[g].main_core_line, where,
			     sizeof(where));
		snprintf(allowed, sizeof(allowed), "%" PRIu32 ", the server's main core (first %s)",
			 first->sg->threads.main_core, where);
		errors_add(errors, groups[g].main_core_line, &path, found, allowed);
	}
	for (size_t g = 0; g < count && first != NULL; g++)
		groups[g].sg->threads.main_core = first->sg->threads.main_core;
}

void layouts_assign(const struct placed_group *groups, size_t count, struct errors *errors) {
	for (size_t g = 0; g < count; g++) {
		size_t before = 0;

		if (groups[g].sg->threads.requested.layout == LAYOUT_NONE)
			continue;
		while (before < g && (groups[before].sg->threads.requested.layout == LAYOUT_NONE ||
				      groups[before].cores_line != groups[g].cores_line))
			before++;
		if (before == g)
			deal_list(groups, count, g, errors);
	}
	deal_main_core(groups, count, errors);
}

static uint32_t line_of_key(const struct node *map, const char *key) {
	const struct node *value = node_present(map, key);

	return value != NULL ? value->line : 0;
}

struct placed_group layouts_lines(struct service_group *sg, struct node *root) {
	const struct node *threads = node_resolve(node_present(root, "threads"));

	return (struct placed_group){
		.sg = sg,
		.layout_line = line_of_key(threads, "layout"),
		.cores_line = line_of_key(threads, "cores"),
		.main_core_line = line_of_key(threads, "main_core"),
	};
}

static size_t add_core(uint32_t *cores, size_t count, uint32_t core) {
	for (size_t i = 0; i < count; i++) {
		if (cores[i] == core)
			return count;
	}
	cores[count] = core;
	return count + 1;
}

struct group_cores layouts_group_cores(const struct service_group *sg) {
	const struct thread_config *threads = &sg->threads;
	bool two = threads->downstream == LAYOUT_1DS2T;

	return (struct group_cores){
		.upper_mac = threads->upper_mac_core,
		.lower_mac = two ? threads->lower_mac_core : threads->upper_mac_core,
		.upstream = sg->upstream_channel_count > 0 ? threads->upstream_core
							   : threads->upper_mac_core,
	};
}

size_t layouts_cores(const struct service_group *sg, uint32_t cores[LAYOUTS_MAX_CORES]) {
	struct group_cores at = layouts_group_cores(sg);
	size_t count = add_core(cores, 0, at.upper_mac);

	count = add_core(cores, count, at.lower_mac);
	return add_core(cores, count, at.upstream);
}
