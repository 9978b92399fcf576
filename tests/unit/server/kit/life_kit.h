/* SPDX-License-Identifier: BSD-3-Clause */
/* Test kit: a server whose groups are added, removed, moved and changed in service. Groups share a
 * network and an R-PHY port, or have their own. All ports are virtual; the test sends and receives
 * at their other ends. Groups differ by addresses and sessions. */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "server/group_lifecycle.h"
#include "server/running.h"
#include "server/steering.h"

#include "server_kit.h"

#define LIFE_IDS 8 /* service group IDs are 1 .. LIFE_IDS - 1 */
/* A pair is a network and an R-PHY port. Pair 0 is shared; pair 1 is for groups with own ports. */
#define LIFE_SHARED 0
#define LIFE_PAIRS 2
#define LIFE_SEPARATE 3 /* groups, each with own network, R-PHY and control port */
#define LIFE_WORKERS 3
#define LIFE_FIRST_CORE 1 /* of worker 0 */
#define LIFE_DRAIN_MS 20000 /* limit for waits that normally end at once */

struct life_kit {
	struct service_group file[LIFE_SEPARATE]; /* configured at the start */
	struct service_group extra[LIFE_IDS]; /* groups of life_kit_load_extra(), by ID */
	struct server_config config;
	struct server server;
	struct rte_mempool *pool; /* packets of the test */
	/* DPDK ports of the test, by pair */
	uint16_t network[LIFE_SEPARATE], rphy[LIFE_SEPARATE], control[LIFE_SEPARATE];
	uint16_t sequences[LIFE_IDS]; /* PSP sequence number of the next burst, by group ID */
	uint64_t now; /* ns; time of the workers in rounds that the kit runs */
	uint32_t serial; /* of the next packets of life_kit_send_both() */
	pthread_t threads[LIFE_WORKERS];
	uint64_t rounds[LIFE_WORKERS]; /* of the threads; atomic */
	/* At the test's ends of the ports. Arrays are by group ID. */
	uint64_t sent_down, sent_up; /* packets */
	uint64_t received_up[LIFE_IDS]; /* received upstream frames */
	uint32_t next_up[LIFE_IDS]; /* lowest serial number that the next upstream frame may have */
	uint64_t depi_frames; /* received, of all groups */
	uint16_t depi_next[LIFE_IDS][2]; /* sequence number of each channel's next DEPI frame */
	bool depi_seen[LIFE_IDS][2];
	/* digests of received upstream [0] and DEPI [1] frames, with times if ports are separate */
	uint64_t digest[LIFE_IDS][2];
};

/* Replaces the shared ports by simulated NICs (steering_kit.c), and edits the groups. */
struct life_nic {
	/* Creates a link: ids[0] for the server, ids[1] for the test. */
	void (*create)(const char *name, struct rte_mempool *pool, unsigned depth, uint16_t ids[2]);
	/* Sends a packet from the test's end. Returns false if the queue is full. */
	bool (*send)(uint16_t far, struct rte_mbuf *m);
	void (*destroy)(const char *name);
	void (*edit_group)(struct service_group *sg);
};
extern const struct life_nic *life_nic; /* NULL: the shared ports are net_ring ports */

/* For life_kit_load(): separate ports (see below), an upstream scheduler. */
extern bool life_separate_ports, life_upstream_scheduler;

static inline unsigned life_pairs(void) {
	return life_separate_ports ? LIFE_SEPARATE : LIFE_PAIRS;
}

/* Loads a group that uses the pair, with its parts on the given workers. life_kit_load_extra()
 * loads it into `extra`, and life_kit_close() frees it. */
void life_kit_load(struct service_group *sg, unsigned id, unsigned pair, unsigned upper,
		   unsigned lower, unsigned upstream);
struct service_group *life_kit_load_extra(struct life_kit *k, unsigned id, unsigned pair,
					  unsigned upper, unsigned lower, unsigned upstream);

/* life_kit_open() opens a server with group 1, and group 2 if `count` is 2, on the shared pair, and
 * capacity for `max_groups`. life_kit_serve() serves the caller's `config`;
 * life_kit_try_serve() returns the result of server_serve() for it. All start EAL once. */
void life_kit_open(struct life_kit *k, unsigned count, unsigned max_groups);
void life_kit_serve(struct life_kit *k, unsigned memory_mb);
int life_kit_try_serve(struct life_kit *k, unsigned memory_mb);

/* Configures groups with separate network, R-PHY and control ports and otherwise equal settings.
 * `workers`: of upper MAC, lower MAC and upstream, per group. life_kit_serve() serves them. */
void life_kit_configure_separate(struct life_kit *k, unsigned count, const unsigned workers[][3]);

/* Stops and frees the server. Fails on wrong packet counters or leaked buffers.
 * life_kit_teardown(), for EACH_TEST(), and life_kit_open() close an open kit. Use life_kit_free()
 * if life_kit_try_serve() failed. */
void life_kit_close(struct life_kit *k);
void life_kit_free(struct life_kit *k);
int life_kit_teardown(void **state);

/* Creates the devices of the pair again after they were removed with their last group. */
void life_kit_restore_devices(unsigned pair);

/* Add and remove a group; fail the test if the server refuses. `group` is the index that
 * life_kit_add() returned. The removal waits up to `limit_ms` for pending packets. */
unsigned life_kit_add(struct life_kit *k, const struct service_group *sg);
void life_kit_remove(struct life_kit *k, unsigned group, unsigned limit_ms);

/* Call it when a removed group is added again: its sequence numbers restart in both directions. */
void life_kit_reset_sequences(struct life_kit *k, unsigned id);

/* Send a packet to modem `serial` modulo 2; send a burst from a modem. Return false if the port is full. */
bool life_kit_send_packet(struct life_kit *k, unsigned pair, const struct service_group *sg,
			  size_t size, uint32_t serial);
bool life_kit_send_burst(struct life_kit *k, unsigned pair, const struct service_group *sg,
			 uint32_t serial);

/* Send `n` packets in each direction, downstream, or upstream. Fail if a port is full. */
void life_kit_send_both(struct life_kit *k, unsigned pair, const struct service_group *sg,
			unsigned n);
void life_kit_send_packets(struct life_kit *k, unsigned pair, const struct service_group *sg,
			   unsigned n);
void life_kit_send_bursts(struct life_kit *k, unsigned pair, const struct service_group *sg,
			  unsigned n);

/* Checks that bursts of group 1 are forwarded, and checks the packet counters. */
void life_kit_check_traffic(struct life_kit *k);

/* Send a burst without its end, or a management message, from the first group of the pair. */
void life_kit_send_open_burst(struct life_kit *k, unsigned pair);
void life_kit_send_message(struct life_kit *k, unsigned pair);

/* Receives all packets at the test's ends. Checks their order and contents. */
void life_kit_receive(struct life_kit *k);

/* Run rounds of all workers for `ns` of simulated time. life_kit_settle() repeats the rounds at
 * each time step until no packet moves, so that the order of workers does not matter. */
void life_kit_run(struct life_kit *k, uint64_t ns);
void life_kit_settle(struct life_kit *k, uint64_t ns);

/* Start and stop the workers as threads. */
void life_kit_launch(struct life_kit *k);
void life_kit_halt(struct life_kit *k);

/* Steps of the control thread while the workers run as threads, and their result. */
struct life_script {
	void (*step)(struct life_script *s, unsigned number);
	unsigned steps;
	const struct service_group *extra; /* gets traffic, in service or not; may be NULL */
	const char *failure; /* message of the first failed check, or NULL */
	bool done;
};

/* Checks a condition in a step, which runs in a thread that may not use cmocka's assertions. */
void life_check(struct life_script *s, bool good, const char *failure);

/* Runs the script in a thread, and meanwhile sends traffic of group 1 and receives it. Fails if a
 * check of the script failed, or a packet of group 1 is lost or out of order. */
void life_run_script(struct life_kit *k, struct life_script *s);

/* Counters of a group in service, by its index. */
struct counters life_kit_down_counters(const struct life_kit *k, unsigned group);
const struct counters *life_kit_up_counters(const struct life_kit *k, unsigned group);

/* Sums of packets over all groups and shared ports, including removed ones. */
struct life_totals {
	uint64_t down_in, down_out, down_dropped;
	uint64_t up_in, up_out, up_dropped; /* up_out: frames */
	uint64_t port_in, port_dropped, port_steered, port_misdirected;
};
struct life_totals life_kit_totals(const struct life_kit *k);

/* Checks: sent packets = received by groups + pending + dropped. */
void life_kit_check_totals(const struct life_kit *k);

/* Resources that a process can leak. */
struct life_resources {
	struct heaps_used heaps;
	unsigned zones, files, ports; /* memzones, file descriptors, DPDK ports */
};
struct life_resources life_resources_read(void);
/* Checks that as many are in use as before. */
void life_resources_check(const struct life_resources *before);
