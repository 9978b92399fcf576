/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/unmap.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_lcore.h>

static struct {
	pthread_mutex_t lock;
	void (*wait)(const void *context);
	const void *context;
} unmapping = {.lock = PTHREAD_MUTEX_INITIALIZER};

void unmap_set_wait(void (*wait)(const void *context), const void *context) {
	pthread_mutex_lock(&unmapping.lock);
	unmapping.wait = wait;
	unmapping.context = context;
	pthread_mutex_unlock(&unmapping.lock);
}

/* Overrides the C library's function for all dynamically linked code, which includes the drivers. */
int munmap(void *address, size_t length) {
	if (rte_lcore_id() == LCORE_ID_ANY) {
		pthread_mutex_lock(&unmapping.lock);
		if (unmapping.wait != NULL)
			unmapping.wait(unmapping.context);
		pthread_mutex_unlock(&unmapping.lock);
	}
	return (int)syscall(SYS_munmap, address, length);
}
