/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/names.h"

#include <stdlib.h>
#include <string.h>

static void name_flows(struct tap_names *n, const struct served_group *g, uint32_t modem) {
	const struct modem *m = &g->live.sg.modems[modem];
	const struct us_modem_data *own =
		g->upstream != NULL && modem < g->upstream->tables.modem_count
			? g->upstream->tables.slots.modem_data[modem]
			: NULL;

	for (size_t f = 0; f < m->service_flow_count; f++) {
		uint32_t flow = ds_flow_number(g->downstream, modem, f);

		if (flow < n->down_flow_count)
			n->down_sfids[flow] = m->service_flows[f].id;
	}
	for (uint32_t f = 0; own != NULL && f < own->flow_count; f++) {
		if (own->flows[f].flow < n->up_flow_count)
			n->up_sfids[own->flows[f].flow] = own->flows[f].id;
	}
}

static void name_all(struct tap_names *n, const struct served_group *g) {
	const struct service_group *sg = &g->live.sg;

	for (uint32_t c = 0; c < n->channel_count; c++)
		n->sessions[c] = sg->channels[c].session;
	for (uint32_t m = 0; m < n->modem_count; m++) {
		if (!modem_exists(&sg->modems[m]))
			continue;
		memcpy(n->macs[m], sg->modems[m].mac, sizeof(n->macs[m]));
		name_flows(n, g, m);
	}
}

struct tap_names *tap_names_create(const struct served_group *g) {
	struct tap_names *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->modem_count = (uint32_t)g->live.sg.modem_count;
	n->channel_count = (uint32_t)g->live.sg.channel_count;
	n->down_flow_count = g->downstream->tables.flow_count;
	n->up_flow_count = g->upstream != NULL ? g->upstream->tables.flow_count : 0;
	n->macs = calloc(n->modem_count + 1, sizeof(*n->macs));
	n->down_sfids = calloc(n->down_flow_count + 1, sizeof(*n->down_sfids));
	n->up_sfids = calloc(n->up_flow_count + 1, sizeof(*n->up_sfids));
	n->sessions = calloc(n->channel_count + 1, sizeof(*n->sessions));
	if (n->macs == NULL || n->down_sfids == NULL || n->up_sfids == NULL ||
	    n->sessions == NULL) {
		tap_names_free(n);
		return NULL;
	}
	name_all(n, g);
	return n;
}

void tap_names_free(struct tap_names *n) {
	if (n == NULL)
		return;
	free(n->macs);
	free(n->down_sfids);
	free(n->up_sfids);
	free(n->sessions);
	free(n);
}

uint32_t tap_names_modem(const struct tap_names *n, const uint8_t mac[6]) {
	for (uint32_t m = 0; m < n->modem_count; m++) {
		if (memcmp(n->macs[m], mac, 6) == 0)
			return m;
	}
	return TAP_NONE;
}

static uint32_t flow_of(const uint32_t *sfids, uint32_t count, uint32_t sfid) {
	for (uint32_t f = 0; f < count; f++) {
		if (sfids[f] == sfid)
			return f;
	}
	return TAP_NONE;
}

uint32_t tap_names_down_flow(const struct tap_names *n, uint32_t sfid) {
	return flow_of(n->down_sfids, n->down_flow_count, sfid);
}

uint32_t tap_names_up_flow(const struct tap_names *n, uint32_t sfid) {
	return flow_of(n->up_sfids, n->up_flow_count, sfid);
}

bool tap_group_has_session(const struct served_group *g, uint32_t session) {
	const struct service_group *sg = &g->live.sg;

	for (size_t c = 0; c < sg->channel_count; c++) {
		if (sg->channels[c].session == session)
			return true;
	}
	for (uint32_t s = 0; g->upstream != NULL && s < g->upstream->tables.session_count; s++) {
		if (g->upstream->tables.sessions[s].id == session)
			return true;
	}
	return false;
}
