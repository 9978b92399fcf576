/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/cpufreq.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/log/log.h"

/* Drivers round to their own steps; a difference below 1/SAME_PART of a frequency is ignored. */
#define SAME_PART 100
#define LIMIT_PAUSE_NS 50000
#define READBACK_ATTEMPTS 20

static const char *const reasons[CPUFREQ_REASONS] = {
	[CPUFREQ_DENIED] = "denied",   [CPUFREQ_VANISHED] = "vanished",
	[CPUFREQ_REFUSED] = "refused", [CPUFREQ_ROUNDED] = "rounded",
	[CPUFREQ_CLAMPED] = "clamped", [CPUFREQ_GOVERNOR_CHANGED] = "taken",
};

const char *cpufreq_reason_name(enum cpufreq_reason reason) {
	return reasons[reason];
}

const char *cpufreq_mode_name(enum cpufreq_mode mode) {
	return mode == CPUFREQ_SETSPEED ? "scaling_setspeed" : "scaling_max_freq";
}

void cpufreq_count_reason(struct cpufreq *c, enum cpufreq_reason reason, const char *what) {
	__atomic_fetch_add(&c->counts[reason], 1, __ATOMIC_RELAXED);
	if ((c->logged >> reason & 1) != 0)
		return;
	c->logged |= 1u << reason;
	log_warning("power",
		    LOG_FIELDS(LOG_NUMBER("core", c->core), LOG_STRING("reason", reasons[reason])),
		    "core %u, %s: %s: %s", c->core, c->driver, what, reasons[reason]);
}

static void note_errno(struct cpufreq *c, int fault, const char *key) {
	enum cpufreq_reason reason = CPUFREQ_REFUSED;

	if (fault == -EACCES || fault == -EPERM || fault == -EROFS)
		reason = CPUFREQ_DENIED;
	else if (fault == -ENOENT || fault == -ENODEV || fault == -ENXIO || fault == -EBUSY)
		reason = CPUFREQ_VANISHED;
	cpufreq_count_reason(c, reason, key);
}

/* Whether `word` is in a space-separated line. */
static bool has_word(const char *line, const char *word) {
	size_t length = strlen(word);

	while (*line != '\0') {
		size_t next = strcspn(line, " ");

		if (next == length && memcmp(line, word, length) == 0)
			return true;
		line += next + (line[next] == ' ');
	}
	return false;
}

static int compare_khz(const void *a, const void *b) {
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Reads the frequency table: entries within the limits, without duplicates. */
static void read_states(const struct cpu_files *f, struct cpufreq *c) {
	char text[CPU_FILES_TEXT], *rest = NULL;
	unsigned kept = 0;

	if (cpu_files_read(f, c->core, "scaling_available_frequencies", text, sizeof(text)) != 0)
		return;
	for (char *word = strtok_r(text, " ", &rest); word != NULL && kept < CPUFREQ_STATES;
	     word = strtok_r(NULL, " ", &rest)) {
		uint32_t khz = cpu_files_parse_khz(word);

		if (khz >= c->min_khz && khz <= c->max_khz && khz != 0)
			c->states[kept++] = khz;
	}
	qsort(c->states, kept, sizeof(c->states[0]), compare_khz);
	for (unsigned i = 0; i < kept; i++) {
		if (c->state_count == 0 || c->states[c->state_count - 1] != c->states[i])
			c->states[c->state_count++] = c->states[i];
	}
}

static void read_limits(const struct cpu_files *f, struct cpufreq *c) {
	uint32_t hardware = cpu_files_read_khz(f, c->core, "cpuinfo_max_freq");
	uint32_t limit = cpu_files_read_khz(f, c->core, "scaling_max_freq");

	c->max_khz = hardware == 0 || (limit != 0 && limit < hardware) ? limit : hardware;
	hardware = cpu_files_read_khz(f, c->core, "cpuinfo_min_freq");
	limit = cpu_files_read_khz(f, c->core, "scaling_min_freq");
	c->min_khz = limit > hardware ? limit : hardware;
	if (c->min_khz == 0 || c->min_khz > c->max_khz)
		c->min_khz = c->max_khz;
	c->base_khz = cpu_files_read_khz(f, c->core, "base_frequency");
	/* This file is in ns; 2^32 - 1 if the driver does not know it. */
	c->transition_us = cpu_files_read_khz(f, c->core, "cpuinfo_transition_latency") / 1000;
}

static void read_governors(const struct cpu_files *f, struct cpufreq *c) {
	char text[CPU_FILES_TEXT];

	if (cpu_files_read(f, c->core, "scaling_available_governors", text, sizeof(text)) != 0)
		return;
	c->has_userspace = has_word(text, "userspace");
	c->has_performance = has_word(text, "performance");
	c->active = !c->has_userspace && c->has_performance && has_word(text, "powersave") &&
		    !has_word(text, "schedutil") && !has_word(text, "ondemand");
}

static int read_word(const struct cpu_files *f, unsigned core, const char *key,
		     char word[CPUFREQ_WORD]) {
	char text[CPU_FILES_TEXT];
	int fault = cpu_files_read(f, core, key, text, sizeof(text));

	if (fault != 0)
		return fault;
	if (text[0] == '\0' || strlen(text) >= CPUFREQ_WORD || strchr(text, ' ') != NULL)
		return -EINVAL;
	memcpy(word, text, strlen(text) + 1);
	return 0;
}

int cpufreq_find(const struct cpu_files *f, unsigned core, struct cpufreq *c) {
	int fault;

	*c = (struct cpufreq){.core = core};
	fault = read_word(f, core, "scaling_driver", c->driver);
	if (fault == 0)
		fault = read_word(f, core, "scaling_governor", c->initial_governor);
	if (fault != 0)
		return fault;
	memcpy(c->governor, c->initial_governor, sizeof(c->governor));
	read_governors(f, c);
	read_limits(f, c);
	if (c->max_khz == 0)
		return -EINVAL;
	read_states(f, c);
	c->mode = c->has_userspace ? CPUFREQ_SETSPEED : CPUFREQ_LIMITS;
	c->khz = c->requested_khz = c->max_khz;
	return 0;
}

static void lower_ceiling(struct cpufreq *c, uint32_t khz) {
	if (khz == 0 || khz >= c->max_khz)
		return;
	c->max_khz = khz;
	if (c->min_khz > khz)
		c->min_khz = khz;
	while (c->state_count > 0 && c->states[c->state_count - 1] > khz)
		c->state_count--;
}

bool cpufreq_honour_base(struct cpufreq *cores, unsigned count) {
	bool differ = false;

	for (unsigned i = 0; i < count; i++) {
		if (cores[i].base_khz == 0)
			return false;
		differ = differ || cores[i].base_khz != cores[0].base_khz;
	}
	for (unsigned i = 0; differ && i < count; i++)
		lower_ceiling(&cores[i], cores[i].base_khz);
	return differ;
}

/* Returns 0 if the core has the governor now. */
static int set_governor(const struct cpu_files *f, struct cpufreq *c, const char *governor) {
	char now[CPUFREQ_WORD];
	int fault;

	if (read_word(f, c->core, "scaling_governor", now) == 0 && strcmp(now, governor) == 0)
		fault = 0;
	else
		fault = cpu_files_write(f, c->core, "scaling_governor", governor);
	if (fault == 0)
		fault = read_word(f, c->core, "scaling_governor", now);
	if (fault == 0 && strcmp(now, governor) != 0)
		fault = -EINVAL;
	if (fault == 0)
		snprintf(c->governor, sizeof(c->governor), "%s", governor);
	else
		note_errno(c, fault, "scaling_governor");
	return fault;
}

/* With the governor `performance`, a core without scaling_setspeed runs at its upper limit. In
 * active mode, both limits determine the frequency. */
static int acquire_limits(const struct cpu_files *f, struct cpufreq *c) {
	int fault;

	c->mode = CPUFREQ_LIMITS;
	if (!c->active && c->has_performance)
		set_governor(
			f, c,
			"performance"); /* without it, the current governor applies the limit */
	if (c->active) /* with a lower preference the hardware delays the increase */
		cpu_files_write(f, c->core, "energy_performance_preference", "performance");
	fault = cpu_files_write_khz(f, c->core, "scaling_max_freq", c->max_khz);
	if (fault != 0)
		note_errno(c, fault, "scaling_max_freq");
	return fault;
}

int cpufreq_acquire(const struct cpu_files *f, struct cpufreq *c) {
	int fault = -ENOTSUP;

	if (c->has_userspace) {
		c->mode = CPUFREQ_SETSPEED;
		fault = set_governor(f, c, "userspace");
		if (fault == 0)
			fault = cpu_files_write_khz(f, c->core, "scaling_setspeed", c->max_khz);
		if (fault != 0)
			note_errno(c, fault, "scaling_setspeed");
	}
	if (fault != 0 && fault != -ENOENT && fault != -ENODEV)
		fault = acquire_limits(f, c);
	if (fault == 0)
		cpufreq_set(f, c, c->max_khz);
	return fault;
}

/* Never writes a maximum below the minimum: some drivers refuse it, others also change the
 * minimum. */
static int write_limits(const struct cpu_files *f, struct cpufreq *c, uint32_t khz,
			uint32_t before) {
	int fault = 0, lower = 0;

	if (khz >= before)
		fault = cpu_files_write_khz(f, c->core, "scaling_max_freq", khz);
	if (!c->keeps_min && fault == 0)
		lower = cpu_files_write_khz(f, c->core, "scaling_min_freq", khz);
	if (lower != 0) {
		note_errno(c, lower, "scaling_min_freq");
		c->keeps_min = lower == -EACCES || lower == -EPERM || lower == -EROFS;
	}
	if (khz < before)
		fault = cpu_files_write_khz(f, c->core, "scaling_max_freq", khz);
	return fault;
}

static bool same(uint32_t a, uint32_t b) {
	return (a > b ? a - b : b - a) <= b / SAME_PART;
}

/* Compares the frequency that was read back with the request. A higher frequency is accepted, as
 * drivers may have coarser steps. */
static bool compare(struct cpufreq *c, uint32_t request, uint32_t back) {
	if (back == 0) {
		cpufreq_count_reason(c, CPUFREQ_VANISHED, cpufreq_mode_name(c->mode));
		return false;
	}
	__atomic_store_n(&c->khz, back, __ATOMIC_RELAXED);
	if (same(back, request))
		return true;
	if (request >= c->max_khz || back <= c->min_khz || back >= c->max_khz)
		cpufreq_count_reason(c, CPUFREQ_CLAMPED, cpufreq_mode_name(c->mode));
	else
		cpufreq_count_reason(c, CPUFREQ_ROUNDED, cpufreq_mode_name(c->mode));
	return back > request;
}

bool cpufreq_request(const struct cpu_files *f, struct cpufreq *c, uint32_t khz) {
	const char *key = cpufreq_mode_name(c->mode);
	uint32_t before = c->unread ? c->requested_khz : c->khz;
	int fault;

	khz = khz < c->min_khz ? c->min_khz : khz > c->max_khz ? c->max_khz : khz;
	__atomic_store_n(&c->requested_khz, khz, __ATOMIC_RELAXED);
	fault = c->mode == CPUFREQ_SETSPEED ? cpu_files_write_khz(f, c->core, key, khz)
					    : write_limits(f, c, khz, before);
	c->unread = fault == 0;
	if (fault != 0)
		note_errno(c, fault, key);
	return fault == 0 && (c->mode != CPUFREQ_SETSPEED || cpufreq_verify(f, c, true));
}

bool cpufreq_verify(const struct cpu_files *f, struct cpufreq *c, bool last) {
	uint32_t back;

	if (!c->unread)
		return true;
	back = cpu_files_read_khz(f, c->core, cpufreq_mode_name(c->mode));
	if (!last && !same(back, c->requested_khz))
		return true;
	c->unread = false;
	return compare(c, c->requested_khz, back);
}

bool cpufreq_set(const struct cpu_files *f, struct cpufreq *c, uint32_t khz) {
	static const struct timespec pause = {.tv_nsec = LIMIT_PAUSE_NS};
	bool good = cpufreq_request(f, c, khz);

	for (unsigned i = 1; c->unread; i++) {
		good = cpufreq_verify(f, c, i == READBACK_ATTEMPTS);
		if (c->unread)
			nanosleep(&pause, NULL);
	}
	return good;
}

bool cpufreq_governor_is_kept(const struct cpu_files *f, struct cpufreq *c) {
	char now[CPUFREQ_WORD];
	int fault = read_word(f, c->core, "scaling_governor", now);

	if (fault != 0)
		note_errno(c, fault, "scaling_governor");
	else if (strcmp(now, c->governor) != 0)
		cpufreq_count_reason(c, CPUFREQ_GOVERNOR_CHANGED, "scaling_governor");
	else
		return true;
	return false;
}

uint32_t cpufreq_now(const struct cpu_files *f, const struct cpufreq *c) {
	uint32_t khz = cpu_files_read_khz(f, c->core, "scaling_cur_freq");

	return khz != 0 ? khz : __atomic_load_n(&c->khz, __ATOMIC_RELAXED);
}
