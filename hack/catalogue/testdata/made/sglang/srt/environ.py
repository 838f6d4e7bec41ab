class EnvBool:
    def __init__(self, default):
        self.default = default


class Envs:
    SGLANG_FAST = EnvBool(True)
    SGLANG_FORGOTTEN = EnvBool(False)


envs = Envs()
