/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Captures in, captures out, without ports and in their own time: the same input gives the same bytes.
 * A command of vcmtsd: returns its exit status. */
int replay_command(int argc, char **argv);
