/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kit whose CMTS is as the configuration of a server says, traffic that follows this server, and scripts for both. The
 * server takes the place of server_link.h: it tells its configuration, and sends what changes as events.
 */
#pragma once

#include <jansson.h>

#include "follow/follow.h"
#include "traffic_kit.h"

#define FOLLOW_PACKETS 96
#define FOLLOW_STEPS 16

/* Numbers that name objects of its configuration are strings, as in YAML. */
struct fake_server {
	json_t *config;
	json_t *objects; /* events of the change to come */
	json_t *messages; /* that the client has not read */
	int generation;
	int sequence; /* of the next event */
	int change; /* number of the latest */
	unsigned asked; /* for the configuration */
	unsigned infos; /* requests for server.info */
	json_int_t unanswered; /* the latest of them while it is busy; 0: none */
	bool rude; /* it answers with nonsense */
	bool slow; /* events are lost, and the client is told so */
	bool busy; /* it does not answer server.info yet */
};

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

/* Parts of both: the server with the kit's group, and traffic that is there joins it; both end. */
void follow_serve(void);
void follow_join(void);
void follow_leave(void);

/* Plays each from the start. All packets are proven but those that are strangers or in `follow_wrong`. */
void follow_play(void **state, const struct follow_case *cases, size_t count);

/* A modem of the configuration, and what becomes of a key, as of follow_read(). */
json_t *follow_modem(size_t index);
void follow_set_json(json_t *object, const char *key, const char *text);

/*
 * The configuration is changed by the caller, who then says what events tell of it. The change ends when it is prepared and
 * applied; from then on the kit is what the server's configuration says.
 */
void follow_tell(unsigned group, const char *kind, const char *action, json_t *object);
void follow_tell_modem(const char *action, json_t *modem);
void follow_change_prepare(void);
void follow_change_apply(void);
void follow_change_end(void);
void follow_modem_changed(size_t index); /* and all of this, of a modem */

/* It answers what it was asked for while it was busy. */
void follow_answer(void);

/* The first modem goes, and comes before the traffic looks, as `edit` has made it. */
void follow_first_again(void (*edit)(json_t *modem, unsigned n), unsigned n);

/* Steps. What is prepared is applied. */
void follow_applied(unsigned);

/* The server, and the kit with it, gets a modem more; loses the last one, or is about to. */
void follow_modem_add(unsigned);
void follow_removal_prepared(unsigned);
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
