import os

from prometheus_client import Counter, Gauge

from sglang.srt.environ import envs

SPEED = int(os.getenv("SGLANG_SPEED", "3"))


class Collector:
    def __init__(self, labels, more):
        self.running = Gauge(name="sglang:running", documentation="x", labelnames=labels.keys())
        if more and envs.SGLANG_FAST:
            self.aborted = Counter(name="sglang:aborted", documentation="x", labelnames=list(labels.keys()) + ["why"])
