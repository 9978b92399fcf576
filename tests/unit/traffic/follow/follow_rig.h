/* SPDX-License-Identifier: BSD-3-Clause */
/* A rig whose CMTS is as the configuration of a server says, traffic that follows this server, and scripts for both. */
#pragma once

#include <jansson.h>

#include "fake_server.h"
#include "follow/follow.h"
#include "traffic_rig.h"

#define FOLLOW_PACKETS 96
#define FOLLOW_STEPS 16

extern struct rig_frame follow_frames[8 * FOLLOW_PACKETS];
extern struct fake_server follow_server;
extern struct follow following;
extern struct rig_wrong follow_wrong; /* what a case has done wrong so far */

/* What happens, and how often or with which number. */
struct follow_step {
	void (*what)(unsigned n);
	unsigned n;
};

struct follow_case {
	const char *name;
	struct follow_step steps[FOLLOW_STEPS]; /* up to the first without a function */
	bool strangers; /* packets are sent to modems that are gone: a change has overtaken them */
	enum corruption corruption; /* where `follow_wrong` has some */
};

/* JSON with single quotes. */
json_t *follow_read(const char *text);

/* Of each test: traffic that knows the server, whose modems wait as long as it takes. */
int follow_begin(void **state);
int follow_end(void **state);

/* Plays each from the start. All packets are proven but those that are strangers or in `follow_wrong`. */
void follow_play(void **state, const struct follow_case *cases, size_t count);

/* A modem of a configuration, and what becomes of a key, as of follow_read(). */
json_t *follow_modem(json_t *config, size_t index);
void follow_set_json(json_t *object, const char *key, const char *text);

/* Behind fake_server_begin(): what an event tells of a change, which ends then. The rig is from now on what the server's configuration says. */
void follow_tell(const char *kind, const char *action, json_t *object);
void follow_change_end(void);

/* Steps. The server, and the rig with it, gets a modem more; loses the last one. */
void follow_modem_add(unsigned);
void follow_modem_remove(unsigned);

/* The traffic takes what the server has told, `n` times. */
void follow_learn(unsigned n);

/* It waits for the server's answers until no frame is held any more. */
void follow_judge(unsigned);

/* Takes `n` * FOLLOW_PACKETS behind those that are there; sends all of these back; does both. */
void follow_take(unsigned n);
void follow_send(unsigned);
void follow_both(unsigned n);

/* How many of those that were taken are of a modem; there are some of modem `n`. */
unsigned follow_count(uint32_t modem);
void follow_has(unsigned n);

/* The first modem's flows count from 0. */
void follow_numbers_restart(unsigned);

/* Frames wait for what the server tells, or none does. */
void follow_frames_wait(unsigned);
void follow_none_waits(unsigned);

#define DO(...) {__VA_ARGS__}
#define BOTH DO(follow_both)
#define TAKE DO(follow_take)
#define SEND DO(follow_send)
#define LEARN DO(follow_learn)
#define JUDGE DO(follow_judge)
#define MODEM_ADD DO(follow_modem_add)
#define MODEM_REMOVE DO(follow_modem_remove)
