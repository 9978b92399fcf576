/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/process.h"

#include <stdio.h>

volatile sig_atomic_t process_stopped;

static void process_on_signal(int number) {
	(void)number;
	process_stopped = 1;
}

void process_catch_signals(void) {
	signal(SIGINT, process_on_signal);
	signal(SIGTERM, process_on_signal);
}

volatile sig_atomic_t process_reload;

static void process_on_reload(int number) {
	(void)number;
	process_reload = 1;
}

void process_catch_reload(void) {
	signal(SIGHUP, process_on_reload);
}

int process_load(const char *path, const struct server_devices *devices,
		 struct server_config *config) {
	if (path == NULL) {
		fprintf(stderr, "--config: a file is needed; `vcmts profile` writes one\n");
		return EXIT_USAGE;
	}
	return server_config_load_on(path, devices, config, stderr) == 0 ? 0 : EXIT_USAGE;
}
