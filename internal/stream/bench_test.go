package stream

import (
	"fmt"
	"strings"
	"testing"
)

// clusterList is a ResourceList of n objects as kustomize writes them.
func clusterList(n int) []byte {
	var b strings.Builder
	b.WriteString(listHead + "items:\n")
	for i := range n {
		fmt.Fprintf(&b, `- apiVersion: apps/v1
  kind: Deployment
  metadata:
    annotations:
      config.kubernetes.io/index: "%[1]d"
      internal.config.kubernetes.io/path: deployment_app-%[1]d.yaml
    labels:
      app.kubernetes.io/name: app-%[1]d
    name: app-%[1]d
    namespace: default
  spec:
    replicas: 2
    selector:
      matchLabels:
        app.kubernetes.io/name: app-%[1]d
    template:
      metadata:
        labels:
          app.kubernetes.io/name: app-%[1]d
      spec:
        containers:
        - args:
          - --port=8080
          - --log-level
          - info
          env:
          - name: SETTINGS
            value: '{"a": 1, "b": "two"}'
          - name: SCRIPT
            value: |
              set -e
              echo "one: two"
              exec /bin/server --config /etc/server.yaml
          image: registry.example.com/team/app:v1.%[1]d
          name: app
          ports:
          - containerPort: 8080
            name: http
          resources:
            limits:
              memory: 512Mi
            requests:
              cpu: 100m
              memory: 256Mi
`, i)
	}
	return []byte(b.String())
}

func BenchmarkResourceList(b *testing.B) {
	data := clusterList(10000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		source, err := ParseResourceList(data)
		if err != nil {
			b.Fatal(err)
		}
		for _, it := range source.Items {
			if it.Mentions("vllm", "sglang") {
				b.Fatal("no item mentions a server")
			}
		}
	}
}
