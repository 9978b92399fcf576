// SPDX-License-Identifier: BSD-3-Clause

// Renders charts by Helm's own packages, without a cluster: what `helm template` does, many times in one process.
//
// It reads a line of JSON a request from its standard input, {"values": [FILE..], "set": {..}, "release": NAME,
// "namespace": NAME, "upgrade": BOOL, "api": [GROUP/VERSION..]}, and answers each by a line, {"files": {PATH: TEXT}} or
// {"error": TEXT}. With --package it does what `helm package` does.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

type request struct {
	Values    []string               `json:"values"`
	Set       map[string]interface{} `json:"set"`
	Release   string                 `json:"release"`
	Namespace string                 `json:"namespace"`
	Upgrade   bool                   `json:"upgrade"`
	API       []string               `json:"api"`
}

type answer struct {
	Files map[string]string `json:"files,omitempty"`
	Error string            `json:"error,omitempty"`
}

// Later files go before earlier ones, and what is set before all of them.
func (r *request) values() (map[string]interface{}, error) {
	merged := map[string]interface{}{}
	for _, path := range r.Values {
		read, err := chartutil.ReadValuesFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		merged = chartutil.CoalesceTables(read.AsMap(), merged)
	}
	return chartutil.CoalesceTables(r.Set, merged), nil
}

func render(where string, r *request) (map[string]string, error) {
	// Rendering changes the chart: it is read anew for each.
	loaded, err := loader.Load(where)
	if err != nil {
		return nil, err
	}
	given, err := r.values()
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = append(append(chartutil.VersionSet{}, capabilities.APIVersions...), r.API...)
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.31.0", Major: "1", Minor: "31"}
	if err := compatible(loaded, capabilities); err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: r.Release, Namespace: r.Namespace, Revision: 1,
		IsInstall: !r.Upgrade, IsUpgrade: r.Upgrade}
	values, err := chartutil.ToRenderValues(loaded, given, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(loaded, values)
}

func compatible(c *chart.Chart, capabilities *chartutil.Capabilities) error {
	wanted := c.Metadata.KubeVersion
	if wanted != "" && !chartutil.IsCompatibleRange(wanted, capabilities.KubeVersion.Version) {
		return fmt.Errorf("kubeVersion %s is not %s", wanted, capabilities.KubeVersion.Version)
	}
	return c.Validate()
}

func save(where, folder, version string) error {
	loaded, err := loader.Load(where)
	if err != nil {
		return err
	}
	if version != "" {
		loaded.Metadata.Version, loaded.Metadata.AppVersion = version, version
	}
	path, err := chartutil.Save(loaded, folder)
	if err == nil {
		fmt.Println(path)
	}
	return err
}

func serve(where string) error {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		asked, said := request{Release: "vcmts", Namespace: "default"}, answer{}
		err := json.Unmarshal(lines.Bytes(), &asked)
		if err == nil {
			said.Files, err = render(where, &asked)
		}
		if err != nil {
			said = answer{Error: err.Error()}
		}
		if err := out.Encode(said); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	err := fmt.Errorf("usage: render CHART < requests, or render CHART --package FOLDER VERSION")
	switch {
	case len(os.Args) == 2:
		err = serve(os.Args[1])
	case len(os.Args) == 5 && os.Args[2] == "--package":
		err = save(os.Args[1], os.Args[3], os.Args[4])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}
