/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmtsd, the data plane. The first argument selects the command. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/replay/replay.h"
#include "control/methods/methods.h"
#include "crypto/versions.h"
#include "model/load/loader.h"
#include "platform/cpu/cpu_check.h"
#include "platform/secret/secret_process.h"
#include "server/process.h"
#include "telemetry/report.h"

static int command_schema(int argc, char **argv) {
	(void)argc;
	(void)argv;
	service_group_schema(stdout);
	return 0;
}

/* `--rpc`: describes the methods of the control socket as an OpenRPC document. */
static int command_describe(int argc, char **argv) {
	const struct rpc rpc = methods_rpc(NULL);
	bool rpc_only = argc > 1 && strcmp(argv[1], "--rpc") == 0;
	json_t *json;
	int ret;

	if (argc > 2 || (argc == 2 && !rpc_only)) {
		fprintf(stderr, "vcmtsd describe: found %s, allowed: nothing, or --rpc\n",
			argv[argc - 1]);
		return EXIT_USAGE;
	}
	json = rpc_only ? rpc_describe(&rpc) : report_describe();
	ret = report_write(json, "-");
	json_decref(json);
	return ret == 0 ? 0 : EXIT_FAILED;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *about;
} commands[] = {
	{"run", command_run, "serve a service group on its ports until a signal or --duration"},
	{"replay", replay_command, "replay captures without ports, on the time of their packets"},
	{"check", command_check, "check a configuration and print its errors"},
	{"power", command_power,
	 "core frequencies: show the drivers, try a frequency, restore initial settings"},
	{"reload", command_reload, "let a running vcmtsd reload its configuration, and wait"},
	{"schema", command_schema, "print the JSON Schema of the configuration"},
	{"describe", command_describe,
	 "print stages, drop reasons and counters as JSON; --rpc: the methods of the control "
	 "socket"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out) {
	fprintf(out, "usage: vcmtsd COMMAND [OPTION...]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
	fprintf(out, "\n`vcmtsd COMMAND --help` lists a command's options, `vcmtsd --version` "
		     "prints version and build.\n");
}

/* Opens /dev/null for closed standard descriptors. Otherwise the next open file would get such a number, and
 * messages. */
static void standard_files(void) {
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
	}
}

CPU_CHECK_FIRST

int main(int argc, char **argv) {
	const char *name = argc > 1 ? argv[1] : "";

	secret_process_protect();
	standard_files();
	for (size_t i = 0; i < COMMANDS; i++) {
		static char full[64]; /* program name in argp's messages */

		if (strcmp(name, commands[i].name) != 0)
			continue;
		snprintf(full, sizeof(full), "vcmtsd %s", name);
		argv[1] = full;
		return commands[i].run(argc - 1, argv + 1);
	}
	if (strcmp(name, "--version") == 0) {
		versions_print(stdout, "vcmtsd");
		return 0;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "help") == 0) {
		help(stdout);
		return 0;
	}
	if (name[0] != '\0')
		fprintf(stderr, "vcmtsd: no command \"%s\"\n", name);
	help(stderr);
	return EXIT_USAGE;
}
