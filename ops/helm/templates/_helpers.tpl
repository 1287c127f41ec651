{{- define "pod" -}}
securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
automountServiceAccountToken: false
volumes: [{ name: data, emptyDir: {} }]
{{- end }}

{{- define "container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
volumeMounts: [{ name: data, mountPath: /data }, { name: data, mountPath: /tmp }]
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-settings }
  - secretRef: { name: {{ .Values.secret }} }
{{- end }}

{{- define "probes" -}}
livenessProbe: { httpGet: { path: /healthz, port: metrics }, periodSeconds: 10, failureThreshold: 6 }
readinessProbe: { httpGet: { path: /readyz, port: metrics }, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }
{{- end }}
