/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The command `vcmtsd replay`: replays one capture without ports, on the time of its packets
 * instead of the clock, so that equal input gives equal output. Returns the exit status. */
int replay_command(int argc, char **argv);
