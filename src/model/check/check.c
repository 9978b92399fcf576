/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks across the values of a service group, except for those of its modems. */
#include "model/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/check/grants_check.h"
#include "model/devices.h"
#include "model/keys/key_macros.h"
#include "model/keys/keys.h"
#include "model/layouts.h"
#include "model/units.h"

/* Appends to the IDs that messages list, and ".." once they are many. */
static void add_known(struct id_map *map, uint64_t id) {
	size_t used = strlen(map->known), size = sizeof(map->known);

	if (used + 16 < size)
		snprintf(map->known + used, size - used, "%s%" PRIu64, used > 0 ? ", " : "", id);
	else if (used < size && map->known[used - 1] != '.')
		snprintf(map->known + used, size - used, ", ..");
}

/* Maps the IDs of a list to indices and reports duplicates. If a `needed` list is missing, its IDs
 * are unknown; any other missing list is empty. Returns false if memory is short. */
static bool map_ids(struct check *check, struct id_map *map, struct node *root, const char *key,
		    const char *what, bool needed) {
	struct unique_set ids = {.at = {.lists = {key}, .leaf = "id", .what = what}};
	struct node *list = node_field(root, key);
	size_t i = 0;

	map->index = malloc((KEYS_MAX_ID + 1) * sizeof(map->index[0]));
	if (map->index == NULL)
		return false;
	memset(map->index, 0xff, (KEYS_MAX_ID + 1) * sizeof(map->index[0]));
	map->complete = list != NULL || (!needed && node_present(root, key) == NULL);
	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		const struct node *holder = node_resolve(item);
		const struct node *id = node_field(holder, "id");
		uint64_t number;

		if (id != NULL && units_parse_integer(id->text, &number)) {
			unique_add(&ids, &number, sizeof(number), node_present(holder, "id"), i, 0);
			if (map->index[number] == ID_UNKNOWN)
				add_known(map, number);
			map->index[number] = (uint32_t)i;
		} else {
			map->complete = false;
		}
		i++;
	}
	unique_finish(&ids, check->errors);
	return true;
}

/* Reports a port that has the device of an earlier port, and returns true. A device that was
 * refused or not given is NULL. */
static bool check_port(struct check *check, struct node *root, enum device_role role,
		       enum device_role before) {
	struct path ports = {.key = "ports"}, up = {.up = &ports, .key = device_role_name(role)};
	struct path path = {.up = &up, .key = "device"};
	struct node *map = node_field(root, "ports");
	struct node *node = node_present(node_field(map, up.key), "device");
	char allowed[64];

	if (!device_same(device_port(check->sg, role)->device,
			 device_port(check->sg, before)->device))
		return false;
	snprintf(allowed, sizeof(allowed), "another device than ports.%s",
		 device_role_name(before));
	check_report(check, node, node != NULL ? node->line : root->line, &path, allowed);
	return true;
}

static void all_check_ports(struct check *check, struct node *root) {
	check_port(check, root, DEVICE_RPHY, DEVICE_NETWORK);
	if (!check_port(check, root, DEVICE_CONTROL, DEVICE_NETWORK))
		check_port(check, root, DEVICE_CONTROL, DEVICE_RPHY);
}

/* `cores` requires a layout, and `downstream` must agree with the layout. */
static void check_layout(struct check *check, const struct node *map) {
	const struct thread_request *requested = &check->sg->threads.requested;
	struct path threads = {.key = "threads"}, path = {.up = &threads, .key = "downstream"};
	const struct check_context at = {check, map, &threads};
	const struct node *node = node_present(map, "downstream");
	enum downstream_layout downstream = layouts_downstream(requested->layout);

	if (requested->layout == LAYOUT_NONE && node_present(map, "cores") != NULL)
		check_require(&at, "layout", "the name of a layout, as threads.cores is given");
	if (requested->layout != LAYOUT_NONE && node != NULL &&
	    check->sg->threads.downstream != downstream)
		check_report(check, node, node->line, &path,
			     downstream == LAYOUT_1DS2T ? "1ds2t, as in the layout"
							: "1ds1t, as in the layout");
}

static void check_threads(struct check *check, struct node *root) {
	struct path threads = {.key = "threads"};
	struct path path = {.up = &threads, .key = "lower_mac_core"};
	const struct thread_config *config = &check->sg->threads;
	struct node *map = node_field(root, "threads");
	struct node *node = node_present(map, "lower_mac_core");

	if (node_is_valid(map, "layout") && node_is_valid(map, "cores") &&
	    node_is_valid(map, "downstream"))
		check_layout(check, map);
	if (config->requested.layout != LAYOUT_NONE || config->downstream != LAYOUT_1DS2T ||
	    !node_is_valid(map, "upper_mac_core") || !node_is_valid(map, "lower_mac_core"))
		return;
	if (config->lower_mac_core == config->upper_mac_core)
		check_report(check, node, node != NULL ? node->line : map->line, &path,
			     "another core than upper_mac_core in 1ds2t");
}

static void check_rphy(struct check *check, struct node *root) {
	struct path rphy = {.key = "rphy"}, path = {.up = &rphy, .key = "rpd_ip"};
	const struct rphy_config *config = &check->sg->rphy;
	struct node *map = node_field(root, "rphy");
	struct node *node = node_present(map, "rpd_ip");

	if (config->core_ip.family == 0 || config->rpd_ip.family == 0)
		return; /* the reader refused one of them */
	if (config->core_ip.family != config->rpd_ip.family)
		check_report(check, node, node != NULL ? node->line : map->line, &path,
			     config->core_ip.family == 4 ? "an IPv4 address, as core_ip is"
							 : "an IPv6 address, as core_ip is");
	else if (memcmp(&config->core_ip, &config->rpd_ip, sizeof(config->core_ip)) == 0)
		check_report(check, node, node != NULL ? node->line : map->line, &path,
			     "another address than core_ip");
}

/* Reports a provider that the file names and this build does not have. For a value that is no map,
 * the reader has reported the error. */
static void check_library(struct check *check, const struct node *map, const struct path *up) {
	const struct path path = {.up = up, .key = "provider"};
	const struct node *node = node_present(map, "provider");

	if (node == NULL)
		return;
	check_report(check, node, node->line, &path,
		     "cryptodev, whose device is " CRYPTO_NO_LIBRARY
		     " by default, as this build has no intel-ipsec-mb");
}

static void check_crypto(struct check *check, struct node *root) {
	struct crypto_config *crypto = &check->sg->crypto;
	const struct node *map = node_field(root, "crypto");
	static const char example[] = "a crypto device such as crypto_aesni_mb0, with provider: "
				      "cryptodev";
	const struct path up = {.key = "crypto"};
	const struct check_context at = {check, map, &up};

	if (crypto->device != NULL && strcmp(crypto->device, CRYPTO_NO_DEVICE) == 0)
		crypto->device = NULL;
	if (!node_is_valid(map, "provider") || !node_is_valid(map, "device"))
		return;
	if (crypto->provider == CRYPTO_IPSEC_MB && !crypto_has_library())
		check_library(check, map, &up);
	else if (crypto->provider == CRYPTO_CRYPTODEV && crypto->device == NULL &&
		 crypto_has_library())
		(node_present(map, "device") != NULL ? check_refuse : check_require)(&at, "device",
										     example);
	else if (crypto->provider != CRYPTO_CRYPTODEV && crypto->device != NULL)
		check_refuse_without(&at, "device", "provider: cryptodev");
}

static void check_channels(struct check *check, struct node *root) {
	struct unique_set sessions = {
		.at = {.lists = {"channels"}, .leaf = "session", .what = "session"}};
	struct node *list = node_field(root, "channels");
	size_t i = 0;

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		const struct node *map = node_resolve(item);
		struct channel *channel = &check->sg->channels[i];

		if (node_field(map, "session") != NULL)
			unique_add(&sessions, &channel->session, sizeof(channel->session),
				   node_present(map, "session"), i, 0);
		if (node_present(map, "psp_extra") == NULL &&
		    channel->pseudowire == PSEUDOWIRE_PSP_DEPI)
			channel->psp_extra = PSP_EXTRA_COUNTER;
		i++;
	}
	grants_add_sessions(check, root, &sessions);
	unique_finish(&sessions, check->errors);
}

static void check_bonding_group(struct check *check, const struct node *map,
				struct bonding_group *group, const struct path *up) {
	struct path channels = {.up = up, .key = "channels"}, path = {.up = &channels};
	struct node *list = node_field(map, "channels");
	const struct node *seen[SG_MAX_CHANNELS] = {NULL};
	bool sound = true;

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		uint32_t *channel = &group->channels[path.index];

		if (!check_resolve(check, &check->channels, item, channel, &path, "channel")) {
			sound = false;
		} else if (seen[*channel] != NULL) {
			check_duplicate(check, item, &path, "channel", seen[*channel]);
			sound = false;
		} else {
			seen[*channel] = item;
		}
		path.index++;
	}
	if (!sound)
		group->channel_count = 0; /* so that no modem is required to have DSIDs */
}

static void check_bonding_groups(struct check *check, struct node *root) {
	struct path groups = {.key = "bonding_groups"}, path = {.up = &groups};
	struct node *list = node_field(root, "bonding_groups");

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		struct bonding_group *group = &check->sg->bonding_groups[path.index];

		check_bonding_group(check, node_resolve(item), group, &path);
		path.index++;
	}
}

static void check_filter_groups(struct check *check, struct node *root) {
	struct path groups = {.key = "filter_groups"}, group_path = {.up = &groups};
	struct path rules = {.up = &group_path, .key = "rules"}, path = {.up = &rules};
	struct node *list = node_field(root, "filter_groups");

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		struct filter_group *group = &check->sg->filter_groups[group_path.index];
		struct node *rule_list = node_field(node_resolve(item), "rules");
		struct node *rule = rule_list != NULL ? rule_list->first : NULL;

		for (path.index = 0; rule != NULL; rule = rule->next, path.index++)
			check_match(check, node_resolve(rule), &group->rules[path.index].match,
				    &path);
		group_path.index++;
	}
}

static void check_max_modems(struct check *check, struct node *root) {
	const struct service_group *sg = check->sg;
	const struct node *node = node_field(root, "max_modems");
	struct path path = {.key = "max_modems"};
	char allowed[64];

	if (node == NULL || node_field(root, "modems") == NULL || sg->modem_count <= sg->max_modems)
		return;
	snprintf(allowed, sizeof(allowed), "at least %zu, the number of modems", sg->modem_count);
	check_report(check, node, node_present(root, path.key)->line, &path, allowed);
}

/* Checks the lists, whose references the ID maps resolve. */
void check_lists(struct check *check, struct node *root) {
	check_channels(check, root);
	check_bonding_groups(check, root);
	check_filter_groups(check, root);
	check_modems(check, root);
	check_upstream(check, root);
	unique_finish(&check->flows, check->errors);
}

void service_group_check(struct service_group *sg, struct node *root, struct errors *errors) {
	struct check check = {
		.sg = sg,
		.errors = errors,
		.flows = CHECK_FLOWS,
	};

	if (map_ids(&check, &check.channels, root, "channels", "channel", true) &&
	    map_ids(&check, &check.bonding_groups, root, "bonding_groups", "bonding group", true) &&
	    map_ids(&check, &check.filter_groups, root, "filter_groups", "filter group", false) &&
	    map_ids(&check, &check.upstream_channels, root, "upstream_channels", "upstream channel",
		    false)) {
		all_check_ports(&check, root);
		check_threads(&check, root);
		check_rphy(&check, root);
		check_crypto(&check, root);
		check_max_modems(&check, root);
		check_lists(&check, root);
	} else {
		errors_add_no_memory(errors);
	}
	free(check.channels.index);
	free(check.bonding_groups.index);
	free(check.filter_groups.index);
	free(check.upstream_channels.index);
}
