/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crypto device that does what none should: it stands between DPDK's functions and a device that works, which does
 * what it is given, and gives back what it likes, when it likes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Set by the test, at any time. */
struct faults {
	unsigned late; /* polls that an operation is held back, at most */
	unsigned fails; /* one of so many; 0: none */
	unsigned swallows; /* one of so many is kept until `swallows` is 0; 0: none */
	bool any_order;
	bool takes_part; /* any number of the operations that it is offered */
	bool takes_nothing;
	bool gives_nothing;
};
extern struct faults faults;

struct faulty_counts {
	unsigned failed; /* operations, since faulty_attach() */
	unsigned held; /* now */
};

/* The device of this name is faulty from now on, until it is stopped. No faults yet. */
void faulty_attach(const char *name);

struct faulty_counts faulty_counts(void);

/* Writes over all that it was given and has not given back, as a device may. */
void faulty_scribble(void);

/* Forgets what it has, when its device is closed. */
void faulty_detach(void);
