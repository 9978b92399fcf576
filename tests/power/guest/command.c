/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests `vcmtsd power try` and `vcmtsd power restore`, each in its own process, as an operator calls them. */
#include "guest.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "commands/commands.h"
#include "crypto/versions.h"
#include "platform/program/arguments.h"

/* The guest has neither DPDK nor the crypto library, whose versions the real function prints for --version. */
error_t versions_parse(const struct argp *argp, int argc, char **argv, void *input) {
	return arguments_parse(argp, argc, argv, input);
}

static void call(int argc, char **argv) {
	exit(command_power(argc, argv));
}

static void try_one(void) {
	char *argv[] = {"vcmtsd power", "try", "--cores", "0", "--hertz", "1GHz"};

	call(6, argv);
}

static void try_both(void) {
	char *argv[] = {"vcmtsd power", "try", "--cores", "0-1", "--hertz", "1300MHz"};

	call(6, argv);
}

static void restore(void) {
	char *argv[] = {"vcmtsd power", "restore"};

	call(2, argv);
}

static void check_restored(uint32_t cpu) {
	guest_check_file(cpu, "cpufreq/scaling_governor", "performance");
	guest_wait_for_file(cpu, "cpufreq/scaling_cur_freq", "1800000");
}

void guest_command_killed(void) {
	pid_t process = guest_start(try_one);

	guest_wait_for_file(0, "cpufreq/scaling_cur_freq", "1000000");
	guest_check(guest_stop(guest_start(restore), 0) == 0, "restored while `try` runs");
	guest_check_file(0, "cpufreq/scaling_cur_freq", "1000000");
	guest_check(WTERMSIG(guest_stop(process, SIGKILL)) == SIGKILL, "`try` is killed");
	guest_check_file(0, "cpufreq/scaling_governor", "userspace");
	guest_check(guest_stop(guest_start(restore), 0) == 0, "restored after the kill");
	check_restored(0);
	guest_check(guest_write(0, "cpufreq/scaling_governor", "powersave") == 0,
		    "another process changes the governor");
	guest_check(guest_stop(guest_start(restore), 0) == 0, "nothing is restored");
	guest_check_file(0, "cpufreq/scaling_governor", "powersave");
}

void guest_command_ended(void) {
	pid_t process = guest_start(try_both);

	guest_wait_for_file(1, "cpufreq/scaling_cur_freq", "1400000");
	guest_check(guest_stop(process, SIGTERM) == 0, "`try` exits at SIGTERM");
	check_restored(0);
	check_restored(1);
}
