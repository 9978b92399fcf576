/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/devices.h"

#include <string.h>

const char *device_role_name(enum device_role role) {
	static const char *const names[DEVICE_ROLES] = {"network", "rphy", "control"};

	return names[role];
}

const struct port_config *device_port(const struct service_group *sg, enum device_role role) {
	if (role == DEVICE_NETWORK)
		return &sg->network;
	return role == DEVICE_RPHY ? &sg->rphy_port : &sg->control_port;
}

/* Behind the domain that most PCI addresses have. */
static const char *without_domain(const char *device) {
	static const char domain[] = "0000:";

	return strncmp(device, domain, strlen(domain)) == 0 ? device + strlen(domain) : device;
}

bool device_same(const char *a, const char *b) {
	size_t size;

	if (a == NULL || b == NULL)
		return false;
	a = without_domain(a);
	b = without_domain(b);
	size = strcspn(a, ",");
	return size == strcspn(b, ",") && strncmp(a, b, size) == 0;
}

const char *device_arguments(const char *device) {
	return device + strcspn(device, ",");
}
