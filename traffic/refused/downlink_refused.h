/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that a CMTS has to drop, a few between those that it has to carry. Each is a copy of one of these with a
 * fault (downstream.def), or one that filters or CPE limits deny. No number is used up for them: none of them may come out, and
 * vcmtsd has to count each under its reason.
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
 * One packet in `every` is followed by one that is to be refused. `shared`: groups with the same VLAN and MAC address
 * share the network port. Returns NULL where memory is short. To be freed by downlink_refused_free(), which takes NULL too.
 */
struct downlink_refused *downlink_refused_create(const struct service_group *sg, uint32_t every,
						 bool shared, uint64_t seed);
void downlink_refused_free(struct downlink_refused *r);

/* Packets are going to be sent at `now` (TSC): where it is time for it, keeps a copy of one of them, with a fault. */
void downlink_refused_make(struct downlink_refused *r, struct rte_mbuf *const *packets, unsigned n,
			   uint64_t now);

/* Sends what downlink_refused_make() kept, if the port takes it. `vlan`: of the group, 0 for none. */
void downlink_refused_send(struct downlink_refused *r, uint16_t port, uint16_t vlan);

/* The configuration has changed, and with it what filters and CPE limits deny: none of these are sent any more. */
void downlink_refused_changed(struct downlink_refused *r);

/* All counts are 0. */
void downlink_refused_restart(struct downlink_refused *r);

struct refused_counts downlink_refused_counts(const struct downlink_refused *r);
