/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic_kit.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "core/evaluate.h"
#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "fixture.h"
#include "model/load/loader.h"
#include "packets.h"
#include "platform/port.h"
#include "reference_aes.h"
#include "test.h"
#include "traffic_kit_config.h"
#include "wire/crc32.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"
#include "wire/tos.h"

struct rig rig;

int rig_open(void **state) {
	fixture_start_eal(256);
	group_load_text(&rig.sg, rig_config);
	rig.crypto = crypto_standalone_open(SOCKET_ID_ANY);
	assert_non_null(rig.crypto);
	rig.pool = fixture_pool_create("rig", 4095, 4096);
	assert_int_equal(port_pair("network", rig.pool, 1024, rig.network), 0);
	assert_int_equal(port_pair("rphy", rig.pool, 1024, rig.rphy), 0);
	return 0;
}

int rig_close(void **state) {
	for (int i = 0; i < 2; i++) {
		port_close(rig.network[i]);
		port_close(rig.rphy[i]);
	}
	crypto_close(rig.crypto);
	service_group_free(&rig.sg);
	return fixture_stop(state);
}

static void replace(char *text, const char *old, const char *new_text) {
	char *at = text;

	assert_int_equal(strlen(old), strlen(new_text));
	assert_non_null(strstr(text, old));
	while ((at = strstr(at, old)) != NULL)
		memcpy(at, new_text, strlen(new_text));
}

char *rig_second_config(bool same_sessions, bool same_addresses, bool same_modems) {
	char *text = strdup(rig_config);

	replace(text, "'service_group': '1'", "'service_group': '2'");
	replace(text, "'name': 'rig'", "'name': 'two'");
	if (!same_sessions)
		replace(text, "'session': '0x0001", "'session': '0x0002");
	if (!same_addresses) {
		replace(text, "10.0.0.", "10.0.1.");
		replace(text, "2001:db8:0:1::", "2001:db8:0:2::");
	}
	if (!same_modems)
		replace(text, "02:01:00:00:00:", "02:01:00:00:01:");
	return text;
}

struct traffic_options rig_options(const struct rig *r, const char *mix, uint64_t seed) {
	struct traffic_options options = {
		.streams = r->follows ? 64 : 0,
		.network_port = r->network[0],
		.rphy_port = r->rphy[0],
		.crypto = r->crypto,
		.permit_permille = 100,
		.classify_permille = 300,
		.seed = seed,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, 1996, &options.mix, error, sizeof(error)), 0);
	return options;
}

void rig_prepare(struct rig *r) {
	struct downlink *d = r->traffic->downlink;

	if (d != NULL) /* the test may be preempted between two frames */
		d->resequencers.timeout = UINT64_MAX;
	if (d != NULL && d->follow != NULL) /* keeps the state before a change for the whole test */
		d->follow->keep = UINT64_MAX / 2;
	r->unmatched = 0;
	memset(r->psp, 0xff, sizeof(r->psp)); /* wraps soon */
	memset(r->sequences, 0xff, sizeof(r->sequences));
	memset(r->counters, 0, sizeof(r->counters));
}

void rig_create(struct rig *r, const struct traffic_options *options) {
	r->traffic = traffic_create(&r->sg, options);
	assert_non_null(r->traffic);
	rig_prepare(r);
}

void rig_start(struct rig *r, const char *mix, uint64_t seed) {
	const struct traffic_options options = rig_options(r, mix, seed);

	rig_create(r, &options);
}

static uint32_t rig_find_modem(const struct rig *r, const struct frame_fields *f) {
	for (uint32_t m = 0; m < r->sg.modem_count; m++) {
		for (size_t a = 0; a < r->sg.modems[m].address_count; a++) {
			const struct ip_address *address = &r->sg.modems[m].addresses[a];

			if (address->family == f->family &&
			    memcmp(address->bytes, f->destination, ip_address_size(f->family)) == 0)
				return m;
		}
	}
	if (!r->follows)
		fail_msg("the destination address of a packet belongs to no modem");
	return RIG_NO_MODEM;
}

/* Writes the CRC and encrypts, with an AES that the traffic program does not use. */
static void rig_encrypt(const struct rig *r, struct rig_frame *f, bool encrypted, bool wrong_key) {
	const struct security_association *sa = &r->sg.modems[f->modem].security;
	static const uint8_t other_key[16] = {0xee};
	uint8_t *pdu = f->bytes + f->header_size;
	size_t size = f->size - f->header_size;

	ethernet_crc_write(pdu, size - ETHERNET_CRC_SIZE);
	if (encrypted)
		bpi_encrypt(wrong_key ? other_key : sa->key, sa->iv, pdu + DOCSIS_CLEAR_SIZE,
			    size - DOCSIS_CLEAR_SIZE);
}

static struct docsis_down_header rig_header(struct rig *r, const struct rig_frame *f) {
	const struct modem *m = &r->sg.modems[f->modem];
	const struct service_flow *flow = &m->service_flows[f->flow];
	struct docsis_down_header h = {
		.privacy = true,
		.encrypted = m->security.cipher == CIPHER_AES_128,
		.key_sequence = m->security.key_sequence,
		.said = m->security.said,
		.ds = flow->has_dsid ? DS_EHDR_SEQUENCE : DS_EHDR_PRIORITY,
		.priority = flow->priority,
		.dsid = flow->dsid,
	};

	if (flow->has_dsid)
		h.sequence = r->sequences[f->modem][f->flow]++;
	return h;
}

/* Encodes a packet as a DOCSIS frame. Returns whether `fault` was applied; it may be NULL. */
static bool rig_encode(struct rig *r, const uint8_t *packet, size_t size,
		       const struct rig_fault *fault, struct rig_frame *f) {
	static const struct rig_fault none;
	struct docsis_down_header h;
	struct frame_fields fields;
	const struct service_flow *flow;
	struct evaluation e;
	bool matches;
	uint8_t *pdu;

	assert_int_equal(frame_parse(packet, size, &fields), FRAME_GOOD);
	f->modem = rig_find_modem(r, &fields);
	f->size = 0;
	if (f->modem == RIG_NO_MODEM) {
		r->unmatched++;
		return false;
	}
	e = evaluate(&r->sg, &r->sg.modems[f->modem], &fields);
	assert_int_equal(e.action, FILTER_PERMIT);
	f->flow = e.flow;
	f->channel = f->modem == 1 ? 2 : r->round_robin++ % 2;
	matches = fault != NULL && fault->modem == f->modem && fault->flow == f->flow &&
		  fields.kind == FRAME_IPV4 && fields.protocol == IP_PROTOCOL_UDP;
	fault = matches ? fault : &none;
	h = rig_header(r, f);
	if (fault->header != NULL)
		fault->header(&h);
	f->header_size = docsis_down_header_write(&h, size + 4, f->bytes);
	pdu = f->bytes + f->header_size;
	memcpy(pdu, packet, size);
	memcpy(pdu, r->sg.modems[f->modem].mac, 6);
	flow = &r->sg.modems[f->modem].service_flows[f->flow];
	if (flow->overwrites_tos)
		tos_overwrite(pdu, size, flow->tos.and_mask, flow->tos.or_mask);
	if (fault->plain != NULL)
		fault->plain(pdu, size);
	f->size = f->header_size + size + 4;
	rig_encrypt(r, f, h.encrypted, fault->wrong_key);
	if (fault->wire != NULL)
		fault->wire(f);
	return matches;
}

unsigned rig_collect(struct rig *r, struct rig_frame *frames, unsigned n,
		     const struct rig_fault *fault) {
	struct rte_mbuf *packets[32];
	unsigned victim = n;

	assert_int_equal(n % 32, 0);
	for (unsigned done = 0; done < n; done += 32) {
		assert_int_equal(traffic_send(r->traffic, rte_rdtsc()), 32);
		assert_int_equal(rte_eth_rx_burst(r->network[1], 0, packets, 32), 32);
		for (unsigned i = 0; i < 32; i++) {
			bool now = victim == n && i >= 16;

			if (rig_encode(r, rte_pktmbuf_mtod(packets[i], const uint8_t *),
				       packets[i]->data_len, now ? fault : NULL, &frames[done + i]))
				victim = done + i;
			rte_pktmbuf_free(packets[i]);
		}
	}
	assert_true(fault == NULL || victim < n);
	return victim;
}

size_t rig_build_depi(struct rig *r, uint32_t channel, const struct rig_segment *segments,
		      unsigned count, uint8_t *out) {
	const struct channel *c = &r->sg.channels[channel];
	unsigned extra = c->psp_extra == PSP_EXTRA_NONE ? 0 : 2;
	struct depi_encap e = {.family = 4, .dscp = 4, .ttl = 64, .session = c->session};
	size_t header = psp_header_size(count, extra);
	size_t size = header;
	uint8_t *p = out + depi_encap_size(&(struct depi_encap){.family = 4});

	memcpy(e.source_mac, r->sg.rphy.core_mac, 6);
	memcpy(e.destination_mac, r->sg.rphy.rpd_mac, 6);
	memcpy(e.source_ip, r->sg.rphy.core_ip.bytes, 4);
	memcpy(e.destination_ip, r->sg.rphy.rpd_ip.bytes, 4);
	psp_header_write(p, 0, (uint8_t)count, r->psp[channel]++);
	for (unsigned i = 0; i < count; i++) {
		psp_entry_write(p + PSP_HEADER_FIXED + PSP_ENTRY_SIZE * i, segments[i].begin,
				segments[i].end, (uint16_t)segments[i].size);
		memcpy(p + size, segments[i].bytes, segments[i].size);
		size += segments[i].size;
	}
	if (extra != 0) {
		p[header - 2] = 0;
		p[header - 1] = (uint8_t)(r->counters[channel] << 4 | c->profile);
		if (c->psp_extra == PSP_EXTRA_COUNTER)
			r->counters[channel] = (r->counters[channel] + 1) & 0xf;
	}
	return depi_encap_write(&e, size, out) + size;
}

void rig_send_depi(struct rig *r, const uint8_t *depi, size_t size) {
	struct rte_mbuf *head = NULL;

	for (size_t at = 0, part; at < size; at += part) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);

		assert_non_null(m);
		part = RTE_MIN(head == NULL ? (size_t)64 : rte_pktmbuf_tailroom(m), size - at);
		memcpy(rte_pktmbuf_append(m, (uint16_t)part), depi + at, part);
		if (head == NULL)
			head = m;
		else
			assert_int_equal(rte_pktmbuf_chain(head, m), 0);
	}
	assert_int_equal(rte_eth_tx_burst(r->rphy[1], 0, &head, 1), 1);
	traffic_receive(r->traffic);
}

void rig_send_frame(struct rig *r, const struct rig_frame *f) {
	size_t max = RIG_MTU - 20 - 4 - 4 - 2 - 2;
	size_t first = f->size < max ? f->size : max;
	struct rig_segment a = {f->bytes, first, true, first == f->size};
	struct rig_segment b = {f->bytes + first, f->size - first, false, true};
	uint8_t depi[RIG_MTU + 14];

	if (f->size == 0)
		return; /* dropped: its modem was removed */
	rig_send_depi(r, depi, rig_build_depi(r, f->channel, &a, 1, depi));
	if (!a.end)
		rig_send_depi(r, depi, rig_build_depi(r, f->channel, &b, 1, depi));
}

void rig_send_frames(struct rig *r, const struct rig_frame *frames, unsigned n) {
	for (unsigned i = 0; i < n; i++)
		rig_send_frame(r, &frames[i]);
}

struct traffic_result rig_end_run(struct rig *r) {
	struct traffic_result result;

	traffic_stop(r->traffic);
	while (traffic_receive(r->traffic) > 0)
		;
	traffic_finish(r->traffic);
	traffic_result(r->traffic, &result);
	assert_int_equal(result.sent, result.proven + result.counted + result.lost +
					      result.overtaken + result.corrupted +
					      result.undecipherable);
	assert_int_equal(result.unaccounted, 0);
	return result;
}

void rig_assert_result(const struct traffic_result *r, struct rig_errors wrong) {
	uint64_t missing = wrong.lost + wrong.corrupted + wrong.undecipherable;

	assert_int_equal(r->lost, wrong.lost);
	assert_int_equal(r->corrupted, wrong.corrupted);
	assert_int_equal(r->undecipherable, wrong.undecipherable);
	assert_int_equal(r->overtaken, wrong.overtaken);
	assert_int_equal(r->duplicated, wrong.duplicated);
	assert_int_equal(r->reordered, wrong.reordered);
	assert_int_equal(r->proven + r->counted, r->sent - missing - wrong.overtaken);
	assert_int_equal(traffic_result_good(r),
			 missing + wrong.duplicated + wrong.reordered == 0 && !wrong.other);
}

struct traffic_result rig_finish(struct rig *r) {
	struct traffic_result result = rig_end_run(r);

	traffic_free(r->traffic);
	r->traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(r->pool), 0);
	return result;
}

struct totals *rig_totals(struct groups *groups) {
	static struct totals totals;

	groups_stop(groups);
	while (groups_receive(groups) > 0)
		;
	groups_finish(groups);
	totals_create(&totals, groups);
	return &totals;
}
