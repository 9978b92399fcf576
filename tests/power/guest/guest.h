/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Support for the only program of a virtual machine whose CPUs have P-states (pstates.asl). It runs the cases in
 * sequence, each from the same state: governor `performance`, no limits, so 1.8 GHz. The host records the
 * transitions of each case and compares them with the expected ones (transitions.py).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define GUEST_CPUS 2
#define GUEST_STATE "/run/power-state" /* the file with the values from before the first change */

struct guest_case {
	const char *name;
	void (*run)(void);
	/* Expected of each CPU, in hundreds of MHz, as "8 18"; "" if it makes none. */
	const char *transitions[GUEST_CPUS];
};

extern const struct guest_case guest_cases[];
extern const uint32_t guest_cases_count;

/* Prints a line on the host. */
void guest_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line with the result. The test fails if `passed` is false. Returns `passed`. */
bool guest_check(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a file below /sys/devices/system/cpu/cpuN, without its newline; "" if it cannot be read. */
const char *guest_read(uint32_t cpu, const char *file);
/* Returns 0, or the errno of the refused write. */
int guest_write(uint32_t cpu, const char *file, const char *text);

/* Check that the file contains `text`: immediately, or within 20 s. */
bool guest_check_file(uint32_t cpu, const char *file, const char *text);
bool guest_wait_for_file(uint32_t cpu, const char *file, const char *text);

/* Runs `function` in a child process. */
pid_t guest_start(void (*function)(void));
/* Sends a signal (0: none) and waits for the exit. Returns the status of waitpid(). */
int guest_stop(pid_t process, int signal);

/* Runs `function` in a child process, which is killed (SIGKILL) while it waits in guest_await_kill(). */
void guest_run_and_kill(void (*function)(void));
void guest_await_kill(void);

/* Loads a module that is not loaded at the start. */
void guest_load_module(const char *module);

/* Cases of load.c and command.c. */
void guest_saving(void);
void guest_performance(void);
void guest_command_killed(void);
void guest_command_ended(void);
