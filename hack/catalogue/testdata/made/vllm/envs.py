import os


def env_with_choices(name, default, choices, case_sensitive=True):
    return lambda: os.getenv(name, default)


environment_variables = {
    "VLLM_FLAG": lambda: bool(int(os.getenv("VLLM_FLAG", "0"))),
    "VLLM_LIMIT": lambda: int(os.environ.get("VLLM_LIMIT", 5)),
    "VLLM_MODE": env_with_choices("VLLM_MODE", "fast", ["slow", "fast"], case_sensitive=False),
    "VLLM_ROOT": lambda: os.path.expanduser(os.getenv("VLLM_ROOT", os.path.join("a", "b"))),
}
