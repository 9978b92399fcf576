{{/* SPDX-License-Identifier: BSD-3-Clause */}}
{{/*
CPUs of a pod with `groups` groups: the threads of the layout and one for management, rounded up to whole physical cores.
$halves: half threads per group. Without a layout, `vcmts pod` chooses the largest one that fits cores.count.
*/}}
{{- define "vcmts.cores" -}}
{{- $cores := .root.Values.cores -}}
{{- $halves := get (dict "1us1t_1ds2t" 6 "2us1t_1ds2t" 5 "1us1t_1ds1t" 4 "combined" 2 "combined2" 1) $cores.layout | int64 -}}
{{- $threads := div (add1 (mul .groups $halves)) 2 -}}
{{- $needed := add1 $threads -}}
{{- $count := int64 $cores.count -}}
{{- $siblings := int64 $cores.siblings -}}
{{- if not $count -}}
{{- $count = mul $siblings (div (add $needed (sub $siblings 1)) $siblings) -}}
{{- else if and $cores.layout (lt $count $needed) -}}
{{- fail (printf "cores.count: found %d, allowed: %d or more, as layout %s needs %d for %d group(s), and management needs 1; with `layout: \"\"` any number is allowed" $count $needed $cores.layout $threads (int64 .groups)) -}}
{{- else if mod $count $siblings -}}
{{- fail (printf "cores.count: found %d, allowed: a multiple of cores.siblings, which is %d: hyper-threads of one core are not split" $count $siblings) -}}
{{- end -}}
{{- $count -}}
{{- end -}}

{{/* MiB of a pod in huge pages, a multiple of the page size; 0 without huge pages. */}}
{{- define "vcmts.huge" -}}
{{- $huge := .root.Values.hugePages -}}
{{- if eq $huge.size "none" -}}
{{- if $huge.amount -}}
{{- fail (printf "hugePages.amount: found %s, allowed: empty, as hugePages.size is none; or set hugePages.size to 2Mi or 1Gi" $huge.amount) -}}
{{- end -}}
0
{{- else -}}
{{- $page := include "vcmts.mebibytes" $huge.size | int64 -}}
{{- if $huge.amount -}}
{{- $amount := include "vcmts.mebibytes" $huge.amount | int64 -}}
{{- if mod $amount $page -}}
{{- fail (printf "hugePages.amount: found %s, allowed: a multiple of hugePages.size, which is %s" $huge.amount $huge.size) -}}
{{- end -}}
{{- $amount -}}
{{- else -}}
{{- $wanted := include "vcmts.wanted" (dict "from" $huge "groups" .groups) | int64 -}}
{{- mul $page (div (add $wanted (sub $page 1)) $page) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* MiB of a pod in ordinary memory, with /run/vcmts. Without huge pages, their base and perGroup are added. */}}
{{- define "vcmts.memory" -}}
{{- $memory := .root.Values.memory -}}
{{- if $memory.amount -}}
{{- include "vcmts.mebibytes" $memory.amount -}}
{{- else -}}
{{- $wanted := include "vcmts.wanted" (dict "from" $memory "groups" .groups) | int64 -}}
{{- if eq .root.Values.hugePages.size "none" -}}
{{- $wanted = add $wanted (include "vcmts.wanted" (dict "from" .root.Values.hugePages "groups" .groups) | int64) -}}
{{- end -}}
{{- add $wanted (include "vcmts.mebibytes" .root.Values.runDirectory | int64) -}}
{{- end -}}
{{- end -}}

{{/* MiB of `base` and `perGroup` of `from`, for `groups` groups. */}}
{{- define "vcmts.wanted" -}}
{{- add (include "vcmts.mebibytes" .from.base | int64) (mul .groups (include "vcmts.mebibytes" .from.perGroup | int64)) -}}
{{- end -}}
