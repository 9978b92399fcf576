/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of the kit, to be put into its lists. */
#include <stdlib.h>
#include <string.h>

#include "change_kit.h"
#include "test.h"

static void *block_of(enum live_object object, uint32_t slot, size_t size) {
	void *block = calloc(1, size);

	assert_non_null(block);
	if (kit->blocks[object][slot] != NULL)
		memcpy(block, kit->blocks[object][slot], size);
	return block;
}

struct channel *kit_channel(uint32_t slot) {
	bool there = kit->blocks[LIVE_CHANNEL][slot] != NULL;
	struct channel *c = block_of(LIVE_CHANNEL, slot, sizeof(*c));

	if (!there) {
		*c = kit->loaded.channels[0];
		c->id = slot + 1;
		c->session = 0x100 + slot;
	}
	return c;
}

struct kit_bonding *kit_bonding(uint32_t slot) {
	bool there = kit->blocks[LIVE_BONDING_GROUP][slot] != NULL;
	struct kit_bonding *g = block_of(LIVE_BONDING_GROUP, slot, sizeof(*g));

	if (!there) {
		g->is.id = slot + 1;
		g->is.channel_count = 2;
		g->channels[1] = 1;
	}
	g->is.channels = g->channels;
	return g;
}

struct kit_filter *kit_filter(uint32_t slot) {
	bool there = kit->blocks[LIVE_FILTER_GROUP][slot] != NULL;
	struct kit_filter *f = block_of(LIVE_FILTER_GROUP, slot, sizeof(*f));

	if (!there)
		f->is.id = slot + 1;
	f->is.rules = f->rules;
	return f;
}

struct kit_modem *kit_modem(uint32_t slot, uint8_t number) {
	bool there = kit->blocks[LIVE_MODEM][slot] != NULL;
	struct kit_modem *m = block_of(LIVE_MODEM, slot, sizeof(*m));

	if (!there) {
		memcpy(m->is.mac, (const uint8_t[]){2, 1, 0, 0, 0, number}, 6);
		m->is.cpe_limit = m->is.cpe_limit_ipv6 = SG_MAX_MODEM_ADDRESSES;
		m->is.security.said = (uint16_t)(100 + number);
		m->is.security.cipher = CIPHER_AES_128;
		kit_generation(m, 1);
	}
	m->is.addresses = m->addresses;
	m->is.service_flows = m->flows;
	m->is.classifiers = m->classifiers;
	return m;
}

static struct ip_address address_of(uint8_t address) {
	if (address < KIT_IPV4)
		return (struct ip_address){4, {10, 0, 0, address}};
	return (struct ip_address){6, {0x20, 1, 0x0d, 0xb8, [15] = address}};
}

void kit_address(struct kit_modem *m, uint8_t address) {
	m->addresses[m->is.address_count++] = address_of(address);
}

void kit_lose_address(struct kit_modem *m, uint8_t address) {
	const struct ip_address a = address_of(address);
	size_t kept = 0;

	for (size_t i = 0; i < m->is.address_count; i++) {
		if (memcmp(&m->addresses[i], &a, sizeof(a)) != 0)
			m->addresses[kept++] = m->addresses[i];
	}
	assert_int_equal(kept + 1, m->is.address_count);
	m->is.address_count = kept;
}

void kit_flow(struct kit_modem *m, uint32_t id, uint32_t bonding_group) {
	struct service_flow *f = &m->flows[m->is.service_flow_count++];

	*f = kit->loaded.modems[0].service_flows[0];
	f->id = id;
	f->bonding_group = bonding_group;
	f->has_dsid = true;
	f->dsid = 0x100 + id;
	f->priority = id % 8;
}

void kit_lose_flow(struct kit_modem *m, uint32_t id) {
	size_t kept = 0;

	for (size_t i = 0; i < m->is.service_flow_count; i++) {
		if (m->flows[i].id != id)
			m->flows[kept++] = m->flows[i];
	}
	assert_int_equal(kept + 1, m->is.service_flow_count);
	m->is.service_flow_count = kept;
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

void kit_classifier(struct kit_modem *m, uint16_t port, uint32_t flow) {
	m->classifiers[m->is.classifier_count++] = (struct classifier){match_of(port), flow};
}

void kit_rule(struct kit_filter *f, uint16_t port, enum filter_action action) {
	f->rules[f->is.rule_count++] = (struct filter_rule){match_of(port), action};
}

void kit_generation(struct kit_modem *m, uint8_t sequence) {
	struct security_association *sa = &m->is.security;

	sa->key_sequence = sequence;
	for (uint8_t i = 0; i < 16; i++) {
		sa->key[i] = (uint8_t)(sa->said * 16 + sequence + i);
		sa->iv[i] = (uint8_t)(sa->said + sequence * 7 + i);
	}
}
