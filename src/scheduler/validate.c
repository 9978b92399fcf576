/* SPDX-License-Identifier: BSD-3-Clause */
/* Validates settings without applying them. */
#include "scheduler/internal.h"
#include "scheduler/settings.h"

const char *scheduler_check_flow(const struct scheduler *s, const struct scheduler_flow *f) {
	return settings_flow(f, s->group_count, s->modem_count);
}

const char *scheduler_check_modem(const struct scheduler_modem *m) {
	return settings_modem(m);
}

const char *scheduler_check_group(const struct scheduler *s, const struct scheduler_group *g) {
	return settings_group(g, s->channel_count);
}

const char *scheduler_check_channel(const struct scheduler_channel *c) {
	return settings_channel(c);
}

const char *scheduler_check_rate_limit(uint64_t rate_limit) {
	return settings_rate(rate_limit);
}

uint32_t scheduler_flow_queued(const struct scheduler *s, uint32_t flow) {
	return __atomic_load_n(&s->flows[flow].packets, __ATOMIC_RELAXED);
}
