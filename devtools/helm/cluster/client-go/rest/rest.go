// SPDX-License-Identifier: BSD-3-Clause

// Package rest would say where the cluster is.
package rest

type Config struct{}
