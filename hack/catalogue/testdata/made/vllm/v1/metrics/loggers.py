import os

import prometheus_client

PORT = os.environ["SIDE_PORT"] if "SIDE_PORT" in os.environ else None


class PrometheusStatLogger:
    _gauge_cls = prometheus_client.Gauge

    def __init__(self, config):
        labelnames = ["model_name", "engine"]
        self.running = self._gauge_cls(name="vllm:running", documentation="x", labelnames=labelnames)
        if config.lora is not None:
            self.adapters = prometheus_client.Counter("vllm:adapters", "x", labelnames + ["adapter"])
        if not config.enabled:
            return
        self.latency = prometheus_client.Histogram(name="vllm:latency_seconds", documentation="x", labelnames=labelnames)
