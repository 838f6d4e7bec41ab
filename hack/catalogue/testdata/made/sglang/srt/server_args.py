import argparse
import dataclasses
import json

import torch

from sglang.srt.metrics import collector

BACKENDS = ["triton", "flash"]


def human_readable_int(text):
    return int(text[:-1]) * 1000 if text.endswith("k") else int(text)


class DeprecatedAction(argparse.Action):
    def __call__(self, *args):
        pass


@dataclasses.dataclass
class ServerArgs:
    tp_size: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", "--model", required=True)
        parser.add_argument("--tp-size", "--tensor-parallel-size", dest="tp_size", type=int, default=ServerArgs.tp_size)
        parser.add_argument("--backend", choices=BACKENDS)
        parser.add_argument("--max-tokens", type=human_readable_int)
        parser.add_argument("--gone", action=DeprecatedAction, nargs=0, help="x")
        parser.add_argument("--level", nargs="?", const="all", default="none")
