/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The command `vcmtsd replay`: replays captures without ports and in their own time, so that the same input
 * gives the same bytes. Returns the exit status. */
int replay_command(int argc, char **argv);
