/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket of a server in a thread: it tells its configuration, and sends what changes as events. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <jansson.h>

struct fake_server {
	char path[64];
	int listener;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	json_t *config;
	json_t *objects; /* events of the change to come */
	int generation;
	int sequence; /* of the next event */
	int change; /* number of the latest */
	int subscriber; /* socket of the client that gets events; -1: none does */
	unsigned asked; /* for the configuration */
	unsigned infos; /* requests for server.info */
	bool rude; /* it answers with nonsense */
	bool slow; /* events are lost, and the client is told so */
	bool busy; /* it does not answer server.info yet */
	json_t *unanswered; /* request for it */
};

/* A configuration that loads as the text of a file does. Numbers that name objects are strings, as in YAML. It is the server's then. */
void fake_server_open(struct fake_server *s, json_t *config);

/* Clients must have gone. */
void fake_server_close(struct fake_server *s);

/* The configuration is changed by the caller, who holds the lock between the two and says what events tell of it. */
json_t *fake_server_begin(struct fake_server *s);
void fake_server_tell(struct fake_server *s, int group, const char *kind, const char *action,
		      json_t *object);
void fake_server_end(struct fake_server *s);

/* The same in two steps: the change is prepared, and its objects are told; then it is applied. */
void fake_server_prepare(struct fake_server *s);
void fake_server_apply(struct fake_server *s);

/* It answers what it was asked for while it was busy. */
void fake_server_answer(struct fake_server *s);
