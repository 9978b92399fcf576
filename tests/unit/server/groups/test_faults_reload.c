/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injection into reloads: each call that can fail fails once per kind of reload
 * (fault_runs.h). The reload must take effect completely, or be refused without effect. Packets of
 * the groups are distributed by software, or by rules of simulated NICs. */
#include "test_main.h"

#define FAULTS_SAMPLED 400 /* each call of a reload */

#include "group_file.h"

#include "fault_runs.h"
#include "steering_kit.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb3"
#else
#define DEVICE "crypto_openssl3"
#endif

#define BY_SOFTWARE STEERED_WAYS

/* A reload from `before` to `after` groups. The server started with `started` groups. */
struct fault_case {
	const char *name;
	unsigned started, before, after;
	void (*edit)(void);
	enum steered_by by; /* or BY_SOFTWARE */
	bool full; /* workers have no free capacity for stage lists */
};

static const struct fault_case *current_case;
static struct server_config desired; /* the reloaded file; `file` has the current configuration */
static struct service_group desired_groups[GROUPS];

/* Changes an object of each kind. */
static void edit_group(struct service_group *sg) {
	sg->channels[0].rate /= 2;
	sg->upstream_channels[0].session += 0x10;
	sg->filter_groups[0].rules[0].action = FILTER_PERMIT;
	sg->rate_limit = 123456789;
	sg->modems[0].security.key[0] ^= 1;
	sg->modems[0].addresses[0].bytes[3] += 100;
	sg->modems[1].mac[3] ^= 1; /* removes a modem and adds another */
	sg->modems[1].service_flows[0].priority++;
}

static void edit_two(void) {
	edit_group(&desired_groups[0]);
	edit_group(&desired_groups[1]);
}

static enum outcome apply_desired(void *context) {
	for (unsigned w = 0; w < LIFE_WORKERS && current_case->full; w++)
		server->workers[w].entry_capacity = server->workers[w].entry_count;
	if (server_reconfigure(server, &desired, false, line))
		return OUTCOME_DONE;
	if (strstr(line, "; nothing was changed") == NULL || strstr(line, ": ;") != NULL)
		fail_msg("found: %s", line);
	life_kit_restore_devices(1); /* the refused reload removed the devices that it had added */
	return OUTCOME_REFUSED;
}

static void restore_file(void *context) {
	life_kit_restore_devices(1); /* the devices were removed with their group */
	if (!reconfigure())
		fail_msg("%s", line);
	life_kit_restore_devices(1);
}

/* Reserves capacity for stage lists, unless `full`, as its growth would count as a leak. */
static void case_open(const struct fault_case *c) {
	if (c->by == BY_SOFTWARE)
		life_kit_open(kit, c->started, GROUPS);
	else
		steering_kit_open(kit, c->by, c->started, GROUPS);
	for (unsigned w = 0; w < LIFE_WORKERS && !c->full; w++)
		assert_int_equal(worker_reserve(&server->workers[w], 200), 0);
	load_file_groups(c->after);
	memcpy(desired_groups, file_groups, sizeof(desired_groups));
	memset(file_groups, 0, sizeof(file_groups));
	desired = file;
	desired.groups = desired_groups;
	load_file_groups(c->before);
	if (c->before > c->started)
		assert_true(reconfigure());
	if (c->edit != NULL)
		c->edit();
}

static void edit_first(void) {
	edit_group(&desired_groups[0]);
}

static void replace_group(unsigned g, unsigned pair, unsigned upper, unsigned lower,
			  unsigned upstream) {
	service_group_free(&desired_groups[g]);
	life_kit_load(&desired_groups[g], g + 1, pair, upper, lower, upstream);
}

static void add_ports(void) {
	replace_group(2, 1, 0, 1, 2);
	replace_group(3, 1, 0, 1, 0);
}

/* The port becomes shared; its stage lists need capacity at this worker, too. */
static void replace_by_shared(void) {
	replace_group(1, LIFE_SHARED, 1, 1, 1);
}

/* Changes objects and crypto providers, adds and removes groups. */
static void edit_all(void) {
	edit_two();
	for (unsigned g = 0; g < 2; g++) {
		desired_groups[g].crypto.provider = CRYPTO_CRYPTODEV;
		desired_groups[g].crypto.device = (char *)(uintptr_t)DEVICE;
	}
	service_group_free(&desired_groups[2]); /* removes group 3, adds group 4 */
	desired_groups[2] = desired_groups[3];
	desired.group_count = 3;
}

static const struct fault_case cases[] = {
	{"edit of two groups", 2, 2, 2, edit_two, BY_SOFTWARE},
	{"two groups added", 2, 2, 4, NULL, BY_SOFTWARE},
	{"groups added to ports of a single group", 1, 1, 3, edit_first, BY_SOFTWARE},
	{"groups added on new ports", 2, 2, 4, add_ports, BY_SOFTWARE},
	{"group added to workers without free capacity", 1, 1, 2, replace_by_shared, BY_SOFTWARE,
	 true},
	{"group removed", 2, 3, 2, edit_first, BY_SOFTWARE},
	{"all kinds of changes", 2, 3, 4, edit_all, BY_SOFTWARE},
	/* if a NIC refuses a rule, software distributes the packets: the reload is not refused */
	{"steered: edit of two groups", 2, 2, 2, edit_two, STEERED_BY_SESSION},
	{"steered: two groups added", 2, 2, 4, NULL, STEERED_BY_VLAN},
	{"steered: group removed", 2, 3, 2, NULL, STEERED_BY_MAC},
};

TEST(failed_calls_leave_reload_atomic) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct operation o = {
			.name = cases[i].name,
			.run = apply_desired,
			.undo = restore_file,
			.check_traffic = check_all_traffic,
			.keeps_memory = cases[i].full,
			.stays_short = true,
		};

		current_case = &cases[i];
		case_open(current_case);
		assert_true(run_with_each_fault(&o, server) > 5);
		for (unsigned g = 0; g < desired.group_count; g++)
			service_group_free(&desired_groups[g]);
	}
}

/* A refused reload must free the transmit ring that it created for the added group. */
TEST(refused_reload_leaves_no_transmit_ring) {
	const struct port_share *share;
	bool accepted = false;
	char *before;
	long call = 0;

	life_kit_open(kit, 1, GROUPS);
	assert_int_equal(server_move_group(server, 0, PART_UPPER | PART_LOWER, 2), 0);
	load_file_groups(3);
	service_group_free(&file_groups[1]);
	life_kit_load(&file_groups[1], 2, LIFE_SHARED, 2, 2, 2);
	file.group_count = 2;
	reload_accepted("1 service group added");
	share = server->shares.of[server->ports.of[0][DEVICE_NETWORK]];
	assert_null(share->send.ring);
	file.group_count = 3;
	before = served_state(server, true);
	for (; !accepted; call++) {
		char *now;

		faults_begin(call, call % 2 == 1);
		accepted = reconfigure();
		faults_end(NULL);
		now = served_state(server, true);
		if (!accepted)
			served_state_check(before, now, "a new ring");
		free(now);
	}
	assert_true(call > 50);
	assert_non_null(share->send.ring);
	check_all_traffic();
	free(before);
}

static void check_unchanged_after(const char *why) {
	char *before = served_state(server, true), *now;

	reload_refused(why);
	assert_non_null(strstr(line, "; nothing was changed"));
	now = served_state(server, true);
	served_state_check(before, now, why);
	free(before);
	free(now);
}

static void limit_queue_pairs(unsigned pairs) {
	static char name[64];

	snprintf(name, sizeof(name), "crypto_openssl7,max_nb_queue_pairs=%u", pairs);
	for (unsigned g = 0; g < 2; g++) {
		file_groups[g].crypto.provider = CRYPTO_CRYPTODEV;
		file_groups[g].crypto.device = name;
	}
}

/* The reload is refused as the new crypto device has too few queues for the second group. With
 * another name, the same device is opened again. */
TEST(refusal_of_second_group_leaves_first_unchanged) {
	life_kit_open(kit, 2, GROUPS);
	load_file_groups(3);
	reload_accepted("1 service group added");
	file.group_count = 2;
	for (unsigned g = 0; g < 2; g++)
		file_groups[g].modems[1].service_flows[0].priority++;
	limit_queue_pairs(3);
	for (unsigned tries = 0; tries < 3; tries++)
		check_unchanged_after(
			"service group 2: crypto.provider: crypto_openssl7 has no queue left");
	file.group_count = 3;
	check_all_traffic();
	file.group_count = 2;
	limit_queue_pairs(4);
	/* the scheduler refuses this rate; the loader would, too */
	file_groups[1].channels[1].rate = 1;
	check_unchanged_after("service group 2: channel 2: ");
	file_groups[1].channels[1].rate = file_groups[0].channels[1].rate;
	reload_accepted("service group 2: crypto provider changed; 1 service group removed");
	check_all_traffic();
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)
