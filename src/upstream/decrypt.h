/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows `decrypt_submit` and `decrypt_collect`: frames to the crypto provider and back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;
struct upstream;

/* A frame that needs no key: counts it, and checks its CRC where that is asked for. Returns whether it
 * goes on; otherwise it was dropped. */
bool us_clear(struct upstream *u, struct rte_mbuf *m);
