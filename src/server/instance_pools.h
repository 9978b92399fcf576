/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffers of an instance, beside instance_pools() of instance.h. */
#pragma once

#include "server/instance.h"

/* Where the R-PHY port takes no chains, DEPI frames are copied into one buffer each: the pool of these.
 * Returns 0 or -1 after a message. */
int instance_linear_pool(struct instance *i);
