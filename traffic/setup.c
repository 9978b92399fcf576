/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the configuration, and checks that it suffices for the options. */
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "core/generator.h"
#include "core/vlan_tag.h"
#include "grants/grants.h"
#include "groups/rates.h"

#define MEMIF_BUFFER 2048ul /* default without bsize= */

/* DPDK's memif driver corrupts frames that exceed a buffer of the client's side (seen with 22.11:
 * it repeats old frames). */
static bool memif_buffer_fits(const char *device, const char *option, const char *frame,
			      unsigned long needed) {
	const char *size = strstr(device, "bsize=");

	if (strncmp(device, "net_memif", 9) != 0 ||
	    (size == NULL ? MEMIF_BUFFER : strtoul(size + 6, NULL, 10)) >= needed)
		return true;
	fprintf(stderr,
		"vcmts-traffic: --%s: memif buffers are smaller than %s; needed: bsize=%lu or "
		"more\n",
		option, frame, needed);
	return false;
}

static bool memif_buffers_fit(const struct setup *s) {
	const struct options *o = &s->options;
	unsigned long network = 0, rphy = 0;

	for (size_t g = 0; g < s->config.group_count; g++) {
		const struct service_group *sg = &s->config.groups[g];
		unsigned long frame = sg->max_frame - RTE_ETHER_CRC_LEN;
		unsigned long depi = RTE_ETHER_HDR_LEN + sg->rphy.mtu;

		network = RTE_MAX(network, frame + (sg->network.vlan != 0 ? VLAN_TAG_SIZE : 0));
		rphy = RTE_MAX(rphy, depi + (sg->rphy_port.vlan != 0 ? VLAN_TAG_SIZE : 0));
	}
	/* Received frames may have any size; sent frames have sizes of the mix. */
	if (o->upstream &&
	    !memif_buffer_fits(o->network, "network", "a frame of max_frame", network))
		return false;
	return memif_buffer_fits(o->rphy, "rphy", "a DEPI frame of the MTU", rphy);
}

static bool mix_configure(const struct service_group *sg, const char *option, const char *text,
			  struct mix *out) {
	char error[MIX_ERROR];

	if (mix_parse(text, sg->max_frame - RTE_ETHER_CRC_LEN, out, error, sizeof(error)) == 0)
		return true;
	fprintf(stderr, "vcmts-traffic: --%s: %s\n", option, error);
	return false;
}

/* What the group's configuration lacks for an upstream; NULL: nothing. */
static const char *upstream_missing_setting(const struct service_group *sg) {
	if (sg->upstream_channel_count == 0)
		return "upstream channels";
	for (size_t m = 0; m < sg->modem_count; m++) {
		if (sg->modems[m].upstream_flow_count > 0)
			return NULL;
	}
	return "modems with upstream service flows";
}

/* With trials, the upstream is on if the configuration allows it; otherwise at least one group must
 * allow it. */
static bool upstreams_find(struct setup *s) {
	const char *missing = NULL;
	bool any = false;

	for (size_t g = 0; g < s->config.group_count; g++) {
		const char *fault = upstream_missing_setting(&s->config.groups[g]);

		s->groups[g].upstream = fault == NULL;
		any = any || fault == NULL;
		missing = fault != NULL ? fault : missing;
	}
	if (!any && !s->options.trials)
		fprintf(stderr, "vcmts-traffic: --upstream-rate: %s: no %s\n", s->options.config,
			missing);
	return any;
}

static bool grants_configure(const struct setup *s, size_t group) {
	const char *fault = NULL;

	if (s->options.scheduled && s->groups[group].upstream)
		fault = grants_missing_setting(&s->config.groups[group]);
	if (fault != NULL)
		fprintf(stderr, "vcmts-traffic: --grants: %s: scheduled needs %s\n",
			s->options.config, fault);
	return fault == NULL;
}

static bool replay_configure(struct setup *s, size_t group) {
	const char *name = s->options.replay;
	struct capture_replay *replay = &s->groups[group].replay;

	if (capture_replay_load(replay, name, &s->config.groups[group]) != 0)
		return false;
	if (!s->options.check)
		capture_replay_describe(replay, name, stderr);
	return true;
}

/* Detects errors of the traffic before anything is started. */
static bool flows_fit(const struct setup *s, size_t group) {
	struct generator_options options = {
		.mix = &s->groups[group].mix,
		.permit_permille = s->options.permit_permille,
		.classify_permille = s->options.classify_permille,
		.seed = s->options.seed + group,
		.flows = s->options.flows,
	};

	return s->options.flows == 0 || s->options.no_downstream ||
	       generator_flows_check(&s->config.groups[group], &options);
}

/* The requests of trials are not known yet. */
static bool configure_trials(struct setup *s) {
	const struct service_group *sg = &s->config.groups[0];
	struct options *o = &s->options;

	if (s->config.group_count > 1) {
		fprintf(stderr,
			"vcmts-traffic: --trials: %s: found %zu service groups, allowed: one\n",
			o->config, s->config.group_count);
		return false;
	}
	o->upstream = upstreams_find(s);
	o->upstream_rate = 0;
	if (o->no_downstream && !o->upstream) {
		fprintf(stderr, "vcmts-traffic: --no-downstream: %s: there is no upstream either\n",
			o->config);
		return false;
	}
	return mix_configure(sg, "mix", o->mix, &s->groups[0].mix) &&
	       mix_configure(sg, "upstream-mix", o->upstream_mix, &s->groups[0].upstream_mix) &&
	       memif_buffers_fit(s);
}

static bool group_configure(struct setup *s, size_t group) {
	const struct service_group *sg = &s->config.groups[group];
	const struct options *o = &s->options;
	struct group_setup *g = &s->groups[group];

	if (!o->no_downstream && !mix_configure(sg, "mix", o->mix, &g->mix))
		return false;
	if (o->replay != NULL && !replay_configure(s, group))
		return false;
	if (g->upstream && !mix_configure(sg, "upstream-mix", o->upstream_mix, &g->upstream_mix))
		return false;
	return grants_configure(s, group) && (!o->check || flows_fit(s, group));
}

/* Divides the rates among the groups by the capacity of their channels. */
static void rates_configure(struct setup *s) {
	uint64_t weights[SERVER_MAX_GROUPS] = {0}, parts[SERVER_MAX_GROUPS];
	unsigned count = (unsigned)s->config.group_count;

	for (unsigned g = 0; g < count; g++)
		weights[g] = rates_downstream_capacity(&s->config.groups[g]);
	rates_divide(s->options.rate, weights, count, parts);
	for (unsigned g = 0; g < count; g++)
		s->groups[g].rate = parts[g];
	for (unsigned g = 0; g < count; g++)
		weights[g] = rates_upstream_capacity(&s->config.groups[g]);
	rates_divide(s->options.upstream_rate, weights, count, parts);
	for (unsigned g = 0; g < count; g++)
		s->groups[g].upstream_rate = parts[g];
}

bool setup_load(struct setup *s) {
	if (server_config_load(s->options.config, &s->config, stderr) != 0)
		return false;
	rates_configure(s);
	if (s->options.trials)
		return configure_trials(s);
	if (s->options.upstream && !upstreams_find(s))
		return false;
	for (size_t g = 0; g < s->config.group_count; g++) {
		if (!group_configure(s, g))
			return false;
	}
	return memif_buffers_fit(s);
}

void setup_free(struct setup *s) {
	for (size_t g = 0; g < s->config.group_count; g++)
		capture_replay_free(&s->groups[g].replay);
	server_config_free(&s->config);
}
