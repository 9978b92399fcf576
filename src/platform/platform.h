/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and stops DPDK's environment (EAL) with the resources of the machine. */
#pragma once

#include <stdbool.h>

#define PLATFORM_MAX_WORKERS 127 /* lcores of DPDK, without the main lcore */
#define PLATFORM_MAX_DEVICES 32 /* as many ports */
/* Values of main_core that select from the cores of the process: */
#define PLATFORM_ANY_CORE (~0U) /* all of them; the system schedules the thread */
#define PLATFORM_ONE_CORE (~1U) /* the first one, for measurements */

/* The addresses that PCI NICs use for DMA. */
enum platform_iova {
	PLATFORM_IOVA_AUTO, /* EAL chooses */
	PLATFORM_IOVA_VA, /* virtual addresses of the process, with an IOMMU */
	PLATFORM_IOVA_PA, /* physical addresses: needs huge pages and privileges */
	PLATFORM_IOVAS,
};

/* Parses "auto", "va" or "pa"; returns false for other text. */
bool platform_iova_parse(const char *text, enum platform_iova *iova);

struct platform_options {
	const char *program; /* file prefix, and name in messages */
	unsigned main_core; /* CPU of the main thread, which does not poll, or a value as above */
	unsigned workers[PLATFORM_MAX_WORKERS]; /* CPU of worker i, which is lcore i + 1 */
	unsigned worker_count;
	const char *devices[PLATFORM_MAX_DEVICES]; /* PCI addresses, or "net_memif0,role=..." */
	unsigned device_count;
	unsigned memory_mb; /* needed: as free huge pages, otherwise as ordinary memory */
	unsigned memory_piece_mb; /* piece size of the heap (large_pages.h); 0: one piece */
	bool offline; /* speed does not matter: no notice about missing huge pages */
	enum platform_iova iova;
	bool telemetry; /* opens the telemetry socket, if its folder can be created */
};

/*
 * Starts EAL: on huge pages if enough are free, otherwise on ordinary pages after a notice on stderr. Scans
 * PCI only if a device is a PCI address. Returns 0, or -1 after a message with a remedy.
 */
int platform_start(const struct platform_options *options);

/* Whether memory is on huge pages. */
bool platform_has_huge_pages(void);

/* Whether the options set `offline`. */
bool platform_is_offline(void);

/* Whether PCI NICs, which use DMA, take part. */
bool platform_has_pci(void);

void platform_stop(void);
