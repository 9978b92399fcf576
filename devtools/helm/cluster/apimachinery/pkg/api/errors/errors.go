// SPDX-License-Identifier: BSD-3-Clause

// Package errors knows the one question that helm asks of an answer of a cluster.
package errors

func IsNotFound(error) bool { return false }
