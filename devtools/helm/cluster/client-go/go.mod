// SPDX-License-Identifier: BSD-3-Clause
module k8s.io/client-go

go 1.24

require k8s.io/apimachinery v0.37.0
