/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of the kit's group at random, all of which can be made where there is room. */
#pragma once

/* A list of some that belong together, or have nothing to do with each other, for kit_begin(). */
void plan_something(void);
