/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers and request records of both formats; test_uepi_trailer.c has the trailers. */
#include "test_main.h"

#include "guard_group.h"
#include "vectors.h"
#include "wire/bytes.h"
#include "wire/uepi.h"

static const struct {
	const char *name;
	enum uepi_format format;
	struct uepi_header h;
} headers[] = {
	{"sc_qam_header", UEPI_SC_QAM, {.iuc = 5, .sid = 0x123, .start_minislot = 0x01556601}},
	{"sc_qam_header_no_burst",
	 UEPI_SC_QAM,
	 {.version = 3,
	  .no_burst = true,
	  .iuc = 255,
	  .sid = UEPI_SID_MASK,
	  .start_minislot = UINT32_MAX}},
	{"ofdma_header",
	 UEPI_OFDMA,
	 {.version = 1,
	  .segment_header = true,
	  .iuc = 5,
	  .sid = 0x123,
	  .start_minislot = 0x01556601,
	  .burst_id = 7,
	  .grant_size = 2048}},
	{"ofdma_header_no_burst",
	 UEPI_OFDMA,
	 {.version = 1,
	  .no_burst = true,
	  .iuc = 255,
	  .sid = UEPI_SID_MASK,
	  .start_minislot = UINT32_MAX,
	  .burst_id = UINT32_MAX,
	  .grant_size = UINT32_MAX}},
};

static const struct {
	const char *name;
	enum uepi_format format;
	struct uepi_request r;
} requests[] = {
	{"sc_qam_request",
	 UEPI_SC_QAM,
	 {.cluster_valid = true,
	  .sid_cluster = 2,
	  .n_bytes = true,
	  .piggyback = true,
	  .iuc = 5,
	  .size = 16,
	  .scheduled_sid = 0x123,
	  .sid = 0x123,
	  .start_minislot = 0x01556601,
	  .session = 0x00010007}},
	{"sc_qam_request_frame",
	 UEPI_SC_QAM,
	 {.iuc = 1,
	  .size = 9,
	  .scheduled_sid = UEPI_SID_MASK,
	  .sid = 0x123,
	  .start_minislot = 0x01556601,
	  .session = 0x00010007}},
	{"sc_qam_request_highest",
	 UEPI_SC_QAM,
	 {.version = 3,
	  .cluster_valid = true,
	  .sid_cluster = UEPI_SID_CLUSTER_MAX,
	  .n_bytes = true,
	  .piggyback = true,
	  .iuc = 255,
	  .size = 0xffff,
	  .scheduled_sid = UEPI_SID_MASK,
	  .sid = UEPI_SID_MASK,
	  .start_minislot = UINT32_MAX,
	  .session = UINT32_MAX}},
	{"ofdma_request",
	 UEPI_OFDMA,
	 {.version = 1,
	  .cluster_valid = true,
	  .sid_cluster = 2,
	  .n_bytes = true,
	  .piggyback = true,
	  .iuc = 5,
	  .size = 16,
	  .scheduled_sid = 0x123,
	  .sid = 0x123,
	  .start_minislot = 0x01556601,
	  .session = 0x00010007}},
	{"ofdma_request_frame",
	 UEPI_OFDMA,
	 {.version = 1,
	  .iuc = 1,
	  .size = 9,
	  .scheduled_sid = UEPI_SID_MASK,
	  .sid = 0x123,
	  .start_minislot = 0x01556601,
	  .session = 0x00010007}},
};

static void assert_header(const struct uepi_header *a, const struct uepi_header *b) {
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->no_burst, b->no_burst);
	assert_int_equal(a->iuc, b->iuc);
	assert_int_equal(a->sid, b->sid);
	assert_int_equal(a->start_minislot, b->start_minislot);
	assert_int_equal(a->segment_header, b->segment_header);
	assert_int_equal(a->burst_id, b->burst_id);
	assert_int_equal(a->grant_size, b->grant_size);
}

static void assert_request(const struct uepi_request *a, const struct uepi_request *b) {
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->cluster_valid, b->cluster_valid);
	assert_int_equal(a->sid_cluster, b->sid_cluster);
	assert_int_equal(a->n_bytes, b->n_bytes);
	assert_int_equal(a->piggyback, b->piggyback);
	assert_int_equal(a->iuc, b->iuc);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->scheduled_sid, b->scheduled_sid);
	assert_int_equal(a->sid, b->sid);
	assert_int_equal(a->start_minislot, b->start_minislot);
	assert_int_equal(a->session, b->session);
}

static enum uepi_verdict parse_header(enum uepi_format format, const uint8_t *bytes, size_t size,
				      struct uepi_header *out) {
	return uepi_header_parse(format, guard_copy(&guard, bytes, size), size, out);
}

static enum uepi_verdict parse_request(enum uepi_format format, const uint8_t *bytes, size_t size,
				       struct uepi_request *out) {
	return uepi_request_parse(format, guard_copy(&guard, bytes, size), size, out);
}

TEST(reads_and_writes_headers) {
	struct uepi_header read;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(headers); i++) {
		vector_get("uepi.txt", headers[i].name, &v);
		assert_int_equal(uepi_header_size(headers[i].format), v.size);
		assert_true(v.size <= UEPI_HEADER_MAX);
		assert_int_equal(parse_header(headers[i].format, v.bytes, v.size, &read), UEPI_OK);
		assert_header(&read, &headers[i].h);

		uint8_t *out = guard_take(&guard, v.size);

		assert_int_equal(uepi_header_write(headers[i].format, &headers[i].h, out), v.size);
		assert_memory_equal(out, v.bytes, v.size);
	}
}

TEST(reads_and_writes_requests) {
	struct uepi_request read;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		vector_get("uepi.txt", requests[i].name, &v);
		assert_int_equal(v.size, UEPI_REQUEST_SIZE);
		assert_int_equal(parse_request(requests[i].format, v.bytes, v.size, &read),
				 UEPI_OK);
		assert_request(&read, &requests[i].r);

		uint8_t *out = guard_take(&guard, v.size);

		assert_int_equal(uepi_request_write(requests[i].format, &requests[i].r, out),
				 v.size);
		assert_memory_equal(out, v.bytes, v.size);
	}
}

/* A vector without a case above would be of no use. */
TEST(knows_every_vector) {
	assert_int_equal(vectors_count("uepi.txt", "_header"), ARRAY_COUNT(headers));
	assert_int_equal(vectors_count("uepi.txt", "_request"), ARRAY_COUNT(requests));
}

/* Each unit is alone in its segment: fewer bytes and more of them are told apart. */
TEST(tells_every_length) {
	struct uepi_request request;
	struct uepi_header header;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(headers); i++) {
		vector_get("uepi.txt", headers[i].name, &v);
		for (size_t length = 0; length < v.size; length++)
			assert_int_equal(parse_header(headers[i].format, v.bytes, length, &header),
					 UEPI_TRUNCATED);
		for (size_t length = v.size + 1; length < 40; length++)
			assert_int_equal(parse_header(headers[i].format, v.bytes, length, &header),
					 UEPI_BAD_LENGTH);
	}
	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		vector_get("uepi.txt", requests[i].name, &v);
		for (size_t length = 0; length < v.size; length++)
			assert_int_equal(
				parse_request(requests[i].format, v.bytes, length, &request),
				UEPI_TRUNCATED);
		for (size_t length = v.size + 1; length < 40; length++)
			assert_int_equal(
				parse_request(requests[i].format, v.bytes, length, &request),
				UEPI_BAD_LENGTH);
	}
}

/* SC-QAM: any version is handed on. OFDMA: one that is not ours is refused. */
TEST(looks_at_the_version) {
	uint8_t bytes[UEPI_REQUEST_SIZE] = {0};
	struct uepi_request request;
	struct uepi_header header;

	for (unsigned version = 0; version < 4; version++) {
		enum uepi_verdict ofdma = version == 1 ? UEPI_OK : UEPI_BAD_VERSION;

		bytes[0] = (uint8_t)(version << 6);
		assert_int_equal(parse_header(UEPI_SC_QAM, bytes, 8, &header), UEPI_OK);
		assert_int_equal(header.version, version);
		assert_int_equal(parse_request(UEPI_SC_QAM, bytes, 16, &request), UEPI_OK);
		assert_int_equal(request.version, version);
		assert_int_equal(parse_header(UEPI_OFDMA, bytes, 16, &header), ofdma);
		assert_int_equal(parse_request(UEPI_OFDMA, bytes, 16, &request), ofdma);
	}
}

TEST(passes_over_reserved_bits) {
	uint8_t bytes[UEPI_REQUEST_SIZE] = {0x1f, 5, 0xc1, 0x23};
	struct uepi_request request;
	struct uepi_header header;

	assert_int_equal(parse_header(UEPI_SC_QAM, bytes, 8, &header), UEPI_OK);
	assert_false(header.no_burst || header.segment_header);
	assert_int_equal(header.sid, 0x123);
	bytes[0] = 0x4f;
	assert_int_equal(parse_header(UEPI_OFDMA, bytes, 16, &header), UEPI_OK);
	assert_false(header.no_burst || header.segment_header);
	assert_int_equal(header.sid, 0x123);

	memcpy(bytes, "\x38\x05\x00\x01\xc1\x23\xc4\x56", 8);
	assert_int_equal(parse_request(UEPI_SC_QAM, bytes, 16, &request), UEPI_OK);
	assert_false(request.cluster_valid);
	assert_int_equal(request.sid_cluster, 0);
	assert_int_equal(request.scheduled_sid, 0x123);
	assert_int_equal(request.sid, 0x456);
}

TEST(cuts_values_to_their_fields) {
	struct uepi_header header = {.version = 5,
				     .sid = 0xffff,
				     .burst_id = 1,
				     .grant_size = 2,
				     .segment_header = true};
	struct uepi_request request = {
		.version = 6, .cluster_valid = true, .sid_cluster = 9, .scheduled_sid = 0xc001};
	uint8_t *out = guard_take(&guard, 8);

	assert_int_equal(uepi_header_write(UEPI_SC_QAM, &header, out), 8);
	assert_int_equal(load_be32(out), 0x40003fff); /* what only OFDMA has is left out */
	out = guard_take(&guard, 16);
	assert_int_equal(uepi_header_write(UEPI_OFDMA, &header, out), 16);
	assert_int_equal(load_be32(out), 0x50003fff);
	assert_int_equal(uepi_request_write(UEPI_SC_QAM, &request, out), 16);
	assert_int_equal(out[0], 0x8c);
	assert_int_equal(load_be16(out + 4), 1);
	request.cluster_valid = false;
	assert_int_equal(uepi_request_write(UEPI_OFDMA, &request, out), 16);
	assert_int_equal(out[0], 0x40);
}

ALL_TESTS(guard_group_open, guard_group_close)
