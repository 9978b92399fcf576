/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the CPE limit against a model: each modem has up to cpe_limit active addresses per family.
 * An address is active in the period of a packet to it and in the next. */
#include "test_main.h"

#include "downstream/cpe.h"
#include "lookup_kit.h"
#include "random.h"

#define MODEMS 4
#define STEPS 20000
#define BURST 8 /* limit of packets */

/* The model: 1 + period in which an address was last admitted; 0: never. */
static uint64_t last_admitted[MODEMS][SG_MAX_MODEM_ADDRESSES];

/* Number of active addresses of the modem in a family, or in both (0). */
static unsigned count_active(uint32_t modem, uint8_t family, uint64_t period) {
	const struct modem *m = &lookup_kit.sg.modems[modem];
	unsigned count = 0;

	for (size_t a = 0; a < m->address_count; a++)
		count += last_admitted[modem][a] != 0 && last_admitted[modem][a] >= period &&
			 (family == 0 || m->addresses[a].family == family);
	return count;
}

static bool admit(uint32_t modem, uint32_t address, uint64_t period) {
	const struct modem *m = &lookup_kit.sg.modems[modem];
	uint8_t family = m->addresses[address].family;
	bool is_active =
		last_admitted[modem][address] != 0 && last_admitted[modem][address] >= period;

	if (!is_active &&
	    count_active(modem, family, period) >= (family == 4 ? m->cpe_limit : m->cpe_limit_ipv6))
		return false;
	last_admitted[modem][address] = period + 1;
	return true;
}

/* Creates a frame for a modem itself, which is no CPE, or for one of its addresses. ARP counts like
 * IP. Sets `*passes` by the model. */
static struct rte_mbuf *create_frame(struct random *r, uint32_t serial, uint64_t period,
				     bool *passes) {
	uint32_t modem = random_below(r, MODEMS);
	const struct modem *m = &lookup_kit.sg.modems[modem];
	uint32_t address = m->address_count > BURST ? random_below(r, 8) * 9
						    : random_below(r, (uint32_t)m->address_count);
	uint8_t bytes[100];
	size_t size;

	*passes = true;
	if (random_below(r, 8) == 0)
		return fixture_packet_create(lookup_kit.packets, bytes,
					     packet_write_llc(bytes, 60, serial, m->mac));
	*passes = admit(modem, address, period);
	if (m->addresses[address].family == 4 && random_below(r, 4) == 0)
		size = packet_write_arp(bytes, 60, serial, m->addresses[address].bytes);
	else
		size = packet_write_to_modem(m, address, bytes, 62, serial);
	return fixture_packet_create(lookup_kit.packets, bytes, size);
}

/* Sends a burst and compares it with the model. Returns how many packets were kept. */
static unsigned send_burst(struct random *r, uint64_t period) {
	const struct counters *c = &lookup_kit.upper.counters, before = *c;
	uint16_t n = (uint16_t)random_between(r, 1, BURST), kept = 0;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint32_t serials[BURST];

	for (uint16_t i = 0; i < n; i++) {
		bool passes;

		pkts[i] = create_frame(r, i, period, &passes);
		serials[kept] = i;
		kept += passes;
	}
	assert_int_equal(lookup_run(pkts, n), kept);
	for (uint16_t i = 0; i < kept; i++)
		assert_int_equal(packet_serial(rte_pktmbuf_mtod(pkts[i], uint8_t *)), serials[i]);
	assert_int_equal(c->drops[DROP_CPE_LIMIT], before.drops[DROP_CPE_LIMIT] + n - kept);
	/* dropped packets count as matched, too */
	assert_int_equal(c->values[COUNTER_LOOKUP_MATCHED],
			 before.values[COUNTER_LOOKUP_MATCHED] + n);
	rte_pktmbuf_free_bulk(pkts, kept);
	return kept;
}

/* Advances the clock: often not, to the end of a period, 1 ns less, or by some periods. */
static void advance_clock(struct random *r) {
	uint64_t *now = &lookup_kit.clock.now,
		 remaining = LOOKUP_PERIOD_NS - *now % LOOKUP_PERIOD_NS;

	switch (random_below(r, 24)) {
	case 0: *now += remaining; break;
	case 1: *now += remaining - 1; break;
	case 2: *now += random_below(r, LOOKUP_PERIOD_NS); break;
	case 3: *now += random_below(r, 6) * (uint64_t)LOOKUP_PERIOD_NS; break;
	default: break;
	}
}

TEST(lookup_agrees_with_model) {
	struct random r = {5};
	unsigned kept = 0;

	for (int step = 0; step < STEPS; step++) {
		uint64_t period = lookup_kit.clock.now / LOOKUP_PERIOD_NS;
		struct cpe_activity activity, expected = {0};

		kept += send_burst(&r, period);
		for (uint32_t m = 0; m < MODEMS; m++) {
			unsigned count = count_active(m, 0, period);

			assert_int_equal(cpe_active_addresses(&lookup_kit.upper, m), count);
			expected.modems += count > 0;
			expected.addresses += count;
		}
		activity = cpe_activity(&lookup_kit.upper);
		assert_int_equal(activity.modems, expected.modems);
		assert_int_equal(activity.addresses, expected.addresses);
		advance_clock(&r);
	}
	assert_in_range(kept, STEPS, STEPS * (BURST + 1) / 2 - STEPS / 2);
}

TEST(reused_number_counts_in_its_new_family) {
	struct ds_modem m = {.cpe_limit = 1, .cpe_limit_ipv6 = 1};

	assert_true(cpe_admit(&m, 0, false, 7));
	assert_true(cpe_admit(&m, 1, true, 7));
	assert_false(cpe_admit(&m, 5, true, 7));
	m.cpe_limit_ipv6 = 2;
	assert_false(cpe_admit(&m, 5, false, 7));
	assert_true(cpe_admit(&m, 5, true, 7));
	assert_false(cpe_admit(&m, 6, true, 7));
	m.cpe_recent &= ~(1ULL << 5); /* another address reuses the number */
	m.cpe_limit = 2;
	assert_true(cpe_admit(&m, 5, false, 7));
	assert_false(cpe_admit(&m, 6, false, 7));
	assert_true(cpe_admit(&m, 6, true, 7));
}

TEST(no_packet_leaks) {
	lookup_kit_free();
}

ALL_TESTS(lookup_kit_open, fixture_stop)
