/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of vcmtsd. Each returns the exit status: 0, 1 trouble while running, 2 mistakes in
 * arguments or configuration. */
#pragma once

#include <signal.h>

#include "model/service_group.h"

#define EXIT_TROUBLE 1
#define EXIT_MISTAKE 2

int command_run(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_check(int argc, char **argv);

/* Set by SIGINT or SIGTERM once command_catch_signals() was called. */
extern volatile sig_atomic_t command_stopped;
void command_catch_signals(void);

/* Set by SIGHUP once command_catch_reload() was called; without it SIGHUP ends the process. */
extern volatile sig_atomic_t command_reload;
void command_catch_reload(void);

/* Loads the configuration; mistakes go to stderr. Returns 0 or EXIT_MISTAKE. */
int command_load(const char *path, struct service_group *sg);
