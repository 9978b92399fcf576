/* SPDX-License-Identifier: BSD-3-Clause */
/* A service with two methods, for tests of what carries requests to it. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/rpc.h"
#include "model/keys/key_macros.h"

#include "rpc_answer.h"

struct add_params {
	uint32_t by;
	uint8_t mac[6];
	bool twice;
};

/* clang-format off */
static const struct key add_keys[] = {
	{.name = "by", .required = true, INTEGER(1, 1000), AT(struct add_params, by), HELP("how many")},
	{.name = "mac", .kind = KIND_MAC, AT(struct add_params, mac), HELP("whose")},
	{.name = "twice", BOOL, AT(struct add_params, twice), .fallback = "false", HELP("again")},
	{0},
};
static const struct key sum_keys[] = {
	{.name = "sum", .required = true, INTEGER(0, UINT32_MAX), HELP("of all so far")},
	{0},
};
/* clang-format on */

static inline json_t *service_add(struct rpc_call *call) {
	const struct add_params *p = call->params;
	uint32_t *sum = call->service;

	if (p->by == 13)
		return rpc_refuse(call, RPC_REFUSED, "by: 13 brings bad luck");
	*sum += p->twice ? 2 * p->by : p->by;
	return json_pack("{s:i}", "sum", (int)*sum);
}

/* An answer of many bytes. */
static inline json_t *service_fill(struct rpc_call *call) {
	char *text = malloc(1u << 22);
	json_t *answer;

	(void)call;
	if (text == NULL)
		return NULL;
	memset(text, 'x', 1u << 22);
	answer = json_pack("{s:s#}", "text", text, 1 << 22);
	free(text);
	return answer;
}

/* Waits until the sum is 100, and tells how often it has looked. */
static inline json_t *service_await(struct rpc_call *call) {
	const uint32_t *sum = call->service;
	unsigned *looks = call->state;

	if (looks == NULL)
		looks = arena_alloc(call->arena, 1, sizeof(*looks));
	if (looks == NULL)
		return NULL;
	call->state = looks;
	++*looks;
	if (*sum > 100)
		return rpc_refuse(call, RPC_REFUSED, "sum: it has passed 100");
	return *sum < 100 ? rpc_wait(call) : json_pack("{s:i}", "looks", (int)*looks);
}

static const struct rpc_method service_methods[] = {
	{"add", "adds to the sum", add_keys, sizeof(struct add_params), sum_keys, service_add},
	{"await", "waits for 100", NULL, 0, (const struct key[]){{0}}, service_await,
	 "the sum has passed 100"},
	{"fill", "says much", NULL, 0, (const struct key[]){{0}}, service_fill},
};

/* All of it at once, for services whose methods do not wait for long. */
static inline char *rpc_service_answer(const struct rpc *rpc, const char *text, size_t size) {
	struct rpc_work *w = rpc_begin(rpc, text, size);

	while (!rpc_continue(w))
		;
	return rpc_answer(w);
}

/* `sum` must live on. */
static inline struct rpc rpc_service(uint32_t *sum) {
	return (struct rpc){service_methods, 3, sum};
}
