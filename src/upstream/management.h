/* SPDX-License-Identifier: BSD-3-Clause */
/* The side exit: MAC management messages, towards the control plane. */
#pragma once

struct rte_mbuf;
struct upstream;

/* Sends the message in a whole management frame to the control port, or drops it. */
void us_management(struct upstream *u, struct rte_mbuf *m);
