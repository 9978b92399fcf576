/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of vcmtsd with their own files in this folder. Each returns the exit status: 0, EXIT_FAILED or
 * EXIT_USAGE (server/process.h). */
#pragma once

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_power(int argc, char **argv);
int command_reload(int argc, char **argv);
