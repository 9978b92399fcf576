// SPDX-License-Identifier: BSD-3-Clause

// Package dynamic is a stub: its client has no cluster to read objects from.
package dynamic

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

type Object struct{}

func (Object) UnstructuredContent() map[string]interface{} { return nil }

type ResourceInterface interface {
	Get(context.Context, string, metav1.GetOptions, ...string) (Object, error)
	List(context.Context, metav1.ListOptions) (Object, error)
}

type NamespaceableResourceInterface interface {
	ResourceInterface
	Namespace(string) ResourceInterface
}

type Client struct{}

func (Client) Resource(schema.GroupVersionResource) NamespaceableResourceInterface { return nil }

func NewForConfig(*rest.Config) (Client, error) { return Client{}, errors.New("no cluster here") }
