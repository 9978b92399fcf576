/* SPDX-License-Identifier: BSD-3-Clause */
/* A cable modem with its flows, classifiers and keys. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/group/address.h"
#include "model/group/flows.h"
#include "model/group/match.h"
#include "model/group/security.h"

#define SG_MAX_MODEMS 65535
#define SG_MAX_MODEM_ADDRESSES 64
#define SG_MAX_MODEM_FLOWS 32
#define SG_MAX_MODEM_FILTER_GROUPS 4

struct modem {
	uint8_t mac[6];
	struct ip_address *addresses; /* of its CPEs */
	size_t address_count;
	uint32_t cpe_limit, cpe_limit_ipv6; /* limits of active addresses (MULPI, TLV 35, 63) */
	uint32_t filter_groups[SG_MAX_MODEM_FILTER_GROUPS]; /* indices, in order of evaluation */
	size_t filter_group_count;
	uint32_t bonding_group; /* index; the default of its service flows */
	uint64_t aggregate_rate; /* bits per second of all its downstream flows; 0: no limit */
	uint32_t aggregate_burst; /* bytes; unused without a rate */
	struct security_association security;
	/* the first one is the primary flow, for packets that match no classifier */
	struct service_flow *service_flows;
	size_t service_flow_count;
	struct classifier *classifiers; /* in order: the first that matches decides */
	size_t classifier_count;
	struct upstream_service_flow *upstream_flows;
	size_t upstream_flow_count;
};
