{{/* SPDX-License-Identifier: BSD-3-Clause */}}
{{/* Not the labels of the selector: Service, StatefulSet and PodDisruptionBudget are for pods with vcmtsd only. */}}
{{- define "vcmts.testLabels" -}}
app.kubernetes.io/name: {{ printf "%s-test" (default .Chart.Name .Values.nameOverride | trunc 58 | trimSuffix "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The ports of the test's pod, as JSON: `devices` by role, and `requests`: devices by resource. Checks test.pod. */}}
{{- define "vcmts.test" -}}
{{- $test := .root.Values.test -}}
{{- if ge (int64 $test.pod) (len .plan.pods | int64) -}}
{{- fail (printf "test.pod: found %d, allowed: 0 to %d, the pods of the release" (int64 $test.pod) (sub (len .plan.pods) 1)) -}}
{{- end -}}
{{- if and $test.hugePages (eq .root.Values.hugePages.size "none") -}}
{{- fail (printf "test.hugePages: found %s, allowed: empty, as hugePages.size is none" $test.hugePages) -}}
{{- end -}}
{{- $out := dict "devices" dict "requests" dict -}}
{{- range $role := list "network" "rphy" -}}
{{- $own := default dict (get $test.ports $role) -}}
{{- if not (or $own.resource $own.device) -}}
{{- fail (printf "test.ports.%s: neither resource nor device; needed: one of them, at the other end of the pod's port" $role) -}}
{{- end -}}
{{- $port := include "vcmts.port" (dict "role" $role "own" $own "shared" dict "given" dict "requests" $out.requests "at" (printf "test.ports.%s" $role)) | fromJson -}}
{{- $_ := set $out.devices $role $port.device -}}
{{- end -}}
{{- toJson $out -}}
{{- end -}}

{{- define "vcmts.testSpec" -}}
{{- $values := .root.Values -}}
{{- $test := $values.test -}}
restartPolicy: Never
# It ends a test that waits for an image, a CPU or a network, too.
activeDeadlineSeconds: {{ add (int64 $test.seconds) 120 }}
terminationGracePeriodSeconds: 5
{{- include "vcmts.podStart" .root }}
securityContext: {{- include "vcmts.podSecurity" .root | trim | nindent 2 }}
containers:
  - name: traffic
    image: {{ include "vcmts.image" .root | quote }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    resources:
      {{- range list "requests" "limits" }}
      {{ . }}:
        memory: {{ printf "%dMi" (include "vcmts.mebibytes" $test.memory | int64) }}
        {{- if $test.cores }}
        cpu: {{ $test.cores | int64 | quote }}
        {{- end }}
        {{- if $test.hugePages }}
        hugepages-{{ $values.hugePages.size }}: {{ printf "%dMi" (include "vcmts.mebibytes" $test.hugePages | int64) }}
        {{- end }}
        {{- range $resource, $count := $.test.requests }}
        {{ $resource }}: {{ $count | int64 | quote }}
        {{- end }}
      {{- end }}
    securityContext: {{- include "vcmts.containerSecurity" .root | nindent 6 }}
    args: {{- include "vcmts.testArguments" . | nindent 6 }}
    env: {{- include "vcmts.environment" .root | nindent 6 }}
    terminationMessagePolicy: FallbackToLogsOnError
    volumeMounts: {{- include "vcmts.mounts" (dict "root" .root "huge" $test.hugePages) | nindent 6 }}
volumes: {{- include "vcmts.volumes" (dict "root" .root "plan" .plan "huge" $test.hugePages) | nindent 2 }}
{{- include "vcmts.podPlacement" .root }}
{{- end -}}

{{- define "vcmts.testArguments" -}}
{{- $test := .root.Values.test -}}
- pod
- --traffic
{{- if or (gt (len .plan.pods) 1) (not .root.Values.existingConfigMap) }}
- --config=/etc/vcmts/config/{{ include "vcmts.configName" (dict "root" .root "number" $test.pod) }}
{{- end }}
- --
{{- range $role, $device := .test.devices }}
- {{ printf "--%s=%s" $role $device | quote }}
{{- end }}
- --duration={{ int64 $test.seconds }}s
- {{ printf "--rate=%s" ($test.rate | replace " " "") | quote }}
- {{ printf "--upstream-rate=%s" ($test.rate | replace " " "") | quote }}
{{- range $test.arguments }}
- {{ . | quote }}
{{- end }}
{{- end -}}
