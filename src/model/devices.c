/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "{group}"

static const struct {
	const char *name, *title;
	size_t port; /* offset in struct service_group */
	bool optional;
} roles[DEVICE_ROLES] = {
	[DEVICE_NETWORK] = {"network", "network", offsetof(struct service_group, network), false},
	[DEVICE_RPHY] = {"rphy", "R-PHY", offsetof(struct service_group, rphy_port), false},
	[DEVICE_CONTROL] = {"control", "control", offsetof(struct service_group, control_port),
			    true},
};

const char *device_role_name(enum device_role role) {
	return roles[role].name;
}

const char *device_role_title(enum device_role role) {
	return roles[role].title;
}

bool device_role_optional(enum device_role role) {
	return roles[role].optional;
}

const struct port_config *device_port(const struct service_group *sg, enum device_role role) {
	return (const void *)((const char *)sg + roles[role].port);
}

char **device_of_port(struct service_group *sg, enum device_role role) {
	struct port_config *port = (void *)((char *)sg + roles[role].port);

	return &port->device;
}

struct pci_address {
	unsigned domain, bus, slot, function;
};

/* The domain may be left out, as lspci does. */
static bool pci_parse(const char *device, struct pci_address *a) {
	if (sscanf(device, "%x:%x:%x.%x", &a->domain, &a->bus, &a->slot, &a->function) == 4)
		return true;
	a->domain = 0;
	return sscanf(device, "%x:%x.%x", &a->bus, &a->slot, &a->function) == 3;
}

bool device_same(const char *a, const char *b) {
	struct pci_address first, second;
	size_t size;

	if (a == NULL || b == NULL)
		return false;
	if (pci_parse(a, &first) && pci_parse(b, &second))
		return memcmp(&first, &second, sizeof(first)) == 0;
	size = strcspn(a, ",");
	return size == strcspn(b, ",") && strncmp(a, b, size) == 0;
}

bool device_names_group(const char *text) {
	return strstr(text, MARK) != NULL;
}

char *device_of_group(const char *text, size_t group) {
	const char *mark;
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);

	if (out == NULL)
		return NULL;
	for (; (mark = strstr(text, MARK)) != NULL; text = mark + strlen(MARK))
		fprintf(out, "%.*s%zu", (int)(mark - text), text, group);
	fputs(text, out);
	if (fclose(out) == 0)
		return made;
	free(made);
	return NULL;
}

const char *device_arguments(const char *device) {
	return device + strcspn(device, ",");
}

bool crypto_has_library(void) {
#ifndef VCMTS_NO_IPSEC_MB
	return true;
#else
	return false;
#endif
}

const char *crypto_default_device(void) {
	return crypto_has_library() ? CRYPTO_LIBRARY : CRYPTO_NO_LIBRARY;
}

const char *crypto_provider_name(const struct crypto_config *c) {
	return c->device != NULL ? c->device : crypto_default_device();
}
