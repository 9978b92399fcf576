/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/provider_change.h"

#include <stdio.h>
#include <string.h>

#include "downstream/change/provider.h"
#include "log/log.h"
#include "model/arena.h"
#include "server/changes.h"
#include "server/group_crypto.h"
#include "server/running.h"
#include "upstream/change/provider.h"

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
			 "crypto.device: %s cannot be opened; the messages of vcmtsd say why",
			 crypto_serves(c));
	return p;
}

struct crypto_provider *server_provider_check(struct server *s, const struct service_group *sg,
					      char why[LIVE_LINE]) {
	struct crypto_provider *p = provider_find(s, &sg->crypto, why);

	for (size_t m = 0; p != NULL && m < sg->modem_count; m++) {
		if (crypto_can(p, sg->modems[m].security.cipher))
			continue;
		snprintf(why, LIVE_LINE, "crypto.provider: %s does not do the cipher of modem %zu",
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
	while (!step(change)) /* without a thread nobody else takes out what the old provider has */
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

bool server_provider_change(struct server *s, unsigned group, const struct crypto_config *next,
			    char why[LIVE_LINE]) {
	struct served_group *g = &s->groups[group];
	struct crypto_provider *p = provider_find(s, next, why);
	struct group_crypto made = {0}, old;
	struct watched_change watched;
	char *device = NULL;

	if (p == NULL)
		return false;
	if (next->device != NULL)
		device = arena_text(g->live.sg.arena, next->device, strlen(next->device));
	if ((next->device != NULL && device == NULL) || group_crypto_make(&made, p, g->sg) != 0) {
		group_crypto_free(&made, g->sg);
		snprintf(why, LIVE_LINE, "crypto.provider: %s has no place for all keys", p->name);
		return false;
	}
	server_tell_group(s, &watched,
			  &(struct group_watch){WATCH_PROVIDER, .group = g, .crypto = next});
	hand_over(g, &made);
	pthread_rwlock_wrlock(&s->lock);
	old = g->crypto;
	g->crypto = made;
	g->live.sg.crypto.provider = next->provider;
	g->live.sg.crypto.device = device;
	s->generation++;
	pthread_rwlock_unlock(&s->lock);
	server_tell_applied(s, &watched);
	server_tell_retired(s, &watched);
	log_info(
		"crypto",
		LOG_FIELDS(LOG_NUMBER("service_group", g->sg->id), LOG_STRING("provider", p->name)),
		"service group %u: crypto provider changed to %s", g->sg->id, p->name);
	group_crypto_free(&old, g->sg);
	return true;
}
