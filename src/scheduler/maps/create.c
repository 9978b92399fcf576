/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "scheduler/maps/internal.h"

#define FLOW_BYTES (16u << 20)
#define SID_WORDS ((MAP_SID_BROADCAST + 1) / 32) /* words per channel */

/* Zeroed memory, aligned to a cache line. */
static void *lines(size_t count, size_t size) {
	size_t bytes = (count * size + 63) / 64 * 64;
	void *memory = aligned_alloc(64, bytes);

	if (memory != NULL)
		memset(memory, 0, bytes);
	return memory;
}

static bool allocate(struct maps *m) {
	size_t sid_states = (size_t)MAPS_MAX_CLUSTERS * m->flow_count * m->channel_count;

	m->flows = lines(m->flow_count, sizeof(*m->flows));
	m->limits = lines(m->flow_count, sizeof(*m->limits));
	m->services = calloc(m->flow_count, sizeof(*m->services));
	m->sid_states = calloc(sid_states, sizeof(*m->sid_states));
	m->committed = calloc((size_t)m->flow_count * m->channel_count, sizeof(*m->committed));
	m->cluster_groups =
		calloc((size_t)m->flow_count * MAPS_MAX_CLUSTERS, sizeof(*m->cluster_groups));
	m->cluster_owed =
		calloc((size_t)m->flow_count * MAPS_MAX_CLUSTERS, sizeof(*m->cluster_owed));
	m->skipped = calloc(m->flow_count, sizeof(*m->skipped));
	m->sid_bits = calloc((size_t)m->channel_count * SID_WORDS, sizeof(*m->sid_bits));
	m->channels = lines(m->channel_count, sizeof(*m->channels));
	return m->flows != NULL && m->limits != NULL && m->services != NULL &&
	       m->sid_states != NULL && m->committed != NULL && m->cluster_groups != NULL &&
	       m->cluster_owed != NULL && m->skipped != NULL && m->sid_bits != NULL &&
	       m->channels != NULL;
}

static void set_up(struct maps *m, const struct maps_config *config) {
	for (uint32_t i = 0; i < m->channel_count; i++) {
		maps_channel_set(&m->channels[i], &config->channels[i]);
		m->bounded |= (uint64_t)(config->channels[i].max_burst_minislots != 0) << i;
		/* a key plus the margin is the highest key of a channel with as many bytes */
		m->margins[i] =
			free_key(0, m->channels[i].minislots * config->channels[i].minislot_bytes /
					    CHANNEL_HYSTERESIS) -
			free_key(i, 0);
		m->channels[i].used_sids = &m->sid_bits[i * SID_WORDS];
	}
	for (uint32_t g = 0; g < MAPS_SETS; g++)
		m->groups[g].parked = NONE;
	for (uint32_t q = 0; q < MAPS_SETS * LEVELS; q++)
		m->queues[q].first = NONE;
	m->due = UINT64_MAX;
	for (uint32_t i = 0; i < m->channel_count; i++) {
		uint64_t due = map_due(m, &m->channels[i], 0);
		uint64_t setback_limit = 2 * (uint64_t)m->channels[i].length;

		m->due = due < m->due ? due : m->due;
		m->setback_limit =
			setback_limit > m->setback_limit ? setback_limit : m->setback_limit;
	}
}

static const char short_of_memory[] = "memory is short";

struct maps *maps_create(const struct maps_config *config, const char **why) {
	const char *wrong = check_config(config);
	struct maps *m = NULL;

	if (wrong == NULL)
		m = lines(1, sizeof(*m));
	if (m != NULL) {
		m->flow_count = config->flows;
		m->channel_count = (uint32_t)config->channel_count;
		m->flow_bytes = config->flow_bytes == 0 ? FLOW_BYTES : config->flow_bytes;
		m->start = config->start;
		m->round = 1; /* above the round of new flows */
		bool timers = timers_create(&m->timers, TIMER_KINDS * m->flow_count);

		if (allocate(m) && timers) {
			set_up(m, config);
			return m;
		}
	}
	maps_free(m);
	if (why != NULL)
		*why = wrong != NULL ? wrong : short_of_memory;
	return NULL;
}

void maps_free(struct maps *m) {
	if (m == NULL)
		return;
	timers_free(&m->timers);
	free(m->flows);
	free(m->limits);
	free(m->services);
	free(m->sid_states);
	free(m->committed);
	free(m->cluster_groups);
	free(m->cluster_owed);
	free(m->skipped);
	free(m->sid_bits);
	free(m->channels);
	free(m);
}
