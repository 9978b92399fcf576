/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out while the upstream scheduler is made: it is refused by a name, and nothing is kept. */
#include "maps_rig.h"
#include "memory_runs_out.h"
#include "test.h"

static bool try_create(void *context) {
	const struct maps_config *config = context;
	const char *why = NULL;
	struct maps *m = maps_create(config, &why);

	if (m == NULL)
		assert_string_equal(why, "memory is short");
	maps_free(m);
	return m != NULL;
}

static void memory_is_short(void **state) {
	struct maps_channel c[] = {rig_ofdma(1), rig_sc_qam(2)};
	struct maps_config config = {.channels = c, .channel_count = 2, .flows = 3};

	(void)state;
	with_little_memory(try_create, &config);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
