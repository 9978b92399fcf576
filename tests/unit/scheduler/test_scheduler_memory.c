/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out while a scheduler is made: it is refused by a name, and nothing is kept. */
#include "maps_kit.h"
#include "memory_runs_out.h"
#include "scheduler/scheduler.h"
#include "test_main.h"

static bool try_scheduler(void *context) {
	const char *why = NULL;
	struct scheduler *s = scheduler_create(context, &why);

	if (s == NULL)
		assert_string_equal(why, "no memory");
	scheduler_free(s);
	return s != NULL;
}

TEST(of_the_downstream) {
	const uint32_t all[] = {0};
	const struct scheduler_channel channel = {1000000000, {0}};
	const struct scheduler_group group = {all, 1};
	const struct scheduler_modem modem = {{0, 0}};
	const struct scheduler_flow flow = {.weight = 1, .buffer = 10000, .max_buffer = 10000};
	struct scheduler_config config = {&channel, 1, &group, 1, &modem, 1, &flow, 1, 0, 100, 0};

	with_little_memory(try_scheduler, &config);
}

static bool try_maps(void *context) {
	const char *why = NULL;
	struct maps *m = maps_create(context, &why);

	if (m == NULL)
		assert_string_equal(why, "memory is short");
	maps_free(m);
	return m != NULL;
}

TEST(of_the_upstream) {
	struct maps_channel c[] = {kit_ofdma(1), kit_sc_qam(2)};
	struct maps_config config = {.channels = c, .channel_count = 2, .flows = 3};

	with_little_memory(try_maps, &config);
}
