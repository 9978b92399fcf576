// SPDX-License-Identifier: BSD-3-Clause

// Package scheme has the API versions of Kubernetes that charts check with .Capabilities: only those our chart uses.
package scheme

import "k8s.io/apimachinery/pkg/runtime/schema"

type Known []schema.GroupVersion

func (known Known) PrioritizedVersionsAllGroups() []schema.GroupVersion { return known }

var Scheme = Known{
	{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"},
	{Group: "networking.k8s.io", Version: "v1"}, {Group: "policy", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"},
}
