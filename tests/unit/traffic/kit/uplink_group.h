/* SPDX-License-Identifier: BSD-3-Clause */
/* One uplink rig for all tests of a program, with the set-up and tear-down of the group and of
 * each test. */
#pragma once

#include "test.h"
#include "uplink_rig.h"

/* What uplink_rig_open() takes; a program that needs another defines it first. */
#ifndef UPLINK_GROUP_DEPTH
#define UPLINK_GROUP_DEPTH 1024
#endif

static struct uplink_rig rig;

static inline int begin(void **state) {
	uplink_rig_begin(&rig);
	return 0;
}

static inline int end(void **state) {
	uplink_rig_end(&rig);
	return 0;
}

static inline int open_rig(void **state) {
	uplink_rig_open(&rig, UPLINK_GROUP_DEPTH);
	return 0;
}

static inline int close_rig(void **state) {
	uplink_rig_close(&rig);
	return 0;
}
