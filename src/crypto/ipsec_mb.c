/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * intel-ipsec-mb, called directly: jobs are filled from the records of flows and modems.
 *
 * The library processes CRC and cipher of a frame in one pass, and several frames in parallel
 * "lanes". A burst leaves frames in lanes until other frames fill these, or until the queue is
 * idle. Jobs complete in the order of submission.
 */
#include "crypto/ipsec_mb.h"

#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "crypto/key_slots.h"
#include "crypto/schedules.h"
#include "crypto/self_test.h"
#include "platform/log/log.h"
#include "wire/crc32.h"

#define TAGS 512 /* more than jobs in flight; a power of two */

/* A single frame of its cipher waits in its lane for others, and all later frames wait for it.
 * The library's ring of jobs must not become full: its burst functions then take it for empty. */
#define IN_FLIGHT_MAX (IMB_MAX_JOBS - 2 * CRYPTO_BURST)
_Static_assert(IN_FLIGHT_MAX + CRYPTO_BURST < IMB_MAX_JOBS, "the ring is never full");
_Static_assert(IMB_MAX_JOBS < TAGS, "a tag is read after its job ended");

#define NO_SPACE UINTPTR_MAX /* mark of a frame that is too short for a CRC */

/* The library's parameters for each combination of cipher and parts. */
struct suite {
	IMB_CIPHER_MODE cipher;
	IMB_HASH_ALG hash;
	uint64_t key_bytes, iv_bytes, tag_bytes;
#if IMB_VERSION_NUM >= 0x10400
	uint32_t suite_id[2];
	uint32_t session_id;
#endif
};

struct ipsec_mb {
	struct crypto_provider provider;
	struct key_slots keys[CIPHERS][2]; /* by direction */
	IMB_MGR *manager; /* expands keys */
	bool des_separate; /* the library is wrong with several DES frames at a time */
	enum crypto_isa isa;
	int socket;
	char version[64]; /* of the library, and the instruction set in use */
};

struct ipsec_mb_queue {
	struct crypto_queue queue;
	enum crypto_direction direction;
	IMB_MGR *manager;
	IMB_MGR *des; /* processes DES frames one by one; NULL: `manager` does */
	uint32_t next_tag;
	uint16_t done_count; /* jobs completed by the last submission */
	IMB_JOB *done[CRYPTO_BURST];
	struct suite suites[CIPHERS][4]; /* by enum crypto_parts */
	uint32_t tags[TAGS]; /* CRCs that the library computed, upstream */
};

static struct ipsec_mb *ipsec_mb_of(struct crypto_provider *p) {
	return container_of(p, struct ipsec_mb, provider);
}

static struct ipsec_mb_queue *ipsec_mb_queue_of(struct crypto_queue *q) {
	return container_of(q, struct ipsec_mb_queue, queue);
}

static void *key_make(struct crypto_provider *p, enum crypto_direction direction,
		      enum cipher cipher, const uint8_t *key) {
	struct ipsec_mb *i = ipsec_mb_of(p);
	void *schedule = key_slots_alloc(&i->keys[cipher][direction]);

	if (schedule != NULL)
		schedule_fill(i->manager, schedule, direction, cipher, key);
	return schedule;
}

static void key_free(struct crypto_provider *p, enum crypto_direction direction, enum cipher cipher,
		     void *schedule) {
	key_slots_release(&ipsec_mb_of(p)->keys[cipher][direction], schedule);
}

/* Whether the CRC needs a separate pass. The library combines CRC and cipher for AES only, and
 * only if there are bytes to cipher. */
static bool crc_separate(const struct crypto_frame *f, bool ciphered) {
	return (f->parts & CRYPTO_CRC) &&
	       (!ciphered || f->key->cipher == CIPHER_DES || !crypto_crc_fits(f));
}

static struct suite suite_of(enum cipher cipher, unsigned parts) {
	static const struct suite ciphers[CIPHERS] = {
		[CIPHER_NONE] = {.cipher = IMB_CIPHER_NULL},
		[CIPHER_AES_128] = {.cipher = IMB_CIPHER_DOCSIS_SEC_BPI, .iv_bytes = 16},
		[CIPHER_AES_256] = {.cipher = IMB_CIPHER_DOCSIS_SEC_BPI, .iv_bytes = 16},
		[CIPHER_DES] = {.cipher = IMB_CIPHER_DOCSIS_DES, .iv_bytes = 8},
	};
	struct suite s = ciphers[parts & CRYPTO_CIPHER ? cipher : CIPHER_NONE];

	s.key_bytes = s.cipher == IMB_CIPHER_NULL ? 0 : cipher_key_size(cipher);
	s.hash = IMB_AUTH_NULL;
	if (s.cipher == IMB_CIPHER_DOCSIS_SEC_BPI && (parts & CRYPTO_CRC)) {
		s.hash = IMB_AUTH_DOCSIS_CRC32;
		s.tag_bytes = ETHERNET_CRC_SIZE;
	}
	return s;
}

static void job_suite(IMB_JOB *job, const struct suite *s, enum crypto_direction direction) {
	bool down = direction == CRYPTO_DOWNLINK;

	job->cipher_mode = s->cipher;
	job->cipher_direction = down ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT;
	job->chain_order = down ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
	job->hash_alg = s->hash;
	job->key_len_in_bytes = s->key_bytes;
	job->iv_len_in_bytes = s->iv_bytes;
	job->auth_tag_output_len_in_bytes = s->tag_bytes;
#if IMB_VERSION_NUM >= 0x10400
	memcpy(job->suite_id, s->suite_id, sizeof(job->suite_id));
	job->session_id = s->session_id;
#endif
}

/* A separate CRC: written at once downstream, verified after the job upstream. Returns the mark
 * for the job: NULL, or the offset of the PDU plus one. */
static void *crc_mark(const struct ipsec_mb_queue *q, const struct crypto_frame *f) {
	uint8_t *data = rte_pktmbuf_mtod(f->m, uint8_t *);
	int residual = f->m->data_len - f->pdu - ETHERNET_CRC_SIZE;

	if (residual < 0)
		return (void *)NO_SPACE;
	if (q->direction == CRYPTO_UPLINK)
		return (void *)(uintptr_t)(f->pdu + 1u);
	library_crc_write(q->manager, data + f->pdu, (size_t)residual);
	return NULL;
}

/* Downstream, the library writes the CRC into the frame. Upstream, it writes the computed CRC to
 * a tag, which is compared with the decrypted one after the job. */
static void job_crc(struct ipsec_mb_queue *q, IMB_JOB *job, const struct crypto_frame *f,
		    uint32_t size) {
	job->hash_start_src_offset_in_bytes = f->pdu;
	job->msg_len_to_hash_in_bytes = size - f->pdu - ETHERNET_CRC_SIZE;
	job->auth_tag_output = (uint8_t *)&q->tags[q->next_tag++ % TAGS];
}

/* Fills in the job, except for the CRC. */
static void job_cipher(struct ipsec_mb_queue *q, IMB_JOB *job, const struct crypto_frame *f,
		       const struct suite *s) {
	const struct crypto_key *key = f->key;
	uint8_t *data = rte_pktmbuf_mtod(f->m, uint8_t *);

	job_suite(job, s, q->direction);
	job->enc_keys = key->schedule;
	job->dec_keys = q->direction == CRYPTO_DOWNLINK ? key->schedule
							: schedule_back(key->schedule, key->cipher);
	job->iv = key->iv;
	job->src = data;
	job->dst = data + f->clear;
	job->cipher_start_src_offset_in_bytes = f->clear;
	job->msg_len_to_cipher_in_bytes =
		s->key_bytes > 0 ? (uint32_t)f->m->data_len - f->clear : 0;
}

/* Ciphers a frame with DES before it returns. */
static void des_at_once(struct ipsec_mb_queue *q, const struct crypto_frame *f) {
	IMB_JOB *job = IMB_GET_NEXT_JOB(q->des);

	job_cipher(q, job, f, &q->suites[CIPHER_DES][CRYPTO_CIPHER]);
	if (IMB_SUBMIT_JOB_NOCHECK(q->des) == NULL)
		IMB_FLUSH_JOB(q->des);
}

static void job_fill(struct ipsec_mb_queue *q, IMB_JOB *job, const struct crypto_frame *f) {
	enum cipher cipher = f->key->cipher;
	uint32_t size = f->m->data_len;
	bool ciphered = (f->parts & CRYPTO_CIPHER) && cipher != CIPHER_NONE && size > f->clear;
	bool separate = crc_separate(f, ciphered);
	unsigned parts = (ciphered ? CRYPTO_CIPHER : 0u) | (separate ? 0u : f->parts & CRYPTO_CRC);

	job->user_data = f->m;
	job->user_data2 = unlikely(separate) ? crc_mark(q, f) : NULL;
	if (unlikely(cipher == CIPHER_DES && parts != 0 && q->des != NULL)) {
		des_at_once(q, f);
		parts = 0;
	}
	job_cipher(q, job, f, &q->suites[parts == 0 ? CIPHER_NONE : cipher][parts]);
	if (parts == (CRYPTO_CIPHER | CRYPTO_CRC))
		job_crc(q, job, f, size);
}

/* Returns how many frames it submitted. Frames that wait in lanes do not complete yet. */
static uint16_t burst_submit(struct ipsec_mb_queue *q, const struct crypto_frame *frames,
			     uint16_t n) {
	IMB_JOB *jobs[CRYPTO_BURST];
	uint32_t ended;

	n = (uint16_t)IMB_GET_NEXT_BURST(q->manager, n, jobs);
	for (uint16_t i = 0; i < n; i++)
		job_fill(q, jobs[i], &frames[i]);
	ended = n == 0 ? 0 : IMB_SUBMIT_BURST_NOCHECK(q->manager, n, jobs);
	memcpy(&q->done[q->done_count], jobs, ended * sizeof(jobs[0]));
	q->done_count = (uint16_t)(q->done_count + ended);
	return n;
}

static uint16_t submit(struct crypto_queue *queue, const struct crypto_frame *frames, uint16_t n) {
	struct ipsec_mb_queue *q = ipsec_mb_queue_of(queue);
	uint16_t accepted = 0, more;

	if (q->done_count > 0 || queue->pending > IN_FLIGHT_MAX)
		return 0;
	do {
		more = burst_submit(q, frames + accepted, (uint16_t)(n - accepted));
		accepted = (uint16_t)(accepted + more);
	} while (more > 0 && accepted < n);
	queue->pending += accepted;
	queue->fed = true;
	return accepted;
}

/* Whether the CRC of an upstream frame is right; downstream always true. */
static bool crc_good(const struct ipsec_mb_queue *q, const IMB_JOB *job) {
	const struct rte_mbuf *m = job->user_data;
	uintptr_t mark = (uintptr_t)job->user_data2;
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

	if (mark != 0)
		return mark != NO_SPACE &&
		       library_crc_good(q->manager, data + mark - 1, m->data_len - (mark - 1));
	return q->direction == CRYPTO_DOWNLINK || job->hash_alg == IMB_AUTH_NULL ||
	       memcmp(job->auth_tag_output, data + m->data_len - ETHERNET_CRC_SIZE,
		      ETHERNET_CRC_SIZE) == 0;
}

/*
 * Flushes all waiting jobs if none was submitted since the last call, else only those above
 * IN_FLIGHT_MAX. It flushes one by one: the burst flush of version 1.3 counts wrongly when its
 * ring wraps, and returns jobs twice or not at all.
 */
static void lanes_end(struct ipsec_mb_queue *q) {
	uint32_t waiting = q->queue.pending - q->done_count;

	if (likely(q->queue.fed))
		waiting = waiting > IN_FLIGHT_MAX ? waiting - IN_FLIGHT_MAX : 0;
	for (; waiting > 0 && q->done_count < CRYPTO_BURST; waiting--)
		q->done[q->done_count++] = IMB_FLUSH_JOB(q->manager);
}

/* A burst returns at most as many jobs as it submits, so without this, completed jobs would
 * accumulate in the ring. */
static void ended_collect(struct ipsec_mb_queue *q) {
	IMB_JOB *job;

	while (q->done_count < CRYPTO_BURST && (job = IMB_GET_COMPLETED_JOB(q->manager)) != NULL)
		q->done[q->done_count++] = job;
}

static uint16_t collect(struct crypto_queue *queue, struct rte_mbuf **good,
			struct crypto_failed *failed, uint16_t *failures) {
	struct ipsec_mb_queue *q = ipsec_mb_queue_of(queue);
	uint16_t n = 0;

	lanes_end(q);
	ended_collect(q);
	for (uint16_t i = 0; i < q->done_count; i++) {
		const IMB_JOB *job = q->done[i];
		struct crypto_failed *f = &failed[*failures];

		if (likely(job->status == IMB_STATUS_COMPLETED && crc_good(q, job))) {
			good[n++] = job->user_data;
			continue;
		}
		f->m = job->user_data;
		f->why = job->status == IMB_STATUS_COMPLETED ? CRYPTO_FAILED_CRC : CRYPTO_FAILED;
		(*failures)++;
	}
	queue->pending -= q->done_count;
	queue->fed = false;
	q->done_count = 0;
	return n;
}

static void suites_init(struct ipsec_mb_queue *q) {
	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		for (unsigned parts = 0; parts < RTE_DIM(q->suites[0]); parts++) {
			struct suite *s = &q->suites[cipher][parts];

			*s = suite_of(cipher, parts);
#if IMB_VERSION_NUM >= 0x10400
			IMB_JOB *job = IMB_GET_NEXT_JOB(q->manager);

			job_suite(job, s, q->direction);
			s->session_id = imb_set_session(q->manager, job);
			memcpy(s->suite_id, job->suite_id, sizeof(s->suite_id));
#endif
		}
	}
}

static void queue_free(struct ipsec_mb_queue *q) {
	if (q != NULL && q->manager != NULL)
		free_mb_mgr(q->manager);
	if (q != NULL && q->des != NULL)
		free_mb_mgr(q->des);
	rte_free(q);
}

static struct crypto_queue *queue_open(struct crypto_provider *p, enum crypto_direction direction) {
	struct ipsec_mb_queue *q = rte_zmalloc_socket("crypto queue", sizeof(*q),
						      RTE_CACHE_LINE_SIZE, ipsec_mb_of(p)->socket);

	if (q != NULL)
		q->manager = library_manager(ipsec_mb_of(p)->isa);
	if (q != NULL && ipsec_mb_of(p)->des_separate)
		q->des = library_manager(CRYPTO_ISA_SSE);
	if (q == NULL || q->manager == NULL || (q->des == NULL && ipsec_mb_of(p)->des_separate)) {
		log_error("crypto", LOG_NO_FIELDS, "crypto ipsec-mb: no queue can be opened");
		queue_free(q);
		return NULL;
	}
	q->queue.provider = p;
	q->direction = direction;
	suites_init(q);
	return &q->queue;
}

static void queue_close(struct crypto_queue *queue) {
	queue_free(ipsec_mb_queue_of(queue));
}

static void close_all(struct crypto_provider *p) {
	struct ipsec_mb *i = ipsec_mb_of(p);

	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		key_slots_end(&i->keys[cipher][CRYPTO_DOWNLINK]);
		key_slots_end(&i->keys[cipher][CRYPTO_UPLINK]);
	}
	free_mb_mgr(i->manager);
	rte_free(i);
}

/* If only DES of several frames at a time is wrong, DES frames are processed one by one, by code
 * without lanes for DES. */
static bool tested(struct ipsec_mb *i) {
	uint32_t wrong = crypto_self_test(&i->provider);

	i->des_separate = wrong == 1u << CIPHER_DES;
	if (i->des_separate)
		wrong = crypto_self_test(&i->provider);
	return crypto_withdraw(&i->provider, wrong, i->version);
}

struct crypto_provider *ipsec_mb_open_isa(enum crypto_isa isa, int socket) {
	static const struct crypto_functions functions = {
		.key_make = key_make,
		.key_free = key_free,
		.queue_open = queue_open,
		.queue_close = queue_close,
		.submit = submit,
		.collect = collect,
		.close = close_all,
	};
	struct ipsec_mb *i = rte_zmalloc_socket("ipsec-mb", sizeof(*i), 0, socket);

	if (i == NULL)
		log_error("memory", LOG_NO_FIELDS, "crypto ipsec-mb: no memory left");
	else
		i->manager = library_manager(isa);
	if (i == NULL || i->manager == NULL) {
		rte_free(i);
		return NULL;
	}
	i->isa = isa;
	i->socket = socket;
	snprintf(i->version, sizeof(i->version), "%s, %s", imb_get_version_str(),
		 library_code(i->manager));
	i->provider.functions = &functions;
	i->provider.name = "ipsec-mb";
	i->provider.ciphers = (1u << CIPHERS) - 1;
	i->provider.crc_ciphers = 1u << CIPHER_AES_128 | 1u << CIPHER_AES_256;
	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		for (unsigned way = CRYPTO_DOWNLINK; way <= CRYPTO_UPLINK; way++)
			key_slots_init(&i->keys[cipher][way], schedule_size(cipher, way), socket);
	}
	if (tested(i))
		return &i->provider;
	close_all(&i->provider);
	return NULL;
}

struct crypto_provider *ipsec_mb_open(int socket) {
	return ipsec_mb_open_isa(CRYPTO_ISA_AUTO, socket);
}
