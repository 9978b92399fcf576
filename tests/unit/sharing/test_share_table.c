/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a shared port: as large as a server's groups need it, and what it refuses. */
#include "test.h"

#include <string.h>

#include <rte_malloc.h>

#include "share_rig.h"

#define MANY 3000 /* modems of a group */
#define GROUPS 3

static struct share_rig storage, *const rig = &storage;
static struct modem modems[GROUPS][MANY];
static struct ip_address addresses[GROUPS][MANY][2];

static struct share_table *make(enum share_side side) {
	return share_table_create("test", side, rig->list, rig->count, (char[LIVE_LINE]){0});
}

/* The group that a key tells, or -1. */
static int told(const struct share_table *t, enum share_kind kind, uint8_t vlan,
		const uint8_t *value, size_t size) {
	struct share_key key;
	void *group;

	share_key_set(&key, kind, vlan, value, size);
	if (rte_hash_lookup_data(t->groups, &key, &group) < 0)
		return -1;
	return (int)share_owner(t, (uintptr_t)group);
}

static void group_make(unsigned g) {
	for (unsigned m = 0; m < MANY; m++) {
		uint8_t high = (uint8_t)(m >> 8), low = (uint8_t)m;

		addresses[g][m][0] = (struct ip_address){4, {10, (uint8_t)g, high, low}};
		addresses[g][m][1] =
			(struct ip_address){6, {0x20, 0x01, 0x0d, 0xb8, (uint8_t)g, high, low}};
		modems[g][m] = (struct modem){
			.mac = {2, 1, 0, (uint8_t)g, high, low},
			.service_flow_count = 1,
			.addresses = addresses[g][m],
			.address_count = 2,
		};
	}
	rig->groups[g].modems = modems[g];
	rig->groups[g].modem_count = MANY;
}

/* Every address of every modem is found, and leaves nothing behind. */
static void many_addresses(void **state) {
	struct rte_malloc_socket_stats before, after;
	struct share_table *t;

	(void)state;
	rig_prepare(rig, GROUPS);
	for (unsigned g = 0; g < GROUPS; g++)
		group_make(g);
	t = make(SHARE_NETWORK); /* what DPDK keeps for good is there then */
	share_table_free(t);
	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &before), 0);
	t = make(SHARE_NETWORK);
	assert_non_null(t);
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned m = 0; m < MANY; m++) {
			const struct ip_address *a = addresses[g][m];

			assert_int_equal(told(t, SHARE_IPV4, 0, a[0].bytes, 4), g);
			assert_int_equal(told(t, SHARE_IPV6, 0, a[1].bytes, 16), g);
			assert_int_equal(told(t, SHARE_MODEM_MAC, 0, modems[g][m].mac, 6), g);
		}
	}
	assert_int_equal(rte_hash_count(t->groups), GROUPS * MANY * 3);
	share_table_free(t);
	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &after), 0);
	assert_int_equal(after.alloc_count, before.alloc_count);
}

/* Three groups with MAC addresses have one address: it tells none, until a group without has it, too. */
static void an_address_of_several(void **state) {
	const uint8_t *address = rig->addresses[1][0][0].bytes;
	struct share_table *t;

	(void)state;
	rig_prepare(rig, 4);
	for (unsigned g = 1; g < 4; g++) {
		rig->groups[g].network.has_mac = true;
		rig_mac(g, 2, rig->groups[g].network.mac);
		rig->addresses[g][0][0] = rig->addresses[1][0][0];
	}
	t = make(SHARE_NETWORK);
	assert_non_null(t);
	assert_int_equal(told(t, SHARE_IPV4, 0, address, 4), SHARE_SEVERAL);
	share_table_free(t);
	rig->groups[3].network.has_mac = false;
	t = make(SHARE_NETWORK);
	assert_non_null(t);
	assert_int_equal(told(t, SHARE_IPV4, 0, address, 4), 3);
	share_table_free(t);
	rig->addresses[0][0][0] = rig->addresses[1][0][0];
	assert_null(make(SHARE_NETWORK)); /* two without */
}

/* A group whose number was free, or alone in its VLAN, has nothing in the hash. */
static void what_needs_no_hash(void **state) {
	struct share_table *t;

	(void)state;
	rig_prepare(rig, 3);
	rig->list[0] = NULL;
	rig->groups[1].network.vlan = 10;
	t = make(SHARE_NETWORK);
	assert_non_null(t);
	assert_null(t->groups);
	assert_true(t->tagged);
	share_table_free(t);
	rig->list[0] = &rig->groups[0]; /* with group 2 */
	t = make(SHARE_NETWORK);
	assert_non_null(t);
	assert_int_equal(rte_hash_count(t->groups), 2 * RIG_MODEMS * 3);
	share_table_free(t);
}

/* Sessions that are not there do not repeat; where others do, the hash has each with the MAC address only. */
static void sessions(void **state) {
	struct share_table *t;

	(void)state;
	rig_prepare(rig, 3);
	for (unsigned g = 0; g < 3; g++)
		rig->channels[g].request_session = rig->channels[g].ranging_session = 0;
	rig->groups[1].rphy = rig->groups[0].rphy;
	t = make(SHARE_RPHY);
	assert_non_null(t);
	assert_int_equal(rte_hash_count(t->groups), 3);
	assert_false(t->vlans[0].by_mac);
	share_table_free(t);
	rig->channels[2].session = rig->channels[1].session;
	t = make(SHARE_RPHY);
	assert_non_null(t);
	assert_int_equal(rte_hash_count(t->groups), 3);
	assert_true(t->vlans[0].by_mac);
	share_table_free(t);
	rig->channels[0].session = rig->channels[1].session;
	assert_null(make(SHARE_RPHY)); /* groups 0 and 1 have one MAC address */
}

/* No groups: nobody gets anything. */
static void no_groups(void **state) {
	struct share_table *t;

	(void)state;
	rig_prepare(rig, 0);
	t = make(SHARE_NETWORK);
	assert_non_null(t);
	assert_int_equal(t->vlans[t->vlan_of[0]].group, SHARE_NOBODY);
	assert_null(t->groups);
	share_table_free(t);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_addresses),     cmocka_unit_test(an_address_of_several),
		cmocka_unit_test(what_needs_no_hash), cmocka_unit_test(sessions),
		cmocka_unit_test(no_groups),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
