/* SPDX-License-Identifier: BSD-3-Clause */
/* A rig whose CMTS is as the configuration of a server says, and traffic that follows this server. */
#pragma once

#include <jansson.h>

#include "fake_server.h"
#include "follow/follow.h"
#include "traffic_rig.h"

#define FOLLOW_PACKETS 96

extern struct rig follow_rig;
extern struct rig_frame follow_frames[8 * FOLLOW_PACKETS];
extern struct fake_server follow_server;
extern struct follow following;

/* JSON with single quotes. */
json_t *follow_read(const char *text);

/* Of a program's tests, and of each: traffic that knows the server, whose modems wait as long as it takes. */
int follow_open_rig(void **state);
int follow_close_rig(void **state);
int follow_begin(void **state);
int follow_end(void **state);

/* A modem of a configuration, and what becomes of a key, as of follow_read(). */
json_t *follow_modem(json_t *config, size_t index);
void follow_set_json(json_t *object, const char *key, const char *text);

/* Behind fake_server_begin(): the rig is from now on what the server's configuration says. */
void follow_change_end(void);

/* The server, and the rig with it, gets a modem more; loses the last one. */
void follow_modem_add(void);
void follow_modem_remove(void);

/* The traffic takes what the server has told. */
void follow_learn(void);

/* It waits for the server's answers until no frame is held any more. */
void follow_judge(void);

/* Sends `n` frames back from `from` on; takes so many, and sends them. */
void follow_send(unsigned from, unsigned n);
void follow_take(unsigned n);
void follow_take_and_send(unsigned n);

/* How many of these are of a modem. */
unsigned follow_count(unsigned from, unsigned n, uint32_t modem);

/* Ends the run: that much is wrong; or nothing. */
struct traffic_result follow_finish(struct rig_wrong wrong);
void follow_all_proven(void);
