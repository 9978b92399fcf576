/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests cpe_watch.h: which addresses exceed CPE limits, and when packets to these are dropped. */
#include "test_main.h"

#include "group_defaults.h"
#include "refused/cpe_watch.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define HZ 1000
#define SECOND 1000000000ULL
#define ACTIVE_PACKETS 8

static struct ip_address first_addresses[] = {
	{4, {10, 0, 0, 1}}, {6, {0x20, 1, [15] = 1}}, {4, {10, 0, 1, 1}},
	{4, {10, 0, 0, 3}}, {6, {0x20, 1, [15] = 2}},
};
static struct ip_address other_addresses[] = {{4, {10, 0, 0, 9}}, {6, {0x20, 1, [15] = 9}}};
static struct modem modems[] = {
	{.addresses = first_addresses, .address_count = 5, .cpe_limit = 2, .cpe_limit_ipv6 = 1},
	{.addresses = other_addresses, .address_count = 2, .cpe_limit = 1, .cpe_limit_ipv6 = 1},
};
static struct service_group sg = {.modems = modems, .modem_count = 2};
static struct cpe_watch *w;

static int set_up(void **state) {
	modems[0].cpe_limit = 2;
	sg.cpe_timeout_ns = 0;
	service_group_set_defaults(&sg);
	w = cpe_watch_create(&sg, 1, HZ);
	return w == NULL ? -1 : 0;
}

static int tear_down(void **state) {
	cpe_watch_free(w);
	return 0;
}

static void assert_beyond(bool ipv4, uint64_t nth, uint64_t now, const struct ip_address *address) {
	const uint8_t *actual = cpe_watch_beyond(w, ipv4, nth, now);

	assert_non_null(actual);
	assert_memory_equal(actual, address->bytes, ip_address_size(address->family));
}

static void send_to(const struct ip_address *to, unsigned times, uint64_t now) {
	uint8_t frame[128] = {0};
	struct rte_mbuf m = {.buf_addr = frame, .data_len = sizeof(frame)};
	struct rte_mbuf *packets[] = {&m};
	bool ipv4 = to->family == 4;

	store_be16(frame + 12, ipv4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
	memcpy(frame + ETHERNET_HEADER + (ipv4 ? 16 : 24), to->bytes, ip_address_size(to->family));
	for (unsigned i = 0; i < times; i++)
		cpe_watch_record(w, packets, 1, now);
}

/* The addresses within the limit must each have had ACTIVE_PACKETS packets. */
TEST(address_is_beyond_when_others_are_active) {
	assert_null(cpe_watch_beyond(w, true, 0, 10));
	send_to(&first_addresses[0], ACTIVE_PACKETS, 10);
	send_to(&first_addresses[2], ACTIVE_PACKETS - 1, 10);
	assert_null(cpe_watch_beyond(w, true, 0, 10));
	send_to(&first_addresses[2], 1, 11);
	assert_beyond(true, 0, 11, &first_addresses[3]);
	assert_null(cpe_watch_beyond(w, false, 0, 11));
}

TEST(families_have_separate_limits) {
	send_to(&first_addresses[1], ACTIVE_PACKETS, 5);
	send_to(&other_addresses[1], ACTIVE_PACKETS, 5);
	assert_null(cpe_watch_beyond(w, true, 1, 5));
	for (uint64_t nth = 0; nth < 4; nth++)
		assert_beyond(false, nth, 5, &first_addresses[4]);
}

/* An address is surely active for half of cpe_timeout. */
TEST(address_expires_after_half_of_timeout) {
	send_to(&first_addresses[1], ACTIVE_PACKETS, 7);
	assert_non_null(cpe_watch_beyond(w, false, 0, 7 + 150 * HZ));
	assert_null(cpe_watch_beyond(w, false, 0, 8 + 150 * HZ));
	send_to(&first_addresses[1], 1, 8 + 150 * HZ);
	assert_non_null(cpe_watch_beyond(w, false, 0, 8 + 150 * HZ));
}

TEST(limit_of_zero_refuses_at_once) {
	cpe_watch_free(w);
	modems[0].cpe_limit = 0;
	w = cpe_watch_create(&sg, 0, HZ);
	assert_non_null(w);
	assert_beyond(true, 0, 0, &first_addresses[3]);
}

TEST(watch_is_not_created_without_need) {
	struct cpe_watch *none;

	sg.modem_count = 1;
	modems[0].cpe_limit = 3;
	modems[0].cpe_limit_ipv6 = 2;
	none = cpe_watch_create(&sg, 0, HZ);
	sg.modem_count = 2;
	modems[0].cpe_limit_ipv6 = 1;
	assert_null(none);
	sg.cpe_timeout_ns = 9 * SECOND;
	assert_null(cpe_watch_create(&sg, 0, HZ));
	cpe_watch_record(NULL, NULL, 0, 0);
	assert_null(cpe_watch_beyond(NULL, true, 0, 0));
}

EACH_TEST(set_up, tear_down)
