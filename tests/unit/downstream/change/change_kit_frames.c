/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of change_kit.h that sends packets and checks results and frames. */

#include "pipeline/packet.h"
#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "change_kit.h"
#include "fixture.h"
#include "packets.h"
#include "reference_aes.h"
#include "test.h"

#define ROUND_NS 20000
#define FRAME 90 /* bytes */
#define SETTLED 20 /* consecutive rounds without pending packets */

/* All matches of the kit are on one port. */
static bool matches_port(const struct match *m, uint8_t address, uint16_t port) {
	return address < KIT_IPV4 && m->destination_ports.low == port;
}

/* The counter of the filter stage that counts the packet. */
static enum counter filter_counter(const struct kit_objects *o, const struct modem *m,
				   uint8_t address, uint16_t port) {
	for (size_t g = 0; g < m->filter_group_count; g++) {
		const struct filter_group *f = &o->filters[m->filter_groups[g]];

		for (size_t r = 0; r < f->rule_count; r++) {
			if (matches_port(&f->rules[r].match, address, port))
				return f->rules[r].action == FILTER_PERMIT
					       ? COUNTER_FILTER_MATCHED_PERMIT
					       : COUNTER_FILTER_MATCHED_DENY;
		}
	}
	return COUNTER_FILTER_UNMATCHED;
}

static struct kit_expectation modem_expectation(const struct kit_objects *o, uint32_t slot,
						uint8_t address, uint16_t port) {
	const struct modem *m = &o->modems[slot];
	struct kit_expectation out = {
		.reason = DROP_NONE,
		.modem = slot,
		.flow = m->service_flows[0].id,
		.filtered = filter_counter(o, m, address, port),
		.classified = COUNTER_CLASSIFIER_UNMATCHED,
	};

	if (out.filtered == COUNTER_FILTER_MATCHED_DENY ||
	    (out.filtered == COUNTER_FILTER_UNMATCHED && o->sg.filter_default == FILTER_DENY))
		out.reason = DROP_FILTER_DENY;
	for (size_t k = 0; k < m->classifier_count; k++) {
		if (matches_port(&m->classifiers[k].match, address, port)) {
			out.flow = m->service_flows[m->classifiers[k].flow].id;
			out.classified = COUNTER_CLASSIFIER_MATCHED;
			break;
		}
	}
	return out;
}

/* The expected result by the configuration, from a linear search. */
static struct kit_expectation find_expectation(const struct kit_objects *o, uint8_t address,
					       uint16_t port) {
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		if (kit_has_address(&o->modems[slot], address))
			return modem_expectation(o, slot, address, port);
	}
	return (struct kit_expectation){.reason = DROP_UNKNOWN_DESTINATION};
}

static struct counters read_counters(void) {
	struct counters c;

	downstream_counters(kit->d, &c);
	return c;
}

uint64_t kit_count_removed(void) {
	return read_counters().drops[DROP_SERVICE_FLOW_REMOVED];
}

/* Whether the packet has the expected result, which derives from the objects `o`. */
static bool has_result(const struct kit_expectation *out, const struct kit_objects *o,
		       enum drop_reason reason, const struct packet_meta *meta) {
	const struct modem *m = &o->modems[out->modem];

	if (reason != DROP_NONE || out->reason != DROP_NONE)
		return reason == out->reason;
	if (meta->modem != out->modem)
		return false;
	if (kit->flow_ids[meta->flow] != 0)
		return kit->flow_ids[meta->flow] == out->flow;
	for (size_t f = 0; o == &kit->next && f < m->service_flow_count; f++) { /* an added flow */
		if (m->service_flows[f].id == out->flow)
			return meta->flow == ds_modem_flows(&kit->d->tables, out->modem)[f];
	}
	return false;
}

static void write_frame(uint8_t *frame, uint32_t serial, uint8_t address, uint16_t port) {
	if (address < KIT_IPV4) {
		packet_write_ipv4(frame, FRAME, serial, (const uint8_t[]){10, 0, 0, address});
		packet_set_ipv4_port(frame, port);
	} else {
		packet_write_ipv6(frame, FRAME, serial,
				  (const uint8_t[16]){0x20, 1, 0x0d, 0xb8, [15] = address});
	}
}

enum drop_reason kit_enqueue(uint8_t address, uint16_t port, struct rte_mbuf **m) {
	struct counters before = read_counters(), after;
	uint8_t frame[FRAME];

	write_frame(frame, kit->serial, address, port);
	*m = fixture_packet_create(kit->packets, frame, FRAME);
	assert_int_equal(rte_ring_enqueue(kit->in, *m), 0);
	pipeline_run(&kit->d->enqueue);
	after = read_counters();
	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (after.drops[r] != before.drops[r])
			return (enum drop_reason)r;
	}
	assert_int_equal(after.values[COUNTER_ENQUEUED], before.values[COUNTER_ENQUEUED] + 1);
	return DROP_NONE;
}

/* Checks that filters count each packet to a modem once, and classifiers each permitted one. */
static void check_counts(const struct kit_expectation *out, const struct counters *before) {
	static const enum counter filters[] = {COUNTER_FILTER_MATCHED_PERMIT,
					       COUNTER_FILTER_MATCHED_DENY,
					       COUNTER_FILTER_UNMATCHED};
	static const enum counter classifiers[] = {COUNTER_CLASSIFIER_MATCHED,
						   COUNTER_CLASSIFIER_UNMATCHED};
	const struct counters after = read_counters();
	bool found = out->reason != DROP_UNKNOWN_DESTINATION, permitted = out->reason == DROP_NONE;

	for (unsigned i = 0; i < ARRAY_COUNT(filters); i++)
		assert_int_equal(after.values[filters[i]] - before->values[filters[i]],
				 found && out->filtered == filters[i]);
	for (unsigned i = 0; i < ARRAY_COUNT(classifiers); i++)
		assert_int_equal(after.values[classifiers[i]] - before->values[classifiers[i]],
				 permitted && out->classified == classifiers[i]);
}

struct kit_expectation kit_send(uint8_t address, uint16_t port) {
	const struct kit_objects *objects[2] = {&kit->now, kit->applying ? &kit->next : &kit->now};
	const struct kit_expectation expectations[2] = {
		find_expectation(objects[0], address, port),
		find_expectation(objects[1], address, port)};
	const struct counters before = read_counters();
	struct rte_mbuf *m;
	enum drop_reason reason = kit_enqueue(address, port, &m);
	unsigned which = !has_result(&expectations[0], objects[0], reason, packet_meta(m));

	if (reason == DROP_FLOW_BUFFER_FULL || reason == DROP_SCHEDULER_FULL)
		fail_msg("a queue is full: the test sends too many packets");
	if (which == 1 && !has_result(&expectations[1], objects[1], reason, packet_meta(m)))
		fail_msg("packet %u to address %u, port %u: unexpected drop reason %d, modem %u or "
			 "flow %u",
			 kit->serial, address, port, reason, packet_meta(m)->modem,
			 packet_meta(m)->flow);
	if (!kit->applying)
		check_counts(&expectations[0], &before);
	if (reason == DROP_NONE) {
		kit->sent[kit->serial] =
			(struct kit_sent){expectations[which].flow,
					  objects[which]->modems[expectations[which].modem].mac[5],
					  address, port, false};
		kit->queued++;
	}
	assert_true(++kit->serial < KIT_MAX_PACKETS);
	assert_true(downstream_balanced(kit->d));
	return expectations[which];
}

void kit_send_all(void) {
	static const uint16_t ports[] = {7, 1001, 1002, 1003};

	for (uint8_t a = 0; a < KIT_ADDRESSES; a++)
		kit_send(a, ports[random_below(&kit->random, ARRAY_COUNT(ports))]);
}

/* Compares the PDU with the packet, encrypted with the key that the header names. */
static void check_pdu(const struct docsis_mac *mac, const struct kit_sent *s) {
	struct security_association sa = {.said = mac->said_or_sid};
	uint8_t pdu[FRAME + ETHERNET_CRC_SIZE];

	write_frame(pdu, packet_serial(mac->pdu), s->address, s->port);
	memcpy(pdu, (const uint8_t[]){2, 1, 0, 0, 0, s->modem}, 6);
	ethernet_crc_write(pdu, FRAME);
	kit_set_key(&sa, mac->key_sequence);
	bpi_encrypt(sa.key, sa.iv, pdu + DOCSIS_CLEAR_SIZE, sizeof(pdu) - DOCSIS_CLEAR_SIZE);
	assert_int_equal(mac->pdu_size, sizeof(pdu));
	assert_memory_equal(mac->pdu, pdu, sizeof(pdu));
}

static void check_frame(void *ctx, const uint8_t *bytes, size_t size) {
	struct docsis_mac mac;
	struct kit_sent *s;

	(void)ctx;
	assert_int_equal(docsis_mac_parse(bytes, size, &mac), DOCSIS_OK);
	assert_in_range(packet_serial(mac.pdu), 0, kit->serial - 1);
	s = &kit->sent[packet_serial(mac.pdu)];
	assert_false(s->received);
	s->received = true;
	kit->received++;
	assert_int_equal(mac.said_or_sid, 100 + s->modem);
	assert_int_equal(mac.dsid, 0x100 + s->flow);
	kit->last_sequence = mac.sequence;
	assert_int_equal(mac.toggle, mac.key_sequence & 1);
	check_pdu(&mac, s);
}

void kit_record_flows(bool closed) {
	if (closed)
		memset(kit->flow_ids, 0, sizeof(kit->flow_ids));
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		const struct modem *m = &kit->now.modems[slot];

		for (size_t f = 0; f < m->service_flow_count; f++)
			kit->flow_ids[ds_modem_flows(&kit->d->tables, slot)[f]] =
				m->service_flows[f].id;
	}
}

void kit_open_readers(void) {
	for (uint32_t c = 0; c < KIT_CHANNELS; c++) {
		if (!kit->now.exists[LIVE_CHANNEL][c] || kit->readers[c].session != 0)
			continue;
		kit->readers[c] = depi_reader_create(&kit->now.sg, c);
		kit->readers[c].frame = check_frame;
	}
}

static void receive_frames(void) {
	struct rte_mbuf *m;

	while (rte_ring_dequeue(kit->out, (void **)&m) == 0) {
		uint32_t c = 0;

		while (kit->readers[c].session != depi_session(m))
			assert_true(++c < KIT_CHANNELS);
		depi_read(&kit->readers[c], m);
		kit->frame_count[c]++;
		rte_pktmbuf_free(m);
	}
}

void kit_close_readers(void) {
	for (uint32_t c = 0; c < KIT_CHANNELS; c++) {
		if (kit->now.exists[LIVE_CHANNEL][c] || kit->d->slots.retiring[LIVE_CHANNEL][c])
			continue;
		assert_null(kit->d->lower.depi.channels[c].head);
		receive_frames(); /* the last frames of the channel */
		assert_false(kit->readers[c].open);
		kit->readers[c].session = 0;
	}
}

void kit_round(void) {
	pipeline_run(&kit->d->dequeue);
	pipeline_run(&kit->d->lower_mac);
	receive_frames();
	assert_true(downstream_balanced(kit->d));
	kit->clock.now += ROUND_NS;
}

void kit_settle(void) {
	for (unsigned idle = 0; idle < SETTLED; idle++) {
		kit_round();
		if (downstream_pending(kit->d) > 0)
			idle = 0;
	}
}
