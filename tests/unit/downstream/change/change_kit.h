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

/* EAL and a group of two channels, two bonding groups, one filter group and three modems; nothing is left of
 * it afterwards. */
void kit_open(enum filter_action filter_default);
void kit_close(void);

/* The same with packets permitted that no rule matches, in the form that cmocka takes. */
int kit_start(void **state);
int kit_stop(void **state);

/* What is to be in the place, to be altered: what is there, or something new; a modem of this number. */
struct modem *kit_modem(uint32_t slot, uint8_t number);
struct filter_group *kit_filter(uint32_t slot);
struct bonding_group *kit_bonding(uint32_t slot);
struct channel *kit_channel(uint32_t slot);
struct service_group *kit_values(void); /* rate_limit and cpe_timeout_ns */
void kit_remove(enum live_object object, uint32_t slot);

bool kit_has(const struct modem *m, uint8_t address);
void kit_address(struct modem *m, uint8_t address);
void kit_lose_address(struct modem *m, uint8_t address);
/* A flow with this SFID on the bonding group in that place, the last of the modem's; SFIDs from 1 to 99. */
void kit_flow(struct modem *m, uint32_t id, uint32_t bonding_group);
void kit_lose_flow(struct modem *m, uint32_t id);
/* The port's packets go to the modem's flow with the index. */
void kit_classifier(struct modem *m, uint16_t port, uint32_t flow);
void kit_rule(struct filter_group *f, uint16_t port, enum filter_action action);
/* Key and IV, which follow from SAID and key sequence number. */
void kit_generation(struct security_association *sa, uint8_t sequence);

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

/* Of the kit itself: objects of a group that has none, a copy, one of them. */
void kit_objects_begin(struct kit_objects *o, const struct service_group *loaded);
void kit_objects_copy(struct kit_objects *to, const struct kit_objects *from);
void *kit_object(struct kit_objects *o, enum live_object object, uint32_t slot);
/* Notes whose flows the numbers are; those that close have theirs until then. */
void kit_flows_note(bool closed);
/* Readers for the channels that have come; those of channels that are gone end. */
void kit_readers_change(void);
void kit_readers_end(void);
