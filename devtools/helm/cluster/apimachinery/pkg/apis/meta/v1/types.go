// SPDX-License-Identifier: BSD-3-Clause

// Package v1 is a stub with the types of requests to a cluster, which are never sent.
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
