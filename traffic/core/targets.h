/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Destinations of packets. An address of a modem has a packet template for each of: no rule, a permitting filter rule,
 * each service flow with a classifier. Without a packet that matches there is no template. A stream is one
 * service flow of one modem; packets of a stream stay in order.
 *
 * Packets to a target are one flow (addresses, protocol, ports), or as many as requested. The tag
 * in a packet's payload (packet.h) has the number of the flow, or of the target if each target is one flow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "core/candidates.h"
#include "core/mix.h"
#include "core/packet.h"
#include "model/service_group.h"

#define FLOWS_MAX 16777216
#define NO_FLOW UINT32_MAX

struct target {
	struct packet_template template;
	uint32_t modem; /* index in the service group */
	uint32_t stream; /* of its service flow; see targets_stream() */
	uint16_t min_size; /* bytes of the smallest frame that holds headers and tag */
	uint8_t class; /* enum traffic_class */
} __rte_cache_aligned;

struct flow {
	uint32_t target;
	struct packet_variant variant;
};

/* The flows of one class in the order in which they send packets, repeatedly. */
struct target_list {
	uint32_t *flows;
	uint32_t count;
	uint32_t next;
};

struct targets {
	struct target *all;
	uint32_t count;
	/* by modem: index of its first service flow among those of all modems */
	uint32_t *first_stream;
	uint32_t service_flow_count; /* of all modems */
	/* stream numbers by the index that first_stream begins; NULL: the index is the number */
	uint32_t *streams;
	uint32_t stream_count; /* capacity of stream numbers */
	uint32_t modem_count;
	uint32_t *first_target; /* by modem, plus one element at the end; NULL with streams only */
	struct flow *flows; /* NULL: each target is one flow with the same number */
	uint32_t flow_count;
	struct target_list any[CLASS_COUNT];
	/* the flows of `any` that accept frames of MIX_MIN_SIZE bytes; without any, those with the
	 * lowest min_size */
	struct target_list small[CLASS_COUNT];
};

/* The requested number of flows. */
struct flows_wanted {
	/* 0: one per target; else at most FLOWS_MAX, and at least one per class with a share and targets */
	uint32_t count;
	/* shares of the packets, in any unit, with a sum above 0; the flows are split in these shares */
	uint32_t shares[CLASS_COUNT];
	uint32_t largest; /* bytes of the largest frame: a target that needs more gets no flow */
};

/* Inputs for the targets of a service group that changes. */
struct targets_follow {
	/* Stream numbers by modem and service flow, below `capacity`. NULL: numbered in sequence. */
	const uint32_t *streams;
	uint32_t capacity; /* capacity of stream numbers, at least the number of service flows */
	/* The targets before the change, read only during the call. Modems that are not `changed` get copies, so
	 * `streams` must have the same numbers for them. NULL, or if flows are wanted: finds all targets. */
	const struct targets *before;
	const bool *changed; /* by modem index; used with `before` only */
};

/*
 * Finds the targets of a service group. A modem gets packets for its first addresses, as many as its CPE
 * limit admits. `wanted` NULL: one flow per target. `follow` NULL: the group does not change. Returns 0, also
 * without any target; targets_fit() then returns false. Returns -1 after a message on stderr if memory is short or
 * this number of flows is impossible; `t` is then empty. The caller frees it with targets_free().
 */
int targets_create(struct targets *t, const struct service_group *sg, uint64_t seed,
		   const struct flows_wanted *wanted, const struct targets_follow *follow);

/* Creates streams only, for packets from another source: targets_stream() works, there are no targets. Returns as
 * targets_create(). */
int targets_create_streams(struct targets *t, const struct service_group *sg);

void targets_free(struct targets *t);

/* The next flow of `class` for a frame of `size` bytes, MIX_MIN_SIZE or more. If the class has none,
 * the next flow of another class, CLASS_UNMATCHED first. NO_FLOW if the flows of all classes need
 * larger frames. */
uint32_t targets_next(struct targets *t, enum traffic_class class, uint32_t size);

/* Whether there is a flow for each size of a mix. If not, sets `size` to the first size without
 * one. Advances the order of the flows, as targets_next() does. */
bool targets_fit(struct targets *t, const struct mix *mix, uint32_t *size);

/* The stream of a modem's service flow, by its index in the modem. */
static inline uint32_t targets_stream(const struct targets *t, uint32_t modem,
				      uint32_t service_flow) {
	uint32_t i = t->first_stream[modem] + service_flow;

	return t->streams == NULL ? i : t->streams[i];
}

/* The target of a flow below flow_count. */
static inline const struct target *targets_of(const struct targets *t, uint32_t flow) {
	return &t->all[t->flows == NULL ? flow : t->flows[flow].target];
}
