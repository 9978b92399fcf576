// SPDX-License-Identifier: BSD-3-Clause

// Package rest is a stub: its configuration names no cluster.
package rest

type Config struct{}
