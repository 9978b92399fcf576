/* SPDX-License-Identifier: BSD-3-Clause */
/* `vcmtsd power` as an operator and the service manager call it, in processes of their own. */
#include "guest.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "commands/commands.h"

static void call(int words, char **argv) {
	exit(command_power(words, argv));
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

static void was_restored(uint32_t cpu) {
	guest_reads(cpu, "cpufreq/scaling_governor", "performance");
	guest_comes(cpu, "cpufreq/scaling_cur_freq", "1800000");
}

void guest_command_killed(void) {
	pid_t tries = guest_start(try_one);

	guest_comes(0, "cpufreq/scaling_cur_freq", "1000000");
	guest_check(guest_end(guest_start(restore), 0) == 0, "restored while it runs");
	guest_reads(0, "cpufreq/scaling_cur_freq", "1000000");
	guest_check(WTERMSIG(guest_end(tries, SIGKILL)) == SIGKILL, "it is killed");
	guest_reads(0, "cpufreq/scaling_governor", "userspace");
	guest_check(guest_end(guest_start(restore), 0) == 0, "restored behind it");
	was_restored(0);
	guest_check(guest_write(0, "cpufreq/scaling_governor", "powersave") == 0,
		    "somebody has another wish then");
	guest_check(guest_end(guest_start(restore), 0) == 0, "there is nothing more to restore");
	guest_reads(0, "cpufreq/scaling_governor", "powersave");
}

void guest_command_ended(void) {
	pid_t tries = guest_start(try_both);

	guest_comes(1, "cpufreq/scaling_cur_freq", "1400000");
	guest_check(guest_end(tries, SIGTERM) == 0, "it ends at a signal");
	was_restored(0);
	was_restored(1);
}
