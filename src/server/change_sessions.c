/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/change_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define PER_MODEM 3 /* downstream, and two generations upstream */

/* Of a modem that is to be; `now` may be a free place. */
static bool modem_sessions(void **down, void **pair, const struct served_group *g,
			   const struct modem *now, const struct modem *next) {
	const struct security_association *sa = &next->security, *was = &now->security;
	bool there = modem_is_there(now), same = there && same_key(was, sa);

	if (!there || !same_down_key(was, sa)) {
		*down = crypto_session(g->crypto, CRYPTO_DOWNLINK, association_key(sa));
		if (*down == NULL)
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
	size_t modems = 0;

	s->down = calloc(changes->count + 1, sizeof(*s->down));
	s->up = calloc(2 * changes->count + 1, sizeof(*s->up));
	s->replaced = calloc(PER_MODEM * changes->count + 1, sizeof(*s->replaced));
	s->count = changes->count;
	if (s->down == NULL || s->up == NULL || s->replaced == NULL) {
		snprintf(why, LIVE_LINE, "no memory left for %zu changes", changes->count);
		return false;
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		char name[LIVE_LINE / 2];

		if (c->object != LIVE_MODEM || c->modem == NULL ||
		    modem_sessions(&s->down[i], &s->up[2 * modems++], g,
				   &g->live.sg.modems[c->slot], c->modem))
			continue;
		live_change_name(&g->live, c, name, sizeof(name));
		snprintf(why, LIVE_LINE,
			 "%s: the crypto device has no session left for its key: too many roll "
			 "at once",
			 name);
		return false;
	}
	return true;
}

/* Puts `*next` into the place, and what was there among the replaced. */
static void place_take(struct change_sessions *s, void **place, void **next) {
	if (*place != NULL)
		s->replaced[s->replaced_count++] = *place;
	*place = *next;
	*next = NULL;
}

void change_sessions_take(struct change_sessions *s, struct served_group *g,
			  const struct live_changes *changes) {
	void *none[] = {NULL, NULL};
	size_t modems = 0;

	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		bool goes = c->modem == NULL;
		void **pair;

		if (c->object != LIVE_MODEM)
			continue;
		pair = goes ? none : &s->up[2 * modems++];
		if (goes || s->down[i] != NULL)
			place_take(s, &g->sessions[c->slot], &s->down[i]);
		if (g->up_sessions == NULL || (!goes && pair[0] == NULL))
			continue;
		for (unsigned k = 0; k < 2; k++)
			place_take(s, &g->up_sessions[2 * c->slot + k], &pair[k]);
	}
}

static void list_free(void **list, size_t count, const struct served_group *g) {
	for (size_t i = 0; list != NULL && i < count; i++) {
		if (list[i] != NULL)
			crypto_session_free(g->crypto, list[i]);
	}
	free(list);
}

void change_sessions_free(struct change_sessions *s, const struct served_group *g) {
	list_free(s->down, s->count, g);
	list_free(s->up, 2 * s->count, g);
	list_free(s->replaced, s->replaced_count, g);
	*s = (struct change_sessions){0};
}
