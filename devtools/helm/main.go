// SPDX-License-Identifier: BSD-3-Clause

// Renders charts with Helm's packages and without a cluster, as `helm template` does, but for many requests in one process.
//
// It reads one request per line from standard input, as JSON: {"values": [FILE..], "set": {..}, "release": NAME,
// "namespace": NAME, "upgrade": BOOL, "api": [GROUP/VERSION..]}. It writes one response per line: {"files": {PATH: TEXT}} or
// {"error": TEXT}. With --package it packages the chart, as `helm package` does.
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

type response struct {
	Files map[string]string `json:"files,omitempty"`
	Error string            `json:"error,omitempty"`
}

// values merges the files of values. Later files override earlier ones, and `set` overrides all files.
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

func render(path string, r *request) (map[string]string, error) {
	// Rendering changes the chart, so that each request loads it.
	loaded, err := loader.Load(path)
	if err != nil {
		return nil, err
	}
	merged, err := r.values()
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = append(append(chartutil.VersionSet{}, capabilities.APIVersions...), r.API...)
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.31.0", Major: "1", Minor: "31"}
	if err := checkCompatible(loaded, capabilities); err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: r.Release, Namespace: r.Namespace, Revision: 1,
		IsInstall: !r.Upgrade, IsUpgrade: r.Upgrade}
	values, err := chartutil.ToRenderValues(loaded, merged, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(loaded, values)
}

func checkCompatible(c *chart.Chart, capabilities *chartutil.Capabilities) error {
	required := c.Metadata.KubeVersion
	if required != "" && !chartutil.IsCompatibleRange(required, capabilities.KubeVersion.Version) {
		return fmt.Errorf("chart requires Kubernetes %s, rendered for %s", required, capabilities.KubeVersion.Version)
	}
	return c.Validate()
}

func save(path, folder, version string) error {
	loaded, err := loader.Load(path)
	if err != nil {
		return err
	}
	if version != "" {
		loaded.Metadata.Version, loaded.Metadata.AppVersion = version, version
	}
	archive, err := chartutil.Save(loaded, folder)
	if err == nil {
		fmt.Println(archive)
	}
	return err
}

func serve(path string) error {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		req, resp := request{Release: "vcmts", Namespace: "default"}, response{}
		err := json.Unmarshal(lines.Bytes(), &req)
		if err == nil {
			resp.Files, err = render(path, &req)
		}
		if err != nil {
			resp = response{Error: err.Error()}
		}
		if err := out.Encode(resp); err != nil {
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
