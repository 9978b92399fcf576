/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a configuration: refused with at least one line, or loaded, sound and freed. Lines of "%%%"
 * part the server's file from groups' own files, which are called a, b and so on.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/server_config.h"

#include "parts.h"

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

static void demand_group(const struct service_group *sg) {
	const struct thread_config *threads = &sg->threads;

	demand(sg->arena != NULL && sg->name != NULL && sg->id >= 1);
	demand(threads->downstream != LAYOUT_1DS2T ||
	       threads->upper_mac_core != threads->lower_mac_core);
	demand(threads->upper_mac_core <= 1023 && threads->upstream_core <= 1023);
	for (size_t i = 0; i < sg->modem_count; i++)
		demand_modem(sg, &sg->modems[i]);
}

/* What nobody who has several groups looks at again. */
static void demand_server(const struct server_config *config) {
	demand(config->name != NULL && config->group_count <= SERVER_MAX_GROUPS);
	for (size_t g = 0; g < config->group_count; g++) {
		demand_group(&config->groups[g]);
		demand(config->groups[g].threads.main_core == config->main_core);
		for (size_t h = 0; h < g; h++)
			demand(config->groups[h].id != config->groups[g].id);
	}
}

/* A file of one letter. */
static char *read_part(void *context, const char *path, size_t most, size_t *size) {
	struct text rest = *(struct text *)context, part = {0};
	char *copy;

	errno = ENOENT;
	if (strlen(path) != 1 || path[0] < 'a' || path[0] > 'z')
		return NULL;
	for (int i = 'a'; i <= path[0]; i++)
		part = next_part(&rest);
	errno = EFBIG;
	if (part.bytes == NULL || part.size > most)
		return NULL;
	copy = malloc(part.size > 0 ? part.size : 1);
	demand(copy != NULL);
	memcpy(copy, part.bytes, part.size);
	*size = part.size;
	return copy;
}

/* The same twice, of which the second finds all as it was: the same comes of it. */
static void demand_again(const struct server_source *source, FILE *errors,
			 const struct server_config *config) {
	struct kept_groups *kept = NULL;

	for (unsigned n = 0; n < 2; n++) {
		const struct server_config *again =
			server_config_reload_text(&kept, source, errors);

		demand((again == NULL) == (config->group_count == 0));
		if (again == NULL)
			continue;
		demand_server(again);
		demand(again->group_count == config->group_count);
		for (size_t g = 0; g < again->group_count; g++)
			demand(memcmp(&again->groups[g].rphy, &config->groups[g].rphy,
				      sizeof(struct rphy_config)) == 0 &&
			       again->groups[g].threads.upper_mac_core ==
				       config->groups[g].threads.upper_mac_core);
	}
	server_config_forget(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct text rest = {(const char *)data, size};
	struct text top = next_part(&rest);
	const struct server_files files = {.read = read_part, .context = &rest};
	const struct server_source source = {"fuzz.yaml", top.bytes, top.size, &files, NULL};
	struct server_config config;
	char *said = NULL;
	size_t length = 0;
	FILE *errors = open_memstream(&said, &length);
	int mistakes;

	if (errors == NULL)
		abort();
	mistakes = server_config_load_text("fuzz.yaml", top.bytes, top.size, &files, NULL, &config,
					   errors);
	fflush(errors);
	demand((mistakes > 0) == (length > 0) && (mistakes > 0) == (config.group_count == 0));
	demand_again(&source, errors, &config);
	fclose(errors);
	if (mistakes == 0)
		demand_server(&config);
	server_config_free(&config);
	free(said);
	return 0;
}
