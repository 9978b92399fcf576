/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A downstream of its own between two rings, in a group with room, that is changed while packets pass. A test alters what
 * is to be, and the kit makes a list of changes of it. Each packet is held against what the configuration says of it, and
 * each frame against the packet. Modems, service flows and addresses are numbers, from which all else follows.
 */
#pragma once

#include "crypto/providers.h"
#include "downstream/change/change.h"
#include "downstream/downstream.h"

#include "depi_reader.h"
#include "random.h"
#include "test.h"

#define KIT_MODEMS 10 /* the largest number of places of a kind */
#define KIT_CHANNELS 6
#define KIT_GROUPS 5
#define KIT_FILTERS 5
#define KIT_FLOWS 30
#define KIT_IPV4 40
#define KIT_IPV6 20
#define KIT_ADDRESSES 60 /* from KIT_IPV4 on of IPv6 */
#define KIT_SENT 400000
#define KIT_BACK 2048 /* frames on their way back */
#define KIT_CHANGES 64

/* A group's objects by place, and the lists to which they point. */
struct kit_objects {
	struct service_group sg;
	bool there[LIVE_OBJECTS][KIT_MODEMS];
	struct channel channels[KIT_CHANNELS];
	struct bonding_group groups[KIT_GROUPS];
	uint32_t group_channels[KIT_GROUPS][KIT_CHANNELS];
	struct filter_group filters[KIT_FILTERS];
	struct filter_rule rules[KIT_FILTERS][8];
	struct modem modems[KIT_MODEMS];
	struct kit_lists {
		struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
		struct service_flow flows[8];
		struct classifier classifiers[8];
	} of_modem[KIT_MODEMS];
};

/* What becomes of a packet. */
struct kit_outcome {
	enum drop_reason reason; /* DROP_NONE: it is queued */
	uint32_t modem; /* its place */
	uint32_t flow; /* SFID */
	enum counter filtered, classified; /* where it is counted */
};

/* The change in hand. A test that makes another one meanwhile puts it aside. */
struct kit_hand {
	struct live_changes changes;
	struct live_change list[KIT_CHANGES];
	void *schedules[KIT_CHANGES];
	struct ds_change *change;
};

struct change_kit {
	struct service_group loaded;
	struct kit_objects now; /* in service */
	struct kit_objects next; /* to be altered by what follows */
	bool touched[LIVE_OBJECTS][KIT_MODEMS]; /* in `next` */
	bool modems_go_first; /* in the list */
	void *schedules[KIT_MODEMS];
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	struct rte_mempool *packets, *headers, *fragments;
	struct rte_ring *in, *out;
	struct clock clock;
	struct downstream *d;
	struct random random;

	struct kit_hand hand;
	bool either; /* some packets go by what was, some by what is to be */
	char why[LIVE_LINE];

	uint32_t flow_ids[KIT_FLOWS]; /* SFIDs by number; 0: nobody's, or a flow's that comes */
	uint32_t serial;
	struct kit_sent {
		uint32_t flow;
		uint8_t modem; /* number in its MAC address */
		uint8_t address;
		uint16_t port;
		bool back;
	} sent[KIT_SENT];
	uint64_t queued, back;
	uint16_t last_sequence; /* of the frame that came last */
	struct depi_reader readers[KIT_CHANNELS];
	uint64_t frames_of[KIT_CHANNELS];
};

extern struct change_kit *kit;

/* Its lists are its own. */
static inline void point(struct kit_objects *o) {
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

/* Objects of a group that has none; a copy; one of them. */
static inline void kit_objects_begin(struct kit_objects *o, const struct service_group *loaded) {
	o->sg = *loaded;
	o->sg.channel_count = KIT_CHANNELS;
	o->sg.bonding_group_count = KIT_GROUPS;
	o->sg.filter_group_count = KIT_FILTERS;
	o->sg.modem_count = KIT_MODEMS;
	for (uint32_t f = 0; f < KIT_FILTERS; f++)
		o->filters[f].id = LIVE_FREE_ID;
	point(o);
}

static inline void kit_objects_copy(struct kit_objects *to, const struct kit_objects *from) {
	*to = *from;
	point(to);
}

static inline void *kit_object(struct kit_objects *o, enum live_object object, uint32_t slot) {
	switch (object) {
	case LIVE_GROUP: return &o->sg;
	case LIVE_CHANNEL: return &o->channels[slot];
	case LIVE_BONDING_GROUP: return &o->groups[slot];
	case LIVE_FILTER_GROUP: return &o->filters[slot];
	default: return &o->modems[slot];
	}
}

/* Returns whether it is to be made. */
static inline bool touch(enum live_object object, uint32_t slot) {
	bool there = kit->next.there[object][slot];

	kit->touched[object][slot] = true;
	kit->next.there[object][slot] = true;
	return !there;
}

static inline void kit_remove(enum live_object object, uint32_t slot) {
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

/* Each is what is to be in the place, to be altered: what is there, or something new. Of the group rate_limit and
 * cpe_timeout_ns may be. */
static inline struct service_group *kit_values(void) {
	touch(LIVE_GROUP, 0);
	return &kit->next.sg;
}

static inline struct channel *kit_channel(uint32_t slot) {
	struct channel *c = &kit->next.channels[slot];

	if (touch(LIVE_CHANNEL, slot)) {
		*c = kit->loaded.channels[0];
		c->id = slot + 1;
		c->session = 0x100 + slot;
	}
	return c;
}

static inline struct bonding_group *kit_bonding(uint32_t slot) {
	struct bonding_group *g = &kit->next.groups[slot];

	if (touch(LIVE_BONDING_GROUP, slot)) {
		g->id = slot + 1;
		g->channel_count = 2;
		g->channels[0] = 0;
		g->channels[1] = 1;
	}
	return g;
}

static inline struct filter_group *kit_filter(uint32_t slot) {
	struct filter_group *f = &kit->next.filters[slot];

	if (touch(LIVE_FILTER_GROUP, slot))
		f->id = slot + 1;
	return f;
}

/* Key and IV, which follow from SAID and key sequence number. */
static inline void kit_generation(struct security_association *sa, uint8_t sequence) {
	sa->key_sequence = sequence;
	for (uint8_t i = 0; i < 16; i++) {
		sa->key[i] = (uint8_t)(sa->said * 16 + sequence + i);
		sa->iv[i] = (uint8_t)(sa->said + sequence * 7 + i);
	}
}

/* If new, of this number. */
static inline struct modem *kit_modem(uint32_t slot, uint8_t number) {
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

static inline bool kit_has(const struct modem *m, uint8_t address) {
	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] == address)
			return true;
	}
	return false;
}

static inline void kit_address(struct modem *m, uint8_t address) {
	m->addresses[m->address_count++] =
		address < KIT_IPV4 ? (struct ip_address){4, {10, 0, 0, address}}
				   : (struct ip_address){6, {0x20, 1, 0x0d, 0xb8, [15] = address}};
}

static inline void kit_lose_address(struct modem *m, uint8_t address) {
	size_t kept = 0;

	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] != address)
			m->addresses[kept++] = m->addresses[i];
	}
	assert_int_equal(kept + 1, m->address_count);
	m->address_count = kept;
}

/* A flow with this SFID on the bonding group in that place, the last of the modem's; SFIDs from 1 to 99. */
static inline void kit_flow(struct modem *m, uint32_t id, uint32_t bonding_group) {
	struct service_flow *f = &m->service_flows[m->service_flow_count++];

	*f = kit->loaded.modems[0].service_flows[0];
	f->id = id;
	f->bonding_group = bonding_group;
	f->has_dsid = true;
	f->dsid = 0x100 + id;
	f->priority = id % 8;
}

static inline void kit_lose_flow(struct modem *m, uint32_t id) {
	size_t kept = 0;

	for (size_t i = 0; i < m->service_flow_count; i++) {
		if (m->service_flows[i].id != id)
			m->service_flows[kept++] = m->service_flows[i];
	}
	assert_int_equal(kept + 1, m->service_flow_count);
	m->service_flow_count = kept;
}

/* UDP over IPv4 to the port. */
static inline struct match match_of(uint16_t port) {
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

/* The port's packets go to the modem's flow with the index. */
static inline void kit_classifier(struct modem *m, uint16_t port, uint32_t flow) {
	m->classifiers[m->classifier_count++] = (struct classifier){match_of(port), flow};
}

static inline void kit_rule(struct filter_group *f, uint16_t port, enum filter_action action) {
	f->rules[f->rule_count++] = (struct filter_rule){match_of(port), action};
}

/* EAL and a group of two channels, two bonding groups, one filter group and three modems; nothing is left of
 * it afterwards. */
void kit_open(enum filter_action filter_default);
void kit_close(void);

/* The same with packets permitted that no rule matches, in the form that cmocka takes. */
int kit_start(void **state);
int kit_stop(void **state);

/* Puts a change into the list, and makes the session where one is needed. */
void kit_will(enum live_object object, uint32_t slot, const void *next);
/* Puts all that was altered into the list. */
void kit_list(void);
/* The same, and prepares it. Returns whether it can be; else it is dropped, and kit->why tells. */
bool kit_begin(void);
/* Taken over by the upper MAC; `between` (or NULL) is called between steps. */
void kit_take(void (*between)(void));
/* And all that follows, up to its end, with packets between. `drain`: what waits may go out first. */
void kit_finish(bool drain);
/* All of it, which has to be good. */
void kit_change(void);
/* Instead of kit_take(). */
void kit_abandon(void);

/* A packet goes in. Returns why it is dropped, or DROP_NONE, and the packet, which may be read only then. */
enum drop_reason kit_put(uint8_t address, uint16_t port, struct rte_mbuf **m);
/* A packet goes in, and is held against the configuration. Returns what became of it. */
struct kit_outcome kit_send(uint8_t address, uint16_t port);
/* One of each of the addresses, to one of a few ports. */
void kit_send_all(void);
/* The next round of what takes packets out; nothing of it waits for the reader afterwards. */
void kit_round(void);
/* Rounds until nothing is held. */
void kit_settle(void);
/* Packets of flows that were removed. */
uint64_t kit_removed(void);

/* Of the kit itself: notes whose flows the numbers are; those that close have theirs until then. */
void kit_flows_note(bool closed);
/* Readers for the channels that have come; those of channels that are gone end. */
void kit_readers_change(void);
void kit_readers_end(void);
