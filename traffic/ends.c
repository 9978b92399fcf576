/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the devices, computes the memory, and opens the ports at both ends of the CMTS. */
#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "crypto/providers.h"
#include "model/devices.h"
#include "model/live/live_group.h"
#include "platform/platform.h"
#include "platform/pool.h"
#include "platform/port.h"

#define RECEIVE_BUFFERS 16383
#define RECEIVE_BUFFERS_PORTS 32767 /* if an end has more than one port */
#define QUEUE_SIZE 4096
#define QUEUES_SIZE 8192 /* sum over all ports of an end */
#define MEMORY_MB 384
#define UPSTREAM_MB 128
#define EXTRA_PORTS_MB 48 /* receive buffers beyond those of two ports */
#define GROUP_MB 12 /* per further group: buffers of its upstream */
#define FOLLOW_KEYS 4 /* key generations of a modem that changes */
#define KEYS_PER_MB 2048 /* at most 512 bytes each, except AES-256 */
#define ADDRESSES_PER_MB 8192 /* addresses that separate groups on shared ports */

static const char *const roles[ENDS] = {[END_NETWORK] = "network", [END_RPHY] = "rphy"};

/* Replaces `{group}` in the argument by the group's index. Returns whether the result fits. */
static bool device_name(const char *text, unsigned group, char out[ENDS_DEVICE_SIZE]) {
	char *made = device_of_group(text, group);
	bool fits = made != NULL && strlen(made) < ENDS_DEVICE_SIZE;

	if (fits)
		strcpy(out, made);
	free(made);
	return fits;
}

static bool end_name(struct end_ports *e, const char *role, const char *text, size_t groups) {
	e->count = device_names_group(text) ? (unsigned)groups : 1;
	for (unsigned i = 0; i < e->count; i++) {
		if (device_name(text, i, e->devices[i]))
			continue;
		fprintf(stderr, "vcmts-traffic: --%s: found %zu characters, allowed: at most %d\n",
			role, strlen(text), ENDS_DEVICE_SIZE - 1);
		return false;
	}
	return true;
}

static bool devices_differ(const struct ends *e) {
	for (unsigned n = 0; n < e->at[END_NETWORK].count; n++) {
		for (unsigned r = 0; r < e->at[END_RPHY].count; r++) {
			const char *rphy = e->at[END_RPHY].devices[r];

			if (!device_same(e->at[END_NETWORK].devices[n], rphy))
				continue;
			fprintf(stderr,
				"vcmts-traffic: two ports have the device %.*s; give each its "
				"own\n",
				(int)strcspn(rphy, ","), rphy);
			return false;
		}
	}
	return true;
}

/* If `{group}` is only in the arguments of a device and not in its name, all groups would have the
 * same device. */
static bool groups_differ(const struct end_ports *e, const char *role) {
	if (e->count < 2 || !device_same(e->devices[0], e->devices[1]))
		return true;
	fprintf(stderr,
		"vcmts-traffic: --%s: all service groups have the device %.*s; write {group} in "
		"its name, or nowhere\n",
		role, (int)strcspn(e->devices[0], ","), e->devices[0]);
	return false;
}

static bool devices_fit(const struct ends *e) {
	unsigned count = e->at[END_NETWORK].count + e->at[END_RPHY].count;

	if (count <= PLATFORM_MAX_DEVICES)
		return true;
	fprintf(stderr,
		"vcmts-traffic: --network, --rphy: found %u ports, allowed: at most %d; without "
		"{group} all service groups share one\n",
		count, PLATFORM_MAX_DEVICES);
	return false;
}

bool ends_name(struct ends *e, const struct setup *s) {
	const char *texts[ENDS] = {s->options.network, s->options.rphy};

	for (int end = 0; end < ENDS; end++) {
		if (!end_name(&e->at[end], roles[end], texts[end], s->config.group_count) ||
		    !groups_differ(&e->at[end], roles[end]))
			return false;
	}
	return devices_fit(e) && devices_differ(e);
}

/* Keys of both directions, before and after a change. */
static unsigned keys_max(const struct setup *s) {
	unsigned keys = 0;

	for (size_t g = 0; g < s->config.group_count; g++)
		keys += 2 * FOLLOW_KEYS * group_capacity(&s->config.groups[g]).modems;
	return s->options.follow == NULL ? keys : 2 * keys; /* includes added groups */
}

static unsigned ends_memory_mb(const struct ends *e, const struct setup *s) {
	unsigned mb = MEMORY_MB + keys_max(s) / KEYS_PER_MB;
	size_t addresses = 0;

	if (s->options.upstream)
		mb += UPSTREAM_MB;
	if (s->options.follow != NULL)
		mb += 4 * GROUP_MB;
	if (e->at[END_NETWORK].count + e->at[END_RPHY].count > ENDS)
		mb += EXTRA_PORTS_MB;
	if (s->config.group_count == 1)
		return mb;
	for (size_t g = 0; g < s->config.group_count; g++) {
		for (size_t m = 0; m < s->config.groups[g].modem_count; m++)
			addresses += s->config.groups[g].modems[m].address_count;
	}
	return mb + (unsigned)(s->config.group_count * GROUP_MB + addresses / ADDRESSES_PER_MB);
}

bool ends_start(const struct ends *e, const struct setup *s) {
	struct platform_options platform = {
		.program = "vcmts-traffic",
		.main_core = s->options.main_core,
		.workers = {s->options.core},
		.worker_count = 1,
		.memory_mb = ends_memory_mb(e, s),
	};

	for (int end = 0; end < ENDS; end++) {
		for (unsigned i = 0; i < e->at[end].count; i++)
			platform.devices[platform.device_count++] = e->at[end].devices[i];
	}
	return platform_start(&platform) == 0;
}

/* Size in bytes of the largest IP packet that the groups of a port receive. */
static uint32_t end_mtu(const struct setup *s, enum end end, unsigned first, unsigned count) {
	uint32_t mtu = 0;

	for (unsigned g = first; g < first + count; g++) {
		const struct service_group *sg = &s->config.groups[g];
		uint32_t frame = sg->max_frame - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;

		mtu = RTE_MAX(mtu, end == END_NETWORK ? frame : sg->rphy.mtu);
	}
	return mtu;
}

static bool end_open(struct ends *e, const struct setup *s, enum end end) {
	struct end_ports *at = &e->at[end];
	unsigned groups = (unsigned)s->config.group_count;
	uint32_t size = RTE_MIN(rte_align32prevpow2(QUEUES_SIZE / at->count), QUEUE_SIZE);

	for (unsigned i = 0; i < at->count; i++) {
		uint32_t mtu = end_mtu(s, end, i, at->count == 1 ? groups : 1);

		if (port_open(at->devices[i], roles[end], e->receive_pool, size, mtu,
			      &at->ports[i]) != 0)
			return false;
		at->opened++;
	}
	return true;
}

static bool ports_start(const struct ends *e) {
	for (int end = 0; end < ENDS; end++) {
		for (unsigned i = 0; i < e->at[end].opened; i++) {
			if (port_start(e->at[end].ports[i], roles[end]) != 0)
				return false;
		}
	}
	return true;
}

bool ends_open(struct ends *e, const struct setup *s) {
	bool many = e->at[END_NETWORK].count + e->at[END_RPHY].count > ENDS;

	e->receive_pool =
		packet_pool("traffic_receive", many ? RECEIVE_BUFFERS_PORTS : RECEIVE_BUFFERS, 0,
			    RTE_MBUF_DEFAULT_BUF_SIZE);
	return e->receive_pool != NULL && end_open(e, s, END_NETWORK) && end_open(e, s, END_RPHY) &&
	       (e->crypto = crypto_standalone_open(SOCKET_ID_ANY)) != NULL && ports_start(e);
}

void ends_close_ports(struct ends *e) {
	for (int end = 0; end < ENDS; end++) {
		while (e->at[end].opened > 0)
			port_close(e->at[end].ports[--e->at[end].opened]);
	}
}

void ends_close(struct ends *e) {
	ends_close_ports(e);
	if (e->crypto != NULL)
		crypto_close(e->crypto);
	rte_mempool_free(e->receive_pool);
}
