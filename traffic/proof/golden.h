/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formats that this program and the data plane have in common, held against bytes that neither of them made: a
 * mistake there would be in both, and each would prove the other's.
 */
#pragma once

/* The first format that is written otherwise than the specifications have it; NULL: there is none. */
const char *golden_wrong(void);
