/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ports are of one device, by what the file calls it; and what encrypts for a group. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/service_group.h"

/* What a port of a group is for. */
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

/* Whether a group may be without a port of this role. */
bool device_role_optional(enum device_role role);

/* The port of this role; its device is NULL where the group has none. */
const struct port_config *device_port(const struct service_group *sg, enum device_role role);

/* The device of this port, for who copies a group. */
char **device_of_port(struct service_group *sg, enum device_role role);

/*
 * Do both name one device? Arguments, from the first comma on, do not count, nor does how a PCI address is
 * written, whose domain 0000 may be left out. A name that is missing is no device's.
 */
bool device_same(const char *a, const char *b);

/* Whether "{group}" stands in the text, so that each group has a device of its own. */
bool device_names_group(const char *text);

/* The text with the group's place in the file where "{group}" stands, to be freed; NULL: no memory. */
char *device_of_group(const char *text, size_t group);

/* What stands behind the name, with its comma; empty where there is nothing. */
const char *device_arguments(const char *device);

#define CRYPTO_LIBRARY "ipsec-mb"
#define CRYPTO_NO_LIBRARY "crypto_openssl0" /* the device of a build without the library */

/* Whether this build has the library. */
bool crypto_has_library(void);

/* What serves a group that names no device: the library, or else the device above. */
const char *crypto_own(void);

/* What serves a group: the name of a device, or of the library. */
const char *crypto_serves(const struct crypto_config *c);
