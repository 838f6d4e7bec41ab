import not_installed


class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--limit", default=not_installed.DEFAULT_LIMIT)
