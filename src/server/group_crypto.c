/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/group_crypto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "model/live/live_group.h"
#include "platform/log/log.h"
#include "server/layout.h"

/* Schedules for all modem slots, `each` per slot. */
static void **schedules_alloc(const struct service_group *sg, unsigned each) {
	return calloc(each * sg->modem_count + 1, sizeof(void *));
}

static int key_missing(const struct crypto_provider *p, const struct modem *m) {
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(mac, sizeof(mac), (const struct rte_ether_addr *)m->mac);
	log_error("crypto", LOG_FIELDS(LOG_STRING("modem", mac), LOG_STRING("provider", p->name)),
		  "modem %s: crypto provider %s %s", mac, p->name,
		  crypto_can(p, m->security.cipher) ? "has no free session or memory for its keys"
						    : "does not support its cipher");
	return -1;
}

static int down_make(struct group_crypto *c, const struct service_group *sg) {
	c->schedules = schedules_alloc(sg, 1);
	if (c->schedules == NULL)
		return -1;
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct security_association *sa = &sg->modems[m].security;

		if (!modem_exists(&sg->modems[m]))
			continue;
		c->schedules[m] = crypto_key_make(c->provider, CRYPTO_DOWNLINK, sa->cipher,
						  association_key(sa));
		if (c->schedules[m] == NULL)
			return key_missing(c->provider, &sg->modems[m]);
	}
	return 0;
}

/* Makes both generations of each modem's key. */
static int up_make(struct group_crypto *c, const struct service_group *sg) {
	c->up_schedules = schedules_alloc(sg, 2);
	if (c->up_schedules == NULL)
		return -1;
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct security_association *sa = &sg->modems[m].security;
		void **s = &c->up_schedules[2 * m];

		if (!modem_exists(&sg->modems[m]))
			continue;
		s[0] = crypto_key_make(c->provider, CRYPTO_UPLINK, sa->cipher, sa->key);
		if (sa->has_next_key)
			s[1] = crypto_key_make(c->provider, CRYPTO_UPLINK, sa->cipher,
					       sa->next_key);
		if (s[0] == NULL || (sa->has_next_key && s[1] == NULL))
			return key_missing(c->provider, &sg->modems[m]);
	}
	return 0;
}

int group_crypto_make(struct group_crypto *c, struct crypto_provider *provider,
		      const struct service_group *sg) {
	bool up = layout_has_upstream(sg);

	*c = (struct group_crypto){.provider = provider};
	c->queues[CRYPTO_DOWNLINK] = crypto_queue_open(provider, CRYPTO_DOWNLINK);
	if (up)
		c->queues[CRYPTO_UPLINK] = crypto_queue_open(provider, CRYPTO_UPLINK);
	if (c->queues[CRYPTO_DOWNLINK] == NULL || (up && c->queues[CRYPTO_UPLINK] == NULL))
		return -1;
	return down_make(c, sg) == 0 && (!up || up_make(c, sg) == 0) ? 0 : -1;
}

static void schedules_free(const struct group_crypto *c, const struct service_group *sg,
			   enum crypto_direction direction, void **schedules, unsigned each) {
	for (size_t s = 0; schedules != NULL && s < each * sg->modem_count; s++)
		crypto_key_free(c->provider, direction, sg->modems[s / each].security.cipher,
				schedules[s]);
	free(schedules);
}

void group_crypto_free(struct group_crypto *c, const struct service_group *sg) {
	for (unsigned way = CRYPTO_DOWNLINK; way <= CRYPTO_UPLINK; way++) {
		if (c->queues[way] != NULL)
			crypto_queue_close(c->queues[way]);
	}
	schedules_free(c, sg, CRYPTO_DOWNLINK, c->schedules, 1);
	schedules_free(c, sg, CRYPTO_UPLINK, c->up_schedules, 2);
	*c = (struct group_crypto){0};
}
