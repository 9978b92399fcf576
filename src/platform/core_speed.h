/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast a core runs, and how fast it does at its base frequency (P1), as far as the system tells. */
#pragma once

#include <stdbool.h>

struct core_speed {
	unsigned now_khz;
	unsigned base_khz; /* not 0 */
};

/*
 * Looks below `root`, "" for the machine, in /sys/devices/system/cpu and, for the base frequency where that does not
 * have it, in /dev/cpu. Returns false where one of the two is not told.
 */
bool core_speed_read(const char *root, unsigned core, struct core_speed *speed);
