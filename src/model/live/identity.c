/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/identity.h"

#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/server/sides.h"
#include "model/units.h"

struct visitor {
	identity_visit *visit;
	void *context;
};

/* The kind takes the top byte and leaves 56 bits. A unicast IPv6 address never begins with 0xff. */
static struct identity identity_make(enum identity_kind kind, uint64_t value) {
	return (struct identity){.kind = kind, .word = {(uint64_t)kind << 56 | value}};
}

static bool show(const struct visitor *v, struct identity identity, const char *format, size_t i,
		 size_t j, size_t k) {
	identity.format = format;
	identity.index[0] = (uint32_t)i;
	identity.index[1] = (uint32_t)j;
	identity.index[2] = (uint32_t)k;
	return v->visit(v->context, &identity);
}

struct identity identity_of_id(enum live_object object, uint32_t id) {
	static const enum identity_kind kinds_of[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = IDENTITY_CHANNEL,
		[LIVE_UPSTREAM_CHANNEL] = IDENTITY_UPSTREAM_CHANNEL,
		[LIVE_BONDING_GROUP] = IDENTITY_BONDING_GROUP,
		[LIVE_FILTER_GROUP] = IDENTITY_FILTER_GROUP,
	};

	return identity_make(kinds_of[object], id);
}

struct identity identity_of_mac(const uint8_t mac[6]) {
	uint64_t value = 0;

	memcpy(&value, mac, 6);
	return identity_make(IDENTITY_MAC, le64toh(value));
}

struct identity identity_of_said(uint16_t said) {
	return identity_make(IDENTITY_SAID, said);
}

struct identity identity_of(enum live_object object, const void *item) {
	uint32_t id;

	if (object == LIVE_MODEM)
		return identity_of_mac(((const struct modem *)item)->mac);
	memcpy(&id, item, sizeof(id));
	return identity_of_id(object, id);
}

static struct identity identity_of_address(const struct ip_address *address) {
	struct identity identity = {.kind = IDENTITY_ADDRESS, .wide = true};
	uint32_t ipv4;

	if (address->family == 4) {
		memcpy(&ipv4, address->bytes, sizeof(ipv4));
		return identity_make(IDENTITY_ADDRESS, be32toh(ipv4));
	}
	memcpy(identity.word, address->bytes, sizeof(identity.word));
	identity.word[0] = be64toh(identity.word[0]);
	identity.word[1] = be64toh(identity.word[1]);
	return identity;
}

static bool each_of_clusters(const struct visitor *v, const struct upstream_service_flow *flow,
			     size_t f) {
	static const char path[] = "upstream_service_flows[%u].sid_clusters[%u].sids[%u].sid";

	for (size_t c = 0; c < flow->cluster_count; c++) {
		const struct sid_cluster *cluster = &flow->clusters[c];

		for (size_t s = 0; s < cluster->sid_count; s++) {
			const struct upstream_sid *sid = &cluster->sids[s];
			uint64_t value = (uint64_t)sid->channel << 16 | sid->sid;

			if (!show(v, identity_make(IDENTITY_SID, value), path, f, c, s))
				return false;
		}
	}
	return true;
}

static bool each_of_flow(const struct visitor *v, const struct service_flow *flow, size_t f) {
	return show(v, identity_make(IDENTITY_FLOW, flow->id), "service_flows[%u].id", f, 0, 0) &&
	       (!flow->has_dsid || show(v, identity_make(IDENTITY_DSID, flow->dsid),
					"service_flows[%u].dsid", f, 0, 0));
}

static bool each_of_modem(const struct visitor *v, const struct modem *modem) {
	bool more = show(v, identity_of_mac(modem->mac), "mac", 0, 0, 0);

	for (size_t a = 0; more && a < modem->address_count; a++)
		more = show(v, identity_of_address(&modem->addresses[a]), "addresses[%u]", a, 0, 0);
	for (size_t f = 0; more && f < modem->service_flow_count; f++)
		more = each_of_flow(v, &modem->service_flows[f], f);
	for (size_t f = 0; more && f < modem->upstream_flow_count; f++)
		more = show(v, identity_make(IDENTITY_FLOW, modem->upstream_flows[f].id),
			    "upstream_service_flows[%u].id", f, 0, 0) &&
		       each_of_clusters(v, &modem->upstream_flows[f], f);
	return more;
}

static bool each_of_upstream_channel(const struct visitor *v,
				     const struct upstream_channel *channel) {
	struct side_session all[SIDE_SESSIONS];

	side_sessions(channel, all);
	for (size_t i = 0; i < SIDE_SESSIONS; i++) {
		enum identity_kind kind =
			all[i].side == SIDE_RPD ? IDENTITY_MAP_SESSION : IDENTITY_UPSTREAM_SESSION;

		if (all[i].session != 0 &&
		    !show(v, identity_make(kind, all[i].session), all[i].key, 0, 0, 0))
			return false;
	}
	return true;
}

bool identity_each(enum live_object object, const void *item, identity_visit *visit,
		   void *context) {
	const struct visitor v = {visit, context};

	if (object == LIVE_MODEM)
		return each_of_modem(&v, item);
	if (!show(&v, identity_of(object, item), "id", 0, 0, 0))
		return false;
	if (object == LIVE_UPSTREAM_CHANNEL)
		return each_of_upstream_channel(&v, item);
	return object != LIVE_CHANNEL ||
	       show(&v, identity_make(IDENTITY_SESSION, ((const struct channel *)item)->session),
		    "session", 0, 0, 0);
}

bool identity_counterpart(const struct identity *identity, struct identity *counterpart,
			  enum live_object *owner) {
	bool map = identity->kind == IDENTITY_MAP_SESSION;

	if (!map && identity->kind != IDENTITY_SESSION)
		return false;
	*owner = map ? LIVE_CHANNEL : LIVE_UPSTREAM_CHANNEL;
	*counterpart = identity_make(map ? IDENTITY_SESSION : IDENTITY_MAP_SESSION,
				     (uint32_t)identity->word[0]);
	return true;
}

void identity_text(const struct identity *identity, char *text, size_t size) {
	uint64_t value = identity->word[0] & UINT64_C(0xffffffffffffff), bytes[2];
	uint32_t ipv4 = htobe32((uint32_t)value);
	uint8_t mac[8];

	switch (identity->kind) {
	case IDENTITY_MAC:
		value = htole64(value);
		memcpy(mac, &value, sizeof(mac));
		snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
			 mac[3], mac[4], mac[5]);
		break;
	case IDENTITY_ADDRESS:
		bytes[0] = htobe64(identity->word[0]);
		bytes[1] = htobe64(identity->word[1]);
		if (identity->wide)
			inet_ntop(AF_INET6, bytes, text, (socklen_t)size);
		else
			inet_ntop(AF_INET, &ipv4, text, (socklen_t)size);
		break;
	case IDENTITY_SESSION:
	case IDENTITY_MAP_SESSION:
	case IDENTITY_UPSTREAM_SESSION: snprintf(text, size, "0x%08" PRIx64, value); break;
	case IDENTITY_SID: snprintf(text, size, "%" PRIu64, value & 0xffff); break;
	default: snprintf(text, size, "%" PRIu64, value);
	}
}
