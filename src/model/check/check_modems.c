/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the modems without their upstream: references, flows, security associations, and
 * duplicates. */
#include "model/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"

#define ALLOWED_SIZE 96

struct modem_check {
	struct check *check;
	struct unique_set macs;
	struct unique_set addresses;
	struct unique_set dsids;
	/* by SAID: the first association with it */
	struct first_association {
		const struct security_association *values;
		uint32_t line;
	} *associations;
};

static void check_addresses(struct modem_check *modems, const struct node *map,
			    const struct modem *modem, size_t i) {
	struct node *list = node_field(map, "addresses");
	size_t j = 0;

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		if (!node_resolve(item)->bad)
			unique_add(&modems->addresses, &modem->addresses[j],
				   sizeof(modem->addresses[j]), item, i, j);
		j++;
	}
}

static void check_filter_references(struct modem_check *modems, const struct node *map,
				    struct modem *modem, const struct path *up) {
	struct path list_path = {.up = up, .key = "filter_groups"}, path = {.up = &list_path};
	struct check *check = modems->check;
	struct node *list = node_field(map, "filter_groups");

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		uint32_t *group = &modem->filter_groups[path.index];

		if (!check_resolve(check, &check->filter_groups, item, group, &path,
				   "filter group"))
			*group = ID_UNKNOWN;
		const struct node *earlier = list->first;

		for (size_t k = 0; k < path.index && *group != ID_UNKNOWN; k++) {
			if (modem->filter_groups[k] == *group)
				check_duplicate(check, item, &path, "filter group", earlier);
			earlier = earlier->next;
		}
		path.index++;
	}
}

bool check_same_association(const struct security_association *a,
			    const struct security_association *b) {
	return a->cipher == b->cipher && a->key_sequence == b->key_sequence &&
	       memcmp(a->key, b->key, sizeof(a->key)) == 0 &&
	       memcmp(a->iv, b->iv, sizeof(a->iv)) == 0 && a->has_next_key == b->has_next_key &&
	       a->use_next_key == b->use_next_key &&
	       memcmp(a->next_key, b->next_key, sizeof(a->next_key)) == 0 &&
	       memcmp(a->next_iv, b->next_iv, sizeof(a->next_iv)) == 0;
}

/* A frame names its key by its SAID alone (SEC), so one SAID has one set of values. */
static void check_shared_said(struct modem_check *modems, const struct node *map,
			      const struct security_association *own, const struct path *up) {
	struct first_association *first = &modems->associations[own->said];
	struct path path = {.up = up, .key = "said"};
	uint32_t line = node_present(map, "said")->line;
	char where[ERRORS_WHERE_SIZE];

	if (first->values == NULL) {
		*first = (struct first_association){own, line};
		return;
	}
	if (check_same_association(first->values, own))
		return;
	errors_where(modems->check->errors, first->line, line, where, sizeof(where));
	errors_say(modems->check->errors, line, &path,
		   "said %u has another key, iv, cipher or key_sequence %s; use another said, or "
		   "the same values",
		   own->said, where);
}

struct secret {
	const char *name;
	/* name of the next key or vector that requires this value; NULL: the cipher requires it */
	const char *beside;
	unsigned bytes;
};

static void report_no_secret(struct check *check, const struct node *map, const struct secret *s,
			     const struct path *path) {
	char needed[ALLOWED_SIZE];

	snprintf(needed, sizeof(needed), "%u hexadecimal digits, %s%s", 2 * s->bytes,
		 s->beside != NULL ? "beside " : "or cipher: none",
		 s->beside != NULL ? s->beside : "");
	errors_add_missing(check->errors, map->line, path, needed);
}

/* The messages never quote a key, even if it has the length of another cipher. */
static void check_secret(struct check *check, const struct node *map, const struct secret *s,
			 enum cipher cipher, const struct path *up) {
	const struct node *own = node_present(map, s->name), *value = node_field(map, s->name);
	struct path path = {.up = up, .key = s->name};
	char found[ALLOWED_SIZE], allowed[ALLOWED_SIZE];

	if (cipher == CIPHER_NONE) {
		if (s->beside != NULL && value != NULL)
			errors_say(check->errors, own->line, &path,
				   "not allowed with cipher: none");
		return;
	}
	if (own == NULL) {
		if (s->beside == NULL || node_present(map, s->beside) != NULL)
			report_no_secret(check, map, s, &path);
		return;
	}
	if (value == NULL || value->length == 2 * s->bytes)
		return;
	snprintf(found, sizeof(found), "%u hexadecimal digits", value->length);
	snprintf(allowed, sizeof(allowed), "%u with cipher: %s", 2 * s->bytes, cipher_name(cipher));
	errors_add(check->errors, own->line, &path, found, allowed);
}

static void check_security(struct check *check, const struct node *map,
			   const struct security_association *sa, const struct path *up) {
	const unsigned key = cipher_key_size(sa->cipher), iv = cipher_iv_size(sa->cipher);
	const struct secret secrets[] = {
		{"key", NULL, key},
		{"iv", NULL, iv},
		{"next_key", "next_iv", key},
		{"next_iv", "next_key", iv},
	};
	struct path security = {.up = up, .key = "security"};
	const struct check_context at = {check, map, &security};

	if (map == NULL || !node_is_valid(map, "cipher"))
		return;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		check_secret(check, map, &secrets[i], sa->cipher, &security);
	if (sa->use_next_key && !sa->has_next_key)
		check_refuse_without(&at, "use_next_key", "next_key");
}

static void check_association(struct modem_check *modems, const struct node *map,
			      const struct security_association *association,
			      const struct path *up) {
	struct path security = {.up = up, .key = "security"};
	bool sound = node_is_valid(map, "cipher") && node_is_valid(map, "key") &&
		     node_is_valid(map, "iv") && node_is_valid(map, "key_sequence") &&
		     node_is_valid(map, "next_key") && node_is_valid(map, "next_iv") &&
		     node_field(map, "said") != NULL;

	check_security(modems->check, map, association, up);
	if (map != NULL && sound)
		check_shared_said(modems, map, association, &security);
}

/* Sets the index of the bonding group that a modem or flow names; ID_UNKNOWN if there is none. */
static void resolve_bonding_group(struct check *check, const struct node *map, uint32_t *group,
				  const struct path *up) {
	struct path path = {.up = up, .key = "bonding_group"};
	struct node *node = node_present(map, "bonding_group");

	if (node == NULL ||
	    !check_resolve(check, &check->bonding_groups, node, group, &path, "bonding group"))
		*group = ID_UNKNOWN;
}

static bool is_bonded(const struct service_group *sg, const struct service_flow *flow) {
	/* a group with an invalid channel list has no channels */
	return flow->bonding_group != ID_UNKNOWN &&
	       sg->bonding_groups[flow->bonding_group].channel_count >= 2;
}

static void check_state(struct check *check, const struct node *map,
			const struct service_flow *flow, bool first, const struct path *up) {
	const struct check_context at = {check, map, up};

	if (first && !flow->active)
		check_refuse(&at, "state",
			     "active, as the first flow carries packets that match no classifier");
	if (flow->active && is_bonded(check->sg, flow) && node_present(map, "dsid") == NULL)
		check_require(&at, "dsid", "a DSID, as the bonding group has several channels");
}

static void check_flow(struct modem_check *modems, const struct node *map,
		       struct service_flow *flow, size_t i, size_t j, const struct path *up) {
	if (node_field(map, "id") != NULL)
		unique_add(&modems->check->flows, &flow->id, sizeof(flow->id),
			   node_present(map, "id"), i, j);
	if (node_field(map, "dsid") != NULL)
		unique_add(&modems->dsids, &flow->dsid, sizeof(flow->dsid),
			   node_present(map, "dsid"), i, j);
	if (map->type != NODE_MAP)
		return;
	if (node_is_valid(map, "state"))
		check_state(modems->check, map, flow, j == 0, up);
	check_flow_qos(modems->check, map, flow, up);
}

static void check_flows(struct modem_check *modems, const struct node *map, struct modem *modem,
			const struct path *up) {
	struct path flows = {.up = up, .key = "service_flows"}, path = {.up = &flows};
	struct node *list = node_field(map, "service_flows");
	struct check *check = modems->check;

	resolve_bonding_group(check, map, &modem->bonding_group, up);
	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		struct service_flow *flow = &modem->service_flows[path.index];
		const struct node *holder = node_resolve(item);

		if (node_present(holder, "bonding_group") == NULL)
			flow->bonding_group = modem->bonding_group;
		else
			resolve_bonding_group(check, holder, &flow->bonding_group, &path);
		check_flow(modems, holder, flow, up->index, path.index, &path);
		path.index++;
	}
}

static void resolve_flow(struct modem_check *modems, const struct node *map,
			 const struct modem *modem, struct classifier *classifier,
			 const struct path *up) {
	struct path path = {.up = up, .key = "service_flow"};
	struct node *node = node_present(map, "service_flow");
	size_t i = 0;

	if (node_field(map, "service_flow") == NULL)
		return;
	while (i < modem->service_flow_count && modem->service_flows[i].id != classifier->flow)
		i++;
	if (i == modem->service_flow_count || !modem->service_flows[i].active)
		check_no_such(modems->check, node, &path, "active service flow", "of this modem");
	else
		classifier->flow = (uint32_t)i;
}

/* Whether all IDs and states of the modem's flows are known, so that a reference can be checked. */
static bool flows_are_known(const struct node *map) {
	struct node *list = node_field(map, "service_flows");

	if (list == NULL)
		return false;
	for (struct node *item = list->first; item != NULL; item = item->next) {
		const struct node *flow = node_resolve(item);

		if (node_field(flow, "id") == NULL || !node_is_valid(flow, "state"))
			return false;
	}
	return true;
}

static void check_classifiers(struct modem_check *modems, const struct node *map,
			      struct modem *modem, const struct path *up) {
	struct path classifiers = {.up = up, .key = "classifiers"}, path = {.up = &classifiers};
	struct node *list = node_field(map, "classifiers");
	bool known = flows_are_known(map);

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		struct classifier *classifier = &modem->classifiers[path.index];
		const struct node *rule = node_resolve(item);

		check_match(modems->check, rule, &classifier->match, &path);
		if (known)
			resolve_flow(modems, rule, modem, classifier, &path);
		path.index++;
	}
}

static void modems_check_modem(struct modem_check *modems, const struct node *map,
			       struct modem *modem, const struct path *path) {
	if (node_field(map, "mac") != NULL)
		unique_add(&modems->macs, modem->mac, sizeof(modem->mac), node_present(map, "mac"),
			   path->index, 0);
	check_addresses(modems, map, modem, path->index);
	check_filter_references(modems, map, modem, path);
	check_association(modems, node_field(map, "security"), &modem->security, path);
	check_flows(modems, map, modem, path);
	check_modem_qos(modems->check, map, modem, path);
	if (node_present(map, "cpe_limit_ipv6") == NULL)
		modem->cpe_limit_ipv6 = modem->cpe_limit;
	check_classifiers(modems, map, modem, path);
}

void check_modems(struct check *check, struct node *root) {
	struct modem_check modems = {
		.check = check,
		.macs = {.at = {.lists = {"modems"}, .leaf = "mac", .what = "MAC address"}},
		.addresses = {.at = {.lists = {"modems", "addresses"}, .what = "address"}},
		.dsids = {.at = {.lists = {"modems", "service_flows"},
				 .leaf = "dsid",
				 .what = "DSID"}},
		.associations = calloc(SG_MAX_SAID + 1, sizeof(*modems.associations)),
	};
	struct path list_path = {.key = "modems"}, path = {.up = &list_path};
	struct node *list = node_field(root, "modems");

	if (modems.associations == NULL) {
		errors_add_no_memory(check->errors);
		return;
	}
	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		modems_check_modem(&modems, node_resolve(item), &check->sg->modems[path.index],
				   &path);
		path.index++;
	}
	check_reserved(check, root);
	unique_finish(&modems.macs, check->errors);
	unique_finish(&modems.addresses, check->errors);
	unique_finish(&modems.dsids, check->errors);
	free(modems.associations);
}
