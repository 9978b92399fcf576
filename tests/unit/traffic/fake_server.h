/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket of a server in a thread: it tells its configuration and how often that has changed. */
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
	int generation;
	unsigned asked; /* for the configuration */
	bool rude; /* it answers with nonsense */
};

/* A configuration that loads as the text of a file does; numbers may be strings, as in YAML. */
void fake_server_open(struct fake_server *s, const char *config);

void fake_server_close(struct fake_server *s);

/* The configuration was changed by the caller, who holds the lock between the two. */
json_t *fake_server_begin(struct fake_server *s);
void fake_server_end(struct fake_server *s);
