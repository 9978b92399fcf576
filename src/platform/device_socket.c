/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/device_socket.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_kvargs.h>

#include "platform/log/log.h"
#include "platform/platform.h"
#include "platform/sockets/socket_claim.h"

/* A driver that binds sockets, and its arguments for them. */
struct binder {
	const char *driver; /* prefix of its device names */
	int type;
	const char *path; /* argument with the path of the socket */
	const char *usual; /* default of that argument; NULL: no socket */
	bool (*binds)(const struct rte_kvargs *arguments);
};

struct claimed {
	char device[RTE_ETH_NAME_MAX_LEN]; /* "": free */
	char path[SOCKET_PATH_SIZE];
	struct socket_claim claim; /* one device of each path has the claim */
};

static struct claimed claimed[PLATFORM_MAX_DEVICES];

/* The callback of rte_kvargs_process(). */
static int value_keep(const char *key, const char *value, void *found) {
	(void)key;
	*(const char **)found = value; /* the last value counts, as in the drivers */
	return 0;
}

static const char *value_of(const struct rte_kvargs *arguments, const char *key,
			    const char *usual) {
	const char *found = NULL;

	rte_kvargs_process(arguments, key, value_keep, &found);
	return found != NULL ? found : usual;
}

static bool memif_binds(const struct rte_kvargs *arguments) {
	const char *role = value_of(arguments, "role", "server");

	if (strstr(value_of(arguments, "socket-abstract", "yes"), "yes") != NULL)
		return false; /* an abstract name ends with the process */
	return strstr(role, "server") != NULL || strstr(role, "master") != NULL;
}

static bool vhost_binds(const struct rte_kvargs *arguments) {
	return atoi(value_of(arguments, "client", "0")) == 0;
}

static bool virtio_user_binds(const struct rte_kvargs *arguments) {
	return atoi(value_of(arguments, "server", "0")) != 0;
}

static const struct binder binders[] = {
	{"net_memif", SOCK_SEQPACKET, "socket", "/run/memif.sock", memif_binds},
	{"net_vhost", SOCK_STREAM, "iface", NULL, vhost_binds},
	{"eth_vhost", SOCK_STREAM, "iface", NULL, vhost_binds},
	{"net_virtio_user", SOCK_STREAM, "path", NULL, virtio_user_binds},
	{"virtio_user", SOCK_STREAM, "path", NULL, virtio_user_binds},
};

static const struct binder *binder_of(const char *device) {
	for (size_t b = 0; b < RTE_DIM(binders); b++) {
		if (strncmp(device, binders[b].driver, strlen(binders[b].driver)) == 0)
			return &binders[b];
	}
	return NULL;
}

static void device_name_of(const char *device, char name[RTE_ETH_NAME_MAX_LEN]) {
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "%.*s", (int)strcspn(device, ","), device);
}

static struct claimed *claimed_by(const char *device) {
	char name[RTE_ETH_NAME_MAX_LEN];

	device_name_of(device, name);
	for (size_t i = 0; i < RTE_DIM(claimed); i++) {
		if (strcmp(claimed[i].device, name) == 0)
			return &claimed[i];
	}
	return NULL;
}

/* Another device of this process with the same socket. */
static struct claimed *claimed_with(const struct claimed *one) {
	for (size_t i = 0; i < RTE_DIM(claimed); i++) {
		if (&claimed[i] != one && claimed[i].device[0] != '\0' &&
		    strcmp(claimed[i].path, one->path) == 0)
			return &claimed[i];
	}
	return NULL;
}

static int claim(const char *device, const char *path, int type) {
	struct claimed *one = claimed_by("");
	const char *fault = NULL;

	if (one == NULL) {
		fault = "this process has too many devices with sockets";
	} else {
		one->claim = SOCKET_CLAIM_NONE;
		snprintf(one->path, sizeof(one->path), "%s", path);
		if (strlen(path) >= sizeof(one->path) || claimed_with(one) == NULL)
			fault = socket_claim(&one->claim, path, type);
	}
	if (fault == NULL) {
		device_name_of(device, one->device);
		return 0;
	}
	log_error("port", LOG_FIELDS(LOG_STRING("path", path)), "device %.*s: socket %s: %s",
		  (int)strcspn(device, ","), device, path, fault);
	return -1;
}

int device_socket_claim(const char *device) {
	const struct binder *binder = binder_of(device);
	const char *comma = strchr(device, ','), *path = NULL;
	struct rte_kvargs *arguments;
	int ret = 0;

	if (binder == NULL || claimed_by(device) != NULL)
		return 0;
	arguments = rte_kvargs_parse(comma != NULL ? comma + 1 : "", NULL);
	if (arguments == NULL)
		return 0; /* the driver reports the fault */
	if (binder->binds(arguments))
		path = value_of(arguments, binder->path, binder->usual);
	if (path != NULL)
		ret = claim(device, path, binder->type);
	rte_kvargs_free(arguments);
	return ret;
}

static void release(struct claimed *one) {
	struct claimed *other = claimed_with(one);

	if (other == NULL)
		socket_claim_release(&one->claim);
	else if (one->claim.lock >= 0)
		other->claim = one->claim;
	one->device[0] = '\0';
}

void device_socket_release(const char *device) {
	struct claimed *one = claimed_by(device);

	if (one != NULL && one->device[0] != '\0')
		release(one);
}

void device_sockets_release(void) {
	for (size_t i = 0; i < RTE_DIM(claimed); i++) {
		if (claimed[i].device[0] != '\0')
			release(&claimed[i]);
	}
}
