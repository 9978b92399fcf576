/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds addresses that vcmtsd must drop packets to, as the CPE limit of their modem is reached. */
#include "refused/cpe_watch.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "core/admits.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define LIMITS_MAX 16 /* per modem and family */
#define ACTIVE_MAX 256 /* addresses of all limits */
#define SEEN_ENOUGH 8 /* packets: fewer may all have been lost */
#define TIMEOUT_MIN 10 /* seconds */

struct active {
	struct ip_address address;
	uint32_t packets;
	uint64_t last; /* TSC */
	int16_t next; /* with the same last byte; -1: none */
};

/* The limit of one modem and family. */
struct limit {
	struct ip_address beyond;
	uint16_t first, count; /* range in the active addresses */
};

struct cpe_watch {
	struct active active[ACTIVE_MAX];
	uint16_t active_count;
	struct limit limits[LIMITS_MAX];
	uint16_t limit_count;
	int16_t by_last_byte[UINT8_MAX + 1]; /* -1: none */
	uint64_t silent_max; /* TSC cycles after which an address may not be active any more */
};

static void active_add(struct cpe_watch *w, const struct ip_address *address) {
	uint8_t last = address->bytes[ip_address_size(address->family) - 1];

	w->active[w->active_count] =
		(struct active){.address = *address, .next = w->by_last_byte[last]};
	w->by_last_byte[last] = (int16_t)w->active_count++;
}

/* A limit of 0 needs no packets: it admits no address at any time. */
static void limit_add(struct cpe_watch *w, const struct modem *m, uint8_t family) {
	struct limit limit = {.first = w->active_count};
	size_t admitted = 0;

	for (size_t a = 0; a < m->address_count; a++) {
		if (m->addresses[a].family != family)
			continue;
		if (modem_admits(m, a))
			admitted++;
		else
			limit.beyond = m->addresses[a];
	}
	if (limit.beyond.family == 0 || w->active_count + admitted > ACTIVE_MAX)
		return;
	for (size_t a = 0; a < m->address_count; a++) {
		if (m->addresses[a].family == family && modem_admits(m, a))
			active_add(w, &m->addresses[a]);
	}
	limit.count = (uint16_t)admitted;
	w->limits[w->limit_count++] = limit;
}

struct cpe_watch *cpe_watch_create(const struct service_group *sg, size_t first, uint64_t tsc_hz) {
	uint64_t seconds = sg->cpe_timeout_ns / 1000000000;
	struct cpe_watch *w = seconds < TIMEOUT_MIN ? NULL : calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->silent_max = seconds / 2 * tsc_hz;
	memset(w->by_last_byte, 0xff, sizeof(w->by_last_byte));
	for (size_t i = 0; i < sg->modem_count; i++) {
		const struct modem *m = &sg->modems[(first + i) % sg->modem_count];

		for (uint8_t family = 4; family <= 6 && w->limit_count < LIMITS_MAX; family += 2)
			limit_add(w, m, family);
	}
	if (w->limit_count > 0)
		return w;
	free(w);
	return NULL;
}

void cpe_watch_free(struct cpe_watch *w) {
	free(w);
}

static void see(struct cpe_watch *w, const uint8_t *frame, uint64_t now) {
	bool ipv4 = load_be16(frame + 12) == ETHERTYPE_IPV4;
	const uint8_t *destination = frame + ETHERNET_HEADER + (ipv4 ? 16 : 24);
	uint8_t family = ipv4 ? 4 : 6;
	size_t size = ip_address_size(family);

	for (int16_t i = w->by_last_byte[destination[size - 1]]; i >= 0; i = w->active[i].next) {
		struct active *a = &w->active[i];

		if (a->address.family != family || memcmp(a->address.bytes, destination, size) != 0)
			continue;
		a->packets++;
		a->last = now;
	}
}

void cpe_watch_record(struct cpe_watch *w, struct rte_mbuf *const *packets, unsigned n,
		      uint64_t now) {
	for (unsigned i = 0; w != NULL && i < n; i++)
		see(w, rte_pktmbuf_mtod(packets[i], const uint8_t *), now);
}

static bool is_full(const struct cpe_watch *w, const struct limit *limit, uint64_t now) {
	for (unsigned i = 0; i < limit->count; i++) {
		const struct active *a = &w->active[limit->first + i];

		if (a->packets < SEEN_ENOUGH || now - a->last > w->silent_max)
			return false;
	}
	return true;
}

const uint8_t *cpe_watch_beyond(const struct cpe_watch *w, bool ipv4, uint64_t nth, uint64_t now) {
	for (unsigned i = 0; w != NULL && i < w->limit_count; i++) {
		const struct limit *limit = &w->limits[(nth + i) % w->limit_count];

		if (limit->beyond.family == (ipv4 ? 4 : 6))
			return is_full(w, limit, now) ? limit->beyond.bytes : NULL;
	}
	return NULL;
}
