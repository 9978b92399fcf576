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

#define RIG_MODEMS 10
#define RIG_CHANNELS 6
#define RIG_GROUPS 5
#define RIG_FILTERS 5
#define RIG_FLOWS 30
#define RIG_IPV4 40
#define RIG_IPV6 20
#define RIG_ADDRESSES 60 /* from RIG_IPV4 on of IPv6 */
#define RIG_SENT 400000
#define RIG_BACK 2048 /* frames on their way back */
#define RIG_CHANGES 64

/* Where one modem's lists stand. */
struct rig_modem {
	struct modem is; /* the first */
	struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
	struct service_flow flows[8];
	struct classifier classifiers[8];
};

struct rig_filter {
	struct filter_group is;
	struct filter_rule rules[8];
};

struct rig_bonding {
	struct bonding_group is;
	uint32_t channels[RIG_CHANNELS];
};

/* What becomes of a packet. */
struct rig_outcome {
	enum drop_reason reason; /* DROP_NONE: it is queued */
	uint32_t modem; /* its place */
	uint32_t flow; /* SFID */
};

struct change_rig {
	struct service_group loaded, sg; /* `sg` is what is in service */
	struct group_room room;
	struct channel channels[RIG_CHANNELS];
	struct bonding_group groups[RIG_GROUPS];
	struct filter_group filters[RIG_FILTERS];
	struct modem modems[RIG_MODEMS];
	/* By place: what `sg` has of it. */
	void *blocks[LIVE_OBJECTS][RIG_MODEMS];
	void *schedules[RIG_MODEMS];
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	struct rte_mempool *packets, *headers, *fragments;
	struct rte_ring *in, *out;
	struct clock clock;
	struct downstream *d;
	struct random random;

	/* The change in hand. */
	struct live_changes changes;
	struct live_change list[RIG_CHANGES];
	void *next_schedules[RIG_CHANGES];
	struct ds_change *change;
	bool either; /* some packets go by what was, some by what is to be */
	char why[LIVE_LINE];

	uint32_t flow_ids[RIG_FLOWS]; /* SFIDs by number; 0: nobody's, or a flow's that comes */
	uint32_t serial;
	struct rig_sent {
		uint32_t flow;
		uint8_t modem; /* number in its MAC address */
		bool back;
	} sent[RIG_SENT];
	uint64_t queued, back;
	uint16_t last_sequence; /* of the frame that came last */
	uint64_t
		other_generations; /* frames under the key that is not the present one of the list */
	struct depi_reader readers[RIG_CHANNELS];
	uint64_t frames_of[RIG_CHANNELS];
};

extern struct change_rig *rig;

/* EAL and a group of two channels, two bonding groups, one filter group and three modems; nothing is left of
 * it afterwards. */
void rig_open(void);
void rig_close(void);

/* A copy of what is in the place, or something new of this number, to be altered; for rig_will(). */
struct rig_modem *rig_modem(uint32_t slot, uint8_t number);
struct rig_filter *rig_filter(uint32_t slot);
struct rig_bonding *rig_bonding(uint32_t slot);
struct channel *rig_channel(uint32_t slot);

void rig_address(struct rig_modem *m, uint8_t address);
void rig_lose_address(struct rig_modem *m, uint8_t address);
/* A flow with this SFID on the bonding group in that place, the last of the modem's; SFIDs from 1 to 99. */
void rig_flow(struct rig_modem *m, uint32_t id, uint32_t bonding_group);
void rig_lose_flow(struct rig_modem *m, uint32_t id);
/* The port's packets go to the modem's flow with the index. */
void rig_classifier(struct rig_modem *m, uint16_t port, uint32_t flow);
void rig_rule(struct rig_filter *f, uint16_t port, enum filter_action action);
void rig_generation(struct rig_modem *m, uint8_t sequence);

/* An object is to be `block`, or goes (NULL). Sessions are made where one is needed. */
void rig_will(enum live_object object, uint32_t slot, void *block);

/* The list is prepared. Returns whether it can be; else it is dropped, and rig->why tells. */
bool rig_begin(void);
/* Taken over by the upper MAC; `between` (or NULL) is called between steps. */
void rig_take(void (*between)(void));
/* And all that follows, up to its end, with packets between. `drain`: what waits may go out first. */
void rig_finish(bool drain);
/* All of it, which has to be good. */
void rig_change(void);
/* Instead of rig_take(). */
void rig_abandon(void);

/* A packet goes in. Returns why it is dropped, or DROP_NONE, and the packet, which may be read only then. */
enum drop_reason rig_put(uint8_t address, uint16_t port, struct rte_mbuf **m);
/* A packet goes in, and is held against the configuration. Returns what became of it. */
struct rig_outcome rig_send(uint8_t address, uint16_t port);
/* One of each of the addresses, to one of a few ports. */
void rig_send_all(void);
/* What the configuration says. */
struct rig_outcome rig_outcome(bool next, uint8_t address, uint16_t port);
/* The next round of what takes packets out; nothing of it waits for the reader afterwards. */
void rig_round(void);
/* Rounds until nothing is held. */
void rig_settle(void);
