/* SPDX-License-Identifier: BSD-3-Clause */
/* A rig (traffic_kit.h) with traffic that follows a server whose configuration changes. The fake
 * server replaces server_link.h: it returns its configuration and sends changes as events. Tests
 * are lists of steps. */
#pragma once

#include <jansson.h>

#include "follow/follow.h"
#include "traffic_kit.h"

#define FOLLOW_PACKETS 96
#define FOLLOW_STEPS 16

struct fake_server {
	json_t *config; /* IDs are strings, as in YAML */
	json_t *objects; /* events of the next change */
	json_t *messages; /* not yet read by the client */
	int generation;
	int sequence; /* of the next event */
	int change; /* number of the latest change */
	unsigned config_requests; /* for config.get */
	unsigned info_requests; /* for server.info */
	json_int_t pending_info; /* ID of the latest server.info request while `busy`; 0: none */
	bool answers_invalid;
	bool loses_events; /* events are lost; the client gets an event `missed` */
	bool busy; /* server.info is not answered */
};

extern struct rig_frame follow_frames[8 * FOLLOW_PACKETS];
extern struct fake_server follow_server;
extern struct follow following;
extern struct rig_errors follow_errors; /* verdicts that the case's steps expect */

/* A step calls run(n). */
struct follow_step {
	void (*run)(unsigned n);
	unsigned n;
};

struct follow_case {
	const char *name;
	struct follow_step steps[FOLLOW_STEPS]; /* up to the first without a function */
	bool overtaken; /* expects packets for removed modems, which are overtaken by a change */
	enum corruption corruption; /* kind of the corruptions in `follow_errors` */
};

/* Parses JSON with single quotes. */
json_t *follow_parse_json(const char *text);

/* Fixtures of a test: server, traffic that has joined it. Modems have no reorder timer. */
int follow_set_up(void **state);
int follow_tear_down(void **state);

/* Parts of the fixtures: start the server, let existing traffic join it, and end both. */
void follow_start_server(void);
void follow_join(void);
void follow_stop_server(void);

/* Runs each case from a fresh start. All packets not overtaken or in `follow_errors` are proven. */
void follow_run_cases(void **state, const struct follow_case *cases, size_t count);

/* A modem of the server's configuration. follow_set_json() sets a key to a JSON value. */
json_t *follow_modem(size_t index);
void follow_set_json(json_t *object, const char *key, const char *text);

/* To change the configuration, the caller edits it and calls follow_add_event() per changed object.
 * Then follow_commit_change() sends the events, prepared and applied, and reconfigures the rig. */
void follow_add_event(unsigned group, const char *kind, const char *action, json_t *object);
void follow_add_modem_event(const char *action, json_t *modem);
void follow_prepare_change(void);
void follow_apply_change(void);
void follow_commit_change(void);
void follow_change_modem(size_t index); /* all of this for an edited modem */

/* Ends `busy` and answers the pending server.info request. */
void follow_answer_info(void);

/* Removes the first modem and adds it as changed by edit(modem, n), before the traffic updates. */
void follow_replace_first_modem(void (*edit)(json_t *modem, unsigned n), unsigned n);

/* From here: steps. Applies a prepared change. */
void step_apply(unsigned);

/* Add a modem; prepare the removal of the last modem; remove it. */
void step_add_modem(unsigned);
void step_prepare_removal(unsigned);
void step_remove_modem(unsigned);

/* The traffic reads events and applies changes, `n` times (0: once). */
void step_update(unsigned n);

/* The traffic continues until no frame is unresolved. */
void step_resolve(unsigned);

/* Collect `n` * FOLLOW_PACKETS packets (0: FOLLOW_PACKETS) as frames; send all collected frames; do both. */
void step_collect(unsigned n);
void step_send(unsigned);
void step_collect_and_send(unsigned n);

/* Number of collected frames of a modem; assert that modem `n` has some. */
unsigned follow_count_frames(uint32_t modem);
void step_assert_frames(unsigned n);

/* Restarts the DSID numbers of the first modem's flows at 0. */
void step_restart_sequences(unsigned);

/* Assert that some, or no, frames are unresolved. */
void step_assert_unresolved(unsigned);
void step_assert_resolved(unsigned);

#define DO(...) {__VA_ARGS__}
#define COLLECT_SEND DO(step_collect_and_send)
#define COLLECT DO(step_collect)
#define SEND DO(step_send)
#define UPDATE DO(step_update)
#define RESOLVE DO(step_resolve)
#define ADD_MODEM DO(step_add_modem)
#define REMOVE_MODEM DO(step_remove_modem)
