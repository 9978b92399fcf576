{{/* SPDX-License-Identifier: BSD-3-Clause */}}
{{- define "vcmts.podSpec" -}}
{{- $values := .root.Values -}}
{{- include "vcmts.podStart" .root }}
terminationGracePeriodSeconds: {{ add (int $values.drainSeconds) 15 }}
securityContext: {{- include "vcmts.podSecurity" .root | trim | nindent 2 }}
containers:
  - name: vcmtsd
    image: {{ include "vcmts.image" .root | quote }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    resources:
      {{- /* Requests equal limits, and CPUs are whole: the pod's class is Guaranteed, and it gets exclusive cores. */}}
      {{- range list "requests" "limits" }}
      {{ . }}:
        cpu: {{ $.plan.cores | int64 | quote }}
        memory: {{ printf "%dMi" ($.plan.memory | int64) }}
        {{- if $.plan.huge }}
        hugepages-{{ $values.hugePages.size }}: {{ printf "%dMi" ($.plan.huge | int64) }}
        {{- end }}
        {{- range $resource, $count := $.plan.requests }}
        {{ $resource }}: {{ $count | int64 | quote }}
        {{- end }}
      {{- end }}
    securityContext: {{- include "vcmts.containerSecurity" .root | nindent 6 }}
    args: {{- include "vcmts.arguments" . | nindent 6 }}
    env: {{- include "vcmts.environment" .root | nindent 6 }}
    ports:
      - {name: metrics, containerPort: {{ int $values.metricsPort }}, protocol: TCP}
    {{- include "vcmts.probes" .root | nindent 4 }}
    terminationMessagePolicy: FallbackToLogsOnError
    volumeMounts: {{- include "vcmts.mounts" (dict "root" .root "huge" .plan.huge) | nindent 6 }}
volumes: {{- include "vcmts.volumes" (dict "root" .root "plan" .plan "huge" .plan.huge) | nindent 2 }}
{{- include "vcmts.podPlacement" .root }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where the pods of the release, and that of its test, get their image and rights from. */}}
{{- define "vcmts.podStart" }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
serviceAccountName: {{ include "vcmts.serviceAccount" . | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Which nodes may run the pods. */}}
{{- define "vcmts.podPlacement" }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "vcmts.mounts" -}}
- {name: config, mountPath: /etc/vcmts/config, readOnly: true}
- {name: secret, mountPath: /etc/vcmts/secret, readOnly: true}
- {name: run, mountPath: /run/vcmts}
{{- if .huge }}
- {name: hugepages, mountPath: /dev/hugepages}
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "vcmts.podSecurity" -}}
{{- if .Values.root }}
runAsUser: 0
runAsGroup: 0
{{- else }}
runAsNonRoot: true
{{- if not (include "vcmts.openshift" .) }}
runAsUser: 10001
runAsGroup: 0
fsGroup: 10001
{{- end }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "vcmts.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  {{- if .Values.root }}
  {{- with .Values.capabilities }}
  add: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "vcmts.arguments" -}}
- pod
{{- /* An existingConfigMap for one pod has the key vcmts.yaml, which is the default of `vcmts pod`. */}}
{{- if or (gt (len .plan.pods) 1) (not .root.Values.existingConfigMap) }}
- --config=/etc/vcmts/config/$(POD_NAME).yaml
{{- end }}
- --drain={{ int .root.Values.drainSeconds }}s
- --metrics=0.0.0.0:{{ int .root.Values.metricsPort }}
{{- if .plan.huge }}
- --huge-pages=must
{{- end }}
{{- if eq (int .root.Values.cores.siblings) 1 }}
- --split-siblings
{{- end }}
- --
- --log-level={{ .root.Values.logLevel }}
{{- if .root.Values.latency }}
- --latency
{{- end }}
{{- if not .root.Values.cycles }}
- --no-cycles
{{- end }}
{{- range .root.Values.extraArguments }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "vcmts.environment" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- {name: RUNTIME_DIRECTORY, value: /run/vcmts}
- {name: VCMTS_METRICS_PORT, value: {{ int .Values.metricsPort | quote }}}
{{- with .Values.extraEnvironment }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "vcmts.probes" -}}
{{- $probes := .Values.probes -}}
startupProbe:
  httpGet: {path: /live, port: metrics}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: {{ max 1 (div (int $probes.startSeconds) 2) }}
readinessProbe:
  httpGet: {path: /ready, port: metrics}
  periodSeconds: {{ int $probes.readyPeriodSeconds }}
  timeoutSeconds: 2
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /live, port: metrics}
  periodSeconds: {{ int $probes.livePeriodSeconds }}
  timeoutSeconds: 5
  failureThreshold: 3
{{- end -}}

{{/* The Secrets are optional, so that the pod starts and reports which file is missing. Otherwise the kubelet would wait. */}}
{{- define "vcmts.volumes" -}}
- name: config
  configMap:
    name: {{ default (include "vcmts.fullname" .root) .root.Values.existingConfigMap | quote }}
    defaultMode: 0440
- name: secret
  {{- $secrets := .root.Values.secrets.existing }}
  {{- if .plan.secret }}{{- $secrets = prepend $secrets (include "vcmts.fullname" .root) }}{{- end }}
  {{- if $secrets }}
  projected:
    defaultMode: 0440
    sources:
      {{- range $secrets }}
      - secret: {name: {{ . | quote }}, optional: true}
      {{- end }}
  {{- else }}
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
  {{- end }}
- name: run
  emptyDir: {medium: Memory, sizeLimit: {{ .root.Values.runDirectory }}}
{{- if .huge }}
- name: hugepages
  emptyDir: {medium: HugePages-{{ .root.Values.hugePages.size }}}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
