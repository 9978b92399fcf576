/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records of the tables: at creation, and when a live change applies. */
#pragma once

#include "upstream/state/tables.h"

/* The keys that decrypt the flows of a modem. */
struct us_keys {
	struct crypto_key generations[US_GENERATIONS];
	bool needed;
};

/* A service flow as a change will leave it. */
struct us_flow_plan {
	uint32_t flow; /* slot; US_NONE: no slot was free */
	uint32_t modem;
	bool is_new; /* the change adds it; else it keeps its slot */
	bool segment_header;
	bool overwrites_tos;
	struct tos_masks tos;
	uint8_t stream_count;
	uint8_t kept; /* bits: streams that the flow already has */
	uint16_t sid_count; /* with the former ones */
	const uint32_t *sids;
	uint32_t streams[SG_MAX_SID_CLUSTERS];
};

/* `schedules` are those of the crypto provider, one per key generation. */
void us_keys_plan(struct us_keys *keys, const struct security_association *sa,
		  void *const *schedules);

/*
 * Plans flow number `which` of the modem according to `f`. It takes slots for the flow and its
 * streams; no packet can reach their records yet.
 *
 * Returns whether slots were free; if not, the caller calls us_flow_plan_undo(), too.
 */
bool us_flow_plan(struct us_tables *t, struct us_modem_data *modem_data, uint32_t which,
		  const struct upstream_service_flow *f, uint32_t modem, struct us_flow_plan *p);

/* Returns the slots that the plan took. */
void us_flow_plan_undo(struct us_tables *t, const struct us_flow_plan *p);

/* Applies the plan. A flow that remains keeps its pending buffers. */
void us_flow_put(struct us_tables *t, const struct us_flow_plan *p, const struct us_keys *keys);

/* The modem's record with its present and former addresses. */
struct us_modem us_modem_of(const struct us_modem_data *modem_data);

/* Plans a new session of a channel. `id` is not 0. Returns its slot, or US_NONE if none is free. */
uint32_t us_session_plan(struct us_tables *t, uint32_t id, uint32_t channel,
			 enum us_session_kind kind, enum uepi_format format);

/* The session ID of a channel by kind; 0: none. */
static inline uint32_t us_session_id(const struct upstream_channel *k, enum us_session_kind kind) {
	if (kind == US_DATA)
		return k->session;
	return kind == US_REQUESTS ? k->request_session : k->ranging_session;
}

static inline enum uepi_format us_format_of(const struct upstream_channel *k) {
	return k->type == UPSTREAM_OFDMA ? UEPI_OFDMA : UEPI_SC_QAM;
}

void us_stream_init(struct us_stream *s, uint32_t flow, uint32_t modem, uint8_t cluster);
