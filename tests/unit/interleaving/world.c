/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <unistd.h>

#include "model/live/group_json.h"
#include "model/load/loader.h"
#include "server/change_parts.h"
#include "server/changes.h"

#include "fixture.h"
#include "packets.h"

#include "test.h"

#define STEP_NS 20000
#define ADDRESSES 64 /* of the first modem of a group: capacity for others is in proportion */

static struct world *present; /* whose control thread naps */

/*
 * Whether the server waits for a grace period: a change is freed when each worker has ended a round after the last task of
 * what leaves. Where the workers are no threads nothing else would show it, as no reader is ever in the midst of a round.
 */
#define CHAINS 1024 /* that leave at a time */

/* The tasks of a group that leaves, by the flag that the last one sets. */
struct chain_seen {
	const bool *done;
	bool ended;
	unsigned rounds[LIFE_WORKERS]; /* that each worker had made then */
};

static struct chain_seen chains[CHAINS];
static unsigned chain_count, periods, rounds[LIFE_WORKERS]; /* changes freed after a grace period */
static bool watched;

/* Begins to count, or ends it. */
static void grace_watch(bool on) {
	watched = on;
	chain_count = periods = 0;
}

/* The worker of this number has ended a round, with what stands between two rounds. */
static void grace_round_ended(unsigned worker) {
	rounds[worker]++;
	for (unsigned i = 0; i < chain_count; i++) {
		struct chain_seen *c = &chains[i];

		if (c->ended || !worker_chain_is_done(c->done))
			continue;
		c->ended = true;
		memcpy(c->rounds, rounds, sizeof(rounds));
	}
}

void __real_worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done);
void __wrap_worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done);
void __real_server_change_close(struct server_change *c);
void __wrap_server_change_close(struct server_change *c);

void __wrap_worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done) {
	if (watched && urgency == WORKER_LATER) {
		assert_true(chain_count < CHAINS);
		chains[chain_count++] = (struct chain_seen){.done = done};
	}
	__real_worker_chain_begin(first, urgency, done);
}

static void check_group(const struct group_change *g) {
	unsigned i = 0;

	while (i < chain_count && chains[i].done != &g->retired)
		i++;
	assert_true(i < chain_count);
	assert_true(chains[i].ended);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_true(rounds[w] > chains[i].rounds[w]);
	chains[i] = chains[--chain_count];
	periods++;
}

void __wrap_server_change_close(struct server_change *c) {
	for (unsigned i = 0; watched && c != NULL && c->applied && i < c->count; i++)
		check_group(c->groups[i]);
	__real_server_change_close(c);
}

/* As life_kit has them, with capacity for more. */
static void group_prepare(struct service_group *sg, unsigned id) {
	static struct ip_address addresses[LIFE_IDS][ADDRESSES];

	life_kit_load(sg, id, LIFE_SHARED, id % LIFE_WORKERS, (id + 1) % LIFE_WORKERS,
		      (id + 2) % LIFE_WORKERS);
	addresses[id][0] = sg->modems[0].addresses[0];
	for (unsigned a = 1; a < ADDRESSES; a++)
		addresses[id][a] = (struct ip_address){4, {10, (uint8_t)id, 1, (uint8_t)a}};
	sg->modems[0].addresses = addresses[id];
	sg->modems[0].address_count = ADDRESSES;
	sg->modems[0].cpe_limit = ADDRESSES;
	sg->modems[1].cpe_limit = ADDRESSES; /* these two may swap their addresses */
	sg->max_modems = WORLD_MODEMS;
}

static json_t *group_doc(const struct service_group *sg) {
	const struct group_capacity capacity = group_capacity(sg);
	struct live_group live = {0};
	json_t *doc;

	assert_int_equal(live_group_create(&live, sg, &capacity, (char[LIVE_LINE]){0}), 0);
	doc = group_json(&live, true);
	assert_non_null(doc);
	live_group_free(&live);
	/* what the file did not give, a file that is read again must not give either */
	json_object_del(json_object_get(doc, "threads"), "main_core");
	if (json_object_size(json_object_get(json_object_get(doc, "ports"), "control")) == 0)
		json_object_del(json_object_get(doc, "ports"), "control");
	return doc;
}

json_t *world_new_group(unsigned id) {
	struct service_group sg;
	json_t *doc;

	group_prepare(&sg, id);
	doc = group_doc(&sg);
	service_group_free(&sg);
	return doc;
}

static void bench_open(struct world *w) {
	struct life_kit *b = &w->bench;

	for (unsigned g = 0; g < WORLD_STAY; g++)
		group_prepare(&b->file[g], g + 1);
	b->config = (struct server_config){
		.groups = b->file, .group_count = WORLD_STAY, .max_groups = WORLD_GROUPS};
	life_kit_serve(b, 512);
}

static void files_open(struct world *w) {
	strcpy(w->folder, "/tmp/interleavings-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->file, sizeof(w->file), "%s/server.yaml", w->folder);
	snprintf(w->group_file, sizeof(w->group_file), "%s/group.yaml", w->folder);
}

static void workers_start(struct world *w) {
	struct server *s = &w->bench.server;

	if (w->threads) {
		life_kit_launch(&w->bench);
		return;
	}
	server_start(s);
	grace_watch(true);
	for (unsigned i = 0; i < s->worker_count; i++)
		worker_online(&s->workers[i]);
}

void world_open(struct world *w, uint32_t seed, bool threads) {
	memset(w, 0, sizeof(*w));
	w->dice.state = seed;
	w->threads = threads;
	present = w;
	bench_open(w);
	files_open(w);
	for (unsigned id = 1; id <= WORLD_STAY; id++)
		w->groups[id] = group_doc(&w->bench.file[id - 1]);
	reload_open(&w->reload, &w->bench.server, w->file, &(struct server_devices){0});
	w->metrics = (struct metrics_source){.server = &w->bench.server, .version = "1"};
	metrics_source_start(&w->metrics);
	w->methods = (struct methods){&w->bench.server, &w->reload, &w->metrics};
	w->rpc = methods_rpc(&w->methods);
	workers_start(w);
}

static void workers_stop(struct world *w) {
	struct server *s = &w->bench.server;

	if (w->threads) {
		life_kit_halt(&w->bench);
		return;
	}
	assert_true(periods > 0);
	grace_watch(false);
	for (unsigned i = 0; i < s->worker_count; i++)
		worker_offline(&s->workers[i]);
	server_halted(s);
}

void world_close(struct world *w) {
	world_settle(w);
	workers_stop(w);
	world_check_drops(w);
	present = NULL;
	reload_free(&w->reload);
	life_kit_close(&w->bench);
	for (unsigned id = 1; id <= WORLD_GROUPS; id++)
		json_decref(w->groups[id]);
	unlink(w->file);
	unlink(w->group_file);
	rmdir(w->folder);
}

/* A packet for a modem of the start, and one from it, of a group that stays. */
static void traffic_of_base(struct world *w) {
	unsigned g = world_roll(w, WORLD_STAY);
	const struct service_group *sg = &w->bench.file[g];

	life_kit_down(&w->bench, LIFE_SHARED, sg, 100, w->serial);
	life_kit_up(&w->bench, LIFE_SHARED, sg, w->serial++);
}

/* A packet for one that came, where no request is about it. */
static void traffic_of_others(struct world *w) {
	unsigned id = 1 + world_roll(w, WORLD_STAY);
	const json_t *modems = json_object_get(w->groups[id], "modems");
	const json_t *modem =
		json_array_get(modems, world_roll(w, (unsigned)json_array_size(modems)));
	const json_t *addresses = json_object_get(modem, "addresses");
	size_t count = json_array_size(addresses);
	uint8_t frame[PACKET_MAX], bytes[16];
	struct rte_mbuf *m;
	unsigned b[4];

	if (count == 0 ||
	    world_is_touched(w, id, json_string_value(json_object_get(modem, "mac"))) ||
	    sscanf(json_string_value(json_array_get(addresses, world_roll(w, (unsigned)count))),
		   "%u.%u.%u.%u", &b[0], &b[1], &b[2], &b[3]) != 4)
		return;
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (uint8_t)b[i];
	packet_ipv4(frame, 100, w->serial++, bytes);
	m = fixture_packet(w->bench.pool, frame, 100);
	if (rte_eth_tx_burst(w->bench.network[LIFE_SHARED], 0, &m, 1) == 1)
		w->bench.sent_down++;
	else
		rte_pktmbuf_free(m);
}

static void worker_steps(struct world *w, struct worker *worker) {
	worker->clock.now = w->bench.now;
	worker_round(worker);
	worker_quiescent(worker);
	grace_round_ended(worker->quiet_id);
}

/* A packet has passed all tables of the server after so many rounds: the port's, the group's. */
#define ROUNDS_OF_A_PACKET 8
#define WAIT_US 50

int __real_usleep(useconds_t us);
int __wrap_usleep(useconds_t us);

void world_wait_for_packets(struct world *w) {
	for (unsigned i = 0; w->threads && i < LIFE_WORKERS; i++) {
		uint64_t passed =
			__atomic_load_n(&w->bench.rounds[i], __ATOMIC_RELAXED) + ROUNDS_OF_A_PACKET;

		while (__atomic_load_n(&w->bench.rounds[i], __ATOMIC_RELAXED) < passed)
			__real_usleep(WAIT_US);
	}
}

/* Whether each thread has made a round since the last time, so that no queue fills up where the machine takes its core
 * away. */
static bool workers_follow(struct world *w) {
	uint64_t now[LIFE_WORKERS];

	for (unsigned i = 0; w->threads && i < LIFE_WORKERS; i++) {
		now[i] = __atomic_load_n(&w->bench.rounds[i], __ATOMIC_RELAXED);
		if (now[i] == w->sent_at[i])
			return false;
	}
	if (w->threads)
		memcpy(w->sent_at, now, sizeof(now));
	return true;
}

void world_pass(struct world *w) {
	struct server *s = &w->bench.server;
	bool sends = !w->silent && workers_follow(w);

	if (sends && world_roll(w, 2) == 0)
		traffic_of_base(w);
	if (sends && world_roll(w, 2) == 0)
		traffic_of_others(w);
	for (unsigned i = 0; i < s->worker_count && !w->threads; i++) {
		if (world_roll(w, 3) > 0)
			worker_steps(w, &s->workers[(i + w->serial) % s->worker_count]);
	}
	life_kit_take(&w->bench);
	w->bench.now += STEP_NS;
}

/* The control thread naps: so the workers go on. */
int __wrap_usleep(useconds_t us) {
	if (present == NULL)
		return __real_usleep(us);
	world_pass(present);
	return present->threads ? __real_usleep(us) : 0;
}
