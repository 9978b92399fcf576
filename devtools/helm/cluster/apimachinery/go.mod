// SPDX-License-Identifier: BSD-3-Clause
module k8s.io/apimachinery

go 1.24
