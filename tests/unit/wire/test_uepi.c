/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers and request records of both formats; test_uepi_trailer.c has the trailers. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/uepi.h"
#include "wire_kit.h"

/* As in the structure: version, unused, IUC, SID, minislot, segment header, burst, granted bytes. */
static const struct {
	const char *name;
	enum uepi_format format;
	struct uepi_header h;
} headers[] = {
	{"sc_qam_header", UEPI_SC_QAM, {0, false, 5, 0x123, 0x01556601}},
	{"sc_qam_header_no_burst", UEPI_SC_QAM, {3, true, 255, UEPI_SID_MASK, UINT32_MAX}},
	{"ofdma_header", UEPI_OFDMA, {1, false, 5, 0x123, 0x01556601, true, 7, 2048}},
	{"ofdma_header_no_burst",
	 UEPI_OFDMA,
	 {1, true, 255, UEPI_SID_MASK, UINT32_MAX, false, UINT32_MAX, UINT32_MAX}},
};

/* Version, cluster and whether it is valid, N bytes, piggyback, IUC, size, both SIDs, minislot, session. */
static const struct {
	const char *name;
	enum uepi_format format;
	struct uepi_request r;
} requests[] = {
	{"sc_qam_request",
	 UEPI_SC_QAM,
	 {0, true, 2, true, true, 5, 16, 0x123, 0x123, 0x01556601, 0x00010007}},
	{"sc_qam_request_frame",
	 UEPI_SC_QAM,
	 {0, false, 0, false, false, 1, 9, UEPI_SID_MASK, 0x123, 0x01556601, 0x00010007}},
	{"sc_qam_request_highest",
	 UEPI_SC_QAM,
	 {3, true, UEPI_SID_CLUSTER_MAX, true, true, 255, 0xffff, UEPI_SID_MASK, UEPI_SID_MASK,
	  UINT32_MAX, UINT32_MAX}},
	{"ofdma_request",
	 UEPI_OFDMA,
	 {1, true, 2, true, true, 5, 16, 0x123, 0x123, 0x01556601, 0x00010007}},
	{"ofdma_request_frame",
	 UEPI_OFDMA,
	 {1, false, 0, false, false, 1, 9, UEPI_SID_MASK, 0x123, 0x01556601, 0x00010007}},
};

static enum uepi_format format;
static struct uepi_header header;
static struct uepi_request request;

static int header_verdict(const uint8_t *bytes, size_t size) {
	return uepi_header_parse(format, bytes, size, &header);
}

static int request_verdict(const uint8_t *bytes, size_t size) {
	return uepi_request_parse(format, bytes, size, &request);
}

/* Each unit is alone in its segment: fewer bytes and more of them are told apart. */
static void check_lengths(parser_verdict *verdict, const char *name) {
	struct vector v;

	vector_get("uepi.txt", name, &v);
	memset(v.bytes + v.size, 0, 40);
	cut_off(verdict, v.bytes, 0, v.size, UEPI_TRUNCATED);
	cut_off(verdict, v.bytes, v.size + 1, 40, UEPI_BAD_LENGTH);
	cut_off(verdict, v.bytes, v.size, v.size + 1, UEPI_OK);
}

/* What is read of the bytes is written as the same bytes. */
TEST(reads_and_writes_headers) {
	for (size_t i = 0; i < ARRAY_COUNT(headers); i++) {
		size_t size = uepi_header_size(format = headers[i].format);
		uint8_t *out = guard_take(&guard, size);

		assert_true(size <= UEPI_HEADER_MAX);
		assert_int_equal(uepi_header_write(format, &headers[i].h, out), size);
		is_vector("uepi.txt", headers[i].name, size);
		check_lengths(header_verdict, headers[i].name);
		assert_int_equal(header.version, headers[i].h.version);
		assert_int_equal(uepi_header_write(format, &header, guard_take(&guard, size)),
				 size);
		is_vector("uepi.txt", headers[i].name, size);
	}
}

TEST(reads_and_writes_requests) {
	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		uint8_t *out = guard_take(&guard, UEPI_REQUEST_SIZE);

		format = requests[i].format;
		assert_int_equal(uepi_request_write(format, &requests[i].r, out),
				 UEPI_REQUEST_SIZE);
		is_vector("uepi.txt", requests[i].name, UEPI_REQUEST_SIZE);
		check_lengths(request_verdict, requests[i].name);
		assert_int_equal(request.version, requests[i].r.version);
		guard_take(&guard, UEPI_REQUEST_SIZE);
		assert_int_equal(uepi_request_write(format, &request, out), UEPI_REQUEST_SIZE);
		is_vector("uepi.txt", requests[i].name, UEPI_REQUEST_SIZE);
	}
}

/* A vector without a case above would be of no use. */
TEST(knows_every_vector) {
	assert_int_equal(vectors_count("uepi.txt", "_header"), ARRAY_COUNT(headers));
	assert_int_equal(vectors_count("uepi.txt", "_request"), ARRAY_COUNT(requests));
}

/* SC-QAM: any version is handed on. OFDMA: one that is not ours is refused. */
TEST(looks_at_the_version) {
	uint8_t bytes[UEPI_REQUEST_SIZE] = {0};

	for (unsigned version = 0; version < 4; version++) {
		enum uepi_verdict ofdma = version == 1 ? UEPI_OK : UEPI_BAD_VERSION;

		bytes[0] = (uint8_t)(version << 6);
		format = UEPI_SC_QAM;
		assert_int_equal(header_verdict(bytes, 8), UEPI_OK);
		assert_int_equal(header.version, version);
		assert_int_equal(request_verdict(bytes, 16), UEPI_OK);
		assert_int_equal(request.version, version);
		format = UEPI_OFDMA;
		assert_int_equal(header_verdict(bytes, 16), ofdma);
		assert_int_equal(request_verdict(bytes, 16), ofdma);
	}
}

TEST(passes_over_reserved_bits) {
	static const uint8_t firsts[] = {0x1f, 0x4f};
	uint8_t bytes[UEPI_REQUEST_SIZE] = {0, 0x25, 0xc1, 0x23};

	for (unsigned i = 0; i < 2; i++) {
		bytes[0] = firsts[i];
		format = i == 0 ? UEPI_SC_QAM : UEPI_OFDMA;
		assert_int_equal(header_verdict(bytes, uepi_header_size(format)), UEPI_OK);
		assert_false(header.no_burst || header.segment_header);
		assert_int_equal(header.sid, 0x123);
	}
	memcpy(bytes, "\x38\x05\x00\x01\xc1\x23\xc4\x56", 8);
	format = UEPI_SC_QAM;
	assert_int_equal(request_verdict(bytes, 16), UEPI_OK);
	assert_false(request.cluster_valid);
	assert_int_equal(request.sid_cluster, 0);
	assert_int_equal(request.scheduled_sid, 0x123);
	assert_int_equal(request.sid, 0x456);
}

TEST(cuts_values_to_their_fields) {
	struct uepi_header h = {5, false, 0, 0xffff, 0, true, 1, 2};
	struct uepi_request r = {
		.version = 6, .cluster_valid = true, .sid_cluster = 9, .scheduled_sid = 0xc001};
	uint8_t out[16];

	assert_int_equal(uepi_header_write(UEPI_SC_QAM, &h, guard_take(&guard, 8)), 8);
	/* what only OFDMA has is left out */
	assert_int_equal(load_be32(guard.base + guard.room - 8), 0x40003fff);
	assert_int_equal(uepi_header_write(UEPI_OFDMA, &h, out), 16);
	assert_int_equal(load_be32(out), 0x50003fff);
	assert_int_equal(uepi_request_write(UEPI_SC_QAM, &r, out), 16);
	assert_int_equal(out[0], 0x8c);
	assert_int_equal(load_be16(out + 4), 1);
	r.cluster_valid = false;
	assert_int_equal(uepi_request_write(UEPI_OFDMA, &r, out), 16);
	assert_int_equal(out[0], 0x40);
}

ALL_TESTS(guard_group_open, guard_group_close)
