{{/* SPDX-License-Identifier: BSD-3-Clause */}}
{{/* A name of at most 48 characters. The end of a longer one is replaced by a hash, so that two releases never get the same. */}}
{{- define "vcmts.shortened" -}}
{{- if gt (len .) 48 -}}
{{- printf "%s-%s" (trunc 39 . | trimSuffix "-") (sha256sum . | trunc 8) -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- define "vcmts.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- include "vcmts.shortened" .Release.Name -}}
{{- else -}}
{{- include "vcmts.shortened" (printf "%s-%s" .Release.Name $name) -}}
{{- end -}}
{{- end -}}

{{- define "vcmts.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "vcmts.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "vcmts.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "vcmts.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "vcmts.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "vcmts.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* "true" on OpenShift, which assigns user and group, else empty. */}}
{{- define "vcmts.openshift" -}}
{{- if eq (toString .Values.openshift) "auto" -}}
{{- ternary "true" "" (.Capabilities.APIVersions.Has "security.openshift.io/v1") -}}
{{- else if eq (toString .Values.openshift) "true" -}}
true
{{- end -}}
{{- end -}}

{{/* MiB of a quantity such as 512Mi or 1Gi. The schema has checked its format. */}}
{{- define "vcmts.mebibytes" -}}
{{- if hasSuffix "Gi" . -}}
{{- mul 1024 (int64 (trimSuffix "Gi" .)) -}}
{{- else -}}
{{- int64 (trimSuffix "Mi" .) -}}
{{- end -}}
{{- end -}}

{{/* The environment variable in which the SR-IOV network device plugin gives the addresses of a resource. */}}
{{- define "vcmts.variable" -}}
{{- printf "PCIDEVICE_%s" (regexReplaceAll "[^A-Z0-9]+" (upper .) "_") -}}
{{- end -}}

{{/*
The key of a pod's configuration in the ConfigMap: POD.yaml. It does not depend on the number of pods, so that a running
pod finds its file after that number changes.
*/}}
{{- define "vcmts.configName" -}}
{{- printf "%s-%d.yaml" (include "vcmts.fullname" .root) (int .number) -}}
{{- end -}}
