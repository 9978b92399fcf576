// SPDX-License-Identifier: BSD-3-Clause

// Package v1 has the words of a request that is never made.
package v1

type (
	GetOptions  struct{}
	ListOptions struct{}
	APIResource struct {
		Name, Group, Version, Kind string
		Namespaced                 bool
	}
	APIResourceList struct{ APIResources []APIResource }
)
