/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the upstream: memory, channels, and the upstream of modems. */
#include "model/check/check.h"

#include <stdio.h>

#include "model/check/grants_check.h"
#include "model/units.h"

struct upstream_check {
	struct check *check;
	struct unique_set sids; /* values: channel index and SID */
};

static void check_memory(struct check *check, struct node *root) {
	struct path upstream = {.key = "upstream"}, path = {.up = &upstream, .key = "held"};
	const struct upstream_config *config = &check->sg->upstream;
	struct node *map = node_field(root, "upstream");
	struct node *node = node_present(map, "held");
	char size[UNITS_TEXT_SIZE], allowed[UNITS_TEXT_SIZE + 32];

	if (map == NULL || !node_is_valid(map, "held") || !node_is_valid(map, "held_by_modem") ||
	    config->pending >= config->modem_pending_limit)
		return;
	units_format_size(config->modem_pending_limit, size);
	snprintf(allowed, sizeof(allowed), "at least %s, as held_by_modem has", size);
	check_report(check, node, node != NULL ? node->line : map->line, &path, allowed);
}

/* Packets of the R-PHY device identify their channel and kind by the session ID alone, so each
 * session ID must have one meaning. */
static void check_sessions(struct check *check, struct node *root) {
	static const struct unique_path data = {{"upstream_channels"}, "session", "session"},
					request = {{"upstream_channels"},
						   "request_session",
						   "session"},
					ranging = {{"upstream_channels"},
						   "ranging_session",
						   "session"};
	struct unique_set sessions = {.at = data};
	struct node *list = node_field(root, "upstream_channels");
	size_t index[UNIQUE_LISTS] = {0};

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		const struct node *map = node_resolve(item);
		const struct upstream_channel *channel = &check->sg->upstream_channels[index[0]];
		const struct {
			const struct unique_path *at;
			const uint32_t *session;
		} all[] = {
			{&data, &channel->session},
			{&request, &channel->request_session},
			{&ranging, &channel->ranging_session},
		};

		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			if (node_field(map, all[i].at->leaf) != NULL)
				unique_add_at(&sessions, all[i].at, all[i].session,
					      sizeof(uint32_t), node_present(map, all[i].at->leaf),
					      index);
		}
		index[0]++;
	}
	unique_finish(&sessions, check->errors);
}

/* The path of a SID: modem, service flow, cluster, index in the cluster. */
struct sid_path {
	const struct path *up; /* the list of SIDs */
	size_t index[UNIQUE_LISTS];
};

static void check_sid(struct upstream_check *upstream, const struct node *map,
		      struct upstream_sid *sid, const struct node *seen[SG_MAX_UPSTREAM_CHANNELS],
		      const struct sid_path *at) {
	static const struct unique_path list = {
		{"modems", "upstream_service_flows", "sid_clusters", "sids"}, "sid", "SID"};
	struct path item = {.up = at->up, .index = at->index[UNIQUE_LISTS - 1]};
	struct path path = {.up = &item, .key = "channel"};
	struct check *check = upstream->check;
	struct node *channel = node_present(map, "channel");

	if (channel == NULL || !check_resolve(check, &check->upstream_channels, channel,
					      &sid->channel, &path, "upstream channel"))
		return;
	if (seen[sid->channel] != NULL) {
		check_duplicate(check, channel, &path, "channel", seen[sid->channel]);
		return;
	}
	seen[sid->channel] = channel;
	if (node_field(map, "sid") != NULL) {
		const uint32_t value[] = {sid->channel, sid->sid};

		unique_add_at(&upstream->sids, &list, value, sizeof(value),
			      node_present(map, "sid"), at->index);
	}
}

static void check_cluster(struct upstream_check *upstream, const struct node *map,
			  const struct sid_cluster *cluster, size_t i, size_t j,
			  const struct path *up) {
	struct path sids = {.up = up, .key = "sids"};
	struct sid_path at = {.up = &sids, .index = {i, j, up->index}};
	struct node *list = node_field(map, "sids");
	const struct node *seen[SG_MAX_UPSTREAM_CHANNELS] = {NULL};
	size_t *k = &at.index[UNIQUE_LISTS - 1];

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		check_sid(upstream, node_resolve(item), &cluster->sids[*k], seen, &at);
		++*k;
	}
}

static void check_clusters(struct upstream_check *upstream, const struct node *map,
			   const struct upstream_service_flow *flow, size_t i,
			   const struct path *up) {
	struct path clusters = {.up = up, .key = "sid_clusters"}, path = {.up = &clusters};
	struct path id_path = {.up = &path, .key = "id"};
	struct check *check = upstream->check;
	struct node *list = node_field(map, "sid_clusters");
	const struct node *seen[SG_MAX_SID_CLUSTERS] = {NULL};

	if (list == NULL)
		return;
	if (node_is_valid(map, "segment_header") && !flow->segment_header &&
	    flow->cluster_count != 1)
		errors_say(check->errors, node_present(map, "sid_clusters")->line, &clusters,
			   "found %zu SID clusters, allowed: one, as segment_header is false",
			   flow->cluster_count);
	for (struct node *item = list->first; item != NULL; item = item->next) {
		const struct node *holder = node_resolve(item);
		const struct node *id = node_present(holder, "id");
		const struct sid_cluster *cluster = &flow->clusters[path.index];

		if (node_field(holder, "id") != NULL) {
			if (seen[cluster->id] != NULL)
				check_duplicate(check, id, &id_path, "SID cluster",
						seen[cluster->id]);
			else
				seen[cluster->id] = id;
		}
		check_cluster(upstream, holder, cluster, i, up->index, &path);
		path.index++;
	}
}

static void upstream_check_modem(struct upstream_check *upstream, const struct node *map,
				 const struct modem *modem, const struct path *up) {
	static const struct unique_path at = {
		{"modems", "upstream_service_flows"}, "id", "service flow"};
	struct path flows = {.up = up, .key = "upstream_service_flows"}, path = {.up = &flows};
	struct node *list = node_field(map, "upstream_service_flows");
	struct check *check = upstream->check;

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		const struct upstream_service_flow *flow = &modem->upstream_flows[path.index];
		const struct node *holder = node_resolve(item);
		const size_t index[UNIQUE_LISTS] = {up->index, path.index};

		if (node_field(holder, "id") != NULL)
			unique_add_at(&check->flows, &at, &flow->id, sizeof(flow->id),
				      node_present(holder, "id"), index);
		check_clusters(upstream, holder, flow, up->index, &path);
		grants_check_flow(check, holder, flow, &path);
		path.index++;
	}
}

/* Checks the settings of channels for the upstream scheduler. */
static void check_grants(struct check *check, struct node *root) {
	struct path list_path = {.key = "upstream_channels"}, path = {.up = &list_path};
	struct node *list = node_field(root, "upstream_channels");

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next, path.index++)
		grants_check_channel(check, node_resolve(item),
				     &check->sg->upstream_channels[path.index], &path);
}

void check_upstream(struct check *check, struct node *root) {
	struct upstream_check upstream = {.check = check};
	struct path list_path = {.key = "modems"}, path = {.up = &list_path};
	struct node *list = node_field(root, "modems");

	check_memory(check, root);
	check_sessions(check, root);
	check_grants(check, root);
	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		upstream_check_modem(&upstream, node_resolve(item), &check->sg->modems[path.index],
				     &path);
		path.index++;
	}
	unique_finish(&upstream.sids, check->errors);
}
