/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/tables.h"

bool us_flow_has_sid(const struct us_flow *f, uint16_t sid) {
	for (unsigned i = 0; i < f->sid_count; i++) {
		if ((uint16_t)f->sids[i] == sid)
			return true;
	}
	return false;
}

struct us_stream *us_stream_of_sid(struct us_tables *t, uint32_t channel, uint16_t sid) {
	uint32_t key = us_sid_key(channel, sid);
	void *found;

	if (rte_hash_lookup_data(t->by_sid, &key, &found) < 0)
		return NULL;
	return &t->streams[(uintptr_t)found];
}

struct us_stream *us_cluster_stream(struct us_tables *t, const struct us_flow *f, uint8_t cluster) {
	for (unsigned s = 0; s < f->stream_count; s++) {
		if (t->streams[f->streams[s]].cluster == cluster)
			return &t->streams[f->streams[s]];
	}
	return NULL;
}
