/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes captures that are to be replayed: as a file of libpcap, and as a frame in a valid file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "captures/capture_replay.h"
#include "checksums.h"
#include "core/candidates.h"
#include "core/end_tag.h"
#include "fuzz.h"
#include "group_defaults.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define MAX_FRAME 2000
#define CRC 4

static const struct ip_address v4 = {4, {10, 0, 0, 1}};
static const struct ip_address v6 = {6, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}};

/* Two modems, one per family. Packets to port 7 are denied, those to port 9 have a service flow. */
static const struct service_group *group(void) {
	static struct ip_address addresses[2];
	static struct filter_rule rule = {.action = FILTER_DENY,
					  .match = {.destination_ports = {7, 7}}};
	static struct filter_group filters = {.rules = &rule, .rule_count = 1};
	static struct classifier classifier = {.flow = 1, .match = {.destination_ports = {9, 9}}};
	static struct modem modems[2];
	static struct service_group sg = {.filter_default = FILTER_PERMIT,
					  .filter_groups = &filters,
					  .filter_group_count = 1,
					  .modems = modems,
					  .modem_count = 2};

	addresses[0] = v4;
	addresses[1] = v6;
	for (int m = 0; m < 2; m++) {
		modems[m].addresses = &addresses[m];
		modems[m].address_count = 1;
		modems[m].cpe_limit = modems[m].cpe_limit_ipv6 = 1;
		modems[m].filter_group_count = 1;
		modems[m].classifiers = &classifier;
		modems[m].classifier_count = 1;
	}
	service_group_set_defaults(&sg);
	return &sg;
}

/* The data plane must accept the packet, with valid checksums, and its tag must be found. */
static void check_packet(const uint8_t *frame, size_t size, size_t tag_at) {
	struct frame_fields f;
	uint32_t pseudo;

	CHECK(size >= 60 && size <= MAX_FRAME - CRC);
	CHECK(frame_parse(frame, size, &f) == FRAME_GOOD && !f.fragment);
	CHECK(f.family == 4 || f.family == 6);
	CHECK(memcmp(f.destination, f.family == 4 ? v4.bytes : v6.bytes,
		     ip_address_size(f.family)) == 0);
	CHECK(end_tag_find(frame, size) == tag_at);
	CHECK(tag_at >= (size_t)(f.upper - frame) + 8 && tag_at + PACKET_TAG_SIZE <= size);
	if (f.family == 4)
		CHECK(ipv4_checksum_good(frame + ETHERNET_HEADER));
	pseudo = ones_complement_sum(f.source, 2 * ip_address_size(f.family),
				     f.protocol + (uint32_t)f.upper_size);
	if (f.protocol == IP_PROTOCOL_TCP ||
	    (f.protocol == IP_PROTOCOL_UDP && (f.family == 6 || load_be16(f.upper + 6) != 0)))
		CHECK(ones_complement_sum(f.upper, f.upper_size, pseudo) == 0xffff);
}

static void check_replay(const struct capture_replay *replay) {
	const struct replayed *r = &replay->replayed;
	const struct packet_tag tag = {0x12345678, 1, 2, 3};
	uint8_t *out = malloc(PACKET_SIZE_MAX);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t size = replayed_write(r, i, &tag, out);
		struct packet_tag read;

		CHECK(size == r->packets[i].size && r->packets[i].flow <= 1);
		check_packet(out, size, r->packets[i].tag_at);
		packet_tag_read(out + r->packets[i].tag_at, &read);
		CHECK(memcmp(&read.tsc, &tag.tsc, sizeof(tag.tsc)) == 0 &&
		      read.magic == tag.magic && read.sequence == tag.sequence);
		bytes += size;
	}
	CHECK(r->count > 0 && bytes == replay->counts.bytes && r->count == replay->counts.packets);
	free(out);
}

static void replay_file(const uint8_t *data, size_t size) {
	char error[PCAP_ERRBUF_SIZE];
	struct capture_replay replay;
	uint8_t *copy = malloc(size);
	FILE *file;
	pcap_t *in;

	memcpy(copy, data, size);
	file = fmemopen(copy, size, "r");
	in = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
	if (in == NULL) {
		fclose(file);
	} else {
		if (capture_replay_read(&replay, in, "fuzz", group()) == 0) {
			check_replay(&replay);
			capture_replay_free(&replay);
		}
		pcap_close(in);
	}
	free(copy);
}

/* The same bytes as a frame in a valid file. */
static void replay_frame(const uint8_t *data, size_t size) {
	const uint32_t file[6] = {0xa1b2c3d4, 4u << 16 | 2, 0, 0, 262144, 1};
	const uint32_t record[4] = {0, 0, (uint32_t)size, (uint32_t)size};
	uint8_t *whole = malloc(sizeof(file) + sizeof(record) + size);

	memcpy(whole, file, sizeof(file));
	memcpy(whole + sizeof(file), record, sizeof(record));
	memcpy(whole + sizeof(file) + sizeof(record), data, size);
	replay_file(whole, sizeof(file) + sizeof(record) + size);
	free(whole);
}

/* Hides messages about invalid files. libFuzzer's own output stays. */
static void silence_messages(void) {
	static FILE *null_device;

	if (null_device == NULL && (null_device = fopen("/dev/null", "w")) != NULL)
		stderr = null_device;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct captured_frame *out = malloc(sizeof(*out));
	uint8_t *exact = calloc(size > 0 ? size : 1, 1);

	if (size > 0)
		memcpy(exact, data, size);
	/* exactly these bytes, with another size on the wire */
	capture_frame_read(exact, size, size + 1, MAX_FRAME - CRC, out);
	end_tag_find(exact, size);
	silence_messages();
	if (size > 0)
		replay_file(data, size);
	if (size < 65536)
		replay_frame(data, size);
	free(exact);
	free(out);
	return 0;
}
