/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that a CMTS has to drop, a few between those that it has to carry. Each is a copy of one of these with a
 * fault (refused.def), or one that filters deny. No number is used up for them: none of them may come out, and
 * vcmtsd has to count each under its reason.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/packet.h"
#include "core/random.h"
#include "model/service_group.h"

enum refused_kind {
#define REFUSED(enumerator, reason, shared, meaning) REFUSED_##enumerator,
#include "refused/refused.def"
#undef REFUSED
	REFUSED_KINDS,
};

/* What was sent of each kind, [0] by the reasons of a group, [1] by those of a port that several share. */
struct refused_counts {
	uint64_t packets[2][REFUSED_KINDS];
	uint64_t bytes[2][REFUSED_KINDS]; /* without VLAN tag and CRC */
	uint64_t ipv4[2][REFUSED_KINDS], ipv6[2][REFUSED_KINDS]; /* packets by their Ethertype */
};

struct refused;

/*
 * One packet in `every` is followed by one that is to be refused. `shared`: groups with the same VLAN and MAC address
 * share the network port. Returns NULL where memory is short. To be freed by refused_free(), which takes NULL too.
 */
struct refused *refused_create(const struct service_group *sg, uint32_t every, bool shared,
			       uint64_t seed);
void refused_free(struct refused *r);

/* Packets are going to be sent: where it is time for it, keeps a copy of one of them, with a fault. */
void refused_make(struct refused *r, struct rte_mbuf *const *packets, unsigned n);

/* Sends what refused_make() kept, if the port takes it. `vlan`: of the group, 0 for none. */
void refused_send(struct refused *r, uint16_t port, uint16_t vlan);

/* The configuration has changed, and with it what its filters deny: none of these are sent any more. */
void refused_changed(struct refused *r);

/* All counts are 0. */
void refused_restart(struct refused *r);

struct refused_counts refused_counts(const struct refused *r);

void refused_add(struct refused_counts *sum, const struct refused_counts *part);

/* Under which reason vcmtsd counts a kind. */
const char *refused_reason(enum refused_kind kind, bool shared);
