/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of the kit: what is in service, and what is to be. */
#include <string.h>

#include "change_kit.h"
#include "test.h"

/* Its lists are its own. */
static void point(struct kit_objects *o) {
	o->sg.channels = o->channels;
	o->sg.bonding_groups = o->groups;
	o->sg.filter_groups = o->filters;
	o->sg.modems = o->modems;
	for (uint32_t g = 0; g < KIT_GROUPS; g++)
		o->groups[g].channels = o->group_channels[g];
	for (uint32_t f = 0; f < KIT_FILTERS; f++)
		o->filters[f].rules = o->rules[f];
	for (uint32_t m = 0; m < KIT_MODEMS; m++) {
		o->modems[m].addresses = o->of_modem[m].addresses;
		o->modems[m].service_flows = o->of_modem[m].flows;
		o->modems[m].classifiers = o->of_modem[m].classifiers;
	}
}

void kit_objects_begin(struct kit_objects *o, const struct service_group *loaded) {
	o->sg = *loaded;
	o->sg.channel_count = KIT_CHANNELS;
	o->sg.bonding_group_count = KIT_GROUPS;
	o->sg.filter_group_count = KIT_FILTERS;
	o->sg.modem_count = KIT_MODEMS;
	for (uint32_t f = 0; f < KIT_FILTERS; f++)
		o->filters[f].id = LIVE_FREE_ID;
	point(o);
}

void kit_objects_copy(struct kit_objects *to, const struct kit_objects *from) {
	*to = *from;
	point(to);
}

void *kit_object(struct kit_objects *o, enum live_object object, uint32_t slot) {
	switch (object) {
	case LIVE_GROUP: return &o->sg;
	case LIVE_CHANNEL: return &o->channels[slot];
	case LIVE_BONDING_GROUP: return &o->groups[slot];
	case LIVE_FILTER_GROUP: return &o->filters[slot];
	default: return &o->modems[slot];
	}
}

/* Returns whether it is to be made. */
static bool touch(enum live_object object, uint32_t slot) {
	bool there = kit->next.there[object][slot];

	kit->touched[object][slot] = true;
	kit->next.there[object][slot] = true;
	return !there;
}

void kit_remove(enum live_object object, uint32_t slot) {
	static const size_t sizes[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = sizeof(struct channel),
		[LIVE_BONDING_GROUP] = sizeof(struct bonding_group),
		[LIVE_FILTER_GROUP] = sizeof(struct filter_group),
		[LIVE_MODEM] = sizeof(struct modem),
	};

	memset(kit_object(&kit->next, object, slot), 0, sizes[object]);
	if (object == LIVE_FILTER_GROUP)
		kit->next.filters[slot].id = LIVE_FREE_ID;
	point(&kit->next);
	kit->next.there[object][slot] = false;
	kit->touched[object][slot] = true;
}

struct service_group *kit_values(void) {
	touch(LIVE_GROUP, 0);
	return &kit->next.sg;
}

struct channel *kit_channel(uint32_t slot) {
	struct channel *c = &kit->next.channels[slot];

	if (touch(LIVE_CHANNEL, slot)) {
		*c = kit->loaded.channels[0];
		c->id = slot + 1;
		c->session = 0x100 + slot;
	}
	return c;
}

struct bonding_group *kit_bonding(uint32_t slot) {
	struct bonding_group *g = &kit->next.groups[slot];

	if (touch(LIVE_BONDING_GROUP, slot)) {
		g->id = slot + 1;
		g->channel_count = 2;
		g->channels[0] = 0;
		g->channels[1] = 1;
	}
	return g;
}

struct filter_group *kit_filter(uint32_t slot) {
	struct filter_group *f = &kit->next.filters[slot];

	if (touch(LIVE_FILTER_GROUP, slot))
		f->id = slot + 1;
	return f;
}

struct modem *kit_modem(uint32_t slot, uint8_t number) {
	struct modem *m = &kit->next.modems[slot];

	if (touch(LIVE_MODEM, slot)) {
		memcpy(m->mac, (const uint8_t[]){2, 1, 0, 0, 0, number}, 6);
		m->cpe_limit = m->cpe_limit_ipv6 = SG_MAX_MODEM_ADDRESSES;
		m->security.said = (uint16_t)(100 + number);
		m->security.cipher = CIPHER_AES_128;
		kit_generation(&m->security, 1);
	}
	return m;
}

bool kit_has(const struct modem *m, uint8_t address) {
	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] == address)
			return true;
	}
	return false;
}

void kit_address(struct modem *m, uint8_t address) {
	m->addresses[m->address_count++] =
		address < KIT_IPV4 ? (struct ip_address){4, {10, 0, 0, address}}
				   : (struct ip_address){6, {0x20, 1, 0x0d, 0xb8, [15] = address}};
}

void kit_lose_address(struct modem *m, uint8_t address) {
	size_t kept = 0;

	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] != address)
			m->addresses[kept++] = m->addresses[i];
	}
	assert_int_equal(kept + 1, m->address_count);
	m->address_count = kept;
}

void kit_flow(struct modem *m, uint32_t id, uint32_t bonding_group) {
	struct service_flow *f = &m->service_flows[m->service_flow_count++];

	*f = kit->loaded.modems[0].service_flows[0];
	f->id = id;
	f->bonding_group = bonding_group;
	f->has_dsid = true;
	f->dsid = 0x100 + id;
	f->priority = id % 8;
}

void kit_lose_flow(struct modem *m, uint32_t id) {
	size_t kept = 0;

	for (size_t i = 0; i < m->service_flow_count; i++) {
		if (m->service_flows[i].id != id)
			m->service_flows[kept++] = m->service_flows[i];
	}
	assert_int_equal(kept + 1, m->service_flow_count);
	m->service_flow_count = kept;
}

/* UDP over IPv4 to the port. */
static struct match match_of(uint16_t port) {
	return (struct match){
		.family = RULE_IPV4,
		.source.address.family = 4,
		.destination.address.family = 4,
		.has_protocol = true,
		.protocol = 17,
		.source_ports = {0, UINT16_MAX},
		.destination_ports = {port, port},
	};
}

void kit_classifier(struct modem *m, uint16_t port, uint32_t flow) {
	m->classifiers[m->classifier_count++] = (struct classifier){match_of(port), flow};
}

void kit_rule(struct filter_group *f, uint16_t port, enum filter_action action) {
	f->rules[f->rule_count++] = (struct filter_rule){match_of(port), action};
}

void kit_generation(struct security_association *sa, uint8_t sequence) {
	sa->key_sequence = sequence;
	for (uint8_t i = 0; i < 16; i++) {
		sa->key[i] = (uint8_t)(sa->said * 16 + sequence + i);
		sa->iv[i] = (uint8_t)(sa->said + sequence * 7 + i);
	}
}
