/* SPDX-License-Identifier: BSD-3-Clause */
/* The current frequency of a core and its base frequency (P1), as far as the system reports them. */
#pragma once

#include <stdbool.h>

struct core_speed {
	unsigned now_khz;
	unsigned base_khz; /* not 0 */
};

/* Reads /sys/devices/system/cpu below `root` ("": the machine), and /dev/cpu for a base frequency
 * that is not there. Returns false if one of the two is unknown. */
bool core_speed_read(const char *root, unsigned core, struct core_speed *speed);
