{{- define "labels" -}}
app.kubernetes.io/name: messaging-campaigns
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "selector" -}}
{{ include "labels" . | fromYaml | toJson }}
{{- end }}

{{- define "serviceAccount" -}}
{{ .Values.serviceAccount.name | default .Release.Name }}
{{- end }}

{{- /* What a deployment's pods depend on: a change starts them anew. Without a cluster there is no secret to look up. */ -}}
{{- define "podAnnotations" -}}
checksum/settings: {{ toJson .root.Values.settings | sha256sum }}
checksum/secret: {{ (lookup "v1" "Secret" .root.Release.Namespace .root.Values.secret).data | toJson | sha256sum }}
{{- with .annotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "pod" -}}
serviceAccountName: {{ include "serviceAccount" . }}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
volumes: [{ name: data, emptyDir: {} }]
{{- end }}

{{- /* A pod of a hook runs before the release's own objects are there: it has the default account, and its settings inline. */ -}}
{{- define "hookPod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
volumes: [{ name: data, emptyDir: {} }]
{{- end }}

{{- define "image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
volumeMounts: [{ name: data, mountPath: /data }, { name: data, mountPath: /tmp }]
{{- end }}

{{- define "settingsInline" -}}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "envFrom" -}}
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-settings }
  - secretRef: { name: {{ .Values.secret }} }
{{- end }}

{{- define "probes" -}}
livenessProbe: { httpGet: { path: /healthz, port: metrics }, periodSeconds: 10, failureThreshold: 6 }
readinessProbe: { httpGet: { path: /readyz, port: metrics }, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }
{{- end }}
