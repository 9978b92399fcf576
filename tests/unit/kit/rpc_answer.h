/* SPDX-License-Identifier: BSD-3-Clause */
/* Finishes a JSON-RPC call and returns its answer as one string. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "control/rpc.h"

/* Consumes and frees the answer. The caller frees the string; NULL if the answer is empty. */
static inline char *answer_string(struct answer_text *a) {
	char *text = a->size > 0 ? malloc(a->size + 1) : NULL, *end = text;
	struct iovec piece;

	while (text != NULL && answer_text_pieces(a, &piece, 1) == 1) {
		memcpy(end, piece.iov_base, piece.iov_len);
		end += piece.iov_len;
		answer_text_consume(a, piece.iov_len);
	}
	if (text != NULL)
		*end = '\0';
	answer_text_free(a);
	return text;
}

static inline char *rpc_answer(struct rpc_work *w) {
	struct answer_text a = {0};

	rpc_end(w, &a);
	return answer_string(&a);
}
