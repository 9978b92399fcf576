/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of the rig's group at random, all of which can be made where there is room. */
#pragma once

/* A list of some that belong together, or have nothing to do with each other, for rig_begin(). */
void plan_something(void);
