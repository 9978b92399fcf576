/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow model of the upstream scheduler after docs/upstream-scheduler.md: each MAP round
 * visits everything, lists are arrays, all buckets are filled. It does not admit: its flows have been
 * admitted, with unsolicited grants and polls on one channel only. */
#pragma once

#include "scheduler/maps/maps.h"

#define MODEL_FLOWS 48
#define MODEL_CHANNELS 6
#define MODEL_GROUPS 64 /* 6 channels have 63 sets of channels */
#define MODEL_LEVELS 9 /* priorities, and above them the reserved queue */

enum model_state { MODEL_UNUSED, MODEL_IDLE, MODEL_READY, MODEL_PARKED };

enum model_rate { MODEL_SUSTAINED, MODEL_PEAK, MODEL_RESERVED, MODEL_RATES };

struct model_bucket {
	__int128 tokens, depth; /* bits times samples */
	uint64_t rate;
};

struct model_grant {
	uint32_t bytes, minislots;
	int order; /* in the MAP, from 1; 0: no grant */
};

struct model_flow {
	enum model_state state;
	struct maps_flow set;
	uint16_t sids[MAPS_MAX_CLUSTERS][MODEL_CHANNELS];
	uint32_t masks[MAPS_MAX_CLUSTERS]; /* channels, per cluster */
	int groups[MAPS_MAX_CLUSTERS]; /* indices, per cluster */
	uint32_t owed[MAPS_MAX_CLUSTERS]; /* bytes, per cluster */
	uint32_t cluster; /* index of the SID cluster that is served */
	uint32_t credit; /* bytes left of its quantum; 0: none begun */
	bool in_reserved;
	/* samples: when its rates, and its reserved rate, admit data again; 0: not set */
	uint64_t parked_until, reserved_at;
	struct model_bucket rates[MODEL_RATES];
	uint64_t next; /* nominal time of the next unsolicited grant or poll */
	uint64_t used; /* UGS-AD: time of the latest data or request */
	uint32_t service_channel; /* of unsolicited grants and polls */
	uint32_t request_channel; /* of the latest request; preferred for pending grants */
	uint32_t latest; /* channel of the latest grant in this MAP round, if `granted` */
	bool silent; /* UGS-AD without data */
	bool granted; /* in this MAP round */
	struct model_grant grants[MAPS_MAX_CLUSTERS][MODEL_CHANNELS]; /* of this MAP round */
};

struct model_list {
	int count, left; /* flows; those not served yet in the list's round */
	uint64_t round; /* of the round robin, not a MAP round */
	int flows[MODEL_FLOWS];
};

/* The flows whose current SID cluster uses the same set of channels. */
struct model_group {
	uint32_t mask, users; /* channels; SID clusters with these channels */
	int current; /* channel of the MAP round's new grants; -1: none yet */
	struct model_list lists[MODEL_LEVELS], parked;
};

enum model_kind { MODEL_STATION, MODEL_POLL, MODEL_UNSOLICITED, MODEL_DATA };

struct model_item {
	enum model_kind kind;
	uint16_t sid;
	uint32_t minislots, bytes, header; /* bytes: data without the segment header */
	int64_t from, until; /* pinned: earliest and latest start, minislots from the MAP's first */
};

struct model_channel {
	struct maps_channel set;
	uint32_t frames, minislots, elements, length; /* per MAP; length in samples */
	uint32_t unit; /* minislots per request opportunity */
	uint64_t number; /* of the next MAP */
	uint64_t initial_at; /* samples: when initial maintenance is due */
	uint64_t acked; /* ack time of the latest MAP, samples; older requests count as late */
	uint32_t contenders; /* sixteenths of a modem: estimate of the modems that contend */
	uint32_t contended_requests, collided; /* since the latest MAP */
	uint16_t stations[256]; /* SIDs of queued station maintenance */
	int station_count;
	uint32_t free, slots; /* minislots and elements that are free */
	/* minislots of initial maintenance and of the guaranteed request region */
	uint32_t initial, requests;
	/* extra minislots that splitting data grants around pinned grants may cost */
	uint32_t kept;
	struct model_item front[512], pinned[512], data[512];
	int front_count, pinned_count, data_count, pending_count;
	uint16_t pending[512]; /* SIDs of pending grants */
	bool open; /* for new grants */
	bool made; /* in this MAP round, and not written yet */
};

struct model {
	struct model_flow flows[MODEL_FLOWS];
	struct model_channel channels[MODEL_CHANNELS];
	struct model_group groups[MODEL_GROUPS];
	uint64_t served[MODEL_LEVELS]; /* round of the group served last, per level */
	uint32_t channel_count, flow_bytes;
	uint64_t start, now;
	bool started;
	uint64_t verdicts[MAPS_VERDICTS]; /* of requests; the caller counts them */
	/* as in struct maps_counts */
	uint64_t requested, granted, unsolicited, forgotten, late, late_requests, missed, belated,
		collisions;
	uint32_t rounds;
};

/* Contracts and results as in maps.h, in this order: maps_create(), maps_set_flow(), maps_request(),
 * maps_data_received(), maps_report_collisions(), maps_queue_station(), maps_make(). The model refuses no flow: set
 * only flows that maps_set_flow() has accepted, with indices below MODEL_FLOWS. */
void model_create(struct model *m, const struct maps_config *config);
void model_set_flow(struct model *m, uint32_t flow, const struct maps_flow *settings, uint64_t now);
enum maps_verdict model_request(struct model *m, const struct maps_request *r, uint64_t now);
void model_used(struct model *m, uint32_t flow, uint64_t now);
void model_collisions(struct model *m, uint32_t channel, uint32_t lost);
bool model_station(struct model *m, uint32_t channel, uint16_t sid);
/* writes one MAP; returns the index of its channel, or MAPS_NONE if no MAP is due */
uint32_t model_make(struct model *m, uint64_t now, struct map *out);

/* For the files of the model. */
uint32_t model_minislots(const struct model_channel *c, uint32_t bytes); /* with burst overhead */
void model_join(struct model *m, int flow, int level); /* adds it to a list */
void model_leave_lists(struct model *m, int flow); /* out of all lists */
void model_ready(struct model *m, int flow); /* adds it to its lists */
void model_charge(struct model_flow *f, uint32_t bytes); /* granted on request */
void model_next_cluster(struct model *m, int flow); /* when its cluster is owed nothing */
bool model_has_slots(const struct model_channel *c); /* for new grants */
/* takes minislots, and opens or closes the channel for new grants */
void model_use_minislots(struct model_channel *c, uint32_t minislots);
/* when the MAP of its next grant or poll is due; UINT64_MAX: never */
uint64_t model_service_time(const struct model *m, int flow);
void model_service(struct model *m, int flow); /* adds its grants and polls of the present MAP */
void model_open_map(struct model *m, struct model_channel *c); /* starts a MAP */
/* when MAP `number` is due, samples */
uint64_t model_due(const struct model *m, const struct model_channel *c, uint64_t number);
uint32_t model_owed(const struct model_flow *f); /* bytes, all clusters */
void model_share(struct model *m); /* grants data */
void model_add_pending(struct model *m);
void model_write(struct model *m, struct model_channel *c, struct map *out); /* lays the MAP out */
