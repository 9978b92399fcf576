/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model knows of groups that share channels, and of what DEPI adds on these. */
#include "scheduler_model.h"

static bool share_channel(const struct model_group *a, const struct model_group *b) {
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			if (a->list[i] == b->list[k])
				return true;
		}
	}
	return false;
}

bool model_same_cluster(const struct model *m, uint32_t a, uint32_t b) {
	bool in[MODEL_GROUPS] = {false}, more = true;

	if (m->limit.rate > 0) /* which all share */
		return true;
	in[a] = true;
	while (more && !in[b]) {
		more = false;
		for (size_t i = 0; i < m->group_count; i++) {
			for (size_t k = 0; k < m->group_count && !in[i]; k++) {
				in[i] = in[k] && share_channel(&m->groups[i], &m->groups[k]);
				more |= in[i];
			}
		}
	}
	return in[b];
}

uint32_t model_depi_bytes(struct model_depi *d, const struct scheduler_depi *is, uint32_t bytes,
			  uint64_t now) {
	uint32_t left = bytes, cost = bytes;

	if (is->room == 0)
		return bytes;
	if (d->open && now - d->begun >= is->flush_ns)
		d->open = false;
	while (left > 0) {
		uint32_t take;

		if (!d->open) {
			*d = (struct model_depi){true, is->room, 0, now};
			cost += is->frame_bytes;
		}
		take = d->space - is->entry_bytes;
		if (take >= left) {
			take = left;
		} else if (take < is->min_fragment) {
			d->open = false;
			continue;
		}
		left -= take;
		cost += is->entry_bytes;
		d->space -= take + is->entry_bytes;
		d->segments++;
		if (d->segments == is->max_segments || d->space <= is->entry_bytes)
			d->open = false;
	}
	return cost;
}
