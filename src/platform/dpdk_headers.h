/* SPDX-License-Identifier: BSD-3-Clause */
/* The precompiled header of libraries, as the compiler needs longer for DPDK's headers than for our code. No
 * file includes it: each includes what it needs, and compiles with -Db_pch=false. */
#include <rte_config.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
