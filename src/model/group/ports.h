/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a group, and the headers of the R-PHY device's packets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/address.h"

/* How packets of a shared port reach their groups. */
enum steering {
	STEERING_AUTO, /* the NIC distributes as far as it can, software the rest */
	STEERING_OFF, /* software distributes all packets */
};

/* A port is a device that DPDK opens by its name: a PCI address, or a virtual device with
 * arguments. */
struct port_config {
	char *device;
	uint32_t queue_size; /* descriptors; 0 for a control port that is not configured */
	/* Values that distinguish the group's frames from those of other groups on the same
	 * device. */
	uint16_t vlan; /* 1..4094, of all frames in both directions; 0: untagged */
	bool has_mac;
	uint8_t mac[6]; /* destination, on the network port only */
	enum steering steering; /* for a shared port; auto only if all of its groups have auto */
};

#define RPHY_MTU_MIN 1500

struct rphy_config {
	uint8_t core_mac[6];
	uint8_t rpd_mac[6];
	struct ip_address core_ip; /* has the same family as rpd_ip */
	struct ip_address rpd_ip;
	uint32_t mtu; /* bytes of the IP packet, RPHY_MTU_MIN..9000 */
	uint8_t dscp;
	uint8_t ttl;
	uint64_t flush_ns; /* limit of the time that a DEPI frame waits for more segments */
	uint32_t max_segments; /* PSP segments per DEPI frame, 1..255 */
};
