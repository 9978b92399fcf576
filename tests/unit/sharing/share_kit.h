/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test rig: a virtual port that several service groups share, and frames that a test sends to it.
 *
 * Group g (from 0) has one upstream channel with the UEPI sessions 0x1000g (data), 0x2000g (requests) and
 * 0x3000g (ranging). It has the R-PHY side MAC address 02:00:00:00:01:0g, no VLAN, and no MAC address on its
 * network side (rig_write_mac() writes one). Modem m (from 0) has the addresses 10.g.m.1 and 2001:db8:g::m, and
 * the MAC address 02:01:00:00:0g:0m. A test may change these between rig_prepare() and rig_open().
 */
#pragma once

#include "model/service_group.h"
#include "sharing/sharing.h"

#define RIG_GROUPS 5
#define RIG_MODEMS 3
#define RIG_FRAME_SIZE 2048
#define RIG_RING_SIZE 256
#define RIG_PORT_SIZE 1024 /* descriptors; the port keeps up to one packet less */

struct share_rig {
	struct service_group groups[RIG_GROUPS];
	const struct service_group *list[RIG_GROUPS]; /* by index in the port, or NULL */
	struct modem modems[RIG_GROUPS][RIG_MODEMS];
	struct ip_address addresses[RIG_GROUPS][RIG_MODEMS][2];
	struct upstream_channel channels[RIG_GROUPS];
	unsigned count; /* groups that share the port */
	unsigned ring_size; /* packets */
	bool sends_by_ring; /* groups transmit by rings that the port owner empties */

	struct rte_mempool *packets;
	uint16_t far, near; /* DPDK ports: the test's end of the link, and the shared port */
	struct port_share *s;
	uint64_t received[RIG_GROUPS]; /* packets that rig_receive() returned */
};

/* Start and stop EAL, and map the memory of guarded frames. For ALL_TESTS(). */
int rig_setup(void **state);
int rig_teardown(void **state);

/* Configures groups as described above; the first `count` share the port. */
void rig_prepare(struct share_rig *r, unsigned count);

/* Creates the port, and shares it between the groups of `list`. */
void rig_open(struct share_rig *r, enum share_side side);

/* Drops pending packets, stops and frees everything. Fails on wrong counters, or if the test has not freed all
 * packets that it received. */
void rig_close(struct share_rig *r);

/* Checks that the port's counters balance: received packets = rig_receive()'s + dropped + pending in rings. No
 * worker may run. */
void rig_check(const struct share_rig *r);

static inline uint64_t rig_dropped(const struct share_rig *r, enum drop_reason reason) {
	return r->s->counters.drops[reason];
}

/* Returns an IPv4 packet of 60 bytes with this serial number to the first modem of a group. The caller transmits
 * or frees it. */
struct rte_mbuf *rig_create_packet(struct share_rig *r, unsigned group, uint32_t number);

/* Sends a frame to the port. Fails if the port is full. With `guarded`, the frame ends where readable memory ends,
 * and overwrites the guarded frame before it: that one must be freed. */
void rig_send(struct share_rig *r, const void *frame, size_t size, bool guarded);

/* Receives up to `limit` packets of a group from its packet source. Returns their number. The caller frees them. */
uint16_t rig_receive(struct share_rig *r, unsigned group, struct rte_mbuf **pkts, uint16_t limit);

/* Builds a table of the groups in `list`, for share_table_free(). Returns NULL if two groups conflict. */
struct share_table *rig_build_table(const struct share_rig *r);

/* Fails unless the port's table equals a newly built one. Compares VLANs only with `vlans`. */
void rig_compare_table(const struct share_rig *r, bool vlans);

/* Writes a group's MAC address: 02:00:00:00:01:0g of its R-PHY side, 02:00:00:00:02:0g of its network side. */
void rig_write_mac(unsigned group, enum share_side side, uint8_t mac[6]);

/* Each writes a frame to `out`, of RIG_FRAME_SIZE bytes, and returns its size. rig_add_tag() copies `frame`, which
 * may be `out`, with a VLAN tag. The others write an L2TPv3 packet with 40 bytes behind the session ID, over IP
 * (`family` 4 or 6) or over UDP and IPv4. */
size_t rig_add_tag(uint8_t *out, const uint8_t *frame, size_t size, uint16_t type, uint16_t tci);
size_t rig_write_l2tp(uint8_t *out, uint8_t family, const uint8_t mac[6], uint32_t session);
size_t rig_write_l2tp_udp(uint8_t *out, const uint8_t mac[6], uint32_t session);
