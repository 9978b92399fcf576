/* SPDX-License-Identifier: BSD-3-Clause */
/* One guarded buffer for all tests of a program, with the group's set-up and tear-down. */
#pragma once

#include "guard.h"

/* More than any message of one test needs. What is used lies at the end, so more costs nothing. */
#define GUARD_GROUP_SIZE 262144

static struct guard guard;

static inline int guard_group_open(void **state) {
	guard = guard_open(GUARD_GROUP_SIZE);
	return 0;
}

static inline int guard_group_close(void **state) {
	guard_close(&guard);
	return 0;
}
