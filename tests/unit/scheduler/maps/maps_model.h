/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slow model of the upstream scheduler, written from docs/upstream-scheduler.md: everything is looked at in each
 * round, lists are arrays, buckets are filled whether anybody looks or not. It does not admit: flows that are
 * given to it have been admitted, and have unsolicited grants and polls on one channel only.
 */
#pragma once

#include "scheduler/maps/maps.h"

#define MODEL_FLOWS 48
#define MODEL_CHANNELS 6
#define MODEL_SETS 64
#define MODEL_LEVELS 9 /* priorities and, above them, what is reserved */

enum model_state { MODEL_UNUSED, MODEL_IDLE, MODEL_WAITS, MODEL_HELD };

enum model_rate { MODEL_SUSTAINED, MODEL_PEAK, MODEL_RESERVED, MODEL_RATES };

struct model_bucket {
	__int128 tokens, depth; /* bits times samples */
	uint64_t rate;
};

struct model_grant {
	uint32_t bytes, minislots;
	int order; /* in the MAP: when it was begun; 0: there is none */
};

struct model_flow {
	enum model_state state;
	struct maps_flow set;
	uint16_t sids[MAPS_MAX_CLUSTERS][MODEL_CHANNELS];
	uint32_t masks[MAPS_MAX_CLUSTERS];
	int sets[MAPS_MAX_CLUSTERS]; /* numbers of the sets of channels */
	uint32_t owed[MAPS_MAX_CLUSTERS];
	uint32_t cluster, credit;
	bool in_reserved;
	uint64_t held_until, reserved_at; /* timers; 0: none */
	struct model_bucket rates[MODEL_RATES];
	uint64_t next, used;
	uint32_t service_channel, heard, latest;
	bool silent, granted;
	struct model_grant grants[MAPS_MAX_CLUSTERS][MODEL_CHANNELS];
};

struct model_list {
	int count, left;
	uint64_t round;
	int flows[MODEL_FLOWS];
};

struct model_set {
	uint32_t mask, users;
	int current; /* channel of this round's new grants; -1: none yet */
	struct model_list lists[MODEL_LEVELS], held;
};

enum model_kind { MODEL_STATION, MODEL_POLL, MODEL_UNSOLICITED, MODEL_DATA };

struct model_item {
	enum model_kind kind;
	uint16_t sid;
	uint32_t minislots, bytes, header;
	int64_t from, until; /* of those with a time of their own */
};

struct model_channel {
	struct maps_channel set;
	uint32_t frames, minislots, elements, length, unit;
	uint64_t number, initial_at;
	uint64_t acked; /* requests before this time are late */
	uint32_t contenders, heard, collided;
	uint16_t stations[256];
	int station_count;
	uint32_t free, slots, initial, requests, kept;
	struct model_item front[512], pinned[512], data[512];
	int front_count, pinned_count, data_count, pending_count;
	uint16_t pending[512];
	bool open, made;
};

struct model {
	struct model_flow flows[MODEL_FLOWS];
	struct model_channel channels[MODEL_CHANNELS];
	struct model_set sets[MODEL_SETS];
	uint64_t served[MODEL_LEVELS];
	uint32_t channel_count, flow_bytes;
	uint64_t start, now;
	bool started;
	uint64_t verdicts[MAPS_VERDICTS];
	uint64_t asked, granted, unsolicited, forgotten, late, late_requests, missed, belated,
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

/* Between the files of the model. */
uint32_t model_minislots(const struct model_channel *c, uint32_t bytes); /* with burst */
void model_join(struct model *m, int flow, int level);
void model_rest(struct model *m, int flow); /* out of all lists */
void model_ready(struct model *m, int flow);
void model_take(struct model_flow *f, uint32_t bytes); /* granted on request */
void model_settle(struct model *m, int flow); /* where it is owed nothing in its cluster */
bool model_slots(const struct model_channel *c);
void model_use_minislots(struct model_channel *c, uint32_t minislots);
uint64_t model_service_at(const struct model *m,
			  int flow); /* when its next grant or poll is to be looked at */
void model_service(struct model *m, int flow);
void model_open(struct model *m, struct model_channel *c);
uint64_t model_due(const struct model *m, const struct model_channel *c, uint64_t number);
uint32_t model_owed(const struct model_flow *f);
void model_share(struct model *m);
void model_pending(struct model *m);
void model_write(struct model *m, struct model_channel *c, struct map *out);
