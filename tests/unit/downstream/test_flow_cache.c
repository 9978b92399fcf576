/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the flow cache: lookup, invalidation and replacement of records. */
#include "test_main.h"

#include "downstream/flow_cache.h"
#include "model/service_group.h"

#include "fixture.h"
#include "random.h"

#define RECORDS 64
#define MODEM 7 /* owner of all flows */
#define CHANGES (3 * 65536) /* more than 16 bits can count */

static struct flow_cache cache;
static struct random random_state;

static struct flow_key random_key(enum rule_family family) {
	struct flow_key key = {0};

	random_fill(&random_state, (uint8_t *)&key, family == RULE_IPV6 ? 40 : 16);
	key.family = (uint8_t)family;
	return key;
}

static const struct flow_record *find(const struct flow_key *key) {
	uint32_t hash = flow_cache_hash(key);
	const struct flow_record *r = flow_cache_find(&cache, key, hash, false);

	return r != NULL ? r : flow_cache_find(&cache, key, hash, true);
}

static struct flow_record *learn(const struct flow_key *key) {
	return flow_cache_add(&cache, key, flow_cache_hash(key), MODEM);
}

static int create_cache(void **state) {
	random_state.state = 1;
	return flow_cache_create(&cache, RECORDS - 1);
}

static int free_cache(void **state) {
	flow_cache_free(&cache);
	return 0;
}

TEST(lookup_compares_all_bits_of_key) {
	for (unsigned f = 0; f < 2; f++) {
		const size_t used = f == 0 ? 16 : 40;
		const struct flow_key key = random_key(f == 0 ? RULE_IPV4 : RULE_IPV6);

		flow_cache_invalidate(&cache, MODEM);
		assert_non_null(learn(&key));
		for (size_t bit = 0; bit < 8 * sizeof(key); bit++) {
			struct flow_key other = key;

			if (bit / 8 == offsetof(struct flow_key, family))
				continue;
			((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_int_equal(find(&other) != NULL, bit / 8 >= used);
		}
		assert_non_null(find(&key));
	}
}

/* Two colliding flows use two slots, the first that of the hash. Invalid records are reused. */
TEST(colliding_flows_use_two_slots) {
	struct flow_key first = random_key(RULE_IPV4), second;
	uint32_t hash = flow_cache_hash(&first);

	do {
		second = random_key(RULE_IPV6);
	} while ((flow_cache_hash(&second) ^ hash) & cache.mask);
	assert_ptr_equal(learn(&first), flow_cache_slot(&cache, hash, false));
	assert_ptr_equal(learn(&second), flow_cache_slot(&cache, hash, true));
	assert_true(find(&first) != NULL && find(&second) != NULL);
	flow_cache_invalidate(&cache, MODEM);
	assert_ptr_equal(learn(&second), flow_cache_slot(&cache, hash, false));
}

TEST(full_cache_replaces_records) {
	static struct flow_key keys[16 * RECORDS];
	unsigned found_count = 0, learned = 0;

	for (unsigned i = 0; i < RTE_DIM(keys); i++) {
		struct flow_record *r;

		keys[i] = random_key(i % 2 ? RULE_IPV6 : RULE_IPV4);
		r = learn(&keys[i]);
		if (r == NULL)
			continue;
		assert_ptr_equal(learn(&keys[i]), r); /* learned again: same record */
		r->flow = i;
		learned++;
	}
	for (unsigned i = 0; i < RTE_DIM(keys); i++) {
		const struct flow_record *r = find(&keys[i]);

		found_count += r != NULL;
		assert_true(r == NULL || r->flow == i);
	}
	assert_int_equal(found_count, RECORDS);
	/* all slots once, then one of eight later flows replaces a record */
	assert_in_range(learned, RECORDS + RTE_DIM(keys) / 16, RECORDS + RTE_DIM(keys) / 8);
}

/* Invalidated records stay invalid, also when the generation wraps. Zeroed ones match nothing. */
TEST(invalidated_flow_is_not_found) {
	const struct flow_key key = random_key(RULE_IPV4), zeros = {.family = RULE_IPV4};

	for (unsigned share = 0; share < FLOW_CACHE_SHARES; share++)
		cache.generations[share] = UINT32_MAX;
	assert_null(find(&zeros));
	flow_cache_invalidate_all(&cache);
	assert_null(find(&zeros));
	assert_non_null(learn(&key));
	for (unsigned i = 0; i < CHANGES; i++) {
		flow_cache_invalidate(&cache, MODEM);
		assert_null(find(&key));
	}
	assert_non_null(learn(&key));
	flow_cache_invalidate_all(&cache);
	assert_null(find(&key));
}

EACH_TEST(create_cache, free_cache)
ALL_TESTS(fixture_start, NULL)
