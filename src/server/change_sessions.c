/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/change_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/association.h"

static bool same_key(const struct security_association *a, const struct security_association *b) {
	return memcmp(a->key, b->key, sizeof(a->key)) == 0;
}

static bool same_down_key(const struct security_association *a,
			  const struct security_association *b) {
	return memcmp(association_key(a), association_key(b), sizeof(a->key)) == 0;
}

static bool same_next_key(const struct security_association *a,
			  const struct security_association *b) {
	return a->has_next_key == b->has_next_key &&
	       (!a->has_next_key || memcmp(a->next_key, b->next_key, sizeof(a->next_key)) == 0);
}

static void **pair_of(const struct change_sessions *s, size_t change) {
	return &s->up[2 * change];
}

/* Of a modem that is to be; `now` may be a free place. */
static bool modem_sessions(struct change_sessions *s, size_t at, const struct served_group *g,
			   const struct modem *now, const struct modem *next) {
	const struct security_association *sa = &next->security, *was = &now->security;
	bool there = modem_is_there(now), same = there && same_key(was, sa);
	void **pair = pair_of(s, at);

	if (!there || !same_down_key(was, sa)) {
		s->down[at] =
			crypto_session(g->crypto, CRYPTO_DOWNLINK, association_key(sa));
		if (s->down[at] == NULL)
			return false;
	}
	if (g->upstream == NULL || (same && same_next_key(was, sa)))
		return true;
	pair[0] = crypto_session(g->crypto, CRYPTO_UPLINK, sa->key);
	if (sa->has_next_key)
		pair[1] = crypto_session(g->crypto, CRYPTO_UPLINK, sa->next_key);
	return pair[0] != NULL && (pair[1] != NULL || !sa->has_next_key);
}

bool change_sessions_make(struct change_sessions *s, struct served_group *g,
			  const struct live_changes *changes, char why[LIVE_LINE]) {
	s->down = calloc(changes->count + 1, sizeof(*s->down));
	s->up = calloc(2 * changes->count + 1, sizeof(*s->up));
	s->count = changes->count;
	if (s->down == NULL || s->up == NULL) {
		snprintf(why, LIVE_LINE, "no memory left for %zu changes", changes->count);
		return false;
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		char name[LIVE_LINE / 2];

		if (c->object != LIVE_MODEM || c->modem == NULL ||
		    modem_sessions(s, i, g, &g->live.sg.modems[c->slot], c->modem))
			continue;
		live_change_name(&g->live, c, name, sizeof(name));
		snprintf(why, LIVE_LINE, "%s: the crypto device has no session left for its key",
			 name);
		return false;
	}
	return true;
}

static void swap(void **a, void **b) {
	void *c = *a;

	*a = *b;
	*b = c;
}

/* A modem that goes leaves both of its places empty. */
void change_sessions_take(struct change_sessions *s, struct served_group *g,
			  const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		void **pair = pair_of(s, i);

		if (c->object != LIVE_MODEM)
			continue;
		if (c->modem == NULL || s->down[i] != NULL)
			swap(&s->down[i], &g->sessions[c->slot]);
		if (g->up_sessions == NULL || (c->modem != NULL && pair[0] == NULL))
			continue;
		for (unsigned k = 0; k < 2; k++)
			swap(&pair[k], &g->up_sessions[2 * c->slot + k]);
	}
}

void change_sessions_free(struct change_sessions *s, const struct served_group *g) {
	for (size_t i = 0; s->down != NULL && i < s->count; i++) {
		if (s->down[i] != NULL)
			crypto_session_free(g->crypto, s->down[i]);
	}
	for (size_t i = 0; s->up != NULL && i < 2 * s->count; i++) {
		if (s->up[i] != NULL)
			crypto_session_free(g->crypto, s->up[i]);
	}
	free(s->down);
	free(s->up);
	*s = (struct change_sessions){0};
}
