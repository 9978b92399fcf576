/* SPDX-License-Identifier: BSD-3-Clause */
/* Privacy of frames that were decrypted as fragments. */
#pragma once

#include <stdbool.h>

struct rte_mbuf;
struct upstream;

/* A frame out of joined fragments: it must be in the clear now. Returns whether it goes on; otherwise
 * it was dropped. */
bool us_take_joined(struct upstream *u, struct rte_mbuf *m);
