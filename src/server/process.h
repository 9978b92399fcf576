/* SPDX-License-Identifier: BSD-3-Clause */
/* Process functions of vcmtsd's commands: exit status, signals, the configuration. */
#pragma once

#include <signal.h>

#include "model/server_config.h"
#include "platform/program/exit_status.h"

/* SIGINT and SIGTERM set it after process_catch_signals(). */
extern volatile sig_atomic_t process_stopped;
void process_catch_signals(void);

/* SIGHUP sets it after process_catch_reload(); without that, SIGHUP ends the process. */
extern volatile sig_atomic_t process_reload;
void process_catch_reload(void);

/* Loads the configuration, with `devices` in place of its own where given. Prints errors to stderr.
 * Returns 0 or EXIT_USAGE. */
int process_load(const char *path, const struct server_devices *devices,
		 struct server_config *config);
