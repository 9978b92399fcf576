/* SPDX-License-Identifier: BSD-3-Clause */
/* The cpufreq driver of the governor. After a failure, a core runs at its maximum until the next check. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/cpus.h"
#include "platform/log/log.h"
#include "power/clock_domains.h"
#include "power/live/parts.h"

#define UNCORE_KEY "max_freq_khz"
#define UNCORE_GRAIN_KHZ 100000 /* resolution of Linux's uncore limits */

/* Returns the number of cores that can be governed. */
static unsigned find_cores(struct power *p) {
	unsigned initial = 0;

	for (unsigned w = 0; w < p->core_count; w++) {
		struct power_core *core = &p->cores[w];
		unsigned number = p->server->layout.cores[w];
		int fault = cpufreq_find(&p->files, number, &core->c);

		core->governed = fault == 0;
		core->at_maximum = false;
		core->attempts = 0;
		initial += fault == 0;
		if (fault != 0)
			log_warning("power", LOG_FIELDS(LOG_NUMBER("core", number)),
				    "core %u: no cpufreq: %s; its frequency stays "
				    "unchanged",
				    number, strerror(-fault));
	}
	return initial;
}

/* SST-BF concerns all cores; a core without cpufreq has no base frequency. */
static void honour_base(struct power *p) {
	struct cpufreq all[PLATFORM_MAX_WORKERS];

	for (unsigned w = 0; w < p->core_count; w++)
		all[w] = p->cores[w].c;
	if (!cpufreq_honour_base(all, p->core_count))
		return;
	for (unsigned w = 0; w < p->core_count; w++)
		p->cores[w].c = all[w];
	log_notice(
		"power", LOG_NO_FIELDS,
		"base frequencies differ between cores (SST-BF): each core is limited to its own");
}

/* Returns -1 if unknown. */
static int package_in(const struct power *p, const char *name) {
	char text[CPU_FILES_TEXT];
	int package;

	if (p->files.read(p->files.ctx, name, text, sizeof(text)) != 0 ||
	    sscanf(text, "%d", &package) != 1)
		return -1;
	return package;
}

/* Whether a worker runs on the package of this limit, or the topology is unknown. Uncore limits of other
 * packages are not changed. */
static bool uncore_is_kept(const struct power *p, const struct initial_value *v) {
	char name[CPU_FILES_NAME];
	int package = (int)v->a;
	bool known = false;

	if (v->kind == INITIAL_CLUSTER) {
		snprintf(name, sizeof(name), "intel_uncore_frequency/uncore%02u/package_id", v->a);
		package = package_in(p, name);
	}
	for (unsigned w = 0; w < p->core_count; w++) {
		int package_of_core;

		snprintf(name, sizeof(name), "cpu%u/topology/physical_package_id",
			 p->server->layout.cores[w]);
		package_of_core = package_in(p, name);
		if (package_of_core == package && package >= 0)
			return true;
		known = known || package_of_core >= 0;
	}
	return !known || package < 0;
}

/* Finds uncore limits that can be lowered. */
static void find_uncore(struct power *p) {
	p->uncore_count = 0;
	for (unsigned i = 0; i < p->initial.count && p->uncore_count < POWER_UNCORE_MAX; i++) {
		const struct initial_value *v = &p->initial.values[i];
		struct power_uncore *u = &p->uncore[p->uncore_count];
		char name[CPU_FILES_NAME], text[CPU_FILES_TEXT];
		uint32_t min;

		if ((v->kind != INITIAL_UNCORE && v->kind != INITIAL_CLUSTER) ||
		    !uncore_is_kept(p, v))
			continue;
		u->refused = false;
		initial_file_name(v, u->name);
		u->full_khz = cpu_files_parse_khz(v->value);
		snprintf(name, sizeof(name), "%.*smin_freq_khz",
			 (int)(strlen(u->name) - strlen(UNCORE_KEY)), u->name);
		if (p->files.read(p->files.ctx, name, text, sizeof(text)) != 0)
			continue;
		min = cpu_files_parse_khz(text);
		if (min == 0 || min >= u->full_khz)
			continue;
		u->low_khz = min + (u->full_khz - min) / 2;
		u->low_khz -= u->low_khz % UNCORE_GRAIN_KHZ;
		p->uncore_count += u->low_khz >= min;
	}
}

/* Saves the initial settings to a file before the first change. Returns 0, or -1 after a message. */
static int save_initial(struct power *p) {
	/* an earlier restoration failed, so the file has the initial settings */
	bool kept = p->state[0] != '\0';
	int fault = 0;

	if (!kept)
		initial_begin(&p->initial);
	for (unsigned w = 0; w < p->core_count && fault == 0; w++) {
		if (p->cores[w].governed &&
		    !initial_has_core(&p->initial, p->server->layout.cores[w]))
			fault = initial_read_core(&p->initial, &p->files,
						  p->server->layout.cores[w]);
	}
	if (fault == 0 && !kept)
		fault = initial_read_uncore(&p->initial, &p->files);
	if (fault == 0)
		fault = p->setup.folder != NULL
				? leftovers_path(p->setup.folder, getpid(), p->state)
				: -ENOENT;
	if (fault == 0)
		fault = initial_save(&p->initial, p->state);
	if (fault == 0)
		return 0;
	log_error("power", LOG_FIELDS(LOG_STRING("path", p->state)),
		  "the initial frequency settings cannot be saved: %s: %s; frequencies stay "
		  "unchanged",
		  p->state, strerror(-fault));
	p->state[0] = '\0';
	power_count_fault(p, POWER_NOT_SAVED);
	return -1;
}

/* Warns if a clock domain includes cores without workers, as their frequency changes, too. */
static void warn_bound(struct power *p, unsigned w) {
	char text[256];
	cpu_set_t cpus;

	clock_domain_bound(&p->files, p->cores[w].c.core, &cpus);
	for (unsigned i = 0; i < p->core_count; i++) {
		if (p->cores[i].c.core < CPU_SETSIZE)
			CPU_CLR(p->cores[i].c.core, &cpus);
	}
	if (CPU_COUNT(&cpus) == 0)
		return;
	cpus_format(&cpus, text, sizeof(text));
	power_count_fault(p, POWER_CONTRADICTION);
	log_warning("power", LOG_FIELDS(LOG_NUMBER("core", p->cores[w].c.core)),
		    "core %u shares its clock with %s, which have no worker: their frequency "
		    "changes, too",
		    p->cores[w].c.core, text);
}

static unsigned acquire_cores(struct power *p) {
	unsigned acquired = 0;

	for (unsigned w = 0; w < p->core_count; w++) {
		struct power_core *core = &p->cores[w];

		if (!core->governed)
			continue;
		core->governed = cpufreq_acquire(&p->files, &core->c) == 0;
		acquired += core->governed;
		if (core->governed)
			warn_bound(p, w);
	}
	return acquired;
}

static void restore(struct power *p) {
	unsigned wrong = initial_restore(&p->initial, &p->files);

	if (wrong > 0) {
		log_warning("power",
			    LOG_FIELDS(LOG_STRING("path", p->state), LOG_NUMBER("wrong", wrong)),
			    "%u of %u initial values could not be restored; %s contains "
			    "them",
			    wrong, p->initial.count, p->state);
		return;
	}
	unlink(p->state);
	p->state[0] = '\0';
	log_notice("power", LOG_NO_FIELDS, "the initial frequency settings are restored");
}

static int by_cpufreq_open(struct power *p) {
	unsigned cores[PLATFORM_MAX_WORKERS];

	for (unsigned w = 0; w < p->core_count; w++)
		cores[w] = p->server->layout.cores[w];
	if (p->files.read == NULL)
		return -1;
	if (p->setup.folder != NULL)
		leftovers_restore(p->setup.folder, &p->files);
	if (find_cores(p) == 0 || save_initial(p) != 0)
		return -1;
	honour_base(p);
	find_uncore(p);
	clock_domains(&p->files, cores, p->core_count, p->domain_of);
	if (acquire_cores(p) > 0)
		return 0;
	restore(p);
	return -1;
}

static bool set_khz(struct power *p, struct power_core *core, uint32_t khz) {
	core->request_ns = p->governor.now;
	return cpufreq_request(&p->files, &core->c, khz);
}

/* After a failure, requests the maximum and does not check the result. */
static void trouble(struct power *p, struct power_core *core) {
	core->at_maximum = true;
	if (core->c.requested_khz < core->c.max_khz)
		set_khz(p, core, core->c.max_khz);
}

static void by_cpufreq_set(struct power *p, unsigned w, uint32_t khz, uint64_t now) {
	struct power_core *core = &p->cores[w];

	(void)now;
	if (!core->at_maximum && !set_khz(p, core, khz))
		trouble(p, core);
}

/* Another process changed the core's governor. Sets the governor again, at most POWER_ATTEMPTS
 * times; after that the core is no longer governed. */
static void reacquire(struct power *p, struct power_core *core) {
	char text[CPU_FILES_TEXT];

	if (cpu_files_read(&p->files, core->c.core, "scaling_governor", text, sizeof(text)) != 0) {
		/* the core is offline: a later check finds it online again */
		core->at_maximum = true;
		return;
	}
	if (core->attempts++ < POWER_ATTEMPTS) {
		core->at_maximum = cpufreq_acquire(&p->files, &core->c) != 0;
		return;
	}
	/* removes the limits, which would also bind the other governor */
	if (core->c.mode != CPUFREQ_SETSPEED)
		cpufreq_set(&p->files, &core->c, core->c.max_khz);
	core->governed = false;
	log_warning("power", LOG_FIELDS(LOG_NUMBER("core", core->c.core)),
		    "core %u: another process repeatedly changes its governor: the core is no "
		    "longer governed",
		    core->c.core);
}

/* Detects changes by other processes and repeats failed requests. */
static void by_cpufreq_check(struct power *p, unsigned w) {
	struct power_core *core = &p->cores[w];
	uint32_t back, request = p->applied_khz[p->domain_of[w]];

	if (!core->governed)
		return;
	if (!cpufreq_governor_is_kept(&p->files, &core->c)) {
		reacquire(p, core);
		return;
	}
	back = cpu_files_read_khz(&p->files, core->c.core, cpufreq_mode_name(core->c.mode));
	if (core->at_maximum || (back != core->c.khz && !core->c.unread))
		core->at_maximum = !set_khz(p, core, request);
}

/* One step writes the limits of all cores and later steps read them back, so that no core waits for
 * another. */
static uint64_t by_cpufreq_pending(struct power *p, uint64_t now) {
	for (unsigned w = 0; w < p->core_count; w++) {
		struct power_core *core = &p->cores[w];
		uint64_t since = now - core->request_ns;

		if (core->governed && since > 0 &&
		    !cpufreq_verify(&p->files, &core->c, since >= POWER_READ_NS))
			trouble(p, core);
	}
	return UINT64_MAX;
}

static void by_cpufreq_low(struct power *p, bool low) {
	for (unsigned i = 0; i < p->uncore_count; i++) {
		struct power_uncore *u = &p->uncore[i];
		uint32_t request = low ? u->low_khz : u->full_khz, back = 0;
		char text[CPU_FILES_TEXT];

		if (u->refused && low)
			continue;
		snprintf(text, sizeof(text), "%u", request);
		p->files.write(p->files.ctx, u->name, text);
		if (p->files.read(p->files.ctx, u->name, text, sizeof(text)) == 0)
			back = cpu_files_parse_khz(text);
		if (back / UNCORE_GRAIN_KHZ == request / UNCORE_GRAIN_KHZ || u->refused)
			continue;
		u->refused = true;
		log_warning("power", LOG_FIELDS(LOG_STRING("path", u->name)),
			    "%s: set to %u, but reads %u: it is not lowered any more", u->name,
			    request, back);
	}
}

const struct frequency_driver power_by_cpufreq = {
	.name = "cpufreq",
	.open = by_cpufreq_open,
	.set = by_cpufreq_set,
	.check = by_cpufreq_check,
	.pending = by_cpufreq_pending,
	.low = by_cpufreq_low,
	.close = restore,
};
