/* SPDX-License-Identifier: BSD-3-Clause */
/* How records of the tables are written: when the tables are made, and when a group in service changes. */
#pragma once

#include "upstream/state/tables.h"

/* What the flows of a modem decrypt with. */
struct us_keys {
	struct crypto_key generations[US_GENERATIONS];
	bool needed;
};

/* A service flow as it is to be. */
struct us_flow_plan {
	uint32_t flow; /* place; US_NONE: there was no room */
	uint32_t modem;
	bool comes; /* else it has its place already */
	bool segment_header;
	uint8_t stream_count;
	uint8_t kept; /* bits: streams that it has already */
	uint16_t sid_count; /* with those from before */
	const uint32_t *sids;
	uint32_t streams[SG_MAX_SID_CLUSTERS];
};

/* `schedules` are of the crypto provider, one a generation. */
void us_keys_plan(struct us_keys *keys, const struct security_association *sa,
		  void *const *schedules);

/*
 * Number `which` of the modem's flows, to be as `f` says. It gets places for itself and its streams, in records that
 * no packet can have come to. Returns whether there was room; else us_flow_plan_undo() follows, too.
 */
bool us_flow_plan(struct us_tables *t, struct us_own *own, uint32_t which,
		  const struct upstream_service_flow *f, uint32_t modem, struct us_flow_plan *p);

/* Gives back the places that the plan took. */
void us_flow_plan_undo(struct us_tables *t, const struct us_flow_plan *p);

/* Makes it so. What waits in a flow that lives stays. */
void us_flow_put(struct us_tables *t, const struct us_flow_plan *p, const struct us_keys *keys);

/* The record that shows what the modem has, and had. */
struct us_modem us_modem_of(const struct us_own *own);

/* For a channel's session that comes; `id` is not 0. Returns its place, US_NONE where there is no room. */
uint32_t us_session_plan(struct us_tables *t, uint32_t id, uint32_t channel,
			 enum us_session_kind kind, enum uepi_format format);

/* The session IDs of a channel by kind, 0: none. */
static inline uint32_t us_session_id(const struct upstream_channel *k, enum us_session_kind kind) {
	if (kind == US_DATA)
		return k->session;
	return kind == US_REQUESTS ? k->request_session : k->ranging_session;
}

static inline enum uepi_format us_format_of(const struct upstream_channel *k) {
	return k->type == UPSTREAM_OFDMA ? UEPI_OFDMA : UEPI_SC_QAM;
}

void us_stream_init(struct us_stream *s, uint32_t flow, uint32_t modem, uint8_t cluster);
