/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/provider_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/change/provider.h"
#include "platform/log/log.h"
#include "server/changes.h"
#include "server/group_crypto.h"
#include "server/running.h"
#include "upstream/change/provider.h"

struct provider_change {
	struct server *server;
	unsigned group;
	enum crypto_choice kind;
	char *device;
	struct crypto_provider *provider;
	/* the group with the change, for the ciphers of its keys */
	const struct service_group *to_be;
	struct group_crypto made; /* of the new provider; after the exchange, of the old one */
};

static bool same_device(const char *a, const char *b) {
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool server_provider_differs(const struct served_group *g, const struct crypto_config *next) {
	return g->sg->crypto.provider != next->provider ||
	       !same_device(g->sg->crypto.device, next->device);
}

static struct crypto_provider *provider_find(struct server *s, const struct crypto_config *c,
					     char why[LIVE_LINE]) {
	struct crypto_provider *p = crypto_providers_find(&s->crypto, c->device);

	if (p == NULL)
		snprintf(why, LIVE_LINE,
			 "crypto.device: %s cannot be opened; the log of vcmtsd has the reason",
			 crypto_provider_name(c));
	return p;
}

struct crypto_provider *server_provider_check(struct server *s, const struct service_group *sg,
					      char why[LIVE_LINE]) {
	struct crypto_provider *p = provider_find(s, &sg->crypto, why);

	for (size_t m = 0; p != NULL && m < sg->modem_count; m++) {
		if (crypto_can(p, sg->modems[m].security.cipher))
			continue;
		snprintf(why, LIVE_LINE,
			 "crypto.provider: %s does not support the cipher of "
			 "modem %zu",
			 p->name, m + 1);
		return NULL;
	}
	return p;
}

static void step_by_worker(struct served_group *g, struct worker *w, bool (*step)(void *arg),
			   void *change) {
	struct worker_task task = {.step = step, .arg = change};

	if (w->started) {
		worker_do(w, &task);
		return;
	}
	while (!step(change)) /* without a thread, no worker collects what the old provider has */
		served_group_drain_round(g);
}

static void hand_over(struct served_group *g, const struct group_crypto *next) {
	struct ds_provider_change down = {
		.d = g->downstream,
		.sg = g->sg,
		.queue = next->queues[CRYPTO_DOWNLINK],
		.schedules = next->schedules,
	};
	struct us_provider_change up = {
		.u = g->upstream,
		.queue = next->queues[CRYPTO_UPLINK],
		.schedules = next->up_schedules,
	};

	step_by_worker(g, g->lower, ds_provider_change, &down);
	if (g->upstream != NULL)
		step_by_worker(g, g->upstream_worker, us_provider_change, &up);
}

struct provider_change *server_provider_prepare(struct server *s, unsigned group,
						const struct crypto_config *next,
						const struct service_group *to_be,
						char why[LIVE_LINE]) {
	struct crypto_provider *p = provider_find(s, next, why);
	struct provider_change *c;

	if (p == NULL)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c != NULL && next->device != NULL)
		c->device = strdup(next->device);
	if (c == NULL || (next->device != NULL && c->device == NULL)) {
		free(c);
		snprintf(why, LIVE_LINE, "crypto.provider: no memory left for another provider");
		return NULL;
	}
	c->server = s;
	c->group = group;
	c->kind = next->provider;
	c->provider = p;
	c->to_be = to_be;
	if (group_crypto_make(&c->made, p, to_be) == 0)
		return c;
	snprintf(why, LIVE_LINE,
		 "crypto.provider: %s has no queue left, or no memory for all keys; the log "
		 "of vcmtsd has the reason",
		 p->name);
	server_provider_abandon(c);
	return NULL;
}

void server_provider_abandon(struct provider_change *c) {
	if (c == NULL)
		return;
	group_crypto_free(&c->made, c->to_be);
	free(c->device);
	free(c);
}

/* Afterwards the change has what the group had. */
static void provider_exchange(struct provider_change *c) {
	struct served_group *g = &c->server->groups[c->group];
	struct group_crypto before = g->crypto;
	char *device = g->device;

	pthread_rwlock_wrlock(&c->server->lock);
	g->crypto = c->made;
	g->device = c->device;
	g->live.sg.crypto.provider = c->kind;
	g->live.sg.crypto.device = c->device;
	c->server->generation++;
	pthread_rwlock_unlock(&c->server->lock);
	c->made = before;
	c->device = device;
}

void server_provider_apply(struct provider_change *c) {
	struct served_group *g = &c->server->groups[c->group];
	struct crypto_config next = g->sg->crypto;
	struct watched_change watched;

	next.provider = c->kind;
	next.device = c->device;
	server_notify_group(c->server, &watched,
			    &(struct group_watch){WATCH_PROVIDER, .group = g, .crypto = &next});
	hand_over(g, &c->made);
	provider_exchange(c);
	server_notify_applied(c->server, &watched);
	server_notify_retired(c->server, &watched);
	log_info("crypto",
		 LOG_FIELDS(LOG_NUMBER("service_group", g->sg->id),
			    LOG_STRING("provider", c->provider->name)),
		 "service group %u: crypto provider changed to %s", g->sg->id, c->provider->name);
	server_provider_abandon(c); /* frees queues and keys of the old provider */
}
