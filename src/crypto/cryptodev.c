/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK crypto device. Where it does DOCSIS (rte_security), it makes CRC and cipher in one pass; where it only ciphers, the
 * CRC is made here. What comes back out of order is put in order again: a queue is a ring of frames, of which those at its
 * head are collected.
 */
#define ALLOW_EXPERIMENTAL_API /* pools of sessions, in DPDK 22.11 */
#include "crypto/cryptodev.h"

#include <stdio.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_security.h>
#include <rte_version.h>

#include "crypto/self_test.h"
#include "wire/crc32.h"

#define IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define PLACE_OFFSET (IV_OFFSET + CRYPTO_IV_SIZE) /* of the frame's place in its ring */
#define PRIVATE_SIZE (CRYPTO_IV_SIZE + sizeof(uint32_t))

enum place_state {
	PLACE_FLYING,
	PLACE_GOOD,
	PLACE_CRC_WRONG,
	PLACE_FAILED,
};

struct place {
	struct rte_mbuf *m;
	uint16_t pdu; /* where a CRC is to be compared, and one more; 0: none */
	uint16_t state; /* enum place_state */
};

struct cryptodev_queue {
	struct crypto_queue queue;
	enum crypto_direction direction;
	uint16_t pair;
	uint32_t head, tail, mask; /* places of frames in the order of submission */
	struct place places[];
};

struct cryptodev {
	struct crypto_provider provider;
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];
	bool made; /* a vdev of this provider's */
	uint8_t id;
	void *security; /* NULL: it ciphers, no more */
	uint32_t crc_ciphers; /* a bit for each cipher beside which it makes the CRC */
	struct rte_mempool *ops, *sessions;
	int socket;
	unsigned in_flight, queues;
	uint64_t open_pairs[4]; /* a bit each */
};

static struct cryptodev *of_provider(struct crypto_provider *p) {
	return container_of(p, struct cryptodev, provider);
}

static struct cryptodev_queue *of_queue(struct crypto_queue *q) {
	return container_of(q, struct cryptodev_queue, queue);
}

static struct rte_crypto_sym_xform cipher_xform(enum crypto_direction direction, enum cipher cipher,
						const uint8_t *key) {
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher = {
			.op = direction == CRYPTO_DOWNLINK ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
							   : RTE_CRYPTO_CIPHER_OP_DECRYPT,
			.algo = cipher == CIPHER_DES ? RTE_CRYPTO_CIPHER_DES_DOCSISBPI
						     : RTE_CRYPTO_CIPHER_AES_DOCSISBPI,
			.key = {.data = key, .length = (uint16_t)cipher_key_size(cipher)},
			.iv = {.offset = IV_OFFSET, .length = cipher == CIPHER_DES ? 8 : 16},
		},
	};
}

static void *security_session(struct cryptodev *c, enum crypto_direction direction,
			      struct rte_crypto_sym_xform *cipher) {
	struct rte_security_session_conf conf = {
		.action_type = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
		.protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
		.docsis = {.direction = direction == CRYPTO_DOWNLINK
						? RTE_SECURITY_DOCSIS_DOWNLINK
						: RTE_SECURITY_DOCSIS_UPLINK},
		.crypto_xform = cipher,
	};

	return rte_security_session_create(c->security, &conf, c->sessions);
}

static bool in_security(const struct cryptodev *c, enum cipher cipher) {
	return (c->crc_ciphers >> cipher & 1) != 0;
}

static void *key_make(struct crypto_provider *p, enum crypto_direction direction,
		      enum cipher cipher, const uint8_t *key) {
	struct cryptodev *c = of_provider(p);
	struct rte_crypto_sym_xform xform = cipher_xform(direction, cipher, key);

	return in_security(c, cipher) ? security_session(c, direction, &xform)
				      : rte_cryptodev_sym_session_create(c->id, &xform, c->sessions);
}

static void key_free(struct crypto_provider *p, enum crypto_direction direction,
		     enum cipher cipher, void *schedule) {
	struct cryptodev *c = of_provider(p);

	(void)direction;
	if (in_security(c, cipher))
		rte_security_session_destroy(c->security, schedule);
	else
		rte_cryptodev_sym_session_free(c->id, schedule);
}

/* Whether the CRC is made here: beside this cipher the device has none, or there is less than an Ethernet header. */
static bool crc_apart(const struct cryptodev *c, const struct crypto_frame *f) {
	return (f->parts & CRYPTO_CRC) != 0 &&
	       (!in_security(c, f->key->cipher) ||
		f->m->data_len - f->pdu < CRYPTO_PDU_MIN);
}

static bool ciphered(const struct crypto_frame *f) {
	return (f->parts & CRYPTO_CIPHER) != 0 && f->key->cipher != CIPHER_NONE &&
	       f->m->data_len > f->clear;
}

static void op_fill(const struct cryptodev *c, struct rte_crypto_op *op,
		    const struct crypto_frame *f, uint32_t place, bool crc) {
	struct rte_crypto_sym_op *sym = op->sym;
	uint32_t size = f->m->data_len;

	if (in_security(c, f->key->cipher))
		rte_security_attach_session(op, f->key->schedule);
	else
		rte_crypto_op_attach_sym_session(op, f->key->schedule);
	sym->m_src = f->m;
	sym->m_dst = NULL;
	sym->auth.data.offset = f->pdu;
	sym->auth.data.length = crc ? size - f->pdu - ETHERNET_CRC_SIZE : 0;
	sym->cipher.data.offset = f->clear;
	sym->cipher.data.length = ciphered(f) ? size - f->clear : 0;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), f->key->iv, CRYPTO_IV_SIZE);
	*rte_crypto_op_ctod_offset(op, uint32_t *, PLACE_OFFSET) = place;
}

/* Gives the frame a place, and an operation where the device has something to do. Returns false where there is none left. */
static bool frame_place(struct cryptodev_queue *q, const struct crypto_frame *f,
			struct rte_crypto_op **op) {
	struct cryptodev *c = of_provider(q->queue.provider);
	bool apart = crc_apart(c, f), crc = (f->parts & CRYPTO_CRC) && !apart;
	struct place *place = &q->places[q->tail & q->mask];

	*op = NULL;
	if (q->tail - q->head > q->mask)
		return false;
	if (ciphered(f) || crc) {
		*op = rte_crypto_op_alloc(c->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		if (*op == NULL)
			return false;
		op_fill(c, *op, f, q->tail, crc);
	}
	place->m = f->m;
	place->state = *op == NULL ? PLACE_GOOD : PLACE_FLYING;
	place->pdu = apart && q->direction == CRYPTO_UPLINK ? f->pdu + 1 : 0;
	if (apart && q->direction == CRYPTO_DOWNLINK)
		ethernet_crc_write(rte_pktmbuf_mtod_offset(f->m, uint8_t *, f->pdu),
				   f->m->data_len - f->pdu - ETHERNET_CRC_SIZE);
	q->tail++;
	return true;
}

static uint16_t submit(struct crypto_queue *queue, const struct crypto_frame *frames, uint16_t n) {
	struct cryptodev_queue *q = of_queue(queue);
	const struct cryptodev *c = of_provider(queue->provider);
	struct rte_crypto_op *ops[CRYPTO_BURST];
	uint32_t first = q->tail;
	uint16_t count = 0, taken, kept;

	for (kept = 0; kept < n && frame_place(q, &frames[kept], &ops[count]); kept++)
		count += ops[count] != NULL;
	taken = rte_cryptodev_enqueue_burst(c->id, q->pair, ops, count);
	if (unlikely(taken < count)) {
		q->tail = *rte_crypto_op_ctod_offset(ops[taken], uint32_t *, PLACE_OFFSET);
		rte_mempool_put_bulk(c->ops, (void **)&ops[taken], count - taken);
		kept = (uint16_t)(q->tail - first);
	}
	queue->held += kept;
	queue->fed = true;
	return kept;
}

static enum place_state state_of(const struct rte_crypto_op *op) {
	if (likely(op->status == RTE_CRYPTO_OP_STATUS_SUCCESS))
		return PLACE_GOOD;
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? PLACE_CRC_WRONG : PLACE_FAILED;
}

static void ops_end(struct cryptodev_queue *q) {
	const struct cryptodev *c = of_provider(q->queue.provider);
	struct rte_crypto_op *ops[CRYPTO_BURST];
	uint16_t n = rte_cryptodev_dequeue_burst(c->id, q->pair, ops, CRYPTO_BURST);

	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = *rte_crypto_op_ctod_offset(ops[i], uint32_t *, PLACE_OFFSET);

		q->places[at & q->mask].state = (uint16_t)state_of(ops[i]);
	}
	if (n > 0)
		rte_mempool_put_bulk(c->ops, (void **)ops, n);
}

static bool crc_good(const struct place *p) {
	const uint8_t *data = rte_pktmbuf_mtod(p->m, const uint8_t *);

	return p->pdu == 0 ||
	       ethernet_crc_good(data + p->pdu - 1, p->m->data_len - (p->pdu - 1u));
}

static uint16_t collect(struct crypto_queue *queue, struct rte_mbuf **good,
			struct crypto_failed *failed, uint16_t *failures) {
	struct cryptodev_queue *q = of_queue(queue);
	uint16_t n = 0, out = 0;

	ops_end(q);
	for (; out < CRYPTO_BURST && q->head != q->tail; out++, q->head++) {
		struct place *p = &q->places[q->head & q->mask];

		if (p->state == PLACE_FLYING)
			break;
		if (p->state == PLACE_GOOD && unlikely(!crc_good(p)))
			p->state = PLACE_CRC_WRONG;
		if (likely(p->state == PLACE_GOOD))
			good[n++] = p->m;
		else
			failed[(*failures)++] = (struct crypto_failed){
				p->m, p->state == PLACE_CRC_WRONG ? CRYPTO_FAILED_CRC : CRYPTO_FAILED};
	}
	queue->held -= out;
	queue->fed = false;
	return n;
}

static struct crypto_queue *queue_open(struct crypto_provider *p, enum crypto_direction direction) {
	struct cryptodev *c = of_provider(p);
	uint32_t places = rte_align32pow2(c->in_flight);
	struct cryptodev_queue *q;
	unsigned pair = 0;

	while (pair < c->queues && (c->open_pairs[pair / 64] >> pair % 64 & 1))
		pair++;
	q = pair == c->queues ? NULL
			      : rte_zmalloc_socket("crypto queue",
						   sizeof(*q) + places * sizeof(q->places[0]),
						   RTE_CACHE_LINE_SIZE, c->socket);
	if (q == NULL) {
		fprintf(stderr, "crypto %s: no queue left of %u, or no memory for it\n", c->name,
			c->queues);
		return NULL;
	}
	c->open_pairs[pair / 64] |= 1ull << pair % 64;
	*q = (struct cryptodev_queue){
		.queue = {.provider = p},
		.direction = direction,
		.pair = (uint16_t)pair,
		.mask = places - 1,
	};
	return &q->queue;
}

static void queue_close(struct crypto_queue *queue) {
	struct cryptodev_queue *q = of_queue(queue);
	struct cryptodev *c = of_provider(queue->provider);

	c->open_pairs[q->pair / 64] &= ~(1ull << q->pair % 64);
	rte_free(q);
}

static bool security_can(const struct cryptodev *c, enum cipher cipher) {
	struct rte_security_capability_idx want = {
		.action = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
		.protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
	};
	unsigned ways = 0;

	if (c->security == NULL || cipher == CIPHER_NONE || cipher == CIPHER_DES)
		return false;
	for (unsigned way = 0; way < 2; way++) {
		const struct rte_security_capability *found;

		want.docsis.direction =
			way == 0 ? RTE_SECURITY_DOCSIS_DOWNLINK : RTE_SECURITY_DOCSIS_UPLINK;
		found = rte_security_capability_get(c->security, &want);
		for (const struct rte_cryptodev_capabilities *can =
			     found == NULL ? NULL : found->crypto_capabilities;
		     can != NULL && can->op != RTE_CRYPTO_OP_TYPE_UNDEFINED; can++) {
			const struct rte_cryptodev_symmetric_capability *sym = &can->sym;

			if (sym->xform_type == RTE_CRYPTO_SYM_XFORM_CIPHER &&
			    sym->cipher.algo == RTE_CRYPTO_CIPHER_AES_DOCSISBPI &&
			    rte_cryptodev_sym_capability_check_cipher(
				    sym, (uint16_t)cipher_key_size(cipher), CRYPTO_IV_SIZE) == 0)
				ways |= 1u << way;
		}
	}
	return ways == 3;
}

static bool cipher_can(const struct cryptodev *c, enum cipher cipher) {
	struct rte_cryptodev_sym_capability_idx want = {
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.algo.cipher = cipher == CIPHER_DES ? RTE_CRYPTO_CIPHER_DES_DOCSISBPI
						    : RTE_CRYPTO_CIPHER_AES_DOCSISBPI,
	};
	const struct rte_cryptodev_symmetric_capability *found =
		rte_cryptodev_sym_capability_get(c->id, &want);

	return found != NULL &&
	       rte_cryptodev_sym_capability_check_cipher(found, (uint16_t)cipher_key_size(cipher),
							 cipher == CIPHER_DES ? 8 : 16) == 0;
}

static bool capabilities_find(struct cryptodev *c) {
	c->provider.ciphers = 1u << CIPHER_NONE;
	for (unsigned cipher = CIPHER_NONE + 1; cipher < CIPHERS; cipher++) {
		if (security_can(c, cipher))
			c->crc_ciphers |= 1u << cipher;
		if (in_security(c, cipher) || cipher_can(c, cipher))
			c->provider.ciphers |= 1u << cipher;
	}
	if (c->provider.ciphers != 1u << CIPHER_NONE)
		return true;
	fprintf(stderr,
		"crypto device %s: has neither DOCSIS security nor a cipher of DOCSIS; allowed are "
		"devices such as crypto_aesni_mb or crypto_qat\n",
		c->name);
	return false;
}

/* Finds the device, or makes it where its name is that of a driver of virtual ones. */
static bool device_find(struct cryptodev *c, const char *device, unsigned queues) {
	char arguments[64];
	int id = rte_cryptodev_get_dev_id(device);

	snprintf(c->name, sizeof(c->name), "%s", device);
	snprintf(arguments, sizeof(arguments), "max_nb_queue_pairs=%u", queues);
	if (id < 0 && rte_eal_hotplug_add("vdev", device, arguments) == 0) {
		c->made = true;
		id = rte_cryptodev_get_dev_id(device);
	}
	if (id < 0) {
		fprintf(stderr,
			"crypto device %s: there is none; give a PCI address that EAL has, or a "
			"driver's name and a number, such as crypto_aesni_mb0\n",
			device);
		return false;
	}
	c->id = (uint8_t)id;
	c->security = rte_cryptodev_get_sec_ctx(c->id);
	return true;
}

static bool pools_make(struct cryptodev *c, unsigned queues, unsigned keys, unsigned in_flight) {
	unsigned size = rte_cryptodev_sym_get_private_session_size(c->id), ops = queues * in_flight;
	char text[RTE_MEMPOOL_NAMESIZE];

	if (c->security != NULL)
		size = RTE_MAX(size, rte_security_session_get_size(c->security));
	snprintf(text, sizeof(text), "%.20s_ops", c->name);
	c->ops = rte_crypto_op_pool_create(text, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops, 256,
					   PRIVATE_SIZE, c->socket);
	snprintf(text, sizeof(text), "%.20s_keys", c->name);
	/* Sessions of both kinds begin with a head, less than two cache lines. */
	c->sessions = rte_cryptodev_sym_session_pool_create(text, keys, size, 0, 0, c->socket);
	if (c->ops != NULL && c->sessions != NULL)
		return true;
	fprintf(stderr, "crypto device %s: no memory for %u operations and %u keys: %s\n", c->name,
		ops, keys, rte_strerror(rte_errno));
	return false;
}

static bool device_start(struct cryptodev *c, unsigned queues, unsigned in_flight) {
	struct rte_cryptodev_config config = {
		.socket_id = c->socket,
		.nb_queue_pairs = (uint16_t)queues,
		.ff_disable = RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO,
	};
	struct rte_cryptodev_qp_conf queue = {.nb_descriptors = rte_align32pow2(in_flight)};
	int ret = rte_cryptodev_configure(c->id, &config);

	for (unsigned q = 0; ret == 0 && q < queues; q++)
		ret = rte_cryptodev_queue_pair_setup(c->id, (uint16_t)q, &queue, c->socket);
	if (ret == 0)
		ret = rte_cryptodev_start(c->id);
	if (ret != 0)
		fprintf(stderr, "crypto device %s: cannot be started: %s\n", c->name,
			rte_strerror(-ret));
	return ret == 0;
}

static void close_all(struct crypto_provider *p) {
	struct cryptodev *c = of_provider(p);

	rte_cryptodev_stop(c->id);
	rte_cryptodev_close(c->id);
	if (c->made)
		rte_eal_hotplug_remove("vdev", c->name);
	rte_mempool_free(c->ops);
	rte_mempool_free(c->sessions);
	rte_free(c);
}

struct crypto_provider *cryptodev_open(const char *device, unsigned queues, unsigned keys,
				       unsigned in_flight, int socket) {
	static const struct crypto_functions functions = {
		.key_make = key_make,
		.key_free = key_free,
		.queue_open = queue_open,
		.queue_close = queue_close,
		.submit = submit,
		.collect = collect,
		.close = close_all,
	};
	struct cryptodev *c = rte_zmalloc_socket("cryptodev", sizeof(*c), 0, socket);

	if (c == NULL) {
		fprintf(stderr, "crypto device %s: no memory for it\n", device);
		return NULL;
	}
	c->provider.functions = &functions;
	c->provider.name = c->name;
	c->socket = socket;
	c->queues = queues;
	c->in_flight = in_flight;
	if (!device_find(c, device, queues)) {
		rte_free(c);
		return NULL;
	}
	if (capabilities_find(c) && pools_make(c, queues, keys, in_flight) &&
	    device_start(c, queues, in_flight) && crypto_self_test(&c->provider, rte_version()))
		return &c->provider;
	close_all(&c->provider);
	return NULL;
}
