/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a service group: a YAML file or an item of a server's list, loaded once,
 * then read-only. It is plain data in the units of the field: rates in bits per second, times in
 * nanoseconds, sizes in bytes, addresses in network byte order. The loader resolves references
 * between objects to indices, so that no reader looks up names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/address.h"
#include "model/group/channels.h"
#include "model/group/flows.h"
#include "model/group/match.h"
#include "model/group/modems.h"
#include "model/group/ports.h"
#include "model/group/security.h"
#include "model/group/threads.h"
#include "model/group/upstream.h"

#define SG_MAX_FLOW_CACHE 4194304

struct service_group {
	char *name;
	uint32_t id;
	struct port_config network;
	struct port_config rphy_port;
	struct port_config control_port; /* towards the control plane; device NULL: none */
	uint32_t max_frame; /* bytes of an Ethernet frame with its CRC, 64..2000 */
	struct thread_config threads;
	struct rphy_config rphy;
	struct crypto_config crypto;
	uint64_t rate_limit; /* bits per second of the whole group; 0 = none */
	/* an address without packets for one to two times this long is inactive */
	uint64_t cpe_timeout_ns;
	/* for packets that match no rule of their filter groups */
	enum filter_action filter_default;
	/* records of recently seen flows; by default by the number of modems */
	uint32_t flow_cache;
	bool has_flow_cache;
	/* limit of packets in all queues of the group together; 0: not given */
	uint32_t max_queued;
	uint32_t max_modems; /* limit while the group is in service; 0: not given */
	struct channel *channels;
	size_t channel_count;
	struct upstream_config upstream;
	struct upstream_channel *upstream_channels;
	size_t upstream_channel_count; /* 0: no upstream */
	struct bonding_group *bonding_groups;
	size_t bonding_group_count;
	struct filter_group *filter_groups;
	size_t filter_group_count;
	struct modem *modems;
	size_t modem_count;
	void *arena; /* owns everything above */
};
