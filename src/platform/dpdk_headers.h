/* SPDX-License-Identifier: BSD-3-Clause */
/* What meson has the compiler read once a library, as DPDK's headers take it longer than our own code
 * does. No file includes it: each names what it needs itself, and compiles with -Db_pch=false. */
#include <rte_config.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
