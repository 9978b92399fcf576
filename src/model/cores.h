/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of cores in the order in which a file names them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORES_MAX 1024 /* core numbers from 0 on */

struct cores {
	uint16_t number[CORES_MAX];
	size_t count;
	bool has[CORES_MAX];
};

/*
 * Adds the cores of a text: "3", "1-15" from low to high, or several of these separated by commas.
 * Returns false, with some of them added, on another syntax or a core that is in the set already.
 */
bool cores_add(struct cores *cores, const char *text);
