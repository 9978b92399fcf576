/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of cores in the order in which a file names them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORES_MOST 1024 /* numbers from 0 on */

struct cores {
	uint16_t number[CORES_MOST];
	size_t count;
	bool has[CORES_MOST];
};

/*
 * Adds what the text names: "3", "1-15" from low to high, or several of these with commas between them.
 * False, with some of them added, where it is something else or names a core that is there already.
 */
bool cores_add(struct cores *cores, const char *text);
