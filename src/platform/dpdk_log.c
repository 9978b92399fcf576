/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/dpdk_log.h"

#include <stdio.h>

#include <rte_log.h>

#include "platform/log/log.h"
#include "platform/log/log_stream.h"

static FILE *stream;

/* Level of the message that this thread writes. */
static enum log_level dpdk_level(void) {
	int level = rte_log_cur_msg_loglevel();

	if (level <= (int)RTE_LOG_ERR)
		return LEVEL_ERROR;
	if (level == (int)RTE_LOG_WARNING)
		return LEVEL_WARNING;
	if (level == (int)RTE_LOG_NOTICE)
		return LEVEL_NOTICE;
	return level == (int)RTE_LOG_INFO ? LEVEL_INFO : LEVEL_DEBUG;
}

void dpdk_log_redirect(void) {
	if (!log_is_open() || stream != NULL)
		return;
	stream = log_stream_open("dpdk", dpdk_level);
	if (stream != NULL)
		rte_openlog_stream(stream);
}

void dpdk_log_restore(void) {
	if (stream == NULL)
		return;
	rte_openlog_stream(NULL);
	fclose(stream);
	stream = NULL;
}
