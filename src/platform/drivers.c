/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/drivers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EAL "librte_eal.so"
#define NAME_SIZE 64

static bool pools_only;

void drivers_of_pools_only(bool only) {
	pools_only = only;
}

typedef void *(*open_fn)(const char *, int);

/* They register themselves when they are loaded, and stay. `version` is that of EAL's library: ".23". */
static bool pools_loaded(open_fn open, const char *version) {
	static const char *const drivers[] = {"ring", "stack"};
	bool all = true;

	for (size_t d = 0; d < sizeof(drivers) / sizeof(drivers[0]); d++) {
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "librte_mempool_%s.so%s", drivers[d], version);
		all = all && open(name, RTLD_NOW) != NULL;
	}
	return all;
}

/*
 * In the place of the C library's. EAL asks whether its own library is loaded, and loads the folder of drivers where it is;
 * an EAL that is part of the program has its drivers there, too, and loads none.
 */
void *dlopen(const char *name, int flags);

__attribute__((used, visibility("default"))) void *dlopen(const char *name, int flags) {
	/* ISO C knows no cast from an object's address to that of a function */
	union {
		void *address;
		open_fn open;
	} next = {.address = dlsym(RTLD_NEXT, "dlopen")};
	void *library;

	if (next.address == NULL)
		return NULL;
	library = next.open(name, flags);
	if (!pools_only || library == NULL || name == NULL || (flags & RTLD_NOLOAD) == 0 ||
	    strncmp(name, EAL, strlen(EAL)) != 0 || !pools_loaded(next.open, name + strlen(EAL)))
		return library;
	dlclose(library);
	return NULL;
}
