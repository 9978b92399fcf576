/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test kit: a downstream between two rings that is changed while packets pass. A test edits the
 * desired objects (`kit->next`), and the kit lists the changes and applies them. The kit checks
 * each packet against the configuration, and each transmitted frame against its packet. Modems,
 * service flows and addresses have numbers that determine their other values.
 */
#pragma once

#include "crypto/providers.h"
#include "downstream/change/change.h"
#include "downstream/downstream.h"

#include "depi_reader.h"
#include "random.h"
#include "test.h"

#define KIT_MODEMS 10 /* also the largest number of slots of any kind */
#define KIT_CHANNELS 6
#define KIT_BONDING_GROUPS 5
#define KIT_FILTER_GROUPS 5
#define KIT_FLOWS 30
#define KIT_IPV4 40
#define KIT_IPV6 20
#define KIT_ADDRESSES 60 /* numbers from KIT_IPV4 are IPv6 addresses */
#define KIT_MAX_PACKETS 400000
#define KIT_OUT_RING 2048 /* frames in the output ring */
#define KIT_MAX_CHANGES 64

/* A group's objects by slot, and the lists to which they point. */
struct kit_objects {
	struct service_group sg;
	bool exists[LIVE_OBJECTS][KIT_MODEMS];
	struct channel channels[KIT_CHANNELS];
	struct bonding_group groups[KIT_BONDING_GROUPS];
	uint32_t group_channels[KIT_BONDING_GROUPS][KIT_CHANNELS];
	struct filter_group filters[KIT_FILTER_GROUPS];
	struct filter_rule rules[KIT_FILTER_GROUPS][8];
	struct modem modems[KIT_MODEMS];
	struct kit_lists {
		struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
		struct service_flow flows[8];
		struct classifier classifiers[8];
	} modem_lists[KIT_MODEMS];
};

/* What must happen to a packet. */
struct kit_expectation {
	enum drop_reason reason; /* DROP_NONE: queued */
	uint32_t modem; /* slot */
	uint32_t flow; /* SFID */
	enum counter filtered, classified; /* counters that count it */
};

/* A change in progress. To make another one meanwhile, a test saves and restores it. */
struct kit_change_state {
	struct live_changes changes;
	struct live_change list[KIT_MAX_CHANGES];
	void *schedules[KIT_MAX_CHANGES]; /* new key schedules of modems, by position in `list` */
	struct ds_change *change;
};

struct change_kit {
	struct service_group loaded;
	struct kit_objects now; /* in service */
	struct kit_objects next; /* desired; edited by the functions below */
	bool edited[LIVE_OBJECTS][KIT_MODEMS]; /* in `next`, since the latest list */
	bool modems_removed_first; /* list removals of modems before all else */
	void *schedules[KIT_MODEMS];
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	struct rte_mempool *packets, *headers, *fragments;
	struct rte_ring *in, *out;
	struct clock clock;
	struct downstream *d;
	struct random random;

	struct kit_change_state current;
	bool applying; /* packets may follow `now` or `next` */
	char why[LIVE_LINE];

	uint32_t flow_ids[KIT_FLOWS]; /* SFIDs by flow number; 0: unused, or being added */
	uint32_t serial;
	struct kit_sent {
		uint32_t flow;
		uint8_t modem; /* number, as in its MAC address */
		uint8_t address;
		uint16_t port;
		bool received;
	} sent[KIT_MAX_PACKETS];
	uint64_t queued, received; /* packets, frames */
	uint16_t last_sequence; /* packet sequence number of the latest frame */
	struct depi_reader readers[KIT_CHANNELS];
	uint64_t frame_count[KIT_CHANNELS];
};

extern struct change_kit *kit;

/* Lets the objects point to their own lists. */
static inline void set_list_pointers(struct kit_objects *o) {
	o->sg.channels = o->channels;
	o->sg.bonding_groups = o->groups;
	o->sg.filter_groups = o->filters;
	o->sg.modems = o->modems;
	for (uint32_t g = 0; g < KIT_BONDING_GROUPS; g++)
		o->groups[g].channels = o->group_channels[g];
	for (uint32_t f = 0; f < KIT_FILTER_GROUPS; f++)
		o->filters[f].rules = o->rules[f];
	for (uint32_t m = 0; m < KIT_MODEMS; m++) {
		o->modems[m].addresses = o->modem_lists[m].addresses;
		o->modems[m].service_flows = o->modem_lists[m].flows;
		o->modems[m].classifiers = o->modem_lists[m].classifiers;
	}
}

/* Initialize, copy, and find objects. */
static inline void kit_init_objects(struct kit_objects *o, const struct service_group *loaded) {
	o->sg = *loaded;
	o->sg.channel_count = KIT_CHANNELS;
	o->sg.bonding_group_count = KIT_BONDING_GROUPS;
	o->sg.filter_group_count = KIT_FILTER_GROUPS;
	o->sg.modem_count = KIT_MODEMS;
	for (uint32_t f = 0; f < KIT_FILTER_GROUPS; f++)
		o->filters[f].id = LIVE_FREE_ID;
	set_list_pointers(o);
}

static inline void kit_copy_objects(struct kit_objects *to, const struct kit_objects *from) {
	*to = *from;
	set_list_pointers(to);
}

static inline void *kit_find_object(struct kit_objects *o, enum live_object object, uint32_t slot) {
	switch (object) {
	case LIVE_GROUP: return &o->sg;
	case LIVE_CHANNEL: return &o->channels[slot];
	case LIVE_BONDING_GROUP: return &o->groups[slot];
	case LIVE_FILTER_GROUP: return &o->filters[slot];
	default: return &o->modems[slot];
	}
}

/* Marks an object as edited. Returns whether it is new. */
static inline bool mark_edited(enum live_object object, uint32_t slot) {
	bool exists = kit->next.exists[object][slot];

	kit->edited[object][slot] = true;
	kit->next.exists[object][slot] = true;
	return !exists;
}

static inline void kit_remove(enum live_object object, uint32_t slot) {
	static const size_t sizes[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = sizeof(struct channel),
		[LIVE_BONDING_GROUP] = sizeof(struct bonding_group),
		[LIVE_FILTER_GROUP] = sizeof(struct filter_group),
		[LIVE_MODEM] = sizeof(struct modem),
	};

	memset(kit_find_object(&kit->next, object, slot), 0, sizes[object]);
	if (object == LIVE_FILTER_GROUP)
		kit->next.filters[slot].id = LIVE_FREE_ID;
	set_list_pointers(&kit->next);
	kit->next.exists[object][slot] = false;
	kit->edited[object][slot] = true;
}

/* Each returns the desired object of the slot for editing; it is created if the slot is free. Of
 * the group, only rate_limit and cpe_timeout_ns may be edited. */
static inline struct service_group *kit_edit_group(void) {
	mark_edited(LIVE_GROUP, 0);
	return &kit->next.sg;
}

static inline struct channel *kit_edit_channel(uint32_t slot) {
	struct channel *c = &kit->next.channels[slot];

	if (mark_edited(LIVE_CHANNEL, slot)) {
		*c = kit->loaded.channels[0];
		c->id = slot + 1;
		c->session = 0x100 + slot;
	}
	return c;
}

static inline struct bonding_group *kit_edit_bonding_group(uint32_t slot) {
	struct bonding_group *g = &kit->next.groups[slot];

	if (mark_edited(LIVE_BONDING_GROUP, slot)) {
		g->id = slot + 1;
		g->channel_count = 2;
		g->channels[0] = 0;
		g->channels[1] = 1;
	}
	return g;
}

static inline struct filter_group *kit_edit_filter_group(uint32_t slot) {
	struct filter_group *f = &kit->next.filters[slot];

	if (mark_edited(LIVE_FILTER_GROUP, slot))
		f->id = slot + 1;
	return f;
}

/* Sets key and IV, derived from SAID and key sequence number. */
static inline void kit_set_key(struct security_association *sa, uint8_t sequence) {
	sa->key_sequence = sequence;
	for (uint8_t i = 0; i < 16; i++) {
		sa->key[i] = (uint8_t)(sa->said * 16 + sequence + i);
		sa->iv[i] = (uint8_t)(sa->said + sequence * 7 + i);
	}
}

/* A new modem gets this number. */
static inline struct modem *kit_edit_modem(uint32_t slot, uint8_t number) {
	struct modem *m = &kit->next.modems[slot];

	if (mark_edited(LIVE_MODEM, slot)) {
		memcpy(m->mac, (const uint8_t[]){2, 1, 0, 0, 0, number}, 6);
		m->cpe_limit = m->cpe_limit_ipv6 = SG_MAX_MODEM_ADDRESSES;
		m->security.said = (uint16_t)(100 + number);
		m->security.cipher = CIPHER_AES_128;
		kit_set_key(&m->security, 1);
	}
	return m;
}

static inline bool kit_has_address(const struct modem *m, uint8_t address) {
	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] == address)
			return true;
	}
	return false;
}

static inline void kit_add_address(struct modem *m, uint8_t address) {
	m->addresses[m->address_count++] =
		address < KIT_IPV4 ? (struct ip_address){4, {10, 0, 0, address}}
				   : (struct ip_address){6, {0x20, 1, 0x0d, 0xb8, [15] = address}};
}

static inline void kit_remove_address(struct modem *m, uint8_t address) {
	size_t kept = 0;

	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] != address)
			m->addresses[kept++] = m->addresses[i];
	}
	assert_int_equal(kept + 1, m->address_count);
	m->address_count = kept;
}

/* Appends a flow with SFID `id`, 1 to 99, on the bonding group in this slot. */
static inline void kit_add_flow(struct modem *m, uint32_t id, uint32_t bonding_group) {
	struct service_flow *f = &m->service_flows[m->service_flow_count++];

	*f = kit->loaded.modems[0].service_flows[0];
	f->id = id;
	f->bonding_group = bonding_group;
	f->has_dsid = true;
	f->dsid = 0x100 + id;
	f->priority = id % 8;
}

static inline void kit_remove_flow(struct modem *m, uint32_t id) {
	size_t kept = 0;

	for (size_t i = 0; i < m->service_flow_count; i++) {
		if (m->service_flows[i].id != id)
			m->service_flows[kept++] = m->service_flows[i];
	}
	assert_int_equal(kept + 1, m->service_flow_count);
	m->service_flow_count = kept;
}

/* Matches UDP over IPv4 to the port. */
static inline struct match match_port(uint16_t port) {
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

/* Classifies packets to the port to the modem's flow with index `flow`. */
static inline void kit_add_classifier(struct modem *m, uint16_t port, uint32_t flow) {
	m->classifiers[m->classifier_count++] = (struct classifier){match_port(port), flow};
}

static inline void kit_add_rule(struct filter_group *f, uint16_t port, enum filter_action action) {
	f->rules[f->rule_count++] = (struct filter_rule){match_port(port), action};
}

/* Starts EAL once, and opens a group with two channels, two bonding groups, a filter group and
 * three modems: number i in slot i, with addresses i and KIT_IPV4 + i, and SFID i + 1. kit_close() checks that
 * nothing leaks. */
void kit_open(enum filter_action filter_default);
void kit_close(void);

/* Open and close it with filter default permit, for EACH_TEST(). */
int kit_setup(void **state);
int kit_teardown(void **state);

/* Appends a change to the list, and creates the key schedule of a new modem or key. */
void kit_add_change(enum live_object object, uint32_t slot, const void *next);
/* Appends all edited objects to the list. */
void kit_list_changes(void);
/* Lists all edited objects and prepares the change. If it is refused, discards the edits and
 * returns false with the reason in kit->why. */
bool kit_prepare(void);
/* Applies the change in the upper MAC. Calls `between`, if not NULL, between steps. */
void kit_apply(void (*between)(void));
/* Completes the change after kit_apply(), and runs rounds meanwhile. With `drain`, waits for queued
 * packets of removed flows. */
void kit_finish(bool drain);
/* Prepares, applies and completes a change that must be accepted. */
void kit_change(void);
/* Ends a prepared change without effect. */
void kit_abandon(void);

/* Enqueues a packet. Returns its drop reason, or DROP_NONE; only then `*m` may be read. */
enum drop_reason kit_enqueue(uint8_t address, uint16_t port, struct rte_mbuf **m);
/* Enqueues a packet and checks its result against the configuration. Returns the result. */
struct kit_expectation kit_send(uint8_t address, uint16_t port);
/* Sends a packet to each address, with a random port of a few. */
void kit_send_all(void);
/* Runs a round of dequeue and lower MAC, reads all transmitted frames, and advances the clock by 20 us. */
void kit_round(void);
/* Runs rounds until no packet is pending. */
void kit_settle(void);
/* Number of packets dropped because their flow was removed. */
uint64_t kit_count_removed(void);

/* Internal: records the SFIDs of flow numbers. Removed flows keep theirs until `closed` is true. */
void kit_record_flows(bool closed);
/* Internal: open readers of added channels; close those of removed channels. */
void kit_open_readers(void);
void kit_close_readers(void);
