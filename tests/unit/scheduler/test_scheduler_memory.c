/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests both schedulers when memory is short: creation fails with a reason, and nothing leaks. */
#include "failing_allocations.h"
#include "maps_kit.h"
#include "scheduler_setup.h"
#include "test_main.h"

static bool try_scheduler(void *context) {
	const char *why = NULL;
	struct scheduler *s = scheduler_create(context, &why);

	if (s == NULL)
		assert_string_equal(why, "no memory");
	scheduler_free(s);
	return s != NULL;
}

TEST(downstream_scheduler_without_memory_is_refused) {
	struct setup c;

	setup_make(&c);
	fail_each_allocation(try_scheduler, &c.config);
}

static bool try_maps(void *context) {
	const char *why = NULL;
	struct maps *m = maps_create(context, &why);

	if (m == NULL)
		assert_string_equal(why, "memory is short");
	maps_free(m);
	return m != NULL;
}

TEST(upstream_scheduler_without_memory_is_refused) {
	struct maps_channel c[] = {kit_ofdma(1), kit_sc_qam(2)};
	struct maps_config config = {.channels = c, .channel_count = 2, .flows = 3};

	fail_each_allocation(try_maps, &config);
}
