/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/crypto.h"

char crypto_clear;
