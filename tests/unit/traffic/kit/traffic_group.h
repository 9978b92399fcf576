/* SPDX-License-Identifier: BSD-3-Clause */
/* One traffic rig for all tests of a program, with the set-up and tear-down of the group. */
#pragma once

#include "test.h"
#include "traffic_rig.h"

static struct rig rig;

static inline int open_rig(void **state) {
	rig_open(&rig);
	return 0;
}

static inline int close_rig(void **state) {
	rig_close(&rig);
	return 0;
}
