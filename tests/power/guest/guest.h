/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first and only program of a virtual machine whose CPUs have P-states (pstates.asl): it runs the cases one
 * after the other, each from the same state: governor `performance`, all speeds allowed, so 1.8 GHz. Which
 * transitions each makes is seen outside of the machine, and held against what it expects (transitions.py).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define GUEST_CPUS 2
#define GUEST_STATE "/run/power-state" /* a file for what was found before the first change */

struct guest_case {
	const char *name;
	void (*run)(void);
	/* Of each CPU, in hundreds of MHz, as "8 18"; "" where nothing is to change. */
	const char *transitions[GUEST_CPUS];
};

extern const struct guest_case guest_cases[];
extern const uint32_t guest_cases_count;

/* A line to the host. */
void guest_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line a check; `held` false fails the test. Returns it. */
bool guest_check(bool held, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A file below /sys/devices/system/cpu/cpuN, without its newline; "" where it cannot be read. */
const char *guest_read(uint32_t cpu, const char *file);
/* Returns 0 or the errno by which it was refused. */
int guest_write(uint32_t cpu, const char *file, const char *text);

/* That the file holds `text`, as a check; at once, or at some time. */
bool guest_reads(uint32_t cpu, const char *file, const char *text);
bool guest_comes(uint32_t cpu, const char *file, const char *text);

/* Runs `what` in a process of its own. */
pid_t guest_start(void (*what)(void));
/* Sends it a signal, or 0: none, and returns how it ended, as wait() tells. */
int guest_end(pid_t process, int signal);

/* Both, and the process is killed (SIGKILL) in guest_done(), where it has come as far as it was to. */
void guest_kill(void (*what)(void));
void guest_done(void);

/* Loads a module that was left out at the start. */
void guest_load(const char *module);

/* Cases of load.c and command.c. */
void guest_saving(void);
void guest_performance(void);
void guest_command_killed(void);
void guest_command_ended(void);
