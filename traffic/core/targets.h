/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where packets go: for each address of each modem one packet template a class that the
 * configuration allows. A stream is what keeps its order: one service flow of one modem.
 *
 * Packets to a target are one flow (addresses, protocol, ports), or as many as are asked for. A tag
 * names the flow; where flows are not told apart, the target.
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
	uint32_t stream; /* first stream of the modem plus index of its service flow */
	uint16_t min_size; /* of a frame that holds headers and tag */
	uint8_t class; /* enum traffic_class */
} __rte_cache_aligned;

struct flow {
	uint32_t target;
	struct packet_variant variant;
};

/* The flows of one class in the order in which they get packets, again and again. */
struct target_list {
	uint32_t *flows;
	uint32_t count;
	uint32_t next;
};

struct targets {
	struct target *all;
	uint32_t count;
	uint32_t *first_stream; /* by modem */
	uint32_t flows_of_modems; /* service flows of all of them */
	uint32_t *streams; /* numbers of what first_stream counts; NULL: the same */
	uint32_t stream_count; /* that there can be */
	uint32_t modem_count;
	uint32_t *first_target; /* by modem, and of one beyond; NULL with streams only */
	struct flow *flows; /* NULL: each target is one, of the same number */
	uint32_t flow_count;
	struct target_list any[CLASS_COUNT];
	struct target_list small[CLASS_COUNT]; /* of these, the ones that take MIX_MIN_SIZE bytes */
};

/* How many flows there shall be. */
struct flows_wanted {
	uint32_t count; /* 1..FLOWS_MAX; 0: one a target */
	uint32_t shares
		[CLASS_COUNT]; /* of the packets, in any unit: the flows are split like them */
	uint32_t largest; /* bytes of the largest frame: what needs more is no flow */
};

/* What targets of a group that changes are made with. */
struct targets_follow {
	/* By modem, and flow by flow: the numbers of streams, below `room`. NULL: as they come. */
	const uint32_t *streams;
	uint32_t room; /* at least as many as there are service flows */
	/* Before the change; targets of modems that are not `changed` are those. NULL: all are found anew. */
	const struct targets *before;
	const bool *changed;
};

/*
 * Finds the targets of a service group. A modem gets packets for as many of its addresses as its CPE
 * limit admits, the first ones. `wanted` NULL: one flow a target. `follow` NULL: of a group that does not change.
 * Returns 0, or -1 after a message on stderr: memory is short, or there cannot be so many flows. To be freed by
 * targets_free().
 */
int targets_create(struct targets *t, const struct service_group *sg, uint64_t seed,
		   const struct flows_wanted *wanted, const struct targets_follow *follow);

/* Streams only, for packets that come from elsewhere. As targets_create(). */
int targets_create_streams(struct targets *t, const struct service_group *sg);

void targets_free(struct targets *t);

/*
 * The next flow of `class` for a frame of `size` bytes, or where there is none the next one of
 * another class, unmatched first. NO_FLOW where nothing can take such a frame.
 */
uint32_t targets_next(struct targets *t, enum traffic_class class, uint32_t size);

/* Whether there is a flow for each size of a mix; if not, `size` is the first without. */
bool targets_fit(struct targets *t, const struct mix *mix, uint32_t *size);

/* The stream of a modem's service flow. */
static inline uint32_t targets_stream(const struct targets *t, uint32_t modem, uint32_t flow) {
	uint32_t i = t->first_stream[modem] + flow;

	return t->streams == NULL ? i : t->streams[i];
}

/* The target of a flow below flow_count. */
static inline const struct target *targets_of(const struct targets *t, uint32_t flow) {
	return &t->all[t->flows == NULL ? flow : t->flows[flow].target];
}
