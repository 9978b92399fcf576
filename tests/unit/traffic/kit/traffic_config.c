/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic_config.h"

#include "fixture.h"
#include "model/load/loader.h"
#include "modems/verifier.h"
#include "packets.h"
#include "test.h"

struct service_group sg;
struct rte_mempool *pool;

int traffic_config_open(void **state) {
	fixture_start_eal(256);
	pool = fixture_pool_create("test", 1023, RTE_MBUF_DEFAULT_BUF_SIZE);
	return 0;
}

int traffic_config_close(void **state) {
	service_group_free(&sg);
	return fixture_stop(state);
}

enum corruption traffic_verify(const struct generator *g, uint32_t stream, const uint8_t *frame,
			       uint32_t size, struct arrived *out) {
	struct flow_state flows[3] = {{.dsid = 0}};
	const struct modems modems = {.flows = flows};
	const struct modem_state modem = {.flow_count = 3};
	const struct frame_info info = {.modem = &modem, .modems = &modems, .stream = stream};

	return verify(g, &info, frame, size, out);
}

void traffic_config_load(const char *filter_default, const char *rules, const char *classifiers) {
	char text[8192];
	int size = snprintf(
		text, sizeof(text),
		"filter_default: %s\n"
		"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 1}]\n"
		"bonding_groups: [{id: 1, channels: [1]}]\n"
		"filter_groups:\n"
		"  - id: 1\n"
		"    rules:\n%s"
		"modems:\n"
		"  - mac: \"02:01:00:00:00:01\"\n"
		"    addresses: [10.0.0.1, \"2001:db8:0:1::1\", 10.0.0.2]\n"
		"    cpe_limit: 1\n"
		"    filter_groups: [1]\n"
		"    bonding_group: 1\n"
		"    security: {said: 1, cipher: none}\n"
		"    service_flows: [{id: 1}, {id: 2, priority: 1}, {id: 3, priority: 2}]\n"
		"    classifiers:\n%s",
		filter_default, rules, classifiers);

	service_group_free(&sg);
	assert_true(size > 0 && (size_t)size < sizeof(text));
	group_load_text(&sg, text);
}
