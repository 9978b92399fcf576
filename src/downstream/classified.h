/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of classified packets. */
#pragma once

#include <stdbool.h>

#include "downstream/rules/flow_key.h"
#include "pipeline/counters.h"
#include "wire/ip.h"

/* Kind of a packet that a classifier matched. The ICMP kinds count as IPv4 and IPv6, too. */
enum classified {
	CLASSIFIED_NOT,
	CLASSIFIED_LLC,
	CLASSIFIED_IPV4,
	CLASSIFIED_IPV6,
	CLASSIFIED_ICMP,
	CLASSIFIED_ICMPV6,
	CLASSIFIED_KINDS,
};

static inline enum classified classified_kind(const struct flow_key *key, bool matched) {
	if (!matched)
		return CLASSIFIED_NOT;
	if (key->family == RULE_IPV4)
		return key->protocol == IP_PROTOCOL_ICMP ? CLASSIFIED_ICMP : CLASSIFIED_IPV4;
	if (key->family == RULE_IPV6)
		return key->protocol == IP_PROTOCOL_ICMPV6 ? CLASSIFIED_ICMPV6 : CLASSIFIED_IPV6;
	return CLASSIFIED_LLC;
}

/* Adds packets, by enum classified, to the counters. */
static inline void classified_count(struct counters *c, const uint32_t *by_kind) {
	uint32_t icmp = by_kind[CLASSIFIED_ICMP] + by_kind[CLASSIFIED_ICMPV6];
	uint32_t ipv4 = by_kind[CLASSIFIED_IPV4] + by_kind[CLASSIFIED_ICMP];
	uint32_t ipv6 = by_kind[CLASSIFIED_IPV6] + by_kind[CLASSIFIED_ICMPV6];

	count(c, COUNTER_CLASSIFIER_MATCHED, ipv4 + ipv6 + by_kind[CLASSIFIED_LLC]);
	count(c, COUNTER_CLASSIFIER_MATCHED_IPV4, ipv4);
	count(c, COUNTER_CLASSIFIER_MATCHED_IPV6, ipv6);
	count(c, COUNTER_CLASSIFIER_MATCHED_ICMP, icmp);
	count(c, COUNTER_CLASSIFIER_UNMATCHED, by_kind[CLASSIFIED_NOT]);
}
