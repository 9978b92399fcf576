/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks IDs and devices; values.c checks the addresses and sessions on shared ports. */
#include "model/server/server_conflicts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/devices.h"
#include "model/server/values.h"

#define QUOTE_SIZE 256
#define ALLOWED_SIZE 96

struct group_lines {
	bool read; /* without errors */
	uint32_t id;
	uint32_t device[DEVICE_ROLES];
	uint32_t queue_size[DEVICE_ROLES];
};

struct server_conflicts {
	const struct server_config *config;
	size_t count;
	struct group_lines lines[SERVER_MAX_GROUPS];
	struct values *values;
};

struct server_conflicts *server_conflicts_new(const struct server_config *config, size_t count) {
	struct server_conflicts *conflicts = calloc(1, sizeof(*conflicts));
	struct values *values = values_new(config->groups);

	if (conflicts == NULL || values == NULL) {
		values_free(values);
		free(conflicts);
		return NULL;
	}
	conflicts->config = config;
	conflicts->count = count;
	conflicts->values = values;
	return conflicts;
}

void server_conflicts_free(struct server_conflicts *conflicts) {
	if (conflicts != NULL)
		values_free(conflicts->values);
	free(conflicts);
}

/* The line of a key, or `otherwise` if the map does not have it. */
static uint32_t line_of_key(const struct node *map, const char *key, uint32_t otherwise) {
	const struct node *value = node_present(map, key);

	return value != NULL ? value->line : otherwise;
}

void server_conflicts_add(struct server_conflicts *conflicts, size_t index, struct node *root) {
	struct group_lines *lines = &conflicts->lines[index];
	const struct node *ports = node_field(root, "ports");

	lines->read = true;
	if (conflicts->count > 1)
		values_add(conflicts->values, index, root);
	if (root == NULL)
		return;
	lines->id = line_of_key(root, "service_group", root->line);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		uint32_t around = line_of_key(ports, device_role_name(role), root->line);
		const struct node *port = node_field(ports, device_role_name(role));

		lines->device[role] = line_of_key(port, "device", around);
		lines->queue_size[role] = line_of_key(port, "queue_size", around);
	}
}

static void check_id(const struct server_conflicts *conflicts, size_t g, struct errors *errors) {
	static const struct path path = {.key = "service_group"};
	const struct service_group *groups = conflicts->config->groups;
	char what[48];

	for (size_t h = 0; h < g; h++) {
		if (!conflicts->lines[h].read || groups[h].id != groups[g].id)
			continue;
		snprintf(what, sizeof(what), "service group %" PRIu32, groups[g].id);
		errors_add_duplicate(errors, conflicts->lines[g].id, &path, what,
				     conflicts->lines[h].id);
		return;
	}
}

/* A port of one group, and the port of an earlier group with the same device. */
struct port_pair {
	const struct port_config *port, *before;
	enum device_role role, role_before;
	uint32_t id_before; /* of the earlier group */
	uint32_t line_before;
};

static void check_same_role(const struct port_pair *pair, const struct group_lines *lines,
			    struct errors *errors) {
	struct path ports = {.key = "ports"};
	struct path up = {.up = &ports, .key = device_role_name(pair->role)};
	struct path device = {.up = &up, .key = "device"};
	struct path queue_size = {.up = &up, .key = "queue_size"};
	char found[QUOTE_SIZE], before[QUOTE_SIZE], allowed[ALLOWED_SIZE];

	if (strcmp(device_arguments(pair->port->device), device_arguments(pair->before->device)) !=
	    0) {
		errors_quote(pair->port->device, strlen(pair->port->device), found, sizeof(found));
		errors_quote(pair->before->device, strlen(pair->before->device), before,
			     sizeof(before));
		errors_say(errors, lines->device[pair->role], &device,
			   "found %s, but service group %" PRIu32
			   " has %s; give the device the same arguments",
			   found, pair->id_before, before);
	} else if (pair->port->queue_size != pair->before->queue_size &&
		   pair->port->queue_size != 0 && pair->before->queue_size != 0) {
		snprintf(found, sizeof(found), "%" PRIu32, pair->port->queue_size);
		snprintf(allowed, sizeof(allowed),
			 "%" PRIu32 ", as in service group %" PRIu32 ", which shares the device",
			 pair->before->queue_size, pair->id_before);
		errors_add(errors, lines->queue_size[pair->role], &queue_size, found, allowed);
	}
}

static void check_pair(const struct port_pair *pair, const struct group_lines *lines,
		       struct errors *errors) {
	struct path ports = {.key = "ports"};
	struct path up = {.up = &ports, .key = device_role_name(pair->role)};
	struct path path = {.up = &up, .key = "device"};
	char quoted[QUOTE_SIZE], where[ERRORS_WHERE_SIZE];

	if (pair->role == pair->role_before) {
		check_same_role(pair, lines, errors);
		return;
	}
	errors_quote(pair->port->device, strlen(pair->port->device), quoted, sizeof(quoted));
	errors_where(errors, pair->line_before, lines->device[pair->role], where, sizeof(where));
	errors_say(errors, lines->device[pair->role], &path,
		   "%s is ports.%s of service group %" PRIu32 " (%s), allowed: another device",
		   quoted, device_role_name(pair->role_before), pair->id_before, where);
}

/* Compares a port of group `g` with the first earlier port that has its device. */
static void check_device(const struct server_conflicts *conflicts, size_t g, enum device_role role,
			 struct errors *errors) {
	const struct service_group *groups = conflicts->config->groups;
	struct port_pair pair = {.port = device_port(&groups[g], role), .role = role};

	if (pair.port->device == NULL)
		return;
	for (size_t h = 0; h < g; h++) {
		for (enum device_role other = 0; other < DEVICE_ROLES; other++) {
			pair.before = device_port(&groups[h], other);
			if (!conflicts->lines[h].read || pair.before->device == NULL ||
			    !device_same(pair.port->device, pair.before->device))
				continue;
			pair.role_before = other;
			pair.id_before = groups[h].id;
			pair.line_before = conflicts->lines[h].device[other];
			check_pair(&pair, &conflicts->lines[g], errors);
			return;
		}
	}
}

void server_conflicts_check(struct server_conflicts *conflicts, struct errors *errors) {
	for (size_t g = 0; g < conflicts->count; g++) {
		if (!conflicts->lines[g].read)
			continue;
		check_id(conflicts, g, errors);
		for (enum device_role role = 0; role < DEVICE_ROLES; role++)
			check_device(conflicts, g, role, errors);
	}
	values_check(conflicts->values, errors);
}
