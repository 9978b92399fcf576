/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/placement.h"

#include <inttypes.h>

#include "model/layouts.h"
#include "platform/log/log.h"

#define PLACEMENT_LINE (sizeof(struct placement_refusal) + 64)

/* Cores that are refused for one reason, and the first key that names one. */
struct refused_cores {
	cpu_set_t cores;
	const char *key; /* NULL: none was found */
	uint32_t service_group;
};

struct placement_check {
	const struct cpus *cpus;
	const char *why; /* reason for the allowed cores; NULL: cpus_fault_text() */
	struct refused_cores refused[CPU_FAULTS];
};

static void check_core(struct placement_check *check, uint32_t service_group, const char *key,
		       unsigned core) {
	enum cpu_fault fault = cpus_fault(check->cpus, core);
	struct refused_cores *refused = &check->refused[fault];

	if (fault == CPU_IS_USABLE)
		return;
	if (refused->key == NULL) {
		refused->key = key;
		refused->service_group = service_group;
	}
	CPU_SET(core, &refused->cores);
}

/* The key that assigns a core to the group: its own, the list of cores, or its own by default. */
static const char *key_of(const struct thread_request *requested, bool given, const char *own) {
	return given || requested->layout == LAYOUT_NONE ? own : "cores";
}

static void check_group(struct placement_check *check, const struct service_group *sg) {
	const struct thread_request *requested = &sg->threads.requested;
	struct group_cores at = layouts_group_cores(sg);

	check_core(check, sg->id, key_of(requested, requested->upper_mac_core, "upper_mac_core"),
		   at.upper_mac);
	check_core(check, sg->id, key_of(requested, requested->lower_mac_core, "lower_mac_core"),
		   at.lower_mac);
	check_core(check, sg->id, key_of(requested, requested->upstream_core, "upstream_core"),
		   at.upstream);
}

/* Sets one refusal per reason. Returns their number. */
static size_t list_refused(const struct placement_check *check,
			   struct placement_refusal refusals[CPU_FAULTS]) {
	char cores[CPUS_TEXT];
	size_t count = 0;

	for (enum cpu_fault fault = 0; fault < CPU_FAULTS; fault++) {
		const struct refused_cores *refused = &check->refused[fault];
		struct placement_refusal *refusal = &refusals[count];

		if (refused->key == NULL)
			continue;
		count++;
		refusal->fault = fault;
		refusal->service_group = refused->service_group;
		refusal->key = refused->key;
		cpus_format(&refused->cores, cores, sizeof(cores));
		snprintf(refusal->found, sizeof(refusal->found), "%s %.200s",
			 CPU_COUNT(&refused->cores) == 1 ? "core" : "cores", cores);
		cpus_format(&check->cpus->usable, cores, sizeof(cores));
		snprintf(refusal->allowed, sizeof(refusal->allowed), "%.400s, %s", cores,
			 check->why != NULL ? check->why : cpus_fault_text(fault));
	}
	return count;
}

size_t placement_refusals(const struct server_config *config, const struct cpus *cpus,
			  struct placement_refusal refusals[CPU_FAULTS]) {
	struct placement_check check = {.cpus = cpus};

	check_core(&check, 0, "main_core", config->main_core);
	for (size_t g = 0; g < config->group_count; g++)
		check_group(&check, &config->groups[g]);
	return list_refused(&check, refusals);
}

/* The cores that have a worker, as if there were no others. */
static struct cpus cpus_of(const struct layout *layout) {
	struct cpus cpus;

	CPU_ZERO(&cpus.usable);
	for (unsigned w = 0; w < layout->worker_count; w++)
		CPU_SET(layout->cores[w], &cpus.usable);
	cpus.present = cpus.online = cpus.usable;
	return cpus;
}

bool placement_allows(const struct layout *layout, const struct cpus *machine, unsigned main_core,
		      const struct service_group *sg, char *line, size_t size) {
	const struct cpus workers = cpus_of(layout);
	struct placement_check checks[] = {
		{.cpus = machine},
		{.cpus = &workers, .why = "the cores that have a worker; others need a restart"},
	};
	struct placement_refusal refusals[CPU_FAULTS];

	if (sg->threads.requested.main_core && sg->threads.main_core != main_core) {
		snprintf(line, size, "threads.main_core: found core %u, allowed: %u, the server's",
			 sg->threads.main_core, main_core);
		return false;
	}
	for (size_t c = machine != NULL ? 0 : 1; c < 2; c++) {
		check_group(&checks[c], sg);
		if (list_refused(&checks[c], refusals) == 0)
			continue;
		snprintf(line, size, "threads.%s: found %s, allowed: %s", refusals[0].key,
			 refusals[0].found, refusals[0].allowed);
		return false;
	}
	return true;
}

static void refusal_line(const struct placement_refusal *r, char line[PLACEMENT_LINE]) {
	char group[32] = "";

	if (r->service_group != 0)
		snprintf(group, sizeof(group), "service group %" PRIu32 ": ", r->service_group);
	snprintf(line, PLACEMENT_LINE, "%sthreads.%s: found %s, allowed: %s", group, r->key,
		 r->found, r->allowed);
}

int placement_print(const struct placement_refusal *refusals, size_t count, FILE *out) {
	for (size_t r = 0; r < count; r++) {
		char line[PLACEMENT_LINE];

		refusal_line(&refusals[r], line);
		fprintf(out, "%s\n", line);
	}
	return count == 0 ? 0 : -1;
}

int placement_check(const struct server_config *config, struct cpus *cpus) {
	struct placement_refusal refusals[CPU_FAULTS];
	size_t count;

	cpus_read(cpus);
	count = placement_refusals(config, cpus, refusals);
	for (size_t r = 0; r < count; r++) {
		char line[PLACEMENT_LINE];

		refusal_line(&refusals[r], line);
		log_error("core", LOG_NO_FIELDS, "%s", line);
	}
	return count == 0 ? 0 : -1;
}
