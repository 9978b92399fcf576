/* SPDX-License-Identifier: BSD-3-Clause */
/* One guarded buffer for all tests of a program, and cmocka's group fixtures for it. */
#pragma once

#include "guard.h"

/* Larger than the messages of all tests. Only touched pages at its end take memory. */
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
