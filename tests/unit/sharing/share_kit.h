/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port in memory that several service groups share, and what a test sends to it. Group g (from 0) has
 * modems m (from 0) with the addresses 10.g.m.1 and 2001:db8:g::m, the MAC address 02:01:00:00:0g:0m, the
 * sessions 0x1000g, 0x2000g and 0x3000g, and is for 02:00:00:00:01:0g on the R-PHY side; no VLAN, and no MAC
 * address on the network side. The test may change all of that before it opens the kit.
 */
#pragma once

#include "model/service_group.h"
#include "sharing/sharing.h"

#define RIG_GROUPS 5
#define RIG_MODEMS 3
#define RIG_FRAME 2048
#define RIG_RING 256
#define RIG_PORT 1024 /* packets in the port, less one */

struct share_kit {
	struct service_group groups[RIG_GROUPS];
	const struct service_group *list[RIG_GROUPS]; /* NULL where the number is free */
	struct modem modems[RIG_GROUPS][RIG_MODEMS];
	struct ip_address addresses[RIG_GROUPS][RIG_MODEMS][2];
	struct upstream_channel channels[RIG_GROUPS];
	unsigned count; /* of the groups that share the port */
	unsigned ring_size;
	bool sends_by_ring;

	struct rte_mempool *packets;
	uint16_t far, near; /* the test's end of the wire, and the port */
	struct port_share *s;
	uint64_t taken[RIG_GROUPS]; /* packets that came to the groups */
};

/* EAL and the memory for guarded frames, in the form that cmocka_run_group_tests() takes. */
int rig_begin(void **state);
int rig_end(void **state);

/* The groups as they are above, `count` of them. */
void rig_prepare(struct share_kit *r, unsigned count);

/* Makes the port and shares it. */
void rig_open(struct share_kit *r, enum share_side side);

/* Stops and frees all. Fails where the packets do not add up, or one has not come back. */
void rig_close(struct share_kit *r);

/* Fails where what came in is not what went out, was dropped or is in the rings. */
void rig_check(const struct share_kit *r);

static inline uint64_t rig_dropped(const struct share_kit *r, enum drop_reason reason) {
	return r->s->counters.drops[reason];
}

/* An IPv4 packet of 60 bytes with this number for the first modem of a group. */
struct rte_mbuf *rig_packet(struct share_kit *r, unsigned group, uint32_t number);

/* Puts bytes on the wire; `guarded`: such that end where readable memory ends, of one frame at a time. */
void rig_send(struct share_kit *r, const void *frame, size_t size, bool guarded);

/* Takes at most `most` packets of a group from its source. */
uint16_t rig_take(struct share_kit *r, unsigned group, struct rte_mbuf **pkts, uint16_t most);

/* A table made anew of the groups in service; NULL where they cannot be told apart. */
struct share_table *rig_table(const struct share_kit *r);

/* Fails where the port's table has other keys, or VLANs, than that. */
void rig_same_table(const struct share_kit *r, bool vlans);

/* The MAC address of a group's R-PHY side, with 0x01 in the fifth byte, or of its network side, with 0x02. */
void rig_mac(unsigned group, uint8_t side, uint8_t mac[6]);

/* Each writes a frame and returns its size: one with a tag added, L2TPv3 over IP, over UDP and IPv4. */
size_t rig_tag(uint8_t *out, const uint8_t *frame, size_t size, uint16_t type, uint16_t tci);
size_t rig_l2tp(uint8_t *out, uint8_t family, const uint8_t mac[6], uint32_t session);
size_t rig_l2tp_udp(uint8_t *out, const uint8_t mac[6], uint32_t session);
