/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow model of the upstream scheduler after docs/upstream-scheduler.md: each round visits
 * everything, lists are arrays, all buckets are filled. It does not admit: its flows have been
 * admitted, with unsolicited grants and polls on one channel only. */
#pragma once

#include "scheduler/maps/maps.h"

#define MODEL_FLOWS 48
#define MODEL_CHANNELS 6
#define MODEL_SETS 64
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
	int sets[MAPS_MAX_CLUSTERS]; /* indices of the sets of channels */
	uint32_t owed[MAPS_MAX_CLUSTERS]; /* bytes, per cluster */
	uint32_t cluster, credit; /* present one; bytes left in this round */
	bool in_reserved;
	uint64_t parked_until, reserved_at; /* timers; 0: not set */
	struct model_bucket rates[MODEL_RATES];
	uint64_t next, used; /* times: of the next grant or poll, of the latest data */
	uint32_t service_channel, request_channel, latest;
	bool silent, granted; /* UGS-AD without data; granted in this round */
	struct model_grant grants[MAPS_MAX_CLUSTERS][MODEL_CHANNELS]; /* of this round */
};

struct model_list {
	int count, left; /* flows; those left in this round */
	uint64_t round;
	int flows[MODEL_FLOWS];
};

struct model_set {
	uint32_t mask, users; /* channels; SID clusters with these channels */
	int current; /* channel of the round's new grants; -1: none yet */
	struct model_list lists[MODEL_LEVELS], parked;
};

enum model_kind { MODEL_STATION, MODEL_POLL, MODEL_UNSOLICITED, MODEL_DATA };

struct model_item {
	enum model_kind kind;
	uint16_t sid;
	uint32_t minislots, bytes, header;
	int64_t from, until; /* minislots, of pinned items */
};

struct model_channel {
	struct maps_channel set;
	uint32_t frames, minislots, elements, length, unit; /* per MAP; request */
	uint64_t number, initial_at; /* next MAP; time of its initial maintenance */
	uint64_t acked; /* requests before this time are late */
	uint32_t contenders, contended_requests, collided; /* an estimate; since the latest MAP */
	uint16_t stations[256];
	int station_count;
	uint32_t free, slots, initial, requests, kept; /* minislots; slots: free elements */
	struct model_item front[512], pinned[512], data[512];
	int front_count, pinned_count, data_count, pending_count;
	uint16_t pending[512];
	bool open, made; /* for new grants; in this round */
};

struct model {
	struct model_flow flows[MODEL_FLOWS];
	struct model_channel channels[MODEL_CHANNELS];
	struct model_set sets[MODEL_SETS];
	uint64_t served[MODEL_LEVELS]; /* latest round per level */
	uint32_t channel_count, flow_bytes;
	uint64_t start, now;
	bool started;
	uint64_t verdicts[MAPS_VERDICTS];
	uint64_t requested, granted, unsolicited, forgotten, late, late_requests, missed, belated,
		collisions;
	uint32_t rounds;
};

void model_create(struct model *m, const struct maps_config *config);
void model_set_flow(struct model *m, uint32_t flow, const struct maps_flow *settings, uint64_t now);
enum maps_verdict model_request(struct model *m, const struct maps_request *r, uint64_t now);
void model_used(struct model *m, uint32_t flow, uint64_t now);
void model_collisions(struct model *m, uint32_t channel, uint32_t lost);
bool model_station(struct model *m, uint32_t channel, uint16_t sid);
uint32_t model_make(struct model *m, uint64_t now, struct map *out);

/* For the files of the model. */
uint32_t model_minislots(const struct model_channel *c, uint32_t bytes); /* with burst overhead */
void model_join(struct model *m, int flow, int level); /* adds it to a list */
void model_leave_lists(struct model *m, int flow); /* out of all lists */
void model_ready(struct model *m, int flow); /* adds it to its lists */
void model_charge(struct model_flow *f, uint32_t bytes); /* granted on request */
void model_next_cluster(struct model *m, int flow); /* when its cluster is owed nothing */
bool model_has_slots(const struct model_channel *c); /* for new grants */
void model_use_minislots(struct model_channel *c, uint32_t minislots);
uint64_t model_service_time(const struct model *m, int flow); /* of its next grant or poll */
void model_service(struct model *m, int flow); /* adds what is due */
void model_open_map(struct model *m, struct model_channel *c); /* starts a MAP */
uint64_t model_due(const struct model *m, const struct model_channel *c, uint64_t number);
uint32_t model_owed(const struct model_flow *f);
void model_share(struct model *m); /* grants data */
void model_add_pending(struct model *m);
void model_write(struct model *m, struct model_channel *c, struct map *out); /* lays the MAP out */
