// SPDX-License-Identifier: BSD-3-Clause

// Package v1beta1 would add its kinds to those that are known.
package v1beta1

import "k8s.io/client-go/kubernetes/scheme"

func AddToScheme(scheme.Known) error { return nil }
