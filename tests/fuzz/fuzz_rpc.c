/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to a service: bytes of a client, cut where a value ends. */
#include <stdlib.h>

#include "control/json_text.h"

#include "fuzz.h"
#include "rpc_service.h"

/* A call may wait for ever: then it is given up, as that of a client that goes. */
static void some_answer(const struct rpc *rpc, const char *bytes, size_t size) {
	struct rpc_work *w = rpc_begin(rpc, bytes, size);

	for (int looks = 0; looks < 3 && !rpc_continue(w); looks++)
		;
	free(rpc_answer(w));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *bytes = (const char *)data;
	uint32_t sum = 0;
	const struct rpc rpc = {service_methods, 2, &sum}; /* without the one that says much */

	while (size > 0) {
		struct json_text text = {0};
		size_t used = json_text_feed(&text, bytes, size);

		CHECK(used <= size && used > 0);
		some_answer(&rpc, bytes, used);
		if (text.state != JSON_TEXT_WHOLE)
			break;
		bytes += used;
		size -= used;
	}
	return 0;
}
