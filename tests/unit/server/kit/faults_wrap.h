/* SPDX-License-Identifier: BSD-3-Clause */
/* How faults.c and faults_devices.c wrap a call. */
#pragma once

#include "faults.h"

/* A wrapped call that returns `none` where it fails. */
#define WRAP(type, function, params, args, none)                                 \
	type __real_##function params;                                           \
	type __wrap_##function params;                                           \
	type __wrap_##function params {                                          \
		return faults_fail(#function) ? (none) : __real_##function args; \
	}
