/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A downstream of its own between two rings, in a group with room, that is changed while packets pass. Each packet
 * is held against what the configuration says of it, and each frame against the packet. Modems, service
 * flows and addresses are numbers, from which all else follows.
 */
#pragma once

#include "crypto/providers.h"
#include "downstream/change/change.h"
#include "downstream/downstream.h"

#include "depi_reader.h"
#include "random.h"

#define KIT_MODEMS 10
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

/* Where one modem's lists stand. */
struct kit_modem {
	struct modem is; /* the first */
	struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
	struct service_flow flows[8];
	struct classifier classifiers[8];
};

struct kit_filter {
	struct filter_group is;
	struct filter_rule rules[8];
};

struct kit_bonding {
	struct bonding_group is;
	uint32_t channels[KIT_CHANNELS];
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
	struct service_group loaded, sg; /* `sg` is what is in service */
	struct channel channels[KIT_CHANNELS];
	struct bonding_group groups[KIT_GROUPS];
	struct filter_group filters[KIT_FILTERS];
	struct modem modems[KIT_MODEMS];
	/* By place: what `sg` has of it, the object itself standing first. */
	void *blocks[LIVE_OBJECTS][KIT_MODEMS];
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

/* A copy of what is in the place, or something new of this number, to be altered; for kit_will(). */
struct kit_modem *kit_modem(uint32_t slot, uint8_t number);
struct kit_filter *kit_filter(uint32_t slot);
struct kit_bonding *kit_bonding(uint32_t slot);
struct channel *kit_channel(uint32_t slot);

void kit_address(struct kit_modem *m, uint8_t address);
void kit_lose_address(struct kit_modem *m, uint8_t address);
/* A flow with this SFID on the bonding group in that place, the last of the modem's; SFIDs from 1 to 99. */
void kit_flow(struct kit_modem *m, uint32_t id, uint32_t bonding_group);
void kit_lose_flow(struct kit_modem *m, uint32_t id);
/* The port's packets go to the modem's flow with the index. */
void kit_classifier(struct kit_modem *m, uint16_t port, uint32_t flow);
void kit_rule(struct kit_filter *f, uint16_t port, enum filter_action action);
void kit_generation(struct kit_modem *m, uint8_t sequence);

/* An object is to be `block`, or goes (NULL). Sessions are made where one is needed. */
void kit_will(enum live_object object, uint32_t slot, void *block);

/* The list is prepared. Returns whether it can be; else it is dropped, and kit->why tells. */
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

/* Of the kit itself. Notes whose flows the numbers are; those that close have theirs until then. */
void kit_flows_note(bool closed);
/* Readers for the channels that have come; those of channels that are gone end. */
void kit_readers_change(void);
void kit_readers_end(void);
