/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the formats that this program shares with the data plane with bytes from an independent
 * encoder. A bug in shared code would be on both sides of the proof, which could not detect it. */
#pragma once

/* The name of the first format whose bytes differ from the specification; NULL: none. */
const char *golden_first_mismatch(void);
