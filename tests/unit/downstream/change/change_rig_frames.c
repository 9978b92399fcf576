/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the rig: what the configuration says of one, what became of it, and the frame that comes back. */
#include "change_rig_frames.h"

#include <string.h>

#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/ip.h"

#include "change_rig.h"
#include "fixture.h"
#include "packets.h"
#include "plain_aes.h"
#include "plain_aes_inverse.h"
#include "test.h"

#define ROUND_NS 20000
#define FRAME 90 /* bytes */
#define SETTLED 20 /* rounds in which nothing is held */

/* What is, or what the list makes of it. */
static const void *object_at(bool next, enum live_object object, uint32_t slot) {
	for (size_t i = 0; next && i < rig->changes.count; i++) {
		if (rig->list[i].object == object && rig->list[i].slot == slot)
			return rig->list[i].next;
	}
	return rig->blocks[object][slot];
}

static bool is_address(const struct ip_address *a, uint8_t address) {
	return a->family == 4 ? a->bytes[3] == address : a->bytes[15] == address;
}

/* All matches of the rig are of one port. */
static bool hits(const struct match *m, uint8_t address, uint16_t port) {
	return address < RIG_IPV4 && m->destination_ports.low == port;
}

static bool permitted(bool next, const struct modem *m, uint8_t address, uint16_t port) {
	for (size_t g = 0; g < m->filter_group_count; g++) {
		const struct filter_group *f =
			object_at(next, LIVE_FILTER_GROUP, m->filter_groups[g]);

		for (size_t r = 0; r < f->rule_count; r++) {
			if (hits(&f->rules[r].match, address, port))
				return f->rules[r].action == FILTER_PERMIT;
		}
	}
	return rig->sg.filter_default == FILTER_PERMIT;
}

static struct rig_outcome outcome_of(bool next, uint32_t slot, const struct modem *m,
				     uint8_t address, uint16_t port) {
	struct rig_outcome out = {DROP_NONE, slot, m->service_flows[0].id};

	if (!permitted(next, m, address, port))
		return (struct rig_outcome){.reason = DROP_FILTER_DENY};
	for (size_t k = 0; k < m->classifier_count; k++) {
		if (hits(&m->classifiers[k].match, address, port)) {
			out.flow = m->service_flows[m->classifiers[k].flow].id;
			break;
		}
	}
	return out;
}

struct rig_outcome rig_outcome(bool next, uint8_t address, uint16_t port) {
	for (uint32_t slot = 0; slot < RIG_MODEMS; slot++) {
		const struct modem *m = object_at(next, LIVE_MODEM, slot);

		for (size_t a = 0; m != NULL && a < m->address_count; a++) {
			if (is_address(&m->addresses[a], address))
				return outcome_of(next, slot, m, address, port);
		}
	}
	return (struct rig_outcome){.reason = DROP_UNKNOWN_DESTINATION};
}

static struct counters counters_now(void) {
	struct counters c;

	downstream_counters(rig->d, &c);
	return c;
}

/* Whether the packet went where this outcome says. */
static bool went_there(const struct rig_outcome *out, bool next, enum drop_reason reason,
		       const struct packet_meta *meta) {
	const struct modem *m;

	if (reason != DROP_NONE || out->reason != DROP_NONE)
		return reason == out->reason;
	if (rig->flow_ids[meta->flow] != 0)
		return meta->modem == out->modem && rig->flow_ids[meta->flow] == out->flow;
	if (!next)
		return false;
	m = object_at(next, LIVE_MODEM, out->modem);
	for (size_t f = 0; f < m->service_flow_count; f++) {
		if (m->service_flows[f].id == out->flow)
			return meta->modem == out->modem &&
			       meta->flow == ds_modem_flows(&rig->d->tables, out->modem)[f];
	}
	return false;
}

static enum drop_reason reason_between(const struct counters *a, const struct counters *b) {
	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (b->drops[r] != a->drops[r])
			return (enum drop_reason)r;
	}
	assert_int_equal(b->values[COUNTER_ENQUEUED], a->values[COUNTER_ENQUEUED] + 1);
	return DROP_NONE;
}

static struct rte_mbuf *packet_make(uint8_t address, uint16_t port) {
	uint8_t frame[FRAME];

	if (address < RIG_IPV4) {
		packet_ipv4(frame, FRAME, rig->serial, (const uint8_t[]){10, 0, 0, address});
		packet_ipv4_port(frame, port);
	} else {
		packet_ipv6(frame, FRAME, rig->serial,
			    (const uint8_t[16]){0x20, 1, 0x0d, 0xb8, [15] = address});
	}
	return fixture_packet(rig->packets, frame, FRAME);
}

enum drop_reason rig_put(uint8_t address, uint16_t port, struct rte_mbuf **m) {
	struct counters before = counters_now(), after;

	*m = packet_make(address, port);
	assert_int_equal(rte_ring_enqueue(rig->in, *m), 0);
	pipeline_run(&rig->d->enqueue);
	after = counters_now();
	return reason_between(&before, &after);
}

struct rig_outcome rig_send(uint8_t address, uint16_t port) {
	struct rig_outcome outs[2] = {rig_outcome(false, address, port),
				      rig_outcome(rig->either, address, port)};
	struct rte_mbuf *m;
	enum drop_reason reason = rig_put(address, port, &m);
	unsigned which = 0;

	if (reason == DROP_FLOW_BUFFER_FULL || reason == DROP_SCHEDULER_FULL)
		fail_msg("the test sends more than there is room for");
	if (!went_there(&outs[0], false, reason, packet_meta(m)))
		which = 1;
	if (which == 1 && !went_there(&outs[1], rig->either, reason, packet_meta(m)))
		fail_msg("packet %u to %u, port %u: went elsewhere (reason %d, modem %u, flow %u)",
			 rig->serial, address, port, reason, packet_meta(m)->modem,
			 packet_meta(m)->flow);
	if (reason == DROP_NONE) {
		const struct modem *modem =
			object_at(which > 0 && rig->either, LIVE_MODEM, outs[which].modem);

		rig->sent[rig->serial] = (struct rig_sent){outs[which].flow, modem->mac[5], false};
		rig->queued++;
	}
	assert_true(++rig->serial < RIG_SENT);
	assert_true(downstream_balanced(rig->d));
	return outs[which];
}

void rig_send_all(void) {
	static const uint16_t ports[] = {7, 1001, 1002, 1003};

	for (uint8_t a = 0; a < RIG_ADDRESSES; a++)
		rig_send(a, ports[random_below(&rig->random, ARRAY_COUNT(ports))]);
}

/* Of the generation that the header names: key and IV follow from it. */
static void check_cipher(const struct docsis_mac *mac) {
	struct rig_modem m = {.is.security.said = mac->said_or_sid};
	uint8_t pdu[FRAME + ETHERNET_CRC_SIZE], crc[FRAME + ETHERNET_CRC_SIZE];

	rig_generation(&m, mac->key_sequence);
	assert_int_equal(mac->pdu_size, sizeof(pdu));
	memcpy(pdu, mac->pdu, sizeof(pdu));
	bpi_decrypt(m.is.security.key, m.is.security.iv, pdu + DOCSIS_CLEAR_SIZE,
		    sizeof(pdu) - DOCSIS_CLEAR_SIZE);
	memcpy(crc, pdu, sizeof(crc));
	ethernet_crc_write(crc, FRAME);
	assert_memory_equal(pdu, crc, sizeof(pdu));
	for (uint32_t s = 0; s < RIG_MODEMS; s++) {
		const struct security_association *sa = &rig->modems[s].security;

		rig->other_generations +=
			sa->said == mac->said_or_sid && sa->key_sequence != mac->key_sequence;
	}
}

static void frame_is_back(void *ctx, const uint8_t *bytes, size_t size) {
	struct docsis_mac mac;
	struct rig_sent *s;

	(void)ctx;
	assert_int_equal(docsis_mac_parse(bytes, size, &mac), DOCSIS_OK);
	assert_in_range(packet_serial(mac.pdu), 0, rig->serial - 1);
	s = &rig->sent[packet_serial(mac.pdu)];
	assert_false(s->back);
	s->back = true;
	rig->back++;
	assert_int_equal(mac.pdu[5], s->modem);
	assert_int_equal(mac.said_or_sid, 100 + s->modem);
	assert_int_equal(mac.dsid, 0x100 + s->flow);
	rig->last_sequence = mac.sequence;
	assert_int_equal(mac.toggle, mac.key_sequence & 1);
	check_cipher(&mac);
}

static void reader_make(uint32_t channel) {
	const struct channel *c = &rig->channels[channel];

	rig->readers[channel] = (struct depi_reader){
		.session = c->session,
		.extra = c->psp_extra,
		.profile = c->profile,
		.family = rig->sg.rphy.core_ip.family,
		.mtu = rig->sg.rphy.mtu,
		.max_segments = rig->sg.rphy.max_segments,
		.frame = frame_is_back,
	};
}

void rig_flows_note(bool closed) {
	if (closed)
		memset(rig->flow_ids, 0, sizeof(rig->flow_ids));
	for (uint32_t slot = 0; slot < RIG_MODEMS; slot++) {
		const struct modem *m = &rig->modems[slot];

		for (size_t f = 0; f < m->service_flow_count; f++)
			rig->flow_ids[ds_modem_flows(&rig->d->tables, slot)[f]] =
				m->service_flows[f].id;
	}
}

void rig_readers_make(void) {
	for (uint32_t c = 0; c < RIG_CHANNELS; c++) {
		if (channel_is_there(&rig->channels[c]))
			reader_make(c);
	}
}

void rig_readers_change(void) {
	for (uint32_t c = 0; c < RIG_CHANNELS; c++) {
		if (channel_is_there(&rig->channels[c]) && rig->readers[c].session == 0)
			reader_make(c);
	}
}

void rig_readers_end(void) {
	for (uint32_t c = 0; c < RIG_CHANNELS; c++) {
		if (channel_is_there(&rig->channels[c]) || rig->d->places.leaving[LIVE_CHANNEL][c])
			continue;
		assert_false(rig->readers[c].open); /* its last DEPI frame came */
		rig->readers[c].session = 0;
	}
}

static void take_frames(void) {
	struct rte_mbuf *m;

	while (rte_ring_dequeue(rig->out, (void **)&m) == 0) {
		uint32_t c = 0;

		while (rig->readers[c].session != depi_session(m))
			assert_true(++c < RIG_CHANNELS);
		depi_read(&rig->readers[c], m);
		rig->frames_of[c]++;
		rte_pktmbuf_free(m);
	}
}

void rig_round(void) {
	pipeline_run(&rig->d->dequeue);
	pipeline_run(&rig->d->lower_mac);
	take_frames();
	assert_true(downstream_balanced(rig->d));
	rig->clock.now += ROUND_NS;
}

void rig_settle(void) {
	for (unsigned idle = 0; idle < SETTLED; idle++) {
		rig_round();
		if (downstream_held(rig->d) > 0)
			idle = 0;
	}
}
