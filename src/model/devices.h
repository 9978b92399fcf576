/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ports are of one device, by what the file calls it. */
#pragma once

#include <stdbool.h>

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

/* The port of this role; its device is NULL where the group has none. */
const struct port_config *device_port(const struct service_group *sg, enum device_role role);

/*
 * Do both name one device? Arguments, from the first comma on, do not count, nor does the domain 0000 of
 * a PCI address, which may be left out. A name that is missing is no device's.
 */
bool device_same(const char *a, const char *b);

/* What stands behind the name, with its comma; empty where there is nothing. */
const char *device_arguments(const char *device);
