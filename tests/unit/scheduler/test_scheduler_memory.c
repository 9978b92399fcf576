/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out while the downstream scheduler is made: it is refused by a name, and nothing is kept. */
#include "memory_runs_out.h"
#include "scheduler/scheduler.h"
#include "test.h"

static bool try_create(void *context) {
	const struct scheduler_config *config = context;
	const char *why = NULL;
	struct scheduler *s = scheduler_create(config, &why);

	if (s == NULL)
		assert_string_equal(why, "no memory");
	scheduler_free(s);
	return s != NULL;
}

static void memory_is_short(void **state) {
	const uint32_t all[] = {0};
	const struct scheduler_channel channel = {1000000000, {0}};
	const struct scheduler_group group = {all, 1};
	const struct scheduler_modem modem = {{0, 0}};
	const struct scheduler_flow flow = {.weight = 1, .buffer = 10000, .max_buffer = 10000};
	struct scheduler_config config = {
		.channels = &channel,
		.channel_count = 1,
		.groups = &group,
		.group_count = 1,
		.modems = &modem,
		.modem_count = 1,
		.flows = &flow,
		.flow_count = 1,
		.packet_limit = 100,
	};

	(void)state;
	with_little_memory(try_create, &config);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
