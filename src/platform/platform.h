/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and stop of DPDK's environment, with what the machine has and nothing it lacks. */
#pragma once

#include <stdbool.h>

#define PLATFORM_MAX_WORKERS 127 /* as many lcores as DPDK has room for, but the main one */
#define PLATFORM_MAX_DEVICES 32 /* as many ports */
/* main_core, of those that the process may use: */
#define PLATFORM_ANY_CORE (~0U) /* all, as the system has room */
#define PLATFORM_ONE_CORE (~1U) /* the first, for what is measured */

/* The addresses by which cards on the PCI bus reach memory. */
enum platform_iova {
	PLATFORM_IOVA_AUTO, /* EAL chooses */
	PLATFORM_IOVA_VA, /* virtual ones of the process: behind an IOMMU */
	PLATFORM_IOVA_PA, /* physical ones, which takes huge pages and may not be asked by everybody */
	PLATFORM_IOVAS,
};

/* "auto", "va", "pa"; false: it is none of these. */
bool platform_iova_parse(const char *text, enum platform_iova *iova);

struct platform_options {
	const char *program; /* file prefix, and name in messages */
	unsigned main_core; /* CPU of the main thread, which polls nothing, or as above */
	unsigned workers[PLATFORM_MAX_WORKERS]; /* CPU of each polling thread: lcore i + 1 */
	unsigned worker_count;
	const char *devices[PLATFORM_MAX_DEVICES]; /* PCI addresses, or "net_memif0,role=..." */
	unsigned device_count;
	unsigned memory_mb; /* needed when there are no huge pages */
	unsigned memory_piece_mb; /* the system gives no more at once for nothing; 0: all */
	bool offline; /* speed does not matter: huge pages are not missed */
	enum platform_iova iova;
	bool telemetry; /* on a socket, where the folder for it can be made */
};

/*
 * Starts EAL: on huge pages when enough are free, else on ordinary pages, which is said once on
 * stderr; PCI is scanned only when a device is a PCI address. Returns 0, or -1 after a message
 * that says what to do.
 */
int platform_start(const struct platform_options *options);

/* True when memory came from huge pages. */
bool platform_has_huge_pages(void);

/* Whether it was started so. */
bool platform_is_offline(void);

/* True when cards on the PCI bus take part, which address memory themselves. */
bool platform_has_pci(void);

void platform_stop(void);
