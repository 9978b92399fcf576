/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates a downstream from the configuration: shared state first, then each stage. */

#include <rte_malloc.h>

#include "downstream/downstream.h"

#include "platform/log/log.h"

static void ds_upper_setup(struct downstream *d, const struct service_group *sg,
			   const struct ds_resources *r) {
	struct ds_upper *u = &d->upper;

	u->network = r->network;
	u->max_frame = sg->max_frame - RTE_ETHER_CRC_LEN;
	u->clock = r->upper_clock;
	u->cpe_period_ns = sg->cpe_timeout_ns;
	u->tables = &d->tables;
	u->latency = &d->latency;
}

static void ds_lower_setup(struct downstream *d, const struct service_group *sg,
			   const struct ds_resources *r) {
	struct ds_lower *l = &d->lower;

	l->clock = r->lower_clock;
	l->tables = &d->tables;
	l->crypto = r->crypto;
	for (enum cipher c = CIPHER_NONE; c < CIPHERS; c++)
		l->crypto_parts[c] = (sg->crypto.generate_crc ? CRYPTO_CRC : 0) |
				     (c == CIPHER_NONE ? 0 : CRYPTO_CIPHER);
	l->rphy = r->rphy;
	l->linear = r->linear;
	l->latency = &d->latency;
}

struct downstream *downstream_create(const struct service_group *sg, const struct ds_resources *r) {
	struct downstream *d = rte_zmalloc("downstream", sizeof(*d), RTE_CACHE_LINE_SIZE);

	if (d == NULL) {
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory");
		return NULL;
	}
	ds_upper_setup(d, sg, r);
	ds_lower_setup(d, sg, r);
	if (stages_open(ds_lists, DS_PIPELINES, d, sg, r) != 0) {
		downstream_free(d);
		return NULL;
	}
	pipeline_init(&d->enqueue, &ds_lists[0], &d->upper);
	pipeline_init(&d->dequeue, &ds_lists[1], &d->upper);
	pipeline_init(&d->lower_mac, &ds_lists[2], &d->lower);
	return d;
}

void downstream_free(struct downstream *d) {
	if (d == NULL)
		return;
	stages_close(ds_lists, DS_PIPELINES, d);
	latency_line_free(&d->lower.arrivals);
	latency_free(&d->latency);
	rte_free(d);
}
