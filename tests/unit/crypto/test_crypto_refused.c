/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the self-test of intel-ipsec-mb: a library that returns wrong frames is refused with its version. This file
 * wraps functions of the library and makes them faulty. */
#include "test_main.h"

#include <unistd.h>

#include "crypto/ipsec_mb.h"
#include "crypto/isa.h"
#include "crypto/self_test.h"

#include "fixture.h"

enum fault {
	FAULT_NONE,
	FAULT_CRC_OF_FLUSH, /* wrong CRC of a job that is flushed after several others */
	FAULT_CRC_OF_13, /* wrong CRC of the last job of 13, in a burst of 13 */
	FAULT_CRC, /* wrong CRCs */
	FAULT_KEYS, /* wrong key schedules, the same for both directions */
	FAULT_CIPHER, /* frames are not encrypted */
	FAULT_FAILS, /* jobs fail */
	FAULT_DES, /* wrong DES frames if several are flushed */
};

static enum fault fault;
static unsigned flushed, max_flushed; /* jobs flushed since a burst; the largest number so far */
static uint32_t last_burst;
static unsigned fault_from; /* FAULT_CRC_OF_FLUSH begins at this number of flushed jobs */
static bool lanes_16; /* the library uses 16 lanes for AES, as the CPU has VAES */
static flush_job_t real_flush;
static burst_fn_t real_submit;

void __real_init_mb_mgr_auto(IMB_MGR *m, IMB_ARCH *arch);
void __wrap_init_mb_mgr_auto(IMB_MGR *m, IMB_ARCH *arch);

static IMB_JOB *faulty_flush(IMB_MGR *m) {
	IMB_JOB *job = real_flush(m);

	max_flushed = RTE_MAX(max_flushed, ++flushed);
	if (fault == FAULT_CRC_OF_FLUSH && flushed >= fault_from)
		job->dst[job->msg_len_to_cipher_in_bytes - 1] ^= 1;
	if (fault == FAULT_CRC_OF_13 && flushed == 13 && last_burst == 13)
		job->dst[job->msg_len_to_cipher_in_bytes - 1] ^= 1;
	if (fault == FAULT_DES && flushed > 1 && job->cipher_mode == IMB_CIPHER_DOCSIS_DES)
		job->dst[0] ^= 1;
	if (fault == FAULT_FAILS)
		job->status = IMB_STATUS_INVALID_ARGS;
	return job;
}

static uint32_t faulty_submit(IMB_MGR *m, const uint32_t n, IMB_JOB **jobs) {
	flushed = 0;
	last_burst = n;
	for (uint32_t i = 0; fault == FAULT_CIPHER && i < n; i++)
		jobs[i]->msg_len_to_cipher_in_bytes = 0;
	return real_submit(m, n, jobs);
}

static uint32_t faulty_crc(const void *data, const uint64_t size) {
	return (uint32_t)size;
}

static void faulty_keys(const void *key, void *encryption, void *decryption) {
	memset(encryption, 0x55, 11 * 16);
	memset(decryption, 0x55, 11 * 16);
}

void __wrap_init_mb_mgr_auto(IMB_MGR *m, IMB_ARCH *arch) {
	__real_init_mb_mgr_auto(m, arch);
	lanes_16 = m->used_arch == IMB_ARCH_AVX512 && (m->features & IMB_FEATURE_VAES);
	real_flush = m->flush_job;
	m->flush_job = faulty_flush;
	real_submit = m->submit_burst_nocheck;
	m->submit_burst_nocheck = faulty_submit;
	if (fault == FAULT_CRC)
		m->crc32_ethernet_fcs = faulty_crc;
	if (fault == FAULT_KEYS)
		m->keyexp_128 = faulty_keys;
}

/* Opens the library with a fault; copies messages on standard error to `messages`. */
static struct crypto_provider *open_faulty(enum fault kind, char *messages, size_t size) {
	FILE *out = tmpfile();
	int before = dup(STDERR_FILENO);
	struct crypto_provider *p;

	assert_non_null(out);
	fault = kind;
	dup2(fileno(out), STDERR_FILENO);
	p = ipsec_mb_open(SOCKET_ID_ANY);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(out);
	messages[fread(messages, 1, size - 1, out)] = '\0';
	fclose(out);
	return p;
}

static void assert_accepted(enum fault kind) {
	char messages[512];
	struct crypto_provider *p = open_faulty(kind, messages, sizeof(messages));

	assert_non_null(p);
	assert_string_equal(messages, "");
	assert_true(crypto_can(p, CIPHER_DES));
	assert_int_equal(crypto_self_test(p), 0);
	p->functions->close(p);
}

static void assert_refused(enum fault kind, unsigned from) {
	char messages[512];

	fault_from = from;
	assert_null(open_faulty(kind, messages, sizeof(messages)));
	assert_non_null(strstr(messages, "fails the self-test"));
	assert_non_null(strstr(messages, imb_get_version_str()));
}

/* A correct library is also accepted after faulty ones. Releases of the library have the fault of FAULT_CRC_OF_FLUSH:
 * of some 13 jobs or more of mixed sizes, as many as the CPU has lanes, one CRC is wrong. */
TEST(faulty_library_is_refused) {
	assert_accepted(FAULT_NONE);
	assert_true(max_flushed >= (lanes_16 ? 15u : 1u));
	assert_refused(FAULT_CRC_OF_FLUSH, RTE_MIN(max_flushed, 13u));
	assert_refused(FAULT_CRC_OF_FLUSH, max_flushed);
	if (lanes_16)
		assert_refused(FAULT_CRC_OF_13, 0);
	for (enum fault kind = FAULT_CRC; kind <= FAULT_FAILS; kind++)
		assert_refused(kind, 0);
	assert_accepted(FAULT_NONE);
}

/* The provider then processes DES frame by frame. */
TEST(faulty_des_of_several_frames_is_avoided) {
	assert_accepted(FAULT_DES);
}

/* A provider without DES is usable; one without AES-128 is not, nor one whose only cipher is withdrawn. */
TEST(faulty_ciphers_are_withdrawn) {
	struct crypto_provider p = {.name = "test", .ciphers = 0xf};

	assert_true(crypto_withdraw(&p, 0, "1"));
	assert_true(crypto_withdraw(&p, 1u << CIPHER_DES, "1"));
	assert_int_equal(p.ciphers, 0x7);
	assert_false(crypto_withdraw(&p, 1u << CIPHER_AES_128, "1"));
	p.ciphers = 1u << CIPHER_NONE | 1u << CIPHER_DES;
	assert_false(crypto_withdraw(&p, 1u << CIPHER_DES, "1"));
}

static int set_up(void **state) {
	unsetenv(CRYPTO_ISA_VARIABLE); /* the faults are in the initialization for `auto` */
	return fixture_start(state);
}

ALL_TESTS(set_up, fixture_stop)
