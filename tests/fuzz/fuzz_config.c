/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes configurations: an input is refused with at least one line, or is loaded, valid and freed.
 * Lines of "%%%" separate the server's file from the files of groups: a, b and so on. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/server_config.h"

#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool met) {
	if (!met)
		abort();
}

/* What the scheduler requires. */
static void check_flow(const struct service_group *sg, const struct service_flow *flow) {
	require(flow->bonding_group < sg->bonding_group_count);
	require(!flow->active || flow->has_dsid ||
		sg->bonding_groups[flow->bonding_group].channel_count == 1);
	require(flow->weight >= 1 && flow->priority <= 7);
	if (flow->sustained_rate != 0) {
		require(flow->traffic_burst >= sg->max_frame);
		require(flow->peak_rate == 0 || flow->peak_rate >= flow->sustained_rate);
		require(flow->reserved_rate <= flow->sustained_rate);
	} else {
		require(flow->traffic_burst == 0 && flow->peak_rate == 0);
	}
	require(flow->min_buffer >= 1 && flow->min_buffer <= flow->buffer &&
		flow->buffer <= flow->max_buffer);
	require(flow->wred.max_probability >= 1 && flow->wred.max_probability <= 65536);
	require(flow->wred.weight >= 1 && flow->wred.weight <= 15);
	require(flow->aqm != AQM_WRED || flow->wred.min_threshold < flow->wred.max_threshold);
	require(flow->latency_target_ns >= 1000000 && flow->latency_target_ns <= 256000000);
}

static void check_modem(const struct service_group *sg, const struct modem *modem) {
	require(modem->bonding_group < sg->bonding_group_count);
	require(modem->aggregate_rate == 0 || modem->aggregate_burst >= sg->max_frame);
	require(modem->service_flow_count >= 1 && modem->service_flows[0].active);
	for (size_t i = 0; i < modem->service_flow_count; i++)
		check_flow(sg, &modem->service_flows[i]);
	for (size_t i = 0; i < modem->classifier_count; i++)
		require(modem->service_flows[modem->classifiers[i].flow].active);
}

static void check_group(const struct service_group *sg) {
	const struct thread_config *threads = &sg->threads;

	require(sg->arena != NULL && sg->name != NULL && sg->id >= 1);
	require(threads->downstream != LAYOUT_1DS2T ||
		threads->upper_mac_core != threads->lower_mac_core);
	require(threads->upper_mac_core <= 1023 && threads->upstream_core <= 1023);
	for (size_t i = 0; i < sg->modem_count; i++)
		check_modem(sg, &sg->modems[i]);
}

/* What is checked for all groups together. */
static void check_server(const struct server_config *config) {
	require(config->name != NULL && config->group_count <= SERVER_MAX_GROUPS);
	for (size_t g = 0; g < config->group_count; g++) {
		check_group(&config->groups[g]);
		require(config->groups[g].threads.main_core == config->main_core);
		for (size_t h = 0; h < g; h++)
			require(config->groups[h].id != config->groups[g].id);
	}
}

/* Reads the file of a group. Its name is one letter. */
static char *read_part(void *context, const char *path, size_t most, size_t *size) {
	struct text remaining = *(struct text *)context, part = {0};
	char *copy;

	errno = ENOENT;
	if (strlen(path) != 1 || path[0] < 'a' || path[0] > 'z')
		return NULL;
	for (int i = 'a'; i <= path[0]; i++)
		part = next_part(&remaining);
	errno = EFBIG;
	if (part.bytes == NULL || part.size > most)
		return NULL;
	copy = malloc(part.size > 0 ? part.size : 1);
	require(copy != NULL);
	memcpy(copy, part.bytes, part.size);
	*size = part.size;
	return copy;
}

/* Reloads twice, with the same result. The second reload finds nothing changed. */
static void check_reload(const struct server_source *source, FILE *errors,
			 const struct server_config *config) {
	struct load_cache *kept = NULL;

	for (unsigned n = 0; n < 2; n++) {
		const struct server_config *reloaded =
			server_config_reload_text(&kept, source, errors);

		require((reloaded == NULL) == (config->group_count == 0));
		if (reloaded == NULL)
			continue;
		check_server(reloaded);
		require(reloaded->group_count == config->group_count);
		for (size_t g = 0; g < reloaded->group_count; g++)
			require(memcmp(&reloaded->groups[g].rphy, &config->groups[g].rphy,
				       sizeof(struct rphy_config)) == 0 &&
				reloaded->groups[g].threads.upper_mac_core ==
					config->groups[g].threads.upper_mac_core);
	}
	server_config_free_cache(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct text remaining = {(const char *)data, size};
	struct text top = next_part(&remaining);
	const struct server_files files = {.read = read_part, .context = &remaining};
	const struct server_source source = {"fuzz.yaml", top.bytes, top.size, &files, NULL};
	struct server_config config;
	char *messages = NULL;
	size_t length = 0;
	FILE *errors = open_memstream(&messages, &length);
	int mistakes;

	if (errors == NULL)
		abort();
	mistakes = server_config_load_text("fuzz.yaml", top.bytes, top.size, &files, NULL, &config,
					   errors);
	fflush(errors);
	require((mistakes > 0) == (length > 0) && (mistakes > 0) == (config.group_count == 0));
	check_reload(&source, errors, &config);
	fclose(errors);
	if (mistakes == 0)
		check_server(&config);
	server_config_free(&config);
	free(messages);
	return 0;
}
