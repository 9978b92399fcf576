/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/platform.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_net_crc.h>

#include "platform/cpus.h"
#include "platform/device_socket.h"
#include "platform/dpdk_log.h"
#include "platform/huge_pages.h"
#include "platform/large_pages.h"
#include "platform/log/log.h"
#include "platform/runtime_folder.h"

#define MAX_ARGS (24 + 2 * PLATFORM_MAX_DEVICES)
#define IN_ORDINARY_PAGES 2 /* times the memory: buffers of NICs do not cross page boundaries */
#define LCORE_SIZE 12 /* bytes of ",NUMBER@CPU" */

static bool huge_pages;
static bool pci;
static bool offline;

static const char *const iovas[PLATFORM_IOVAS] = {
	[PLATFORM_IOVA_AUTO] = "auto",
	[PLATFORM_IOVA_VA] = "va",
	[PLATFORM_IOVA_PA] = "pa",
};

struct arguments {
	char *texts[MAX_ARGS]; /* EAL reorders argv and modifies the strings */
	char *argv[MAX_ARGS + 1];
	int argc;
};

_Static_assert(PLATFORM_MAX_WORKERS < RTE_MAX_LCORE, "lcore 0 is the main thread");
_Static_assert(PLATFORM_MAX_DEVICES <= RTE_MAX_ETHPORTS, "a device is a port");

static __rte_format_printf(2, 3) void add(struct arguments *a, const char *format, ...) {
	va_list list;

	if (a->argc == MAX_ARGS)
		rte_panic("more EAL arguments than %d\n", MAX_ARGS);
	va_start(list, format);
	if (vasprintf(&a->texts[a->argc], format, list) < 0)
		rte_panic("no memory for EAL arguments\n");
	va_end(list);
	a->argv[a->argc] = a->texts[a->argc];
	a->argc++;
}

static bool is_pci(const char *device) {
	unsigned domain, bus, slot, function;

	return sscanf(device, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4 ||
	       sscanf(device, "%x:%x.%x", &bus, &slot, &function) == 3;
}

static bool is_symbolic_core(unsigned core) {
	return core == PLATFORM_ANY_CORE || core == PLATFORM_ONE_CORE;
}

static unsigned first_core(const cpu_set_t *allowed) {
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, allowed))
			return cpu;
	}
	return 0;
}

/* lcore 0 is the main thread, lcore i + 1 worker i. */
static void add_lcores(struct arguments *a, const struct platform_options *o,
		       const cpu_set_t *allowed) {
	char map[(1 + PLATFORM_MAX_WORKERS) * LCORE_SIZE];
	unsigned main_core = is_symbolic_core(o->main_core) ? first_core(allowed) : o->main_core;
	int used = snprintf(map, sizeof(map), "0@%u", main_core);

	for (unsigned i = 0; i < o->worker_count; i++)
		used += snprintf(map + used, sizeof(map) - (size_t)used, ",%u@%u", i + 1,
				 o->workers[i]);
	add(a, "--lcores");
	add(a, "%s", map);
	add(a, "--main-lcore");
	add(a, "0");
}

/* Pages were reserved, but too few: a setting or the machine's memory is not as planned. */
static void warn_of_few_pages(unsigned wanted_mb, unsigned free_mb) {
	log_warning("memory",
		    LOG_FIELDS(LOG_NUMBER("wanted_mb", wanted_mb), LOG_NUMBER("free_mb", free_mb)),
		    "fewer than %u MB of huge pages are free (%u MB): running on ordinary pages, "
		    "slower; `vcmts host check` shows what to do",
		    wanted_mb, free_mb);
}

static void add_memory(struct arguments *a, const struct platform_options *o) {
	unsigned free_mb =
		(unsigned)RTE_MAX(huge_pages_free_mb("", 2), huge_pages_free_mb("", 1024));

	huge_pages = huge_pages_enough("", o->memory_mb);
	if (huge_pages) {
		add(a, "--in-memory"); /* creates no files in hugetlbfs that outlive the process */
		return;
	}
	if (!o->offline && free_mb > 0)
		warn_of_few_pages(o->memory_mb, free_mb);
	else if (!o->offline)
		log_notice("memory", LOG_FIELDS(LOG_NUMBER("wanted_mb", o->memory_mb)),
			   "fewer than %u MB of huge pages are free: running on ordinary pages, "
			   "slower",
			   o->memory_mb);
	add(a, "--no-huge");
	add(a, "--no-shconf");
	add(a, "-m");
	add(a, "%u", pci ? o->memory_mb * IN_ORDINARY_PAGES : o->memory_mb);
}

static void add_devices(struct arguments *a, const struct platform_options *o) {
	pci = false;
	for (unsigned i = 0; i < o->device_count; i++) {
		pci = pci || is_pci(o->devices[i]);
		add(a, is_pci(o->devices[i]) ? "-a" : "--vdev");
		add(a, "%s", o->devices[i]);
	}
	if (pci && o->iova != PLATFORM_IOVA_AUTO)
		add(a, "--iova-mode=%s", iovas[o->iova]);
	if (pci)
		return;
	add(a, "--no-pci");
	add(a, "--iova-mode=va");
}

/* EAL does not start if it cannot bind its socket. It creates a folder also without one. */
static void add_telemetry(struct arguments *a, const struct platform_options *o) {
	if (!runtime_folder_prepare(o->program, o->telemetry) || !o->telemetry)
		add(a, "--no-telemetry");
}

/* EAL's messages say less, and EAL would accept a core outside of the cpuset. */
static bool cores_fit(const struct platform_options *o) {
	char usable[CPUS_TEXT];
	struct cpus cpus;

	cpus_read(&cpus);
	for (unsigned i = 0; i <= o->worker_count; i++) {
		unsigned core = i == 0 ? o->main_core : o->workers[i - 1];
		enum cpu_fault fault = cpus_fault(&cpus, core);

		if (is_symbolic_core(core) || fault == CPU_IS_USABLE)
			continue;
		cpus_format(&cpus.usable, usable, sizeof(usable));
		log_error("core", LOG_FIELDS(LOG_NUMBER("core", core)),
			  "found core %u, allowed: %s, %s", core, usable, cpus_fault_text(fault));
		return false;
	}
	return true;
}

bool platform_iova_parse(const char *text, enum platform_iova *iova) {
	for (unsigned i = 0; i < PLATFORM_IOVAS; i++) {
		if (strcmp(text, iovas[i]) != 0)
			continue;
		*iova = (enum platform_iova)i;
		return true;
	}
	return false;
}

/* Ordinary pages have no fixed physical address. */
static bool iova_fits(const struct platform_options *o) {
	if (!pci || huge_pages || o->iova != PLATFORM_IOVA_PA)
		return true;
	log_error("memory", LOG_FIELDS(LOG_NUMBER("wanted_mb", o->memory_mb)),
		  "--iova-mode: found pa, allowed: va, auto, or %u MB of free huge pages",
		  o->memory_mb);
	return false;
}

/* rte_net selects its CRC implementation in the first call, and has none until then: a concurrent
 * first call in another thread would crash (seen in DPDK 22.11). */
static void choose_crc(void) {
	static const uint8_t nothing[16];

	(void)rte_net_crc_calc(nothing, sizeof(nothing), RTE_NET_CRC32_ETH);
}

static bool sockets_claim(const struct platform_options *o) {
	for (unsigned i = 0; i < o->device_count; i++) {
		if (device_socket_claim(o->devices[i]) != 0)
			return false;
	}
	return true;
}

/* EAL creates a folder per file prefix and does not remove it. It removes the sockets only at exit, when the
 * folder cannot be removed any more. */
static void leftovers_remove(const char *folder) {
	dpdk_log_restore();
	device_sockets_release();
	runtime_folder_remove(folder);
}

/*
 * Replaces libnuma's function, by which EAL checks for NUMA support. The default seccomp profile of
 * containers refuses the NUMA system calls; libnuma before 2.0.17 ignores that, and EAL then gets no huge
 * pages.
 */
int numa_available(void);

__attribute__((used, visibility("default"))) int numa_available(void) {
	return syscall(SYS_get_mempolicy, NULL, NULL, 0UL, NULL, 0UL) == 0 ? 0 : -1;
}

int platform_start(const struct platform_options *o) {
	static struct arguments a; /* EAL keeps pointers into it */
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	(void)sched_getaffinity(0, sizeof(allowed), &allowed);
	offline = o->offline;
	log_program(o->program);
	dpdk_log_redirect();
	if (!cores_fit(o))
		return -1;
	a.argc = 0;
	add(&a, "%s", o->program);
	add_lcores(&a, o, &allowed);
	add_devices(&a, o);
	add_memory(&a, o);
	if (!iova_fits(o))
		return -1;
	add(&a, "--file-prefix");
	add(&a, "%s-%d", o->program, (int)getpid());
	add_telemetry(&a, o);
	add(&a, "--log-level=error");
	a.argv[a.argc] = NULL;
	if (!sockets_claim(o)) {
		device_sockets_release();
		return -1;
	}
	if (rte_eal_init(a.argc, a.argv) < 0) {
		log_error("dpdk", LOG_NO_FIELDS,
			  "DPDK did not start: %s; check the devices' arguments and that "
			  "%u MB of memory are free",
			  rte_strerror(rte_errno), o->memory_mb);
		leftovers_remove(rte_eal_get_runtime_dir());
		return -1;
	}
	if (pci)
		log_info("memory",
			 LOG_FIELDS(LOG_STRING("iova",
					       rte_eal_iova_mode() == RTE_IOVA_VA ? "va" : "pa")),
			 "PCI NICs use %s addresses for DMA",
			 rte_eal_iova_mode() == RTE_IOVA_VA ? "virtual" : "physical");
	choose_crc();
	if (o->main_core == PLATFORM_ANY_CORE) /* EAL has bound it to the first core */
		(void)sched_setaffinity(0, sizeof(allowed), &allowed);
	/* a NIC can access only memory that exists at the start */
	if (!huge_pages && !pci && !o->offline)
		large_pages_create(o->memory_mb, o->memory_piece_mb);
	return 0;
}

bool platform_has_huge_pages(void) {
	return huge_pages;
}

bool platform_is_offline(void) {
	return offline;
}

bool platform_has_pci(void) {
	return pci;
}

void platform_stop(void) {
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	leftovers_remove(folder);
}
