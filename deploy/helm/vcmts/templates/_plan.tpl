{{/* SPDX-License-Identifier: BSD-3-Clause */}}
{{/*
The groups and resources of all pods, as JSON:
  pods       one item per pod: {groups: [an item of service_groups in the server's file]}
  requests   devices that each pod requests, by resource: as many as the pod that needs most
  secret     files of the Secret that the chart creates: texts by name
  most       groups of the fullest pod, or server.maxGroups if larger
  cores, huge, memory   CPUs and MiB that each pod requests
All pods have one template, and so the same requests: the StatefulSet updates them one after the other.
*/}}
{{- define "vcmts.plan" -}}
{{- $plan := dict "pods" list "requests" dict "secret" (deepCopy .Values.secrets.files) -}}
{{- $byPod := dict -}}
{{- $ids := dict -}}
{{- if not .Values.serviceGroups -}}
{{- fail "serviceGroups: missing; needed: a list of 1 to 64 service groups" -}}
{{- end -}}
{{- range $index, $group := .Values.serviceGroups -}}
{{- $at := printf "serviceGroups[%d]" $index -}}
{{- $id := int64 $group.id -}}
{{- if hasKey $ids (toString $id) -}}
{{- fail (printf "%s.id: duplicate id %d, first in %s" $at $id (get $ids (toString $id))) -}}
{{- end -}}
{{- $_ := set $ids (toString $id) $at -}}
{{- $pod := ternary 0 $index (eq $.Values.mode "shared") -}}
{{- if hasKey $group "pod" -}}{{- $pod = int64 $group.pod -}}{{- end -}}
{{- $key := toString $pod -}}
{{- $_ := set $byPod $key (append (default list (get $byPod $key)) (dict "at" $at "id" $id "group" $group)) -}}
{{- end -}}
{{- $pods := len $byPod -}}
{{- $most := 0 -}}
{{- range $number := until $pods -}}
{{- $members := get $byPod (toString $number) -}}
{{- if not $members -}}
{{- fail (printf "serviceGroups: no group for pod %d of %d; pods are numbered from 0 without gaps: set `pod: %d` for a group" $number $pods $number) -}}
{{- end -}}
{{- $most = max $most (len $members) -}}
{{- $filled := include "vcmts.pod" (dict "root" $ "members" $members "plan" $plan) | fromJson -}}
{{- $_ := set $plan "pods" (append $plan.pods (dict "groups" $filled.groups)) -}}
{{- range $resource, $count := $filled.requests -}}
{{- $_ := set $plan.requests $resource (max (int64 $count) (int64 (default 0 (get $plan.requests $resource)))) -}}
{{- end -}}
{{- $_ := set $plan "secret" (merge $plan.secret $filled.secret) -}}
{{- end -}}
{{- $capacity := int64 .Values.server.maxGroups -}}
{{- if and $capacity (lt $capacity $most) -}}
{{- fail (printf "server.maxGroups: found %d, allowed: %d or more, the number of groups of the fullest pod" $capacity $most) -}}
{{- end -}}
{{- $_ := set $plan "most" (max $most $capacity) -}}
{{- $_ := set $plan "cores" (include "vcmts.cores" (dict "root" $ "groups" $plan.most) | int64) -}}
{{- $_ := set $plan "huge" (include "vcmts.huge" (dict "root" $ "groups" $plan.most) | int64) -}}
{{- $_ := set $plan "memory" (include "vcmts.memory" (dict "root" $ "groups" $plan.most) | int64) -}}
{{- $size := 0 -}}
{{- range $plan.secret -}}{{- $size = add $size (len .) -}}{{- end -}}
{{- if gt $size 1048576 -}}
{{- fail (printf "secrets.files: found %d bytes with configurations of groups in the values, allowed: 1048576, the limit of a Secret; create a Secret per group and list them in secrets.existing" $size) -}}
{{- end -}}
{{- toJson $plan -}}
{{- end -}}

{{/*
The groups of one pod as items of the server's file, with the `requests` and the files of the `secret` that they need.
`plan.secret` has secrets.files, and the files of earlier pods. $given: the device of each shared port, by role.
*/}}
{{- define "vcmts.pod" -}}
{{- $root := .root -}}
{{- $out := dict "groups" list "requests" dict "secret" dict -}}
{{- $given := dict -}}
{{- range $member := .members -}}
{{- $group := $member.group -}}
{{- $defaults := $root.Values.defaults -}}
{{- $item := dict "service_group" $member.id -}}
{{- if $group.name -}}{{- $_ := set $item "name" $group.name -}}{{- end -}}
{{- $config := mergeOverwrite (deepCopy $defaults.config) (deepCopy (default dict $group.config)) -}}
{{- $profile := $defaults.profile -}}
{{- if hasKey $group "profile" -}}{{- $profile = $group.profile -}}{{- end -}}
{{- $name := default (printf "sg-%d.yaml" $member.id) $group.file -}}
{{- if hasKey $config "modems" -}}
{{- if or (hasKey $out.secret $name) (hasKey $.plan.secret $name) -}}
{{- fail (printf "%s.file: duplicate file %s, as another group or secrets.files has it" $member.at $name) -}}
{{- end -}}
{{- $_ := set $out.secret $name (toYaml $config) -}}
{{- $_ := set $item "file" (printf "/etc/vcmts/secret/%s" $name) -}}
{{- else -}}
{{- if and $profile (not $group.file) -}}
{{- if gt (int $member.id) 64 -}}
{{- fail (printf "%s.id: found %d, allowed: 1 to 64 for a group with a profile, as its addresses are derived from its id" $member.at $member.id) -}}
{{- end -}}
{{- $_ := set $item "file" (printf "/run/vcmts/profiles/%s/sg-%d.yaml" $profile $member.id) -}}
{{- else -}}
{{- if not (or $root.Values.secrets.existing (hasKey $root.Values.secrets.files $name)) -}}
{{- fail (printf "%s: no configuration; needed: a profile, config with modems, %q in secrets.files, or a Secret that contains it in secrets.existing" $member.at $name) -}}
{{- end -}}
{{- $_ := set $item "file" (printf "/etc/vcmts/secret/%s" $name) -}}
{{- end -}}
{{- $item = merge $item $config -}}
{{- end -}}
{{- $ports := dict -}}
{{- range $role := list "network" "rphy" "control" -}}
{{- $own := default dict (get (default dict $group.ports) $role) -}}
{{- $shared := default dict (get (default dict $defaults.ports) $role) -}}
{{- if or $own $shared -}}
{{- $_ := set $ports $role (include "vcmts.port" (dict "role" $role "own" $own "shared" $shared "given" $given "requests" $out.requests "at" (printf "%s.ports.%s" $member.at $role)) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $item "ports" $ports -}}
{{- $crypto := include "vcmts.crypto" (dict "own" $group.crypto "shared" $defaults.crypto "requests" $out.requests "at" $member.at) | fromJson -}}
{{- if $crypto -}}{{- $_ := set $item "crypto" $crypto -}}{{- end -}}
{{- $_ := set $out "groups" (append $out.groups $item) -}}
{{- end -}}
{{- toJson $out -}}
{{- end -}}

{{/*
A port of a group. All groups of a pod share a port of the defaults; a group with its own `resource` or `device` has its
own port. Updates `given` (the device of each shared port, by role) and `requests` (the devices, by resource).
*/}}
{{- define "vcmts.port" -}}
{{- $port := mergeOverwrite (deepCopy .shared) (deepCopy .own) -}}
{{- $alone := or (hasKey .own "resource") (hasKey .own "device") -}}
{{- if $alone -}}{{- $port = merge (deepCopy .own) (omit .shared "resource" "variable" "device") -}}{{- end -}}
{{- $device := "" -}}
{{- if not $alone -}}{{- $device = default "" (get .given .role) -}}{{- end -}}
{{- if not $device -}}
{{- $index := 0 -}}
{{- if $port.resource -}}
{{- $index = int64 (default 0 (get .requests $port.resource)) -}}
{{- $_ := set .requests $port.resource (add1 $index) -}}
{{- end -}}
{{- if $port.device -}}
{{- $device = $port.device -}}
{{- else if $port.resource -}}
{{- $device = printf "${%s[%d]}" (default (include "vcmts.variable" $port.resource) $port.variable) (int $index) -}}
{{- else -}}
{{- fail (printf "%s: neither resource nor device; needed: one of them, here or in defaults.ports.%s" .at .role) -}}
{{- end -}}
{{- if not $alone -}}{{- $_ := set .given .role $device -}}{{- end -}}
{{- end -}}
{{- toJson (set (omit $port "resource" "variable") "device" $device) -}}
{{- end -}}

{{/*
The crypto settings of a group. Its own `resource` or `device` replaces those of the defaults, and so does its own
`provider: ipsec-mb`, which uses no device. All groups of the pod that name a resource share one device of it.
*/}}
{{- define "vcmts.crypto" -}}
{{- $own := default dict .own -}}
{{- $shared := default dict .shared -}}
{{- if or (hasKey $own "resource") (hasKey $own "device") -}}
{{- $shared = omit $shared "resource" "variable" "device" "provider" -}}
{{- else if eq (default "" $own.provider) "ipsec-mb" -}}
{{- $shared = omit $shared "resource" "variable" "device" -}}
{{- else if hasKey $own "variable" -}}
{{- $shared = omit $shared "device" -}}
{{- end -}}
{{- $crypto := mergeOverwrite (deepCopy $shared) (deepCopy $own) -}}
{{- if $crypto.resource -}}
{{- if eq (default "" $crypto.provider) "ipsec-mb" -}}
{{- fail (printf "%s.crypto: resource %s is not allowed with provider ipsec-mb, which uses no device; remove one of the two, here or in defaults.crypto" .at $crypto.resource) -}}
{{- end -}}
{{- $_ := set .requests $crypto.resource 1 -}}
{{- $variable := default (printf "%s[0]" (include "vcmts.variable" $crypto.resource)) $crypto.variable -}}
{{- $_ := set $crypto "device" (default (printf "${%s}" $variable) $crypto.device) -}}
{{- end -}}
{{- if and (not $crypto.provider) (ne (default "none" $crypto.device) "none") -}}
{{- $_ := set $crypto "provider" "cryptodev" -}}
{{- end -}}
{{- toJson (omit $crypto "resource" "variable") -}}
{{- end -}}
