/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws, builds and counts packets; keeps the targets of earlier generations. */
#include "core/generator.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "core/end_tag.h"

static bool decks_create(struct generator *g, const struct generator_options *o) {
	uint32_t permit = o->permit_permille;
	uint32_t classify = o->classify_permille;
	uint32_t weights[CLASS_COUNT] = {
		[CLASS_UNMATCHED] = 1000 - permit - classify,
		[CLASS_PERMIT] = permit,
		[CLASS_CLASSIFIED] = classify,
	};

	if (permit + classify <= 1000 && mix_deck(&g->mix, &g->sizes) == 0 &&
	    deck_create(&g->classes, weights, CLASS_COUNT) == 0)
		return true;
	fprintf(stderr, "traffic: no memory for the generator\n");
	return false;
}

static bool find_targets(struct targets *t, const struct service_group *sg, uint64_t seed,
			 const struct generator_options *o) {
	struct flows_wanted wanted = {
		.count = o->flows,
		.shares = {[CLASS_UNMATCHED] = 1000 - o->permit_permille - o->classify_permille,
			   [CLASS_PERMIT] = o->permit_permille,
			   [CLASS_CLASSIFIED] = o->classify_permille},
		.largest = mix_largest(o->mix),
	};
	const struct targets_follow follow = {.capacity = o->streams};

	return targets_create(t, sg, seed, &wanted, o->streams == 0 ? NULL : &follow) == 0;
}

bool generator_flows_check(const struct service_group *sg, const struct generator_options *o) {
	struct targets targets;

	if (!find_targets(&targets, sg, o->seed, o))
		return false;
	targets_free(&targets);
	return true;
}

static bool streams_create(struct generator *g, bool follow) {
	uint32_t count = g->targets.stream_count + 1;

	g->sent = calloc(count, sizeof(*g->sent));
	if (follow)
		g->changed = calloc(count, sizeof(*g->changed));
	if (g->sent != NULL && (!follow || g->changed != NULL))
		return true;
	fprintf(stderr, "traffic: no memory for the generator\n");
	return false;
}

static bool generator_sizes_fit(struct generator *g, const struct mix *mix) {
	uint32_t size;

	if (targets_fit(&g->targets, mix, &size))
		return true;
	if (g->targets.count == 0)
		fprintf(stderr, "traffic: no packet can pass the filters of any modem\n");
	else
		fprintf(stderr,
			"traffic: mix: frames of %u bytes are too short for the "
			"address of any modem\n",
			size);
	return false;
}

/* Gets the rewrites of each stream from the settings of its service flow. */
static bool rewrites_find(struct rewrites *r, const struct targets *t,
			  const struct service_group *sg, uint32_t magic) {
	if (!rewrites_create(r, t->stream_count, magic)) {
		fprintf(stderr, "traffic: no memory for the generator\n");
		return false;
	}
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		for (uint32_t f = 0; f < sg->modems[m].service_flow_count; f++) {
			const struct service_flow *flow = &sg->modems[m].service_flows[f];

			r->of[targets_stream(t, m, f)] =
				rewrite_of(flow->overwrites_tos, &flow->tos);
		}
	}
	return true;
}

static bool mixed_create(struct generator *g, const struct service_group *sg,
			 const struct generator_options *o) {
	return decks_create(g, o) && find_targets(&g->targets, sg, random_next(&g->random), o) &&
	       streams_create(g, o->streams > 0) && generator_sizes_fit(g, &g->mix);
}

static bool replayed_create(struct generator *g, const struct service_group *sg) {
	return targets_create_streams(&g->targets, sg) == 0 && streams_create(g, false);
}

struct generator *generator_create(const struct service_group *sg,
				   const struct generator_options *o) {
	struct generator *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		fprintf(stderr, "traffic: no memory for the generator\n");
		return NULL;
	}
	if (o->replay == NULL)
		g->mix = *o->mix;
	g->replay = o->replay;
	g->pool = o->pool;
	g->random.state = o->seed;
	/* The TSC makes the magic differ between runs with the same seed, so that packets of an earlier run
	 * do not match. */
	g->first_magic = g->magic = (uint32_t)(random_next(&g->random) ^ rte_rdtsc());
	pattern_create(&g->pattern, &g->random);
	if (!(o->replay == NULL ? mixed_create(g, sg, o) : replayed_create(g, sg)) ||
	    !rewrites_find(&g->rewrites, &g->targets, sg, g->magic)) {
		generator_free(g);
		return NULL;
	}
	return g;
}

void generator_free(struct generator *g) {
	if (g == NULL)
		return;
	targets_free(&g->targets);
	rewrites_free(&g->rewrites);
	deck_free(&g->sizes);
	deck_free(&g->classes);
	free(g->changed);
	free(g->sent);
	free(g);
}

int generator_restart(struct generator *g, const struct mix *mix) {
	struct deck sizes;

	if (!generator_sizes_fit(g, mix))
		return -1;
	if (mix_deck(mix, &sizes) != 0) {
		fprintf(stderr, "traffic: no memory for the generator\n");
		return -1;
	}
	deck_free(&g->sizes);
	g->sizes = sizes;
	g->mix = *mix;
	g->magic++;
	memset(g->sent, 0, g->targets.stream_count * sizeof(*g->sent));
	memset(g->by_class, 0, sizeof(g->by_class));
	g->packets = g->bytes = g->no_buffers = 0;
	return 0;
}

int generator_prepare(const struct generator *g, const struct service_group *sg,
		      const struct targets_follow *follow, struct generator_past *next) {
	uint32_t size;

	*next = (struct generator_past){0};
	/* Each generation has a new order, so that other flows receive packets first. */
	if (targets_create(&next->targets, sg, g->magic, NULL, follow) != 0 ||
	    !rewrites_find(&next->rewrites, &next->targets, sg, g->magic))
		return -1;
	next->idle = !targets_fit(&next->targets, &g->mix, &size);
	return 0;
}

void generator_apply(struct generator *g, struct generator_past *next) {
	struct generator_past now = {
		.targets = g->targets,
		.rewrites = next->rewrites,
		.magic = g->magic,
		.idle = g->idle,
		.older = g->past,
	};

	g->targets = next->targets;
	g->idle = next->idle;
	g->magic++;
	*next = now;
	g->past = next;
	rewrites_apply(&g->rewrites, &next->rewrites, g->magic);
}

const struct targets *generator_targets(const struct generator *g, uint32_t magic) {
	if (magic == g->magic)
		return &g->targets;
	for (const struct generator_past *p = g->past; p != NULL; p = p->older) {
		if (p->magic == magic)
			return &p->targets;
	}
	return NULL;
}

bool generator_has_made(const struct generator *g, const uint8_t *frame, size_t size) {
	size_t at = g->replay == NULL ? packet_tag_find(frame, size) : end_tag_find(frame, size);
	struct packet_tag tag;

	if (at == 0)
		return false;
	packet_tag_read(frame + at, &tag);
	return generator_targets(g, tag.magic) != NULL;
}

bool generator_is_earlier(const struct generator *g, const uint8_t *frame, size_t size) {
	size_t at = packet_tag_find(frame, size);
	struct packet_tag tag;

	if (at == 0)
		return false;
	packet_tag_read(frame + at, &tag);
	return tag.magic - g->first_magic < g->magic - g->first_magic &&
	       generator_targets(g, tag.magic) == NULL;
}

#define AHEAD 3 /* packets */

struct draw {
	const struct target *target;
	uint32_t flow;
	uint32_t size;
};

static void draw(struct generator *g, struct draw *d) {
	enum traffic_class class = (enum traffic_class)deck_draw(&g->classes, &g->random);

	d->size = g->mix.sizes[deck_draw(&g->sizes, &g->random)];
	d->flow = targets_next(&g->targets, class, d->size);
	d->target = targets_of(&g->targets, d->flow);
	rte_prefetch0(d->target);
	rte_prefetch0((const uint8_t *)d->target + RTE_CACHE_LINE_SIZE);
}

static void build(struct generator *g, const struct draw *d, uint64_t tsc, struct rte_mbuf *m) {
	const struct target *target = d->target;
	struct packet_tag tag = {
		.magic = g->magic,
		.target = d->flow,
		.sequence = g->sent[target->stream]++,
		.tsc = tsc,
	};
	uint32_t start = pattern_start(target->stream, tag.sequence);
	uint32_t headers = target->min_size;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	packet_start_write(&target->template, &tag, &g->pattern, start, d->size, frame);
	if (g->targets.flows != NULL)
		packet_vary(&target->template, &g->targets.flows[d->flow].variant, frame);
	rte_memcpy(frame + headers, g->pattern.bytes + start, d->size - headers);
	m->data_len = (uint16_t)d->size;
	m->pkt_len = d->size;
	g->by_class[target->class]++;
}

/* If the CMTS runs in this process, another core has written to this buffer to encrypt it. */
static void prefetch_for_write(struct rte_mbuf *m, uint32_t size) {
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	for (uint32_t at = 0; at < size; at += RTE_CACHE_LINE_SIZE)
		__builtin_prefetch(frame + at, 1, 3);
}

/* Copies the capture's next packets. Returns the sum of their sizes. */
static uint64_t generator_replay(struct generator *g, uint64_t tsc, struct rte_mbuf **packets,
				 unsigned n) {
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct replayed_packet *p = &g->replay->packets[g->next];
		struct packet_tag tag = {
			.magic = g->magic,
			.target = g->next,
			.sequence = g->sent[targets_stream(&g->targets, p->modem, p->flow)]++,
			.tsc = tsc,
		};

		replayed_write(g->replay, g->next, &tag, rte_pktmbuf_mtod(packets[i], uint8_t *));
		packets[i]->data_len = p->size;
		packets[i]->pkt_len = p->size;
		bytes += p->size;
		g->by_class[p->class]++;
		g->next = g->next + 1 == g->replay->count ? 0 : g->next + 1;
	}
	return bytes;
}

/* Builds packets of the mix. Returns the sum of their sizes. */
static uint64_t generator_make_up(struct generator *g, uint64_t tsc, struct rte_mbuf **packets,
				  unsigned n) {
	struct draw draws[GENERATOR_BURST];
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		draw(g, &draws[i]);
		rte_prefetch0(rte_pktmbuf_mtod(packets[i], void *));
	}
	for (unsigned i = 0; i < n && i < AHEAD; i++)
		prefetch_for_write(packets[i], draws[i].size);
	for (unsigned i = 0; i < n; i++) {
		if (i + AHEAD < n)
			prefetch_for_write(packets[i + AHEAD], draws[i + AHEAD].size);
		build(g, &draws[i], tsc, packets[i]);
		bytes += draws[i].size;
	}
	return bytes;
}

unsigned generator_burst(struct generator *g, uint64_t tsc, struct rte_mbuf **packets, unsigned n,
			 uint64_t *bytes) {
	*bytes = 0;
	if (n == 0 || g->idle)
		return 0;
	if (rte_pktmbuf_alloc_bulk(g->pool, packets, n) != 0) {
		g->no_buffers += n;
		return 0;
	}
	*bytes = g->replay == NULL ? generator_make_up(g, tsc, packets, n)
				   : generator_replay(g, tsc, packets, n);
	g->packets += n;
	g->bytes += *bytes;
	return n;
}

static void replay_back(struct generator *g) {
	const struct replayed_packet *p;

	g->next = g->next == 0 ? g->replay->count - 1 : g->next - 1;
	p = &g->replay->packets[g->next];
	g->sent[targets_stream(&g->targets, p->modem, p->flow)]--;
	g->by_class[p->class]--;
}

static void packets_unsend(struct generator *g, const uint8_t *frame, uint32_t size) {
	const struct targets *targets;
	const struct target *target;
	struct packet_tag tag;

	packet_tag_read(frame + packet_tag_find(frame, size), &tag);
	targets = generator_targets(g, tag.magic);
	if (targets == NULL)
		return; /* The generation was freed, so its modem has new sequence numbers. */
	target = targets_of(targets, tag.target);
	g->sent[target->stream]--;
	g->by_class[target->class]--;
}

void generator_unsend(struct generator *g, struct rte_mbuf **packets, unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		uint32_t size = rte_pktmbuf_pkt_len(packets[i]);

		if (g->replay == NULL)
			packets_unsend(g, rte_pktmbuf_mtod(packets[i], const uint8_t *), size);
		else
			replay_back(g);
		g->packets--;
		g->bytes -= size;
	}
	rte_pktmbuf_free_bulk(packets, n);
}
