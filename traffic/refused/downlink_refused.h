/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that the CMTS must drop, mixed into valid ones at a low rate. Each is a copy of a valid packet
 * with a fault (downstream.def), or one that filters or CPE limits deny. They use no sequence numbers.
 * vcmtsd must forward none of them and count each under its drop reason.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/packet.h"
#include "model/service_group.h"
#include "random/random.h"
#include "refused/kinds.h"

struct downlink_refused;

/*
 * Adds at most one packet to refuse per `every` packets, none if the drawn fault is impossible. `every` is at
 * least the largest burst of downlink_refused_make(). `shared`: groups with the same VLAN and MAC address share
 * the network port, so that its drop reasons count some kinds. Returns NULL if memory is short. The caller
 * frees it with downlink_refused_free(), which accepts NULL.
 */
struct downlink_refused *downlink_refused_create(const struct service_group *sg, uint32_t every,
						 bool shared, uint64_t seed);
void downlink_refused_free(struct downlink_refused *r);

/* Called for packets about to be sent at `now` (TSC). When it is time, keeps a faulty copy of one
 * of them. */
void downlink_refused_make(struct downlink_refused *r, struct rte_mbuf *const *packets, unsigned n,
			   uint64_t now);

/* Sends the packet that downlink_refused_make() kept, if the port accepts it. `vlan`: of the group,
 * 0: none. */
void downlink_refused_send(struct downlink_refused *r, uint16_t port, uint16_t vlan);

/* Stops sending packets that filters or CPE limits deny, because a change of the configuration may
 * have changed these. */
void downlink_refused_changed(struct downlink_refused *r);

/* Sets all counts to 0. */
void downlink_refused_restart(struct downlink_refused *r);

/* Counts since the last restart. `r` may be NULL in this function and those above. */
struct refused_counts downlink_refused_counts(const struct downlink_refused *r);
