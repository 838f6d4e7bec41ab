package fn_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// probed is a Deployment of one engine with a Service before it.
type probed struct {
	image, command, probes string
	// ports and env are further fields of the container, pod those of the pod.
	ports, pod string
	// target is the Service's; empty: no Service.
	target string
}

func (p probed) manifest() string {
	service := ""
	if p.target != "" {
		service = `---
apiVersion: v1
kind: Service
metadata: {name: front}
spec:
  selector: {app: d}
  ports: [{port: 80, targetPort: ` + p.target + `}]
`
	}
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    metadata: {labels: {app: d}}
    spec:
      containers:
        - name: server
          image: ` + p.image + `
          command: ` + p.command + "\n" + p.ports + p.probes + p.pod + service
}

const (
	vllmImage   = "vllm/vllm-openai:v0.19.1"
	sglangImage = "lmsysorg/sglang:v0.5.16"
	liveness    = "warning spec.template.spec.containers[0].livenessProbe none"
	readiness   = "warning spec.template.spec.containers[0].readinessProbe none"
	startup     = "warning spec.template.spec.containers[0].startupProbe none"
)

// ready is a patient readiness probe that asks as the handler says.
func ready(handler string) string {
	return "          readinessProbe: {" + handler + ", periodSeconds: 10}\n"
}

func get(path, port string) string { return ready("httpGet: {path: " + path + ", port: " + port + "}") }

func TestWhatProbesAskFor(t *testing.T) {
	t.Parallel()
	const port8000 = "          ports: [{name: http, containerPort: 8000}]\n"
	sglang := func(words string) string {
		return "[python3, -m, sglang.launch_server, --model-path=m" + words + "]"
	}
	for _, c := range []struct {
		name string
		probed
		want []string
	}{
		{"as it should be", probed{image: vllmImage, command: "[vllm, serve, m]", probes: get("/health", "8000")}, nil},
		{"a slash at the end", probed{image: vllmImage, command: "[vllm, serve, m]", probes: get("/health/", "8000")}, nil},
		{"a path of no release", probed{image: vllmImage, command: "[vllm, serve, m]", probes: get("/healthz", "8000")}, []string{readiness}},
		{"a path of the other engine", probed{image: vllmImage, command: "[vllm, serve, m]", probes: get("/health_generate", "8000")}, []string{readiness}},
		{"the same on the other engine", probed{image: sglangImage, command: sglang(", --host=0.0.0.0"), probes: get("/health_generate", "30000")}, nil},
		{"a path of a fork", probed{image: "acme/vllm:v0.19.1", command: "[vllm, serve, m]", probes: get("/healthz", "8000")}, nil},
		{"behind a path of its own", probed{image: vllmImage, command: "[vllm, serve, m, --root-path=/llm]", probes: get("/llm/health", "8000")}, nil},
		{"behind a path of its own, wrong", probed{image: vllmImage, command: "[vllm, serve, m, --root-path=/llm]", probes: get("/llm/healthz", "8000")}, []string{readiness}},
		{"a path that nobody knows", probed{image: vllmImage, command: "[vllm, serve, m]", probes: get(`"${PATH_OF}"`, "8000")}, nil},
		{"middleware may serve it", probed{image: vllmImage, command: "[vllm, serve, m, --middleware=a.b]", probes: get("/healthz", "8000")}, nil},
		{"metrics without the switch", probed{image: sglangImage, command: sglang(", --host=0.0.0.0"), probes: get("/metrics", "30000")}, []string{readiness}},
		{"metrics with the switch", probed{image: sglangImage, command: sglang(", --host=0.0.0.0, --enable-metrics"), probes: get("/metrics", "30000")}, nil},
		{"another port", probed{image: vllmImage, command: "[vllm, serve, m]", probes: get("/health", "8080")}, []string{readiness}},
		{"another port, by the flag", probed{image: vllmImage, command: "[vllm, serve, m, --port=8080]", probes: get("/health", "8080")}, nil},
		{"the default port against the flag", probed{image: vllmImage, command: "[vllm, serve, m, --port=8080]", probes: get("/health", "8000")}, []string{readiness}},
		{"a port that nobody knows", probed{image: vllmImage, command: "[vllm, serve, m, --port=$(PORT)]", probes: get("/health", "8080")}, nil},
		{"a port by an argument that nobody knows", probed{image: vllmImage, command: `[vllm, serve, m, "${EXTRA}"]`, probes: get("/health", "8080")}, nil},
		{"a port of a script", probed{image: vllmImage, command: `[sh, -c, "proxy --listen 8080 & exec vllm serve m"]`, probes: get("/health", "8080")}, nil},
		{"a port that the image may choose", probed{image: "acme/vllm:v0.19.1", command: "[]\n          args: [--model=m]", probes: get("/health", "8080")}, nil},
		{"a named port", probed{image: vllmImage, command: "[vllm, serve, m]", ports: port8000, probes: get("/health", "http")}, nil},
		{"a named port of another number", probed{image: vllmImage, command: "[vllm, serve, m, --port=9000]", ports: port8000, probes: get("/health", "http")}, []string{readiness}},
		{"a port of a name that is not there", probed{image: vllmImage, command: "[vllm, serve, m]", ports: port8000, probes: get("/health", "web")}, []string{readiness}},
		{"a container beside it", probed{image: vllmImage, command: "[vllm, serve, m, --port=8200]", probes: get("/health", "8000"),
			pod: "        - {name: router, image: acme/router}\n"}, nil},
		{"over TLS", probed{image: vllmImage, command: "[vllm, serve, m, --ssl-certfile=/c, --ssl-keyfile=/k]", probes: get("/health", "8000")}, []string{readiness}},
		{"over TLS on both sides", probed{image: vllmImage, command: "[vllm, serve, m, --ssl-certfile=/c, --ssl-keyfile=/k]", probes: ready("httpGet: {path: /health, port: 8000, scheme: HTTPS}")}, nil},
		{"TLS that is not there", probed{image: vllmImage, command: "[vllm, serve, m]", probes: ready("httpGet: {path: /health, port: 8000, scheme: HTTPS}")}, []string{readiness}},
		{"without the key", probed{image: vllmImage, command: "[vllm, serve, m, --api-key=$(KEY)]", probes: get("/v1/models", "8000")}, []string{readiness}},
		{"with the key", probed{image: vllmImage, command: "[vllm, serve, m, --api-key=$(KEY)]",
			probes: ready("httpGet: {path: /v1/models, port: 8000, httpHeaders: [{name: Authorization, value: Bearer $(KEY)}]}")}, nil},
		{"where no key is needed", probed{image: vllmImage, command: "[vllm, serve, m, --api-key=$(KEY)]", probes: get("/health", "8000")}, nil},
		{"without the key of the environment", probed{image: vllmImage, command: "[vllm, serve, m]\n          env: [{name: VLLM_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]",
			probes: get("/v1/models", "8000")}, []string{readiness}},
		{"an engine that listens to itself", probed{image: sglangImage, command: sglang(""), probes: get("/health", "30000")}, []string{readiness}},
		{"an engine that listens to all", probed{image: sglangImage, command: sglang(`, --host=0.0.0.0`), probes: ready("tcpSocket: {port: 30000}")}, nil},
		{"an engine that listens to itself, asked from inside", probed{image: sglangImage, command: sglang(""), probes: ready(`exec: {command: [curl, -f, "http://localhost:30000/health"]}`)}, nil},
		{"another port, asked from inside", probed{image: sglangImage, command: sglang(""), probes: ready(`exec: {command: [sh, -c, "curl -f http://localhost:8000/health"]}`)}, []string{readiness}},
		{"another path, asked from inside", probed{image: vllmImage, command: "[vllm, serve, m]", probes: ready(`exec: {command: [bash, -c, "curl -fs localhost:8000; curl -f http://127.0.0.1:8000/ready"]}`)}, []string{readiness}},
		{"a command that asks nothing", probed{image: vllmImage, command: "[vllm, serve, m]", probes: ready("exec: {command: [test, -f, /tmp/ok]}")}, nil},
		{"gRPC", probed{image: vllmImage, command: "[vllm, serve, m]", probes: ready("grpc: {port: 8000}")}, []string{readiness}},
		{"gRPC where it is served", probed{image: vllmImage, command: "[vllm, serve, m, --grpc]", probes: ready("grpc: {port: 8000}")}, nil},
		{"nothing is served", probed{image: vllmImage, command: "[vllm, serve, m, --headless]", probes: get("/health", "8000")}, []string{readiness}},
		{"a Service by number", probed{image: vllmImage, command: "[vllm, serve, m]", target: "8000"}, nil},
		{"a Service to another port", probed{image: vllmImage, command: "[vllm, serve, m]", target: "8080"}, []string{"warning --port none"}},
		{"a Service to a port of another setting", probed{image: vllmImage, command: "[vllm, serve, m]\n          env: [{name: VLLM_NIXL_SIDE_CHANNEL_PORT, value: \"5600\"}]", target: "5600"}, nil},
		{"a Service of a half", probed{image: sglangImage, command: sglang(", --host=0.0.0.0, --disaggregation-mode=prefill"), target: "8998"}, nil},
		{"a Service without an address", probed{image: vllmImage, command: "[vllm, serve, m]", target: "8080}]\n  clusterIP: None\n  x: [{y: 1"}, nil},
		{"a Service by name", probed{image: vllmImage, command: "[vllm, serve, m]", ports: port8000, target: "http"}, nil},
		{"a Service by a name that is not there", probed{image: vllmImage, command: "[vllm, serve, m]", ports: port8000, target: "web"}, []string{"warning --port none"}},
		{"a Service to a container beside it", probed{image: vllmImage, command: "[vllm, serve, m]", target: "8080", pod: "        - {name: router, image: acme/router}\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, found(t, c.manifest(), "probe-unfit"), "%v", messages(t, c.manifest(), "probe-unfit"))
		})
	}
}

func TestHowLongProbesWait(t *testing.T) {
	t.Parallel()
	probe := func(kind, timing string) string {
		return "          " + kind + ": {httpGet: {path: /health, port: 8000}, " + timing + "}\n"
	}
	serve := func(model string) string { return "[vllm, serve, " + model + "]" }
	const patient = "failureThreshold: 3, periodSeconds: 10"
	for _, c := range []struct {
		name string
		probed
		want []string
	}{
		{"a start-up probe that waits", probed{command: serve("meta-llama/Llama-3.1-8B-Instruct"), probes: probe("startupProbe", "failureThreshold: 60, periodSeconds: 10")}, nil},
		{"a start-up probe that does not", probed{command: serve("acme/tuned-8B-chat"), probes: probe("startupProbe", "failureThreshold: 30, periodSeconds: 5")}, []string{startup}},
		{"a smaller model", probed{command: serve("acme/tuned-3B"), probes: probe("startupProbe", "failureThreshold: 30, periodSeconds: 5")}, nil},
		{"fewer bits", probed{command: serve("acme/tuned-8B-AWQ"), probes: probe("startupProbe", "failureThreshold: 30, periodSeconds: 5")}, nil},
		{"a model on a volume", probed{command: serve("/models/tuned-8B"), probes: probe("startupProbe", "failureThreshold: 30, periodSeconds: 5")}, nil},
		{"a cache on a claim", probed{command: serve("acme/tuned-8B") + "\n          volumeMounts: [{name: c, mountPath: /root/.cache/huggingface}]", probes: probe("startupProbe", "failureThreshold: 30, periodSeconds: 5"),
			pod: "      volumes: [{name: c, persistentVolumeClaim: {claimName: c}}]\n"}, nil},
		{"a cache that dies with the pod", probed{command: serve("acme/tuned-8B") + "\n          volumeMounts: [{name: c, mountPath: /root/.cache/huggingface}]", probes: probe("startupProbe", "failureThreshold: 30, periodSeconds: 5"),
			pod: "      volumes: [{name: c, emptyDir: {}}]\n"}, []string{startup}},
		{"an engine cannot start in this time", probed{command: serve("m"), probes: probe("startupProbe", "failureThreshold: 3, periodSeconds: 5")}, []string{startup}},
		{"liveness from the first second", probed{command: serve("m"), probes: probe("livenessProbe", patient)}, []string{liveness}},
		{"liveness behind a start-up probe", probed{command: serve("m"), probes: probe("livenessProbe", patient) + probe("startupProbe", "failureThreshold: 60")}, nil},
		{"liveness after a delay", probed{command: serve("m"), probes: probe("livenessProbe", patient+", initialDelaySeconds: 120")}, nil},
		{"liveness after a delay that is too short", probed{command: serve("acme/tuned-70B"), probes: probe("livenessProbe", patient+", initialDelaySeconds: 120")}, []string{liveness}},
		{"liveness that flaps", probed{command: serve("m"), probes: probe("livenessProbe", "failureThreshold: 5, periodSeconds: 1") + probe("startupProbe", "failureThreshold: 60")}, []string{liveness}},
		{"readiness that flaps", probed{command: serve("m"), probes: probe("readinessProbe", "failureThreshold: 1, periodSeconds: 1")}, []string{readiness}},
		{"readiness with patience", probed{command: serve("m"), probes: probe("readinessProbe", "failureThreshold: 3, periodSeconds: 5")}, nil},
		{"the kubelet's own values", probed{command: serve("m"), probes: probe("readinessProbe", "successThreshold: 1")}, nil},
		{"no probes", probed{command: serve("m")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.probed.image = vllmImage
			require.Equal(t, c.want, found(t, c.manifest(), "probe-unfit"), "%v", messages(t, c.manifest(), "probe-unfit"))
		})
	}
}

func TestProbesOfAnOperator(t *testing.T) {
	t.Parallel()
	const image = "  runtime: vllm\n  image: vllm/vllm-openai:v0.19.1\n"
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"its Service and probes fit":            {"  endpoint: {port: 8000}\n", nil},
		"its Service leads to 8080":             {"", []string{"warning spec.endpoint.port none"}},
		"an endpoint without a port is at 8080": {"  endpoint: {type: ClusterIP}\n", nil},
		"the container's port alone":            {"  containerPort: 9000\n", []string{"warning spec.endpoint.port none"}},
		"a port of the user's own": {"  endpoint: {port: 8000}\n  extraArgs: [--port=9000]\n", []string{
			"warning spec.endpoint.port none", "warning --port none",
		}},
		"a probe of the user's own": {"  endpoint: {port: 8000}\n  probeOverrides:\n    readiness: {httpGet: {path: /healthz, port: 8000}}\n",
			[]string{"warning spec.probeOverrides.readiness none"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, found(t, llmkubePair("", image+c.spec), "probe-unfit"))
		})
	}
}
