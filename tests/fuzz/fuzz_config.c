/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a configuration: refused with at least one line, or loaded, sound and freed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool met) {
	if (!met)
		abort();
}

/* What the scheduler relies on. */
static void demand_flow(const struct service_group *sg, const struct service_flow *flow) {
	demand(flow->bonding_group < sg->bonding_group_count);
	demand(!flow->active || flow->has_dsid ||
	       sg->bonding_groups[flow->bonding_group].channel_count == 1);
	demand(flow->weight >= 1 && flow->priority <= 7);
	if (flow->sustained_rate != 0) {
		demand(flow->traffic_burst >= sg->max_frame);
		demand(flow->peak_rate == 0 || flow->peak_rate >= flow->sustained_rate);
		demand(flow->reserved_rate <= flow->sustained_rate);
	} else {
		demand(flow->traffic_burst == 0 && flow->peak_rate == 0);
	}
	demand(flow->min_buffer >= 1 && flow->min_buffer <= flow->buffer &&
	       flow->buffer <= flow->max_buffer);
	demand(flow->wred.max_probability >= 1 && flow->wred.max_probability <= 65536);
	demand(flow->wred.weight >= 1 && flow->wred.weight <= 15);
	demand(flow->aqm != AQM_WRED || flow->wred.min_threshold < flow->wred.max_threshold);
	demand(flow->latency_target_ns >= 1000000 && flow->latency_target_ns <= 256000000);
}

static void demand_modem(const struct service_group *sg, const struct modem *modem) {
	demand(modem->bonding_group < sg->bonding_group_count);
	demand(modem->aggregate_rate == 0 || modem->aggregate_burst >= sg->max_frame);
	demand(modem->service_flow_count >= 1 && modem->service_flows[0].active);
	for (size_t i = 0; i < modem->service_flow_count; i++)
		demand_flow(sg, &modem->service_flows[i]);
	for (size_t i = 0; i < modem->classifier_count; i++)
		demand(modem->service_flows[modem->classifiers[i].flow].active);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct service_group sg;
	char *said = NULL;
	size_t length = 0;
	FILE *errors = open_memstream(&said, &length);
	int mistakes;

	if (errors == NULL)
		abort();
	mistakes = service_group_load_text("fuzz.yaml", (const char *)data, size, &sg, errors);
	fclose(errors);
	demand((mistakes > 0) == (length > 0) && (mistakes > 0) == (sg.arena == NULL));
	for (size_t i = 0; i < sg.modem_count; i++)
		demand_modem(&sg, &sg.modems[i]);
	service_group_free(&sg);
	free(said);
	return 0;
}
