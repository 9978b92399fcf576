/* SPDX-License-Identifier: BSD-3-Clause */
#include "server_simulation.h"

#include <unistd.h>

#include "model/live/group_json.h"
#include "model/load/loader.h"
#include "server/change_parts.h"
#include "server/changes.h"

#include "fixture.h"
#include "packets.h"

#include "test.h"

#define STEP_NS 20000
#define ADDRESSES 64 /* of the first modem; the capacity of the group is proportional */

static struct simulation *active; /* usleep() advances it; NULL: none is open */

/* Checks the grace period: a change may be freed when each worker has ended a round after the last
 * retiring task. Without threads, no other check detects a missing grace period. */
#define CHAINS 1024 /* retiring at a time */

/* A chain of retiring tasks, identified by the flag that the last one sets. */
struct retiring_chain {
	const bool *done;
	bool ended;
	unsigned rounds[LIFE_WORKERS]; /* of each worker when the chain ended */
};

static struct retiring_chain chains[CHAINS];
static unsigned chain_count, periods, rounds[LIFE_WORKERS]; /* periods: changes freed after one */
static bool watching;

static void watch_grace_periods(bool on) {
	watching = on;
	chain_count = periods = 0;
}

/* Records that a worker ended a round and its tasks. */
static void record_round_end(unsigned worker) {
	rounds[worker]++;
	for (unsigned i = 0; i < chain_count; i++) {
		struct retiring_chain *c = &chains[i];

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
	if (watching && urgency == WORKER_LATER) {
		assert_true(chain_count < CHAINS);
		chains[chain_count++] = (struct retiring_chain){.done = done};
	}
	__real_worker_chain_begin(first, urgency, done);
}

static void check_grace_period(const struct group_change *g) {
	unsigned i = 0;

	while (i < chain_count && chains[i].done != &g->retired)
		i++;
	assert_true(i < chain_count);
	assert_true(chains[i].ended);
	for (unsigned n = 0; n < LIFE_WORKERS; n++)
		assert_true(rounds[n] > chains[i].rounds[n]);
	chains[i] = chains[--chain_count];
	periods++;
}

void __wrap_server_change_close(struct server_change *c) {
	for (unsigned i = 0; watching && c != NULL && c->applied && i < c->count; i++)
		check_grace_period(c->groups[i]);
	__real_server_change_close(c);
}

/* Loads a group of life_kit with more addresses and capacity. */
static void load_group(struct service_group *sg, unsigned id) {
	static struct ip_address addresses[LIFE_IDS][ADDRESSES];

	life_kit_load(sg, id, LIFE_SHARED, id % LIFE_WORKERS, (id + 1) % LIFE_WORKERS,
		      (id + 2) % LIFE_WORKERS);
	addresses[id][0] = sg->modems[0].addresses[0];
	for (unsigned a = 1; a < ADDRESSES; a++)
		addresses[id][a] = (struct ip_address){4, {10, (uint8_t)id, 1, (uint8_t)a}};
	sg->modems[0].addresses = addresses[id];
	sg->modems[0].address_count = ADDRESSES;
	sg->modems[0].cpe_limit = ADDRESSES;
	sg->modems[1].cpe_limit = ADDRESSES; /* it may swap addresses with modem 0 */
	sg->max_modems = SIM_MODEMS;
}

static json_t *group_to_json(const struct service_group *sg) {
	const struct group_capacity capacity = group_capacity(sg);
	struct live_group live = {0};
	json_t *doc;

	assert_int_equal(live_group_create(&live, sg, &capacity, (char[LIVE_LINE]){0}), 0);
	doc = group_json(&live, true);
	assert_non_null(doc);
	live_group_free(&live);
	/* defaults of a restart-only key must not appear in the reloaded file */
	json_object_del(json_object_get(doc, "threads"), "main_core");
	if (json_object_size(json_object_get(json_object_get(doc, "ports"), "control")) == 0)
		json_object_del(json_object_get(doc, "ports"), "control");
	return doc;
}

json_t *sim_create_group(unsigned id) {
	struct service_group sg;
	json_t *doc;

	load_group(&sg, id);
	doc = group_to_json(&sg);
	service_group_free(&sg);
	return doc;
}

static void open_kit(struct simulation *sim) {
	struct life_kit *b = &sim->kit;

	for (unsigned g = 0; g < SIM_PERMANENT; g++)
		load_group(&b->file[g], g + 1);
	b->config = (struct server_config){
		.groups = b->file, .group_count = SIM_PERMANENT, .max_groups = SIM_GROUPS};
	life_kit_serve(b, 512);
}

static void create_folder(struct simulation *sim) {
	strcpy(sim->folder, "/tmp/interleavings-XXXXXX");
	assert_non_null(mkdtemp(sim->folder));
	snprintf(sim->file, sizeof(sim->file), "%s/server.yaml", sim->folder);
	snprintf(sim->group_file, sizeof(sim->group_file), "%s/group.yaml", sim->folder);
}

static void start_workers(struct simulation *sim) {
	struct server *s = &sim->kit.server;

	if (sim->threads) {
		life_kit_launch(&sim->kit);
		return;
	}
	server_start(s);
	watch_grace_periods(true);
	for (unsigned i = 0; i < s->worker_count; i++)
		worker_online(&s->workers[i]);
}

void sim_open(struct simulation *sim, uint32_t seed, bool threads) {
	memset(sim, 0, sizeof(*sim));
	sim->rng.state = seed;
	sim->threads = threads;
	active = sim;
	open_kit(sim);
	create_folder(sim);
	for (unsigned id = 1; id <= SIM_PERMANENT; id++)
		sim->groups[id] = group_to_json(&sim->kit.file[id - 1]);
	reload_open(&sim->reload, &sim->kit.server, sim->file, &(struct server_devices){0});
	sim->metrics = (struct metrics_source){.server = &sim->kit.server, .version = "1"};
	metrics_source_start(&sim->metrics);
	sim->methods = (struct methods){&sim->kit.server, &sim->reload, &sim->metrics};
	sim->rpc = methods_rpc(&sim->methods);
	start_workers(sim);
}

static void stop_workers(struct simulation *sim) {
	struct server *s = &sim->kit.server;

	if (sim->threads) {
		life_kit_halt(&sim->kit);
		return;
	}
	assert_true(periods > 0);
	watch_grace_periods(false);
	for (unsigned i = 0; i < s->worker_count; i++)
		worker_offline(&s->workers[i]);
	server_halted(s);
}

void sim_close(struct simulation *sim) {
	sim_settle(sim);
	stop_workers(sim);
	sim_check_drops(sim);
	active = NULL;
	reload_free(&sim->reload);
	life_kit_close(&sim->kit);
	for (unsigned id = 1; id <= SIM_GROUPS; id++)
		json_decref(sim->groups[id]);
	unlink(sim->file);
	unlink(sim->group_file);
	rmdir(sim->folder);
}

/* Sends a packet to and a burst from an initial modem of a permanent group. */
static void send_initial_modem_traffic(struct simulation *sim) {
	unsigned g = sim_random(sim, SIM_PERMANENT);
	const struct service_group *sg = &sim->kit.file[g];

	life_kit_send_packet(&sim->kit, LIFE_SHARED, sg, 100, sim->serial);
	life_kit_send_burst(&sim->kit, LIFE_SHARED, sg, sim->serial++);
}

/* Sends a packet to a random modem that no pending request affects. */
static void send_random_modem_packet(struct simulation *sim) {
	unsigned id = 1 + sim_random(sim, SIM_PERMANENT);
	const json_t *modems = json_object_get(sim->groups[id], "modems");
	const json_t *modem =
		json_array_get(modems, sim_random(sim, (unsigned)json_array_size(modems)));
	const json_t *addresses = json_object_get(modem, "addresses");
	size_t count = json_array_size(addresses);
	uint8_t frame[PACKET_MAX], bytes[16];
	struct rte_mbuf *m;
	unsigned b[4];

	if (count == 0 ||
	    sim_is_affected(sim, id, json_string_value(json_object_get(modem, "mac"))) ||
	    sscanf(json_string_value(json_array_get(addresses, sim_random(sim, (unsigned)count))),
		   "%u.%u.%u.%u", &b[0], &b[1], &b[2], &b[3]) != 4)
		return;
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (uint8_t)b[i];
	packet_write_ipv4(frame, 100, sim->serial++, bytes);
	m = fixture_packet_create(sim->kit.pool, frame, 100);
	if (rte_eth_tx_burst(sim->kit.network[LIFE_SHARED], 0, &m, 1) == 1)
		sim->kit.sent_down++;
	else
		rte_pktmbuf_free(m);
}

static void run_worker_round(struct simulation *sim, struct worker *worker) {
	worker->clock.now = sim->kit.now;
	worker_round(worker);
	worker_quiescent(worker);
	record_round_end(worker->quiet_id);
}

/* After this many rounds, a packet has passed all tables of the server. */
#define PACKET_ROUNDS 8
#define WAIT_US 50

int __real_usleep(useconds_t us);
int __wrap_usleep(useconds_t us);

void sim_wait_for_packets(struct simulation *sim) {
	for (unsigned i = 0; sim->threads && i < LIFE_WORKERS; i++) {
		uint64_t target =
			__atomic_load_n(&sim->kit.rounds[i], __ATOMIC_RELAXED) + PACKET_ROUNDS;

		while (__atomic_load_n(&sim->kit.rounds[i], __ATOMIC_RELAXED) < target)
			__real_usleep(WAIT_US);
	}
}

/* Whether each worker has run since the latest packets. Otherwise queues could overflow. */
static bool workers_have_run(struct simulation *sim) {
	uint64_t now[LIFE_WORKERS];

	for (unsigned i = 0; sim->threads && i < LIFE_WORKERS; i++) {
		now[i] = __atomic_load_n(&sim->kit.rounds[i], __ATOMIC_RELAXED);
		if (now[i] == sim->rounds_at_send[i])
			return false;
	}
	if (sim->threads)
		memcpy(sim->rounds_at_send, now, sizeof(now));
	return true;
}

void sim_advance(struct simulation *sim) {
	struct server *s = &sim->kit.server;
	bool send = !sim->silent && workers_have_run(sim);

	if (send && sim_random(sim, 2) == 0)
		send_initial_modem_traffic(sim);
	if (send && sim_random(sim, 2) == 0)
		send_random_modem_packet(sim);
	for (unsigned i = 0; i < s->worker_count && !sim->threads; i++) {
		if (sim_random(sim, 3) > 0)
			run_worker_round(sim, &s->workers[(i + sim->serial) % s->worker_count]);
	}
	life_kit_receive(&sim->kit);
	sim->kit.now += STEP_NS;
}

/* While the control thread sleeps, the workers run. */
int __wrap_usleep(useconds_t us) {
	if (active == NULL)
		return __real_usleep(us);
	sim_advance(active);
	return active->threads ? __real_usleep(us) : 0;
}
