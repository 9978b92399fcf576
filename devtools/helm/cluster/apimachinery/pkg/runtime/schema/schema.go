// SPDX-License-Identifier: BSD-3-Clause

// Package schema identifies kinds of objects.
package schema

import "strings"

type GroupVersion struct{ Group, Version string }

func (gv GroupVersion) String() string {
	if gv.Group == "" {
		return gv.Version
	}
	return gv.Group + "/" + gv.Version
}

type GroupVersionKind struct{ Group, Version, Kind string }

func (gvk GroupVersionKind) GroupVersion() GroupVersion {
	return GroupVersion{gvk.Group, gvk.Version}
}
func (gvk GroupVersionKind) String() string {
	return gvk.GroupVersion().String() + ", Kind=" + gvk.Kind
}

type GroupVersionResource struct{ Group, Version, Resource string }

func FromAPIVersionAndKind(apiVersion, kind string) GroupVersionKind {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	return GroupVersionKind{group, version, kind}
}
