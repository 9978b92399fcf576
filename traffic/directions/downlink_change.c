/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies live changes to the downlink, and keeps the generations before them for packets under way. */
#include "directions/downlink_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "directions/downlink_verdict.h"

bool downlink_follow_begin(struct downlink *d) {
	struct downlink_follow *f = calloc(1, sizeof(*f));

	d->follow = f;
	if (f == NULL || watch_create(&f->watch, d->generator->targets.stream_count) != 0 ||
	    !unresolved_create(&f->frames, d->generator->targets.stream_count)) {
		fprintf(stderr, "traffic: no memory to follow changes of a service group\n");
		return false;
	}
	f->keep = d->tsc_hz / 1000 * FOLLOW_KEEP_MS;
	receiver_keep_unknown(d->receiver, true);
	return true;
}

void downlink_follow_end(struct downlink *d) {
	struct downlink_follow *f = d->follow;

	if (f == NULL)
		return;
	unresolved_free(&f->frames);
	unresolved_free(&f->depi);
	watch_free(&f->watch);
	for (struct downlink_change *c = f->oldest; c != NULL; c = c->newer)
		__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	d->generator->past = NULL;
	d->generator->rewrites.older = NULL;
	d->modems.older = NULL;
	free(f);
	d->follow = NULL;
}

/* Ends the stream that had this number, and starts another one. */
static void stream_begin(struct downlink *d, uint32_t stream, uint64_t now) {
	struct proof *p = &d->account.proof;

	watch_end(&d->follow->watch, p, stream);
	resequencers_begin(&d->resequencers, stream, now);
	proof_end_stream(p, stream, d->generator->sent[stream]);
	d->generator->sent[stream] = 0;
	d->generator->changed[stream] = 0;
}

static void modems_apply(struct downlink *d, struct downlink_change *c) {
	struct modems before = d->modems;

	d->modems = c->modems;
	d->modems.since = c->number;
	c->modems = before;
	d->modems.older = &c->modems;
}

static void tables_apply(struct downlink *d, struct downlink_change *c, uint64_t now) {
	struct generator *g = d->generator;

	for (uint32_t i = 0; i < c->mark_count; i++)
		watch_begin(&d->follow->watch, &c->marks[i], g->sent[c->marks[i].stream],
			    now + d->follow->keep);
	for (uint32_t i = 0; i < c->fresh_count; i++)
		stream_begin(d, c->fresh[i], now);
	generator_apply(g, &c->targets);
	downlink_refused_changed(d->refused);
	modems_apply(d, c);
	for (uint32_t i = 0; i < c->changed_count; i++)
		g->changed[c->changed[i]] = g->magic - g->first_magic;
	if (c->channels != NULL)
		receiver_set_channels(d->receiver, c->channels, c->channel_count);
}

void downlink_change_apply(struct downlink *d, struct downlink_change *c, uint64_t now) {
	struct downlink_follow *f = d->follow;

	c->number = ++f->applied;
	if (c->tables)
		tables_apply(d, c, now);
	for (uint32_t i = 0; i < c->rekey_count; i++) {
		if (!c->rekeys[i].expires)
			modems_rekey(&d->modems, &c->rekeys[i], c->number);
	}
	c->until = now + f->keep;
	if (f->newest != NULL)
		f->newest->newer = c;
	else
		f->oldest = c;
	f->newest = c;
	verdict_retry(d, UINT64_MAX, true);
}

/* Removes the generation that `c` holds, the oldest one; the next newer one then has no older one. */
static void tables_forget(struct downlink *d, const struct downlink_change *c) {
	struct downlink_change *left = c->newer;

	while (left != NULL && !left->tables)
		left = left->newer;
	if (left == NULL) {
		d->generator->past = NULL;
		d->generator->rewrites.older = NULL;
		d->modems.older = NULL;
	} else {
		left->targets.older = NULL;
		left->targets.rewrites.older = NULL;
		left->modems.older = NULL;
	}
}

/* Gives the oldest change back to the thread that prepared it, with the generation it replaced. */
static void oldest_return(struct downlink *d) {
	struct downlink_follow *f = d->follow;
	struct downlink_change *c = f->oldest;

	if (c->tables)
		tables_forget(d, c);
	for (uint32_t i = 0; i < c->rekey_count; i++) {
		if (c->rekeys[i].expires)
			modems_expire(&d->modems, &c->rekeys[i], c->number);
	}
	f->oldest = c->newer;
	if (f->oldest == NULL)
		f->newest = NULL;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
}

void downlink_follow_round(struct downlink *d, uint64_t now) {
	struct downlink_follow *f = d->follow;
	uint64_t known = __atomic_load_n(&f->known, __ATOMIC_RELAXED);

	if (f->frames.count + f->depi.count > 0 && known > f->resolved) {
		f->resolved = known;
		verdict_retry(d, known, false);
	}
	if (f->oldest == NULL)
		return;
	watch_expire(&f->watch, &d->account.proof, now);
	if (now >= f->oldest->until)
		oldest_return(d);
}

void downlink_change_free(struct downlink_change *c) {
	for (uint32_t i = 0; i < c->rekey_count; i++)
		key_store_put(c->store, c->rekeys[i].stored);
	free(c->rekeys);
	targets_free(&c->targets.targets);
	rewrites_free(&c->targets.rewrites);
	modems_free(&c->modems);
	free(c->channels);
	free(c->fresh);
	free(c->marks);
	free(c->changed);
}
