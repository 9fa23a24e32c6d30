{{- define "touchstone.labels" -}}
app.kubernetes.io/name: touchstone
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "touchstone.image" -}}
{{ required "image.registry is empty: name the registry with your images" .root.Values.image.registry }}/touchstone-{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "touchstone.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - {name: {{ . }}}
  {{- end }}
{{- end }}
{{- end }}

{{- define "touchstone.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "touchstone.filesAreLocal" -}}
{{- if not (contains "://" .Values.files.url) }}true{{ end }}
{{- end }}

{{- /* Pods that mount a ReadWriteOnce claim must share its node. */}}
{{- define "touchstone.nearFiles" -}}
{{- if and (include "touchstone.filesAreLocal" .) (eq .Values.files.accessMode "ReadWriteOnce") }}
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchLabels: {touchstone-files: "true"}}
{{- end }}
{{- end }}

{{- define "touchstone.modelVolumes" -}}
{{- if .Values.models.file }}
- {name: models-file, configMap: {name: touchstone-models}}
{{- end }}
{{- with .Values.models.claim.name }}
- {name: weights, persistentVolumeClaim: {claimName: {{ . }}}}
{{- end }}
{{- end }}

{{- define "touchstone.modelMounts" -}}
{{- if .root.Values.models.file }}
- {name: models-file, mountPath: /etc/touchstone, readOnly: true}
{{- end }}
{{- if .root.Values.models.claim.name }}
- {name: weights, mountPath: /models, readOnly: {{ .readOnly }}}
{{- end }}
{{- end }}

{{- define "touchstone.peers" -}}
{{- range . }}
- to:
    {{- if .cidr }}
    - ipBlock: {cidr: {{ .cidr | quote }}}
    {{- else }}
    - podSelector: {matchLabels: {{ toJson .pods }}}
      {{- with .namespace }}
      namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ . }}}}
      {{- end }}
    {{- end }}
  ports: [{port: {{ .port }}}]
{{- end }}
{{- end }}
