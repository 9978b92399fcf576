// SPDX-License-Identifier: BSD-3-Clause

// Package discovery is a stub: its client has no cluster to query.
package discovery

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

type Client struct{}

func (Client) ServerResourcesForGroupVersion(string) (*metav1.APIResourceList, error) {
	return nil, errors.New("no cluster here")
}

func NewDiscoveryClientForConfig(*rest.Config) (Client, error) {
	return Client{}, errors.New("no cluster here")
}
