/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/cpu_files.h"
#include "power/cpufreq.h"
#include "power/found.h"

#define GHZ(tenths) ((tenths) * 100000u) /* kHz */
#define SOMEBODY 1000 /* a user and a group without rights */

static struct cpu_files files;
static struct cpufreq core;

static void find(uint32_t cpu) {
	if (files.read == NULL)
		guest_check(cpu_files_open(&files, CPU_FILES_ROOT) == 0, "there are files");
	int fault = cpufreq_find(&files, cpu, &core);
	guest_check(fault == 0, "CPU %u is found (%d)", cpu, fault);
}

static void take(uint32_t cpu) {
	find(cpu);
	int fault = cpufreq_acquire(&files, &core);
	guest_check(fault == 0, "it is taken (%d)", fault);
}

/* That a wish becomes a speed; `reached` is what cpufreq_set() is to say of it. */
static void set(uint32_t khz, uint32_t becomes, bool reached) {
	bool said = cpufreq_set(&files, &core, khz);

	guest_check(said == reached && core.khz == becomes, "%u kHz become %u (%u, %s)", khz,
		    becomes, core.khz, said ? "reached" : "not reached");
}

/* How often each reason was counted, as "rounded 1 taken 2". */
static void counted(const char *expected) {
	char line[256] = "";

	for (enum cpufreq_reason reason = 0; reason < CPUFREQ_REASONS; reason++) {
		size_t length = strlen(line);

		if (core.counts[reason])
			snprintf(line + length, sizeof(line) - length, "%s%s %u", length ? " " : "",
				 cpufreq_reason_name(reason), (uint32_t)core.counts[reason]);
	}
	guest_check(strcmp(line, expected) == 0, "counted: %s (%s)", expected, line);
}

/* Before the module of that governor is there. */
static void without_userspace(void) {
	take(0);
	guest_check(!core.has_userspace && core.mode == CPUFREQ_LIMITS, "limits are written");
	set(GHZ(10), GHZ(10), true);
	guest_reads(0, "cpufreq/scaling_min_freq", "1000000");
	set(GHZ(8), GHZ(8), true);
	set(GHZ(16), GHZ(16), true);
	guest_comes(0, "cpufreq/scaling_cur_freq", "1600000");
	/* The kernel takes a limit over in a thread of its own: what is read back may be the one before. */
	for (uint32_t i = 0; i < 20; i++) {
		cpufreq_set(&files, &core, GHZ(10));
		cpufreq_set(&files, &core, GHZ(16));
	}
	counted("");
	guest_load("cpufreq_userspace");
}

static void every_state(void) {
	take(0);
	guest_check(strcmp(core.driver, "acpi-cpufreq") == 0, "the driver is %s", core.driver);
	guest_check(strcmp(core.found, "performance") == 0, "it had %s", core.found);
	guest_check(core.mode == CPUFREQ_SETSPEED, "speeds are written");
	guest_check(core.state_count == 6, "there are six (%u)", core.state_count);
	guest_check(core.min_khz == GHZ(8) && core.max_khz == GHZ(18), "from 0.8 to 1.8 GHz");
	for (uint32_t tenths = 8; tenths <= 18; tenths += 2)
		set(GHZ(tenths), GHZ(tenths), true);
	set(GHZ(8), GHZ(8), true);
	guest_reads(0, "cpufreq/scaling_governor", "userspace");
	guest_reads(0, "cpufreq/scaling_cur_freq", "800000");
	guest_reads(1, "cpufreq/scaling_governor", "performance");
	counted("");
}

/* The driver takes the next higher state. */
static void rounded(void) {
	take(0);
	set(GHZ(13), GHZ(14), true);
	set(GHZ(15), GHZ(16), true);
	set(GHZ(8) + 1, GHZ(10), true);
	counted("rounded 3");
}

static void clamped(void) {
	take(0);
	set(GHZ(50), GHZ(18), true);
	set(GHZ(1), GHZ(8), true);
	guest_check(guest_write(0, "cpufreq/scaling_max_freq", "1200000") == 0,
		    "somebody limits it");
	guest_comes(0, "cpufreq/scaling_max_freq", "1200000");
	set(GHZ(18), GHZ(12), false);
	set(GHZ(10), GHZ(10), true);
	counted("clamped 1");
}

static void refused(void) {
	take(0);
	guest_check(guest_write(0, "cpufreq/scaling_governor", "powersave") == 0,
		    "somebody changes the governor");
	guest_check(!cpufreq_is_ours(&files, &core), "which is seen");
	set(GHZ(14), GHZ(18), false);
	guest_reads(0, "cpufreq/scaling_cur_freq", "800000");
	counted("refused 1 taken 1");
	guest_check(cpufreq_acquire(&files, &core) == 0, "it is taken again");
	guest_check(cpufreq_is_ours(&files, &core), "and has its governor");
	set(GHZ(14), GHZ(14), true);
}

static void offline(void) {
	take(1);
	set(GHZ(10), GHZ(10), true);
	guest_check(guest_write(1, "online", "0") == 0, "somebody takes it offline");
	guest_check(!cpufreq_is_ours(&files, &core), "which is seen");
	guest_check(!cpufreq_set(&files, &core, GHZ(8)), "nothing can be set");
	guest_check(core.counts[CPUFREQ_VANISHED] == 2, "which is counted (%u)",
		    (uint32_t)core.counts[CPUFREQ_VANISHED]);
	guest_check(cpufreq_find(&files, 1, &core) != 0, "nor found");
	guest_check(guest_write(1, "online", "1") == 0, "it comes again");
	guest_reads(1, "cpufreq/scaling_cur_freq",
		    "1000000"); /* a guess of the driver, by the TSC of 1 GHz */
	take(1);
	set(GHZ(12), GHZ(12), true);
}

static struct found found;

static void die_at_the_slowest(void) {
	find(0);
	found_begin(&found);
	found_core(&found, &files, 0);
	found_core(&found, &files, 1);
	guest_check(found_save(&found, GUEST_STATE) == 0, "what was found is kept");
	guest_check(cpufreq_acquire(&files, &core) == 0, "it is taken");
	set(GHZ(8), GHZ(8), true);
	guest_done();
}

static void killed(void) {
	char fault[FOUND_LINE] = "";

	guest_kill(die_at_the_slowest);
	guest_reads(0, "cpufreq/scaling_governor", "userspace");
	guest_reads(0, "cpufreq/scaling_cur_freq", "800000");
	guest_check(found_load(&found, GUEST_STATE, fault) == 0, "the file is read %s", fault);
	guest_check(!found_running(&found), "the process is dead");
	guest_check(found_restore(&found, &files) == 0, "all is restored");
	guest_reads(0, "cpufreq/scaling_governor", "performance");
	guest_reads(0, "cpufreq/scaling_min_freq", "800000");
	guest_reads(0, "cpufreq/scaling_max_freq", "1800000");
	guest_reads(0, "cpufreq/scaling_cur_freq", "1800000");
}

static void become_somebody(void) {
	guest_check(setgroups(0, NULL) == 0 && setgid(SOMEBODY) == 0 && setuid(SOMEBODY) == 0,
		    "nobody special");
	find(0);
}

static void without_permission(void) {
	become_somebody();
	guest_check(cpufreq_acquire(&files, &core) != 0, "it cannot be taken");
	guest_check(!cpufreq_set(&files, &core, GHZ(8)), "nor set");
	guest_check(core.counts[CPUFREQ_DENIED] > 0, "which is counted");
	guest_reads(0, "cpufreq/scaling_governor", "performance");
}

static void with_permission(void) {
	become_somebody();
	guest_check(cpufreq_acquire(&files, &core) == 0, "it is taken");
	set(GHZ(10), GHZ(10), true);
	counted("");
}

/* What the udev rule of deploy/ gives: a group may write these files, and needs no more. */
static void permission(void) {
	static const char *const given[] = {"scaling_governor", "scaling_setspeed",
					    "scaling_min_freq", "scaling_max_freq"};
	char path[256];

	guest_check(guest_end(guest_start(without_permission), 0) == 0, "so far without");
	for (uint32_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		snprintf(path, sizeof(path), CPU_FILES_ROOT "/cpu0/cpufreq/%s", given[i]);
		guest_check(chown(path, 0, SOMEBODY) == 0 && chmod(path, 0664) == 0, "%s is given",
			    given[i]);
	}
	guest_check(guest_end(guest_start(with_permission), 0) == 0, "so far with");
}

#define FOUR " 10 16 10 16 10 16 10 16"

const struct guest_case guest_cases[] = {
	{"without the governor userspace",
	 without_userspace,
	 {"10 8 16" FOUR FOUR FOUR FOUR FOUR, ""}},
	{"every state", every_state, {"8 10 12 14 16 18 8", ""}},
	{"rounded", rounded, {"14 16 10", ""}},
	{"clamped", clamped, {"8 12 10", ""}},
	{"somebody else's governor", refused, {"8 18 14", ""}},
	{"offline", offline, {"", "10 18 12"}},
	{"killed", killed, {"8 18", ""}},
	{"permission", permission, {"10", ""}},
	{"command, killed", guest_command_killed, {"10 18 8", ""}},
	{"command, ended", guest_command_ended, {"14 18", "14 18"}},
	{"governor, saving", guest_saving, {"16 8 18 8", "8 18"}},
	{"governor, performance", guest_performance, {"", ""}},
};
const uint32_t guest_cases_count = sizeof(guest_cases) / sizeof(guest_cases[0]);
