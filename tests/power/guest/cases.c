/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the P-state test: src/power sets and restores frequencies by acpi-cpufreq of a real kernel. */
#include "guest.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/cpu_files.h"
#include "power/cpufreq.h"
#include "power/initial_settings.h"

#define GHZ(tenths) ((tenths) * 100000u) /* kHz */
#define NO_ROOT 1000 /* a user and group ID */

static struct cpu_files files;
static struct cpufreq core;

static void find_cpu(uint32_t cpu) {
	if (files.read == NULL)
		guest_check(cpu_files_open(&files, CPU_FILES_ROOT) == 0, "files are opened");
	int fault = cpufreq_find(&files, cpu, &core);
	guest_check(fault == 0, "CPU %u is found (%d)", cpu, fault);
}

static void acquire(uint32_t cpu) {
	find_cpu(cpu);
	int fault = cpufreq_acquire(&files, &core);
	guest_check(fault == 0, "CPU %u is acquired (%d)", cpu, fault);
}

/* Requests a frequency. `expected` is the frequency read back, `reached` the result of cpufreq_set(). */
static void set(uint32_t khz, uint32_t expected, bool reached) {
	bool result = cpufreq_set(&files, &core, khz);

	guest_check(result == reached && core.khz == expected, "%u kHz become %u (%u, %s)", khz,
		    expected, core.khz, result ? "reached" : "not reached");
}

/* Checks the counts of all reasons that are not 0, as "rounded 1 taken 2". */
static void check_counts(const char *expected) {
	char line[256] = "";

	for (enum cpufreq_reason reason = 0; reason < CPUFREQ_REASONS; reason++) {
		size_t length = strlen(line);

		if (core.counts[reason])
			snprintf(line + length, sizeof(line) - length, "%s%s %u", length ? " " : "",
				 cpufreq_reason_name(reason), (uint32_t)core.counts[reason]);
	}
	guest_check(strcmp(line, expected) == 0, "counted: %s (%s)", expected, line);
}

/* The module of the governor `userspace` is not loaded yet. */
static void without_userspace(void) {
	acquire(0);
	guest_check(!core.has_userspace && core.mode == CPUFREQ_LIMITS, "limits are written");
	set(GHZ(10), GHZ(10), true);
	guest_check_file(0, "cpufreq/scaling_min_freq", "1000000");
	set(GHZ(8), GHZ(8), true);
	set(GHZ(16), GHZ(16), true);
	guest_wait_for_file(0, "cpufreq/scaling_cur_freq", "1600000");
	/* A kernel thread applies the limits asynchronously: the former limit may be read back. */
	for (uint32_t i = 0; i < 20; i++) {
		cpufreq_set(&files, &core, GHZ(10));
		cpufreq_set(&files, &core, GHZ(16));
	}
	check_counts("");
	guest_load_module("cpufreq_userspace");
}

static void every_state(void) {
	acquire(0);
	guest_check(strcmp(core.driver, "acpi-cpufreq") == 0, "the driver is %s", core.driver);
	guest_check(strcmp(core.initial_governor, "performance") == 0, "initially it has %s",
		    core.initial_governor);
	guest_check(core.mode == CPUFREQ_SETSPEED, "speeds are written");
	guest_check(core.state_count == 6, "it has six states (%u)", core.state_count);
	guest_check(core.min_khz == GHZ(8) && core.max_khz == GHZ(18), "from 0.8 to 1.8 GHz");
	for (uint32_t tenths = 8; tenths <= 18; tenths += 2)
		set(GHZ(tenths), GHZ(tenths), true);
	set(GHZ(8), GHZ(8), true);
	guest_check_file(0, "cpufreq/scaling_governor", "userspace");
	guest_check_file(0, "cpufreq/scaling_cur_freq", "800000");
	guest_check_file(1, "cpufreq/scaling_governor", "performance");
	check_counts("");
}

/* The driver rounds up to the next state. */
static void rounded(void) {
	acquire(0);
	set(GHZ(13), GHZ(14), true);
	set(GHZ(15), GHZ(16), true);
	set(GHZ(8) + 1, GHZ(10), true);
	check_counts("rounded 3");
}

static void clamped(void) {
	acquire(0);
	set(GHZ(50), GHZ(18), true);
	set(GHZ(1), GHZ(8), true);
	guest_check(guest_write(0, "cpufreq/scaling_max_freq", "1200000") == 0,
		    "another process sets a limit");
	guest_wait_for_file(0, "cpufreq/scaling_max_freq", "1200000");
	set(GHZ(18), GHZ(12), false);
	set(GHZ(10), GHZ(10), true);
	check_counts("clamped 1");
}

static void refused(void) {
	acquire(0);
	guest_check(guest_write(0, "cpufreq/scaling_governor", "powersave") == 0,
		    "another process changes the governor");
	guest_check(!cpufreq_governor_is_kept(&files, &core), "the change is detected");
	set(GHZ(14), GHZ(18), false);
	guest_check_file(0, "cpufreq/scaling_cur_freq", "800000");
	check_counts("refused 1 taken 1");
	guest_check(cpufreq_acquire(&files, &core) == 0, "CPU 0 is acquired a second time");
	guest_check(cpufreq_governor_is_kept(&files, &core), "CPU 0 has the governor userspace");
	set(GHZ(14), GHZ(14), true);
}

static void offline(void) {
	acquire(1);
	set(GHZ(10), GHZ(10), true);
	guest_check(guest_write(1, "online", "0") == 0, "CPU 1 is set offline");
	guest_check(!cpufreq_governor_is_kept(&files, &core), "the change is detected");
	guest_check(!cpufreq_set(&files, &core, GHZ(8)), "no frequency can be set");
	guest_check(core.counts[CPUFREQ_VANISHED] == 2, "both are counted (%u)",
		    (uint32_t)core.counts[CPUFREQ_VANISHED]);
	guest_check(cpufreq_find(&files, 1, &core) != 0, "CPU 1 is not found");
	guest_check(guest_write(1, "online", "1") == 0, "CPU 1 is set online");
	guest_check_file(1, "cpufreq/scaling_cur_freq",
			 "1000000"); /* the driver guesses it from the TSC of 1 GHz */
	acquire(1);
	set(GHZ(12), GHZ(12), true);
}

static struct initial_settings found;

static void set_slowest(void) {
	find_cpu(0);
	initial_begin(&found);
	initial_read_core(&found, &files, 0);
	initial_read_core(&found, &files, 1);
	guest_check(initial_save(&found, GUEST_STATE) == 0, "the initial values are saved");
	guest_check(cpufreq_acquire(&files, &core) == 0, "CPU 0 is acquired");
	set(GHZ(8), GHZ(8), true);
	guest_await_kill();
}

static void killed(void) {
	char fault[INITIAL_LINE] = "";

	guest_run_and_kill(set_slowest);
	guest_check_file(0, "cpufreq/scaling_governor", "userspace");
	guest_check_file(0, "cpufreq/scaling_cur_freq", "800000");
	guest_check(initial_load(&found, GUEST_STATE, fault) == 0, "the file is read %s", fault);
	guest_check(!initial_owner_runs(&found), "the process has exited");
	guest_check(initial_restore(&found, &files) == 0, "all values are restored");
	guest_check_file(0, "cpufreq/scaling_governor", "performance");
	guest_check_file(0, "cpufreq/scaling_min_freq", "800000");
	guest_check_file(0, "cpufreq/scaling_max_freq", "1800000");
	guest_check_file(0, "cpufreq/scaling_cur_freq", "1800000");
}

static void drop_privileges(void) {
	guest_check(setgroups(0, NULL) == 0 && setgid(NO_ROOT) == 0 && setuid(NO_ROOT) == 0,
		    "the process is unprivileged");
	find_cpu(0);
}

static void without_permission(void) {
	drop_privileges();
	guest_check(cpufreq_acquire(&files, &core) != 0, "CPU 0 cannot be acquired");
	guest_check(!cpufreq_set(&files, &core, GHZ(8)), "no frequency can be set");
	guest_check(core.counts[CPUFREQ_DENIED] > 0, "the refusal is counted");
	guest_check_file(0, "cpufreq/scaling_governor", "performance");
}

static void with_permission(void) {
	drop_privileges();
	guest_check(cpufreq_acquire(&files, &core) == 0, "CPU 0 is acquired");
	set(GHZ(10), GHZ(10), true);
	check_counts("");
}

/* Write access to the four files of deploy/'s udev rule is sufficient. */
static void permission(void) {
	static const char *const writable[] = {"scaling_governor", "scaling_setspeed",
					       "scaling_min_freq", "scaling_max_freq"};
	char path[256];

	guest_check(guest_stop(guest_start(without_permission), 0) == 0, "without write access");
	for (uint32_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++) {
		snprintf(path, sizeof(path), CPU_FILES_ROOT "/cpu0/cpufreq/%s", writable[i]);
		guest_check(chown(path, 0, NO_ROOT) == 0 && chmod(path, 0664) == 0,
			    "%s is writable", writable[i]);
	}
	guest_check(guest_stop(guest_start(with_permission), 0) == 0, "with write access");
}

#define FOUR " 10 16 10 16 10 16 10 16"

const struct guest_case guest_cases[] = {
	{"without the governor userspace",
	 without_userspace,
	 {"10 8 16" FOUR FOUR FOUR FOUR FOUR, ""}},
	{"every state", every_state, {"8 10 12 14 16 18 8", ""}},
	{"rounded", rounded, {"14 16 10", ""}},
	{"clamped", clamped, {"8 12 10", ""}},
	{"governor of another process", refused, {"8 18 14", ""}},
	{"offline", offline, {"", "10 18 12"}},
	{"killed", killed, {"8 18", ""}},
	{"permission", permission, {"10", ""}},
	{"command, killed", guest_command_killed, {"10 18 8", ""}},
	{"command, ended", guest_command_ended, {"14 18", "14 18"}},
	{"governor, saving", guest_saving, {"16 8 18 8", "8 18"}},
	{"governor, performance", guest_performance, {"", ""}},
};
const uint32_t guest_cases_count = sizeof(guest_cases) / sizeof(guest_cases[0]);
