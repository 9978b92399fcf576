/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of DPDK's drivers EAL loads at its start. */
#pragma once

#include <stdbool.h>

/*
 * EAL loads each driver that is installed, more than a hundred libraries, which takes longer than all else of its start.
 * From now on it gets those of mempools alone, if they are found, beside what the program is linked to; false: all again.
 * To be called before rte_eal_init(), by the thread that calls that.
 */
void drivers_of_pools_only(bool only);
