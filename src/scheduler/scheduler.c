/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates, drains and frees a scheduler. */
#include "scheduler/scheduler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/clusters.h"
#include "scheduler/internal.h"
#include "scheduler/leads.h"
#include "scheduler/queue.h"
#include "scheduler/round_robin.h"
#include "scheduler/settings.h"

#define LINE 128 /* cache lines are fetched in pairs */
#define LARGE_PAGE (2u << 20)

/* calloc() aligned to a cache line. Large memory uses huge pages if the system has them. */
static void *lines_alloc(size_t count, size_t size) {
	size_t align = count * size < LARGE_PAGE ? LINE : LARGE_PAGE;
	size_t bytes = (count * size + align - 1) / align * align;
	void *p = aligned_alloc(align, bytes);

	if (p == NULL)
		return NULL;
	if (align == LARGE_PAGE)
		madvise(p, bytes, MADV_HUGEPAGE); /* failure only costs speed */
	memset(p, 0, bytes);
	return p;
}

static bool scheduler_allocate(struct scheduler *s) {
	s->flows = lines_alloc(s->flow_count, sizeof(*s->flows));
	s->chunks = lines_alloc(queue_chunks(s->packet_limit, s->flow_count), sizeof(*s->chunks));
	s->classes = lines_alloc(s->flow_count, sizeof(*s->classes));
	s->modems = lines_alloc(s->modem_count, sizeof(*s->modems));
	s->groups = calloc(s->group_count, sizeof(*s->groups));
	s->channels = calloc(s->channel_count, sizeof(*s->channels));
	s->reserves = calloc(s->flow_count, sizeof(*s->reserves));
	s->aqm = calloc(s->flow_count, sizeof(*s->aqm));
	s->drops = calloc(s->flow_count, sizeof(*s->drops));
	s->own_max_packet = calloc(s->flow_count, sizeof(*s->own_max_packet));
	s->next_of_modem = calloc(s->flow_count, sizeof(*s->next_of_modem));
	return s->flows != NULL && s->chunks != NULL && s->classes != NULL && s->modems != NULL &&
	       s->groups != NULL && s->channels != NULL && s->reserves != NULL && s->aqm != NULL &&
	       s->drops != NULL && s->own_max_packet != NULL && s->next_of_modem != NULL &&
	       clusters_create(s) && leads_create(s) &&
	       wheel_create(&s->wheel, 2 * s->flow_count + s->modem_count + 2 * s->channel_count) ==
		       0;
}

static void groups_init(struct scheduler *s) {
	for (uint32_t i = 0; i < s->group_count; i++) {
		for (unsigned c = 0; c < CLASS_QUEUES; c++)
			s->groups[i].queues[c].line.first = NONE;
	}
}

/* The settings must be valid. */
static void scheduler_fill(struct scheduler *s, const struct scheduler_config *c) {
	groups_init(s);
	for (uint32_t i = 0; i < queue_chunks(s->packet_limit, s->flow_count); i++)
		s->chunks[i].next = i + 1;
	for (uint32_t i = 0; i < s->flow_count; i++)
		s->classes[i].link.next = i + 1;
	for (uint32_t i = 0; i < s->group_count; i++)
		clusters_set_channels(s, i, &c->groups[i]);
	for (uint32_t i = 0; i < s->channel_count; i++)
		scheduler_set_channel(s, i, &c->channels[i]);
	for (uint32_t i = 0; i < s->modem_count; i++) {
		s->modems[i].first_flow = NONE;
		s->modems[i].blocked.first = s->modems[i].blocked_served.first = NONE;
		scheduler_set_modem(s, i, &c->modems[i]);
	}
	for (uint32_t i = 0; i < s->flow_count; i++)
		scheduler_set_flow(s, i, &c->flows[i]);
	scheduler_set_rate_limit(s, c->rate_limit);
	clusters_change(s);
	while (s->changing)
		clusters_continue(s);
}

static const char *scheduler_make(const struct scheduler_config *c, struct scheduler **out) {
	const char *why = settings_all(c);
	struct scheduler *s;

	if (why != NULL)
		return why;
	s = lines_alloc(1, sizeof(*s));
	if (s == NULL)
		return "no memory";
	*out = s;
	s->flow_count = (uint32_t)c->flow_count;
	s->modem_count = (uint32_t)c->modem_count;
	s->group_count = (uint32_t)c->group_count;
	s->channel_count = (uint32_t)c->channel_count;
	s->first_number = c->first_number;
	s->packet_limit = c->packet_limit;
	s->half_full = c->packet_limit / 2 + c->packet_limit % 2;
	s->nearly_full = c->packet_limit - c->packet_limit / 8;
	s->random = c->seed | 1; /* never 0 */
	if (!scheduler_allocate(s))
		return "no memory";
	scheduler_fill(s, c);
	return NULL;
}

struct scheduler *scheduler_create(const struct scheduler_config *config, const char **why) {
	struct scheduler *s = NULL;
	const char *wrong = scheduler_make(config, &s);

	if (why != NULL)
		*why = wrong;
	if (wrong == NULL)
		return s;
	scheduler_free(s);
	return NULL;
}

void scheduler_free(struct scheduler *s) {
	if (s == NULL)
		return;
	wheel_free(&s->wheel);
	clusters_free(s);
	leads_free(s);
	free(s->flows);
	free(s->chunks);
	free(s->classes);
	free(s->modems);
	free(s->groups);
	free(s->channels);
	free(s->reserves);
	free(s->aqm);
	free(s->drops);
	free(s->own_max_packet);
	free(s->next_of_modem);
	free(s);
}

unsigned scheduler_drain_flow(struct scheduler *s, uint32_t flow, void **packets, unsigned n) {
	struct flow *f = &s->flows[flow];
	unsigned done = 0;

	while (done < n && f->packets > 0)
		packets[done++] = queue_pop(s, f)->packet;
	if (done == 0)
		return 0;
	rr_leave(s, flow); /* its timer was for a packet that is gone */
	f->state = FLOW_IDLE;
	if (f->packets > 0)
		rr_enter(s, flow, s->now);
	else if (f->aqm == SCHEDULER_WRED)
		wred_empty(&s->aqm[flow].wred, s->now);
	return done;
}

unsigned scheduler_drain(struct scheduler *s, void **packets, unsigned n) {
	unsigned done = 0;

	for (uint32_t f = 0; done < n && s->queued > 0 && f < s->flow_count; f++)
		done += scheduler_drain_flow(s, f, packets + done, n - done);
	return done;
}

uint32_t scheduler_queued(const struct scheduler *s) {
	return s->queued;
}
