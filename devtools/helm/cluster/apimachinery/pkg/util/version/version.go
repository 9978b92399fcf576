// SPDX-License-Identifier: BSD-3-Clause

// Package version parses versions such as v1.31.2.
package version

import "fmt"

type Version struct{ major, minor, patch uint }

func ParseGeneric(text string) (*Version, error) {
	v := &Version{}
	if len(text) > 0 && text[0] == 'v' {
		text = text[1:]
	}
	if n, _ := fmt.Sscanf(text, "%d.%d.%d", &v.major, &v.minor, &v.patch); n < 2 {
		return nil, fmt.Errorf("%q is not a version such as v1.31.2", text)
	}
	return v, nil
}

func (v *Version) Major() uint    { return v.major }
func (v *Version) Minor() uint    { return v.minor }
func (v *Version) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }
