/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices of ports by their names in the file, and the crypto provider of a group. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/service_group.h"

/* The role of a port in a group. */
enum device_role {
	DEVICE_NETWORK,
	DEVICE_RPHY,
	DEVICE_CONTROL,
	DEVICE_ROLES,
};

/* Its key under `ports`. */
const char *device_role_name(enum device_role role);

/* For people: "R-PHY". */
const char *device_role_title(enum device_role role);

/* Whether a group may have no port of this role. */
bool device_role_optional(enum device_role role);

/* The port of this role; its device is NULL if the group has none. */
const struct port_config *device_port(const struct service_group *sg, enum device_role role);

/* The device name of this port, for functions that copy a group. */
char **device_of_port(struct service_group *sg, enum device_role role);

/* Whether both name the same device. Ignores arguments from the first comma on, and whether a PCI
 * address has the domain 0000. NULL is no device. */
bool device_same(const char *a, const char *b);

/* Whether the text contains "{group}", so that each group has a device of its own. */
bool device_names_group(const char *text);

/* The text with "{group}" replaced by the group's index in the file; the caller frees it. NULL: no
 * memory. */
char *device_of_group(const char *text, size_t group);

/* The arguments after the device name, with their comma; empty if there are none. */
const char *device_arguments(const char *device);

#define CRYPTO_LIBRARY "ipsec-mb"
#define CRYPTO_NO_LIBRARY "crypto_openssl0" /* the device of a build without the library */

/* Whether this build has the library. */
bool crypto_has_library(void);

/* The provider of a group that names no device: the library, or else the device above. */
const char *crypto_default_device(void);

/* The provider of a group: the name of a device, or of the library. */
const char *crypto_provider_name(const struct crypto_config *c);
