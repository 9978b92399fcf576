/* SPDX-License-Identifier: BSD-3-Clause */
/* From the configuration of a service group to its downstream. */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "downstream/downstream.h"
#include "downstream/qos.h"
#include "downstream/rule_sets.h"

#define FLOWS_A_MODEM ((size_t)128)
#define FLOWS_MIN ((size_t)4096)

/* The modems ask the list of a group, which may be that of an equal one. */
static int filters_setup(struct downstream *d, const struct service_group *sg) {
	char name[RULES_NAME_SIZE];
	struct rule_sets sets;
	int ret = rule_sets_filters(&sets, sg);

	snprintf(name, sizeof(name), "filter_%u", sg->id);
	if (ret == 0)
		ret = rules_create(&d->upper.filters, name, sets.rules, sets.rule_count);
	for (size_t m = 0; ret == 0 && m < sg->modem_count; m++) {
		for (size_t g = 0; g < sg->modems[m].filter_group_count; g++)
			d->tables.modems[m].filter_groups[g] =
				(uint16_t)sets.of[sg->modems[m].filter_groups[g]];
	}
	rule_sets_free(&sets);
	return ret;
}

static int classifiers_setup(struct downstream *d, const struct service_group *sg) {
	char name[RULES_NAME_SIZE];
	struct rule_sets sets;
	int ret = rule_sets_classifiers(&sets, sg);

	snprintf(name, sizeof(name), "classifier_%u", sg->id);
	if (ret == 0)
		ret = rules_create(&d->upper.classifiers, name, sets.rules, sets.rule_count);
	for (size_t m = 0; ret == 0 && m < sg->modem_count; m++)
		d->tables.modems[m].classifier_set = sets.of[m];
	rule_sets_free(&sets);
	return ret;
}

static void upper_setup(struct downstream *d, const struct service_group *sg,
			const struct ds_resources *r) {
	struct ds_upper *u = &d->upper;

	u->network_port = r->network_port;
	u->max_frame = sg->max_frame - RTE_ETHER_CRC_LEN;
	u->clock = r->upper_clock;
	u->cpe_period_ns = sg->cpe_timeout_ns;
	u->tables = &d->tables;
	u->latency = &d->latency;
	u->filter_default = sg->filter_default;
}

uint32_t ds_flow_records(const struct service_group *sg) {
	size_t records = RTE_MAX(sg->modem_count * FLOWS_A_MODEM, FLOWS_MIN);

	if (sg->has_flow_cache)
		records = sg->flow_cache;
	return (uint32_t)RTE_MIN(records, (size_t)SG_MAX_FLOW_CACHE);
}

static int flow_cache_setup(struct downstream *d, const struct service_group *sg) {
	uint32_t records = ds_flow_records(sg);

	if (flow_cache_create(&d->upper.flow_cache, records) == 0)
		return 0;
	fprintf(stderr, "downstream: no memory for a cache of %u flows\n", records);
	return -1;
}

static int lower_setup(struct downstream *d, const struct service_group *sg,
		       const struct ds_resources *r) {
	struct ds_lower *l = &d->lower;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hand_over_%u", sg->id);
	l->clock = r->lower_clock;
	l->tables = &d->tables;
	l->crypto_device = r->crypto_device;
	l->crypto_queue = r->crypto_queue;
	l->crypto_ops = r->crypto_ops;
	l->rphy_port = r->rphy_port;
	l->linear = r->linear;
	l->latency = &d->latency;
	l->from_upper = rte_ring_create(name, DS_HAND_OVER, SOCKET_ID_ANY,
					RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (l->from_upper == NULL) {
		fprintf(stderr, "downstream: no ring: %s\n", rte_strerror(rte_errno));
		return -1;
	}
	d->upper.to_lower = l->from_upper;
	return depi_create(&l->depi, sg, r->depi_headers, r->depi_fragments);
}

struct downstream *downstream_create(const struct service_group *sg, const struct ds_resources *r) {
	struct downstream *d = rte_zmalloc("downstream", sizeof(*d), RTE_CACHE_LINE_SIZE);

	if (d == NULL) {
		fprintf(stderr, "downstream: no memory\n");
		return NULL;
	}
	upper_setup(d, sg, r);
	if (flow_cache_setup(d, sg) != 0 || ds_tables_create(&d->tables, sg, r->sessions) != 0 ||
	    filters_setup(d, sg) != 0 || classifiers_setup(d, sg) != 0 || qos_create(d, sg) != 0 ||
	    lower_setup(d, sg, r) != 0) {
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
	latency_line_free(&d->lower.arrivals);
	latency_free(&d->latency);
	depi_free(&d->lower.depi);
	rte_ring_free(d->lower.from_upper);
	qos_free(d);
	flow_cache_free(&d->upper.flow_cache);
	rules_free(&d->upper.classifiers);
	rules_free(&d->upper.filters);
	ds_tables_free(&d->tables);
	rte_free(d);
}
