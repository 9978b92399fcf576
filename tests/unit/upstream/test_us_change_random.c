/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes and random packets beside a plain model: a configuration, and who has which SID and address in it.
 * After each change the upstream must be what one made anew of it would be, but for what lived on.
 */
#include "us_change_rig.h"

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/ip.h"

#define MODEMS 12
#define FLOWS 2 /* of a modem, at most */
#define CLUSTERS 2
#define SIDS 20 /* of a channel: 0x100, .. */
#define FIRST_SID 0x100
#define ADDRESSES 16
#define NOBODY UINT32_MAX
#define SESSIONS 2 /* between which a channel changes */
#define PACKET 100

struct model_cluster {
	struct upstream_sid sid;
	uint8_t id;
	uint16_t next; /* segment number */
	bool half; /* a frame is incomplete, from this address: */
	unsigned address;
};

struct model_flow {
	uint32_t id;
	bool segment_header;
	unsigned cluster_count;
	struct model_cluster clusters[CLUSTERS];
};

struct model_modem {
	unsigned flow_count; /* 0: it is not there */
	struct model_flow flows[FLOWS];
	unsigned address;
};

struct model {
	struct model_modem modems[MODEMS];
	uint32_t channels[BENCH_CHANNELS]; /* which of its sessions each has */
};

static struct model before, now, next;
static bool passing; /* what was before counts, too */
static uint64_t expected_drops[DROP_REASONS], expected_frames;

/* As the upstream is told. */
static struct modem modems[MODEMS];
static struct upstream_service_flow flows[MODEMS][FLOWS];
static struct sid_cluster clusters[MODEMS][FLOWS][CLUSTERS];
static struct ip_address addresses[MODEMS];
static struct upstream_channel channels[BENCH_CHANNELS];

static uint32_t session_of(const struct model *k, unsigned channel) {
	static const uint32_t ids[BENCH_CHANNELS][SESSIONS] = {
		{BENCH_SC_QAM, BENCH_SC_QAM}, {BENCH_OFDMA, 0x30002}, {BENCH_OFDMA_ALONE, 0x30003}};

	return ids[channel][k->channels[channel]];
}

static unsigned any(unsigned below) {
	return (unsigned)random_below(&bench->random, below);
}

/* Who has the SID; false where nobody does. */
static bool sid_owner(const struct model *k, unsigned channel, uint16_t sid, unsigned at[3]) {
	for (at[0] = 0; at[0] < MODEMS; at[0]++) {
		const struct model_modem *m = &k->modems[at[0]];

		for (at[1] = 0; at[1] < m->flow_count; at[1]++) {
			const struct model_flow *f = &m->flows[at[1]];

			for (at[2] = 0; at[2] < f->cluster_count; at[2]++) {
				const struct upstream_sid *s = &f->clusters[at[2]].sid;

				if (s->channel == channel && s->sid == sid)
					return true;
			}
		}
	}
	return false;
}

static bool address_is_had(const struct model *k, unsigned address) {
	for (unsigned m = 0; m < MODEMS; m++) {
		if (k->modems[m].flow_count > 0 && k->modems[m].address == address)
			return true;
	}
	return false;
}

static struct upstream_sid free_sid(const struct model *k) {
	for (;;) {
		unsigned at[3];
		struct upstream_sid s = {any(BENCH_CHANNELS), (uint16_t)(FIRST_SID + any(SIDS))};

		if (!sid_owner(k, s.channel, s.sid, at))
			return s;
	}
}

static void draw_flow(struct model *k, struct model_modem *m, uint32_t id) {
	struct model_flow *f = &m->flows[m->flow_count];

	*f = (struct model_flow){.id = id, .segment_header = any(3) > 0};
	m->flow_count++;
	for (unsigned c = 0; c < (f->segment_header ? 1 + any(CLUSTERS) : 1); c++) {
		f->clusters[c].id = (uint8_t)(any(2) + 2 * c);
		f->clusters[c].sid = free_sid(k);
		f->cluster_count++;
	}
}

/* Numbers and incomplete frames of clusters that live on. */
static void inherit(struct model_flow *f, const struct model_modem *from) {
	for (unsigned b = 0; b < from->flow_count; b++) {
		const struct model_flow *was = &from->flows[b];

		if (was->id != f->id || was->segment_header != f->segment_header)
			continue;
		for (unsigned c = 0; c < f->cluster_count; c++) {
			for (unsigned w = 0; w < was->cluster_count; w++) {
				if (was->clusters[w].id != f->clusters[c].id)
					continue;
				f->clusters[c].next = was->clusters[w].next;
				f->clusters[c].half = was->clusters[w].half;
				f->clusters[c].address = was->clusters[w].address;
			}
		}
	}
}

/* The modem comes, goes or is another one, with what others have given up. */
static void draw_modem(unsigned slot) {
	const struct model_modem *was = &now.modems[slot];
	struct model_modem *m = &next.modems[slot];

	*m = (struct model_modem){.flow_count = 0};
	if (was->flow_count > 0 && any(2) == 0)
		return;
	do
		m->address = any(ADDRESSES);
	while (address_is_had(&next, m->address));
	for (unsigned f = 0; f < FLOWS; f++) {
		if (f == 0 || any(2) == 0)
			draw_flow(&next, m, 10 * slot + any(2) + 2 * f);
	}
	for (unsigned f = 0; f < m->flow_count; f++)
		inherit(&m->flows[f], was);
}

static const struct modem *modem_of(struct model *k, unsigned slot) {
	struct model_modem *m = &k->modems[slot];

	addresses[slot] = (struct ip_address){4, {10, 9, 0, (uint8_t)m->address}};
	modems[slot] = (struct modem){
		.mac = {2, 7, 0, 0, 0, (uint8_t)slot},
		.addresses = &addresses[slot],
		.address_count = 1,
		.upstream_flows = flows[slot],
		.upstream_flow_count = m->flow_count,
	};
	for (unsigned f = 0; f < m->flow_count; f++) {
		flows[slot][f] = (struct upstream_service_flow){
			m->flows[f].id, m->flows[f].segment_header, clusters[slot][f],
			m->flows[f].cluster_count};
		for (unsigned c = 0; c < m->flows[f].cluster_count; c++)
			clusters[slot][f][c] = (struct sid_cluster){
				m->flows[f].clusters[c].id, &m->flows[f].clusters[c].sid, 1};
	}
	return &modems[slot];
}

/* An Ethernet frame from the address, in a MAC frame. */
static size_t write_frame(unsigned address, uint8_t *out) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t ethernet[PACKET] = {2, 0, 0, 0, 0, 1, 2, 7};
	uint8_t *ip = ethernet + ETHERNET_HEADER;

	store_be16(ethernet + 12, ETHERTYPE_IPV4);
	ip[0] = 0x45;
	store_be16(ip + 2, PACKET - ETHERNET_HEADER);
	ip[8] = 64;
	ip[9] = 59;
	memcpy(ip + 12, (uint8_t[]){10, 9, 0, (uint8_t)address, 198, 51, 100, 1}, 8);
	store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
	return bench_frame(bench, 2, &h, ethernet, PACKET, out); /* in the clear */
}

static void send_burst(const struct upstream_sid *sid, const void *bytes, size_t size) {
	struct bench_psp p;

	psp_open(&p, session_of(&now, sid->channel));
	p.unnumbered = true;
	psp_add_header(bench, &p, sid->sid);
	psp_add(&p, false, false, bytes, size);
	psp_add_trailer(bench, &p);
	psp_send(bench, &p);
}

static void send_part(const struct model_flow *f, struct model_cluster *c, int pointer,
		      const uint8_t *bytes, size_t size) {
	struct segment_header h = {
		.pointer_valid = pointer >= 0,
		.pointer = pointer >= 0 ? (uint16_t)pointer : 0,
		.sequence = c->next,
		.sid_cluster = c->id,
	};
	uint8_t payload[SEGMENT_HEADER_SIZE + 2 * BENCH_FRAME_MAX];
	size_t header = f->segment_header ? SEGMENT_HEADER_SIZE : 0;

	if (f->segment_header) {
		segment_header_write(&h, payload);
		c->next = (c->next + 1) & US_SEQUENCE_MASK;
	}
	memcpy(payload + header, bytes, size);
	send_burst(&c->sid, payload, header + size);
}

/* What came is what the model says, no more. */
static void check(void) {
	bench_settle(bench);
	assert_int_equal(bench->others, expected_frames);
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		if (bench->u->counters.drops[d] != expected_drops[d])
			fail_msg("%s: %" PRIu64 ", expected %" PRIu64,
				 drop_name((enum drop_reason)d), bench->u->counters.drops[d],
				 expected_drops[d]);
	}
}

/* A whole frame from the address has come. */
static void frame_came(unsigned slot, unsigned address) {
	const struct model_modem *was = &before.modems[slot];

	if (address == now.modems[slot].address ||
	    (passing && was->flow_count > 0 && was->address == address))
		expected_frames++;
	else
		expected_drops[DROP_SOURCE_ADDRESS]++;
}

/* A whole frame on any SID, from any address; what was incomplete there comes to its end first. */
static void send_any(bool may_be_half, bool owned) {
	struct upstream_sid sid = {any(BENCH_CHANNELS), (uint16_t)(FIRST_SID + any(SIDS))};
	uint8_t bytes[2 * BENCH_FRAME_MAX];
	unsigned address = any(ADDRESSES), at[3];
	bool there = sid_owner(&now, sid.channel, sid.sid, at);
	struct model_flow *f;
	size_t size;
	struct model_cluster *c;

	if (there && (owned || any(4) > 0))
		address = now.modems[at[0]].address;
	size = write_frame(address, bytes);
	if (!there) {
		send_burst(&sid, bytes, size);
		expected_drops[DROP_UNKNOWN_SID]++;
		return;
	}
	f = &now.modems[at[0]].flows[at[1]];
	c = &f->clusters[at[2]];
	if (c->half) {
		size = write_frame(c->address, bytes);
		send_part(f, c, -1, bytes + size / 2, size - size / 2);
		frame_came(at[0], c->address);
		c->half = false;
	} else if (f->segment_header && may_be_half && any(3) == 0) {
		send_part(f, c, 0, bytes, size / 2);
		c->half = true;
		c->address = address;
	} else {
		send_part(f, c, 0, bytes, size);
		frame_came(at[0], address);
	}
}

static bool cluster_lives(unsigned slot, const struct model_flow *was, uint8_t id) {
	const struct model_modem *m = &next.modems[slot];

	for (unsigned f = 0; f < m->flow_count; f++) {
		for (unsigned c = 0; c < m->flows[f].cluster_count; c++) {
			if (m->flows[f].id == was->id && m->flows[f].clusters[c].id == id &&
			    m->flows[f].segment_header == was->segment_header)
				return true;
		}
	}
	return false;
}

/* Returns how many incomplete frames it will end. */
static unsigned draw_change(void) {
	unsigned ended = 0;
	unsigned first = any(MODEMS), count = 1 + any(4);

	next = now;
	for (unsigned i = 0; i < count; i++) /* first all that is given up */
		next.modems[(first + i) % MODEMS].flow_count = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned slot = (first + i) % MODEMS;

		draw_modem(slot);
		will_be(LIVE_MODEM, slot,
			next.modems[slot].flow_count > 0 ? modem_of(&next, slot) : NULL);
		for (unsigned f = 0; f < now.modems[slot].flow_count; f++) {
			const struct model_flow *was = &now.modems[slot].flows[f];

			for (unsigned c = 0; c < was->cluster_count; c++)
				ended += was->clusters[c].half &&
					 !cluster_lives(slot, was, was->clusters[c].id);
		}
	}
	if (any(3) == 0) {
		unsigned channel = 1 + any(BENCH_CHANNELS - 1);

		next.channels[channel] ^= 1;
		channels[channel] = bench->sg.upstream_channels[channel];
		channels[channel].session = session_of(&next, channel);
		will_be(LIVE_UPSTREAM_CHANNEL, channel, &channels[channel]);
	}
	return ended;
}

/* Each SID of each channel leads where the configuration says, and all other places are free. */
static void check_tables(void) {
	struct us_tables *t = &bench->u->tables;
	uint32_t used_flows = 0, used_streams = 0;

	for (unsigned channel = 0; channel < BENCH_CHANNELS; channel++) {
		for (uint16_t sid = FIRST_SID; sid < FIRST_SID + SIDS; sid++) {
			const struct us_stream *s = us_stream_of_sid(t, channel, sid);
			unsigned at[3];

			assert_int_equal(s != NULL, sid_owner(&now, channel, sid, at));
			if (s == NULL)
				continue;
			assert_int_equal(s->modem, at[0]);
			assert_int_equal(s->cluster,
					 now.modems[at[0]].flows[at[1]].clusters[at[2]].id);
			assert_int_equal(t->flows[s->flow].segment_header,
					 now.modems[at[0]].flows[at[1]].segment_header);
			assert_true(us_flow_has_sid(&t->flows[s->flow], sid));
			used_streams++;
		}
	}
	for (unsigned m = 0; m < MODEMS; m++) {
		used_flows += now.modems[m].flow_count;
		assert_int_equal(t->modems[m].ipv4_count, now.modems[m].flow_count > 0);
		assert_null(t->modems[m].retired);
	}
	assert_int_equal(t->places.flows.count, t->flow_count - 1 - used_flows);
	assert_int_equal(t->places.streams.count, t->stream_count - 1 - used_streams);
	assert_int_equal(rte_hash_count(t->by_sid), used_streams);
}

static void random_changes(void **state) {
	(void)state;
	changes.count = 0;
	bench_prepare(bench);
	bench->sg.modem_count = 0;
	bench->room = &roomy;
	bench->any_drops = true;
	bench_start(bench);
	for (unsigned turn = 0; turn < 4000; turn++) {
		struct us_change *c;
		unsigned ended;

		for (unsigned i = 0; i < 12; i++)
			send_any(true, false);
		check();
		for (unsigned i = 0; i < 3; i++) /* on its way when its modem goes */
			send_any(false, true);
		to_segments();
		ended = draw_change();
		c = begin();
		take(c);
		before = now;
		now = next;
		passing = true;
		for (unsigned i = 0; i < 3; i++)
			send_any(false, false);
		check();
		passing = false;
		pass(c);
		expected_drops[DROP_FRAME_FLOW_REMOVED] += ended;
		finish(c);
		check();
		check_tables();
	}
	assert_true(expected_drops[DROP_FRAME_FLOW_REMOVED] > 100);
	assert_true(expected_frames > 1000);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_changes)};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
