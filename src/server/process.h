/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands of vcmtsd have in common as a process: exit status, signals, the configuration. */
#pragma once

#include <signal.h>

#include "model/server_config.h"

#define EXIT_TROUBLE 1 /* while running */
#define EXIT_MISTAKE 2 /* in arguments or configuration */

/* Set by SIGINT or SIGTERM once process_catch_signals() was called. */
extern volatile sig_atomic_t process_stopped;
void process_catch_signals(void);

/* Set by SIGHUP once process_catch_reload() was called; without it SIGHUP ends the process. */
extern volatile sig_atomic_t process_reload;
void process_catch_reload(void);

/* Loads the configuration, with other devices than its own where there are some; mistakes go to stderr.
 * Returns 0 or EXIT_MISTAKE. */
int process_load(const char *path, const struct server_devices *devices,
		 struct server_config *config);
